/** Who used how much: requests, rows and bytes of keys, issuers and subjects, by the hour and by the day (docs/keys.md). */
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { ServiceError } from '../errors';
import { ignoreMissing, replaceFile } from '@logquay/duckdb-engine/files';
import type { RedisConnection } from '../redis/connection';
import { evaluate, script } from '../redis/scripts';
import type { CompletedRequest } from '../telemetry';

interface Used {
  requests: number;
  /** From a cache. */
  hits: number;
  rows: number;
  bytesBilled: number;
  /** Requests that were answered with an error, by status. */
  readonly errors: Record<string, number>;
}

/** Of one hour or day, by account. */
type Period = Map<string, Used>;

/** A row of the answer, flat for CSV. */
export interface UsageRow {
  readonly period: 'hour' | 'day';
  readonly from: string;
  /** A key, or the entry of an issuer. */
  readonly key: string;
  /** SHA-256 of the `sub` of a token; null: all of the key. */
  readonly subject: string | null;
  readonly requests: number;
  readonly hits: number;
  readonly rows: number;
  readonly bytes_billed: number;
  readonly errors: number;
  /** `404: 2, 429: 1` */
  readonly statuses: string;
}

/** Where periods are kept, each as one text. All reject where the place cannot be reached. */
export interface UsageStore {
  /** null where there is none. */
  read(names: readonly string[]): Promise<readonly (string | null)[]>;
  /** @returns false: another process has replaced it meanwhile */
  replace(name: string, before: string | null, after: string, seconds: number): Promise<boolean>;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEPT = { hour: 7 * DAY, day: 31 * DAY } as const;
/** Milliseconds between two times that counts are written down. */
const PAUSE = 10_000;
/** Keys of a period, and subjects of a day, each with most bytes; all others are one. With this all periods stay within 16 MiB. */
const MOST = { keys: 200, subjects: 1_000 } as const;
const OTHERS = 'others';
const MOST_TRIES = 5;

export class UsageCounts {
  /** What is not written down yet, by the name of the period. */
  readonly #pending = new Map<string, Period>();
  #store: UsageStore | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;

  constructor(private readonly now: () => number = Date.now) {}

  open(store: UsageStore): void {
    this.#store = store;
    this.#timer = setInterval(() => void this.write(), PAUSE).unref();
  }

  /** Counts a request of a known key. */
  count({ account, key, status, cache, rows = 0, billed = 0n }: CompletedRequest): void {
    const name = account ?? key;
    if (name === undefined) return;
    const now = this.now();
    const group = groupOf(name);
    const used = {
      requests: 1,
      hits: cache === 'hit' || cache === 'stale' ? 1 : 0,
      rows,
      bytesBilled: Number(billed),
      errors: status < 400 ? {} : { [status]: 1 },
    };
    add(this.#period(nameOf('hour', now)), group, used);
    const day = this.#period(nameOf('day', now));
    add(day, group, used);
    if (group !== name) add(day, name, used);
  }

  /** Writes down what is counted; what cannot be written is kept for the next time. */
  async write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = null));
    await this.#writing;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.write();
  }

  /** All that is known, the newest first. @throws ServiceError backendUnavailable */
  async rows(): Promise<readonly UsageRow[]> {
    await this.write();
    const names = this.#names();
    const reading = this.#store?.read(names) ?? Promise.resolve(names.map(() => null));
    const texts = await reading.catch(() => {
      throw new ServiceError('backendUnavailable', 'What was used cannot be read at the moment.', {
        retryAfter: 5,
      });
    });
    return names.flatMap((name, i) => {
      const period = read(texts[i] ?? null);
      for (const [account, used] of this.#pending.get(name) ?? []) add(period, account, used);
      return [...bounded(period)].map(([account, used]) => rowOf(name, account, used));
    });
  }

  async #writeAll(): Promise<void> {
    const store = this.#store;
    if (store === null) return;
    for (const [name, counted] of [...this.#pending]) {
      this.#pending.delete(name);
      const written = await this.#add(store, name, counted).catch(() => false);
      if (written || !this.#names().includes(name)) continue;
      const since = this.#period(name);
      for (const [account, used] of bounded(counted)) add(since, account, used);
    }
  }

  async #add(store: UsageStore, name: string, counted: Period): Promise<boolean> {
    const seconds = KEPT[name.startsWith('hour') ? 'hour' : 'day'] / 1000 + DAY / 1000;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [before = null] = await store.read([name]);
      const period = read(before);
      for (const [account, used] of counted) add(period, account, used);
      if (await store.replace(name, before, JSON.stringify([...bounded(period)]), seconds)) return true;
    }
    return false;
  }

  #period(name: string): Period {
    const period = this.#pending.get(name) ?? new Map<string, Used>();
    this.#pending.set(name, period);
    return period;
  }

  #names(): string[] {
    const now = this.now();
    const back = (unit: 'hour' | 'day', step: number): string[] =>
      Array.from({ length: KEPT[unit] / step }, (_, i) => nameOf(unit, now - i * step));
    return [...back('hour', HOUR), ...back('day', DAY)];
  }
}

