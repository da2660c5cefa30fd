/** Rows of a query as they arrive where no engine announces them: they are queried again and again, and given once. */
import { createHash, randomUUID } from 'node:crypto';

import type { RunLimits } from '../../concurrency/deadline';
import { yieldToEventLoop } from '../../concurrency/event-loop';
import type { ArrivedRange } from '../../engines/contract';
import { ServiceError } from '../../errors';
import { readMembers } from '../../rendering/members';
import { refused, type TailPosition } from './cursor';
import { digestOf, givenAt, type PlaceRecords, RECORDED, type RecordedLook } from './places';
import { byTime, type TailQuery } from './tail-query';
import type { ArrivingRows, Polling, TailRows } from './types';

/** Microseconds for which a row may be late: each query looks so far back behind the one before. */
const LATENESS = 120_000_000n;
/** Rows that one query may give, those that were given before among them. */
const MOST_ROWS = 10_000;
/** UTF-16 units of rows, and milliseconds, within which they are remembered for clients that come again. */
const REMEMBERED = 2 * 1024 * 1024;
const RECENT = 60_000;
/** Milliseconds of looks that are recorded for other processes, beside those in which rows may be late. */
const RECORDED_LOOKS = 300_000;
/** UTF-16 units of the lists that are recorded within an hour for clients that resume. */
const MOST_RESUMED = 8 * 1024 * 1024;
/** UTF-16 units of rows that are read in one turn of the event loop. */
const AT_ONCE = 128 * 1024;
/** UTF-16 units of an id that is remembered as it is. */
const SHORT = 64;

/** Rows that one query has found. */
interface Batch {
  /** Rows before the first of them. */
  readonly after: number;
  readonly rows: readonly string[];
  readonly units: number;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** A row that was found. */
interface Found {
  /** Which row that was; 0: before the first that arrived. */
  readonly number: number;
  /** Its time is not later, in microseconds. */
  readonly upTo: bigint;
}

export class PolledRows implements ArrivingRows, Polling {
  readonly polling = this;
  readonly #epoch = randomUUID();
  readonly #found = new Map<string, Found>();
  readonly #batches: Batch[] = [];
  #count = 0;
  /** Up to when rows were asked for, in microseconds; null: never. */
  #upTo: bigint | null = null;
  /** Of the last query; milliseconds of `performance.now()`. */
  #at = -Infinity;
  #last: Promise<void> = Promise.resolve();
  /** Lists that were recorded for clients that resumed; milliseconds of `performance.now()`, and UTF-16 units. */
  readonly #resumed = new Map<string, { readonly at: number; readonly units: number }>();
  /** Looks that could not be recorded yet. */
  #unrecorded: RecordedLook[] = [];

  /**
   * @param interval milliseconds between two queries @param now microseconds since the epoch
   * @param records null: places are good in this process alone @param mostResumed UTF-16 units within an hour
   */
  constructor(
    private readonly query: TailQuery,
    readonly interval: number,
    private readonly now: () => bigint,
    private readonly records: PlaceRecords | null,
    private readonly mostResumed = MOST_RESUMED,
  ) {}

  get plan(): TailQuery['plan'] {
    return this.query.plan;
  }

  get table(): string {
    return this.query.table;
  }

  get timeout(): number {
    return this.query.timeout;
  }

  get end(): { readonly epoch: string; readonly count: number } {
    return { epoch: this.#epoch, count: this.#count };
  }

  look(limits: RunLimits): Promise<void> {
    return this.#queued(() => this.#look(limits));
  }

  catchUp(limits: RunLimits): Promise<void> {
    return this.#queued(async () => {
      if (performance.now() - this.#at > this.interval) await this.#look(limits);
    });
  }

  rows({ epoch, after, upTo }: Omit<ArrivedRange, 'table'>): Promise<TailRows> {
    const first = this.#batches[0]?.after ?? this.#count;
    if (epoch !== this.#epoch || after < first) {
      return Promise.reject(refused('The Last-Event-ID is not known any more.'));
    }
    const rows = this.#batches.flatMap((batch) => batch.rows).slice(after - first, upTo - first);
    return Promise.resolve({ rows, upTo, epoch });
  }

