/** Processes that share results, in one: what `open.ts` opens for each, and runs that a test ends as it likes. */
import type { Identity } from '../../src/cache/stores';
import { MemoryStore } from '../../src/cache/memory';
import { type CacheRequest, type CacheResult, type RunResult, Results } from '../../src/cache/results';
import type { RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import type { Clock } from '../../packages/duckdb-engine/src/concurrency/clock';
import { abortError } from '../../packages/duckdb-engine/src/concurrency/deadline';
import { EncodedResponse } from '../../src/rendering/encoded-response';
import { until } from '../until';
import { type OpenedRedis, openTestRedis } from './opened';

/** Milliseconds: no lease of a process that lives ends by itself within a test. */
const LEASE = 60_000;

/** Bytes of one entry, in every store. */
export const MAX_ENTRY = 100_000;

/** A run that a test ends. It ends by itself when it is aborted, as those of engines do. */
export class Run {
  readonly ended: Promise<RunResult>;
  #finish!: (result: RunResult) => void;
  #fail!: (error: unknown) => void;

  constructor(
    readonly limits: RunLimits,
    /** The process that it runs in. */
    readonly by: Process,
  ) {
    this.ended = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    this.ended.catch(() => undefined);
    limits.signal.addEventListener('abort', () => this.#fail(abortError()), { once: true });
    if (limits.signal.aborted) this.#fail(abortError());
  }

  get aborted(): boolean {
    return this.limits.signal.aborted;
  }

  finish(text: string): void {
    const response = new EncodedResponse(Buffer.from(text), 'application/json', false);
    this.#finish({ response, bytesProcessed: 7n, bytesBilled: 10n });
  }

  fail(error: unknown): void {
    this.#fail(error);
  }
}

/** Runs of all processes of a test, in the order in which they began. */
export class Runs {
  readonly begun: Run[] = [];

  begin(limits: RunLimits, by: Process): Promise<RunResult> {
    const run = new Run(limits, by);
    this.begun.push(run);
    return run.ended;
  }

  /** The run of that number, from 0, when it has begun. */
  async nth(number: number): Promise<Run> {
    await until(() => this.begun.length > number);
    const run = this.begun[number];
    if (run === undefined) throw new Error('It has begun.');
    return run;
  }
}

export type Asking = Partial<Omit<CacheRequest, 'limits'>> & {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly within?: number;
};

export interface ProcessOptions {
  readonly redis?: OpenedRedis | null;
  /** Bytes. */
  readonly memory?: number;
  /** Milliseconds. */
  readonly staleIfError?: number;
  /** Milliseconds of a lease. */
  readonly leaseTime?: number;
  /** Milliseconds between two renewals; a third of the lease time unless given. */
  readonly renewal?: number;
  /** Whether its leases are never renewed, as those of a process that has died or hangs. */
  readonly dead?: boolean;
}

export class Process {
  readonly results: Results;
  readonly memory: MemoryStore;
  readonly redis: OpenedRedis | null;

  constructor(
    readonly runs: Runs,
    { redis = null, memory = 8_000_000, staleIfError = 60_000, leaseTime = LEASE, ...options }: ProcessOptions = {},
  ) {
    this.redis = redis;
    this.memory = new MemoryStore({ bytes: memory, maxEntry: MAX_ENTRY });
    const renewal = options.dead === true ? 3_600_000 : (options.renewal ?? leaseTime / 3);
    this.results = new Results({
      memory: this.memory,
      shared: redis?.store ?? null,
      staleIfError,
      leaseTime: 3 * renewal,
    });
  }

  ask(identity: Identity, asking: Asking = {}): Promise<CacheResult> {
    return this.results.get(this.request(identity, asking));
  }

  request(identity: Identity, { signal, within = 30_000, ...more }: Asking = {}): CacheRequest {
    return {
      identity,
      ttl: 60_000,
      timeout: 30_000,
      payer: 'somebody',
      run: (limits) => this.runs.begin(limits, this),
      limits: { deadline: performance.now() + within, signal: signal ?? new AbortController().signal },
      ...more,
    };
  }

  async close(): Promise<void> {
    await this.results.close();
    await this.redis?.close();
  }
}

/** Opens processes on one Redis, connected, or one that is alone; `close` closes all of them. */
export class Stage {
  readonly runs = new Runs();
  readonly #open: Process[] = [];

  /** @param url null: it is alone */
  async open(
    url: string | null,
    options: ProcessOptions & { readonly timeout?: number; /** Of Redis. */ readonly clock?: Clock } = {},
  ): Promise<Process> {
    const { timeout = 30_000, leaseTime = LEASE, clock } = options;
    const more = clock === undefined ? {} : { clock };
    const redis = url === null ? null : openTestRedis(url, { leaseTime, timeout, maxEntry: MAX_ENTRY, ...more });
    await redis?.connection.tried;
    const process = new Process(this.runs, { redis, ...options });
    this.#open.push(process);
    return process;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((process) => process.close()));
  }
}

/** What a promise rejects with. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
