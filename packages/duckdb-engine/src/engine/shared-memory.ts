import type { DuckDBInstance } from '@duckdb/node-api';

import { LRUCache } from 'lru-cache';

import { abortError, raceLimits, type RunLimits } from '../concurrency/deadline';
import { ServiceError } from '../contract/service-error';
import { OUT_OF_MEMORY } from '../contract/execution-faults';
import { messageOf } from './native-error';

/** At the beginning alone: what follows can be a value of a row. */
const SHORTAGE = /^(?:Out of Memory Error|(?:[\w -]{1,40} Error: )?(?:failed to allocate|(?:std::)?bad_alloc))/i;
/**
 * What queries hold, without stored tables: of these DuckDB drops what it can read again. Temporary tables of queries are among those in
 * memory, where the rows that are not stored yet are a small part (`MOST_TAILS`).
 */
const HELD = `SELECT COALESCE(SUM(memory_usage_bytes), 0)::DOUBLE FROM duckdb_memory()
  WHERE tag NOT IN ('BASE_TABLE', 'METADATA')`;
/** How often a query is run that finds no memory beside others: where an older one did not either, and otherwise. */
const MOST_RUNS = { besideOlder: 6, beside: 4 };
/** Keys whose queries were refused for their memory: how many are remembered, and for how long, in milliseconds. */
const REMEMBERED = { max: 1000, ttl: 5 * 60_000 };
/** So many of its queries within that time, and those of a key are run once. */
const GREEDY = 3;

/** DuckDB failed while rows were read, and a second run of the same did not: what was lacking the first time is there again. */
export class PassingFailure extends Error {}

export function isShortage(error: unknown): boolean {
  return error instanceof PassingFailure || SHORTAGE.test(messageOf(error));
}

/** The caller's error of a query that finds no memory. */
export class OutOfMemory extends ServiceError {
  constructor() {
    super('resourcesExceeded', OUT_OF_MEMORY);
  }
}

interface Running {
  readonly keyName: string;
  /** Milliseconds of `performance.now()`. */
  readonly since: number;
  readonly cancel: AbortController;
  readonly isRepeatable: () => boolean;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** It is ended so that another finds memory; resolves with whether it held what that lacked. */
  verdict: Promise<boolean> | null;
  /** Resolves when the other has ended, and all of its runs. */
  otherIsOver: Promise<void>;
  /** Whether another ran at the same time. */
  isBeside: boolean;
  /** Others that ran at the same time found no memory: of them the oldest, by `since`. */
  shortBeside: number | null;
}

/**
 * The memory of one database. DuckDB bounds that of all queries together and fails whichever asks next: a query that finds none is not
 * for that reason one that takes too much. It is run again, and what holds more than half of the memory meanwhile is ended if it is
 * another key's: to be run once more when the other has ended, and refused the next time (docs/decisions/engine-process.md).
 */
export class SharedMemory {
  readonly #running = new Set<Running>();
  /** How many queries of each key were refused for their memory. */
  readonly #refused = new LRUCache<string, number>(REMEMBERED);
  /** Of each query that is run again, resolves when it has ended; and its key. Keys that were refused more often wait for these. */
  readonly #recovering = new Map<Promise<void>, string>();

  /** @param limit bytes that all queries may have together */
  constructor(
    private readonly instance: DuckDBInstance,
    private readonly limit: number,
  ) {}