/** `hour-2026-11-29T14`, `day-2026-11-29` */
function nameOf(unit: 'hour' | 'day', time: number): string {
  return `${unit}-${new Date(time).toISOString().slice(0, unit === 'hour' ? 13 : 10)}`;
}

function read(text: string | null): Period {
  return new Map(text === null ? [] : (JSON.parse(text) as [string, Used][]));
}

function add(period: Period, account: string, { requests, hits, rows, bytesBilled, errors }: Used): void {
  const before = period.get(account) ?? { requests: 0, hits: 0, rows: 0, bytesBilled: 0, errors: {} };
  before.requests += requests;
  before.hits += hits;
  before.rows += rows;
  before.bytesBilled += bytesBilled;
  for (const [status, count] of Object.entries(errors)) before.errors[status] = (before.errors[status] ?? 0) + count;
  period.set(account, before);
}

/** Those with most bytes, and the others as one of each entry. */
function bounded(period: Period): Period {
  const isSubject = ([account]: readonly [string, Used]): boolean => groupOf(account) !== account;
  const isOthers = ([account]: readonly [string, Used]): boolean =>
    account === OTHERS || account.endsWith(`/${OTHERS}`);
  const named = [...period].filter((one) => !isOthers(one));
  const all = named.sort(([, a], [, b]) => b.bytesBilled - a.bytesBilled || b.requests - a.requests);
  const [keys, subjects] = [all.filter((one) => !isSubject(one)), all.filter(isSubject)];
  const kept: Period = new Map([...keys.slice(0, MOST.keys), ...subjects.slice(0, MOST.subjects)]);
  for (const [, used] of keys.slice(MOST.keys)) add(kept, OTHERS, used);
  for (const [account, used] of subjects.slice(MOST.subjects)) add(kept, `${groupOf(account)}/${OTHERS}`, used);
  for (const [account, used] of [...period].filter(isOthers)) add(kept, account, used);
  return kept;
}

function rowOf(name: string, account: string, { requests, hits, rows, bytesBilled, errors }: Used): UsageRow {
  const [, period = '', time = ''] = /^(hour|day)-(.*)$/.exec(name) ?? [];
  const key = groupOf(account);
  return {
    period: period === 'hour' ? 'hour' : 'day',
    from: period === 'hour' ? `${time}:00:00Z` : `${time}T00:00:00Z`,
    key,
    subject: account === key ? null : account.slice(key.length + 1),
    requests,
    hits,
    rows,
    bytes_billed: bytesBilled,
    errors: Object.values(errors).reduce((sum, count) => sum + count, 0),
    statuses: Object.entries(errors)
      .map(([status, count]) => `${status}: ${String(count)}`)
      .join(', '),
  };
}

const REPLACE = script(`
  if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1
`);

/** Of all processes, in Redis. */
export class RedisUsage implements UsageStore {
  constructor(private readonly redis: Pick<RedisConnection, 'prefix' | 'run'>) {}

  async read(names: readonly string[]): Promise<readonly (string | null)[]> {
    const texts: (string | null)[] = [];
    // One after the other: each has the time of a command.
    for (const name of names) texts.push(await this.redis.run((client) => client.get(this.#key(name))));
    return texts;
  }

  async replace(name: string, before: string | null, after: string, seconds: number): Promise<boolean> {
    const values = [before ?? '', after, seconds];
    return (await this.redis.run((client) => evaluate(client, REPLACE, [this.#key(name)], values))) === 1;
  }

  #key(name: string): string {
    return `${this.redis.prefix}:used:${name}`;
  }
}

/** Of this process alone, in a folder. */
export class UsageFolder implements UsageStore {
  constructor(private readonly folder: string) {}

  read(names: readonly string[]): Promise<readonly (string | null)[]> {
    return Promise.all(names.map((name) => readFile(this.#file(name), 'utf8').catch(ignoreMissing))).then((texts) =>
      texts.map((text) => text ?? null),
    );
  }

  async replace(name: string, before: string | null, after: string): Promise<boolean> {
    await mkdir(this.folder, { recursive: true });
    await replaceFile(this.#file(name), after);
    // With a new period an old one goes.
    if (before === null) await this.#removeOld();
    return true;
  }

  async #removeOld(): Promise<void> {
    const names = await readdir(this.folder);
    for (const unit of ['hour', 'day'] as const) {
      const oldest = `${nameOf(unit, Date.now() - KEPT[unit] - DAY)}.json`;
      const old = names.filter((name) => name.startsWith(`${unit}-`) && name < oldest);
      await Promise.all(old.map((name) => unlink(path.join(this.folder, name)).catch(ignoreMissing)));
    }
  }

  #file(name: string): string {
    return path.join(this.folder, `${name}.json`);
  }
}
