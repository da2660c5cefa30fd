/** Rows of a query as they arrive where no engine announces them: they are queried again and again, and given once. */
import { createHash, randomUUID } from 'node:crypto';

import type { RunLimits } from '../../concurrency/deadline';
import { yieldToEventLoop } from '../../concurrency/event-loop';
import type { ArrivedRange } from '../../engines/contract';
import { ServiceError } from '../../errors';
import { readMembers } from '../../rendering/members';
import { refused } from './cursor';
import type { TailQuery } from './tail-query';
import type { ArrivingRows, Polling, TailRows } from './types';

/** Microseconds for which a row may be late: each query looks so far back behind the one before. */
const LATENESS = 120_000_000n;
/** Rows that one query may give, those that were given before among them. */
const MOST_ROWS = 10_000;
/** UTF-16 units of rows, and milliseconds, within which they are remembered for clients that come again. */
const REMEMBERED = 2 * 1024 * 1024;
const RECENT = 60_000;
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

  /** @param interval milliseconds between two queries @param now microseconds since the epoch */
  constructor(
    private readonly query: TailQuery,
    readonly interval: number,
    private readonly now: () => bigint,
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
  #queued(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #look(limits: RunLimits): Promise<void> {
    const first = this.#upTo === null;
    const clock = this.now();
    const upTo = this.#upTo !== null && this.#upTo > clock ? this.#upTo : clock;
    const after = (this.#upTo ?? upTo) - LATENESS;
    const { columns, rows } = await this.query.between(after, upTo, MOST_ROWS, limits);
    if (!columns.some(({ name }) => name === 'id')) throw withoutId();
    const keys = await keysOf(rows);
    const isNew = keys.map((key) => !this.#found.has(key));
    const fresh = first ? [] : rows.filter((_, i) => isNew[i]);
    const visible = await this.query.visible(columns, fresh, limits);
    // From here on nothing fails: what was not given is found again.
    let number = this.#count;
    for (const [i, key] of keys.entries()) {
      if (isNew[i]) this.#found.set(key, { number: first ? 0 : ++number, upTo });
    }
    for (const [key, found] of this.#found) {
      if (found.upTo > after) break;
      this.#found.delete(key);
    }
    this.#remember(visible);
    this.#upTo = upTo;
    this.#at = performance.now();
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

function withoutId(): ServiceError {
  return new ServiceError('invalidQuery', 'The rows of a live tail on BigQuery need the column id.', {
    hint: 'Select id, as the table has it.',
  });
}