  async goOn(from: TailPosition, limits: RunLimits): Promise<TailRows> {
    const { epoch, after, given } = from;
    const first = this.#batches[0]?.after ?? this.#count;
    if (epoch !== this.#epoch || after < first) return this.#queued(() => this.#goOnFromRecords(from, limits));
    // An evaluation of which some rows were given is repeated as it was.
    const upTo = given > 0 ? from.upTo : Math.max(after, this.#count);
    const result = await this.rows({ epoch, after, upTo, whole: given > 0 });
    return { ...result, rows: result.rows.slice(given) };
  }

  /** What was not given there: whatever is there now, without that and what comes as it arrives. */
  async #goOnFromRecords({ epoch, after, given }: TailPosition, limits: RunLimits): Promise<TailRows> {
    const looks = (await this.records?.read(epoch).catch(unavailable)) ?? [];
    const before = givenAt(looks, after + given, LATENESS);
    if (before === null) throw refused('The Last-Event-ID is not known any more.');
    if (performance.now() - this.#at > this.interval) await this.#look(limits);
    const count = this.#count;
    const { columns, rows } = await this.query
      .between(before.upTo - LATENESS, this.#now, MOST_ROWS, limits)
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.reason !== 'resourcesExceeded') throw error;
        throw refused('More rows have arrived since the Last-Event-ID than a live tail gives.');
      });
    await this.#look(limits);
    const keys = await keysOf(rows);
    const isMissing = (key: string): boolean =>
      !before.keys.has(digestOf(key)) && (this.#found.get(key)?.number ?? 0) <= count;
    const missing = await byTime(rows.filter((_, i) => isMissing(keys[i]!)));
    const upTo = Number(before.upTo);
    const digests = (await keysOf(missing)).map(digestOf);
    const within = await this.#recordResumed([
      { upTo, before: 0, keys: [], there: [...before.keys] },
      { upTo, before: 0, keys: digests, there: null },
    ]);
    return { rows: await this.query.visible(columns, missing, limits), upTo: count, epoch: this.#epoch, within };
  }