  /**
   * Runs `work`, again where others may have taken its memory. Settles when it has really ended.
   *
   * @param isRepeatable whether nothing of it has reached anybody
   * @throws ServiceError `resourcesExceeded` where it was ended for others; else what `work` throws
   */
  async share<T>(limits: RunLimits, work: (limits: RunLimits) => Promise<T>, isRepeatable: () => boolean): Promise<T> {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const { keyName = '' } = limits;
    try {
      for (const [other, itsKey] of [...this.#recovering]) {
        if (this.#refusals(itsKey) < this.#refusals(keyName)) await ended(other, limits);
      }
      return await this.#share(limits, work, isRepeatable, over);
    } catch (error) {
      if (isShortage(error) || error instanceof OutOfMemory) {
        this.#refused.set(keyName, this.#refusals(keyName) + 1);
      }
      throw error;
    } finally {
      this.#recovering.delete(over);
      end();
    }
  }

  /** @param over resolves when this has ended */
  async #share<T>(
    limits: RunLimits,
    work: (limits: RunLimits) => Promise<T>,
    isRepeatable: () => boolean,
    over: Promise<void>,
  ): Promise<T> {
    let isWarned = false;
    for (let runs = 1; ; runs++) {
      const { running, leave } = this.#enter(limits, isRepeatable);
      try {
        return await work({ ...limits, signal: running.cancel.signal });
      } catch (error) {
        leave();
        if (running.verdict !== null) {
          const isHolder = await running.verdict;
          if (!isRepeatable() || (isHolder && isWarned)) throw new OutOfMemory();
          if (isHolder) await ended(running.otherIsOver, limits);
          isWarned ||= isHolder;
          continue;
        }
        if (!isShortage(error)) throw error;
        for (const other of this.#running) other.shortBeside = Math.min(other.shortBeside ?? Infinity, running.since);
        if (!isRepeatable() || limits.signal.aborted) throw error;
        this.#recovering.set(over, running.keyName);
        if (!(await this.#mayTryAgain(running, limits, runs, over))) throw error;
      } finally {
        leave();
      }
    }
  }

  #enter(limits: RunLimits, isRepeatable: () => boolean): { running: Running; leave: () => void } {
    const cancel = new AbortController();
    const forward = (): void => cancel.abort(limits.signal.reason);
    let settle = (): void => undefined;
    const running: Running = {
      keyName: limits.keyName ?? '',
      since: performance.now(),
      cancel,
      isRepeatable,
      ended: new Promise((resolve) => (settle = resolve)),
      verdict: null,
      otherIsOver: Promise.resolve(),
      isBeside: this.#running.size > 0,
      shortBeside: null,
    };
    for (const other of this.#running) other.isBeside = true;
    this.#running.add(running);
    limits.signal.addEventListener('abort', forward);
    if (limits.signal.aborted) forward();
    const leave = (): void => {
      limits.signal.removeEventListener('abort', forward);
      this.#running.delete(running);
      settle();
    };
    return { running, leave };
  }

  /**
   * Resolves when there should be memory again, with whether a query that found none may be run again.
   *
   * @param over resolves when all of its runs have ended
   * @throws as raceLimits
   */
  async #mayTryAgain(
    { keyName, since, isBeside, shortBeside }: Running,
    limits: RunLimits,
    runs: number,
    over: Promise<void>,
  ): Promise<boolean> {
    let waited = false;
    for (let held = await this.#held(); held > this.limit / 2; held = await this.#held()) {
      const holder = this.#likeliest();
      if (holder === null) break;
      // Who was refused before waits: so nobody can go on having queries of others ended.
      if (holder.keyName !== keyName && !this.#refused.has(keyName)) this.#end(holder, held, over);
      await ended(holder.ended, limits);
      waited = true;
    }
    if (waited) return true;
    if (shortBeside !== null && shortBeside < since) return runs < MOST_RUNS.besideOlder;
    if (!isBeside || this.#isGreedy(keyName) || runs >= MOST_RUNS.beside) return false;
    for (const other of [...this.#running]) await ended(other.ended, limits);
    return true;
  }

  #isGreedy(keyName: string): boolean {
    return this.#refusals(keyName) >= GREEDY;
  }

  #refusals(keyName: string): number {
    return this.#refused.get(keyName) ?? 0;
  }

  /** Which query holds how much is not known: the oldest, one of which nobody has rows yet if there is one. */
  #likeliest(): Running | null {
    const running = [...this.#running];
    return running.find(({ isRepeatable }) => isRepeatable()) ?? running[0] ?? null;
  }

  #end(running: Running, held: number, over: Promise<void>): void {
    if (running.verdict !== null) return;
    running.otherIsOver = over;
    running.verdict = running.ended
      .then(() => this.#held())
      .then((left) => Math.min(held, this.limit) - left > this.limit / 4)
      .catch(() => true);
    running.cancel.abort(abortError());
  }

  /** Bytes. */
  async #held(): Promise<number> {
    const connection = await this.instance.connect();
    try {
      const [row] = (await connection.runAndReadAll(HELD)).getRows();
      return Number(row?.[0]);
    } catch (error) {
      if (isShortage(error)) return Infinity;
      throw error;
    } finally {
      connection.closeSync();
    }
  }
}

function ended(promise: Promise<void>, limits: RunLimits): Promise<void> {
  return raceLimits(
    limits,
    () => promise,
    () => undefined,
  );
}