  /**
   * Records what a client gets that resumes: all that get the same have one list. Lists of other content are bounded, as
   * whoever resumes again and again would fill the store with them.
   *
   * @returns the list's name
   * @throws ServiceError backendUnavailable
   */
  async #recordResumed(looks: readonly RecordedLook[]): Promise<string> {
    const text = JSON.stringify(looks);
    const name = createHash('sha256').update(text).digest('hex');
    const now = performance.now();
    for (const [other, { at }] of this.#resumed) if (now - at > RECORDED) this.#resumed.delete(other);
    // A single row is given as a whole, or not.
    if (this.records === null || this.#resumed.has(name) || (looks.at(-1)?.keys.length ?? 0) < 2) return name;
    const units = [...this.#resumed.values()].reduce((sum, list) => sum + list.units, text.length);
    if (units > this.mostResumed) {
      const message = 'Too many clients have resumed this live tail at other places within the last hour.';
      throw new ServiceError('backendUnavailable', message, { retryAfter: 60 });
    }
    this.#resumed.set(name, { at: now, units: text.length });
    await this.records.append(name, looks, looks.length).catch((error: unknown) => {
      this.#resumed.delete(name);
      return unavailable(error);
    });
    return name;
  }

  /** What comes after it in the same query comes as it arrives: those rows are left out. */
  async rowsBefore(limits: RunLimits): Promise<TailRows> {
    await this.catchUp(limits);
    const { epoch, count } = this.end;
    const { columns, rows } = await this.query.before(this.now(), limits);
    await this.look(limits);
    const keys = await keysOf(rows);
    const before = rows.filter((_, i) => (this.#found.get(keys[i]!)?.number ?? 0) <= count);
    return { rows: await this.query.visible(columns, before, limits), upTo: count, epoch };
  }

  /** One query at a time: each begins where the one before has ended. */
  #queued<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** Never before rows were asked for last. */
  get #now(): bigint {
    const clock = this.now();
    return this.#upTo !== null && this.#upTo > clock ? this.#upTo : clock;
  }

  async #look(limits: RunLimits): Promise<void> {
    const first = this.#upTo === null;
    const upTo = this.#now;
    const after = (this.#upTo ?? upTo) - LATENESS;
    const { columns, rows } = await this.query.between(after, upTo, MOST_ROWS, limits);
    if (!columns.some(({ name }) => name === 'id')) throw withoutId();
    const keys = await keysOf(rows);
    const fresh = first ? [] : await byTime(rows.filter((_, i) => !this.#found.has(keys[i]!)));
    const freshKeys = await keysOf(fresh);
    const visible = await this.query.visible(columns, fresh, limits);
    await this.#record({
      upTo: Number(upTo),
      before: this.#count,
      keys: freshKeys.map(digestOf),
      there: first ? keys.map(digestOf) : null,
    });
    // From here on nothing fails: what was not given is found again.
    if (first) for (const key of keys) this.#found.set(key, { number: 0, upTo });
    for (const [i, key] of freshKeys.entries()) this.#found.set(key, { number: this.#count + i + 1, upTo });
    for (const [key, found] of this.#found) {
      if (found.upTo > after) break;
      this.#found.delete(key);
    }
    this.#remember(visible);
    this.#upTo = upTo;
    this.#at = performance.now();
  }

  /** What cannot be recorded is recorded with the next look: until then its places are good here alone. */
  async #record(look: RecordedLook): Promise<void> {
    if (this.records === null) return;
    const most = Math.ceil((Number(LATENESS) / 1000 + RECORDED_LOOKS) / this.interval) + 2;
    this.#unrecorded = [...this.#unrecorded, look].slice(-most);
    const looks = this.#unrecorded;
    try {
      await this.records.append(this.#epoch, looks, most);
      this.#unrecorded = [];
    } catch {
      // Whoever keeps the records counts their failures.
    }
  }

  #remember(rows: readonly string[]): void {
    const now = performance.now();
    if (rows.length > 0) {
      const units = rows.reduce((sum, row) => sum + row.length, 0);
      this.#batches.push({ after: this.#count, rows, units, at: now });
      this.#count += rows.length;
    }
    let units = this.#batches.reduce((sum, batch) => sum + batch.units, 0);
    for (let [oldest] = this.#batches; oldest !== undefined; [oldest] = this.#batches) {
      if (units <= REMEMBERED || now - oldest.at < RECENT) break;
      units -= oldest.units;
      this.#batches.shift();
    }
  }
}

async function keysOf(rows: readonly string[]): Promise<readonly string[]> {
  const keys: string[] = [];
  let units = 0;
  for (const row of rows) {
    if ((units += row.length) > AT_ONCE) {
      units = 0;
      await yieldToEventLoop();
    }
    keys.push(keyOf(row));
  }
  return keys;
}

/** What tells a row from others: its id, and its time where it has one. */
function keyOf(row: string): string {
  const members = readMembers(row);
  const valueOf = (wanted: string): string => members.find(({ name }) => name === wanted)?.json ?? 'null';
  const id = valueOf('id');
  const key = id === 'null' ? row : `${id} ${valueOf('timestamp')}`;
  return key.length <= SHORT ? key : createHash('sha256').update(key).digest('base64');
}

/** For `catch`: the place may be known when it is tried again. */
function unavailable(cause: unknown): never {
  const message = 'Places of live tails cannot be read at the moment.';
  throw new ServiceError('backendUnavailable', message, { retryAfter: 1 }, { cause });
}

function withoutId(): ServiceError {
  return new ServiceError('invalidQuery', 'The rows of a live tail on BigQuery need the column id.', {
    hint: 'Select id, as the table has it.',
  });
}
