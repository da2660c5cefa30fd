/** Refreshes cached results before they expire, while they are in use (docs/cache.md). */
import { createHash } from 'node:crypto';

import { type Clock, SYSTEM_CLOCK } from '@logquay/duckdb-engine/concurrency';
import type { HoldOff } from './results';
import type { InUse, Usage, UsageBook } from './usage';

/** Milliseconds between two rounds, and until the first; up to a fifth is added at random. */
const LONGEST_PAUSE = 5000;
const SHORTEST_PAUSE = 200;
const ROUNDS_PER_INTERVAL = 10;

/** Refreshes at a time. */
const AT_ONCE = 2;

/** Intervals of different results are shortened by up to this part, to spread their refreshes. */
const SPREAD = 0.1;

/** After a failure a refresh is held off for this part of its interval, doubled with each further failure up to the maximum. */
const FIRST_HOLD_OFF = 0.25;
const LONGEST_HOLD_OFF = 3_600_000;

/** The outcome of a refresh; `gone`: its endpoint or key no longer exists. */
export type Refreshed =
  | {
      readonly outcome: 'not due';
      /** Of the current entry, milliseconds since the epoch. */ readonly createdAt: number;
    }
  | { readonly outcome: 'refreshed' | 'busy' | 'gone' };

export type WarmingOutcome = Refreshed['outcome'] | 'failed';

export interface WarmerOptions {
  readonly usage: UsageBook;
  /** Milliseconds of an endpoint's `cache_ttl` and `cache_warming`; null: it is not warmed (any more). */
  readonly intervals: (endpointId: string) => { readonly ttl: number; readonly warming: number } | null;
  /** The shortest `cache_warming` of all and the longest `cache_ttl`; null: nothing is warmed. */
  readonly bounds: () => { readonly shortest: number; readonly longestTtl: number } | null;
  /**
   * Refreshes a result unless the current one was created within `age` milliseconds.
   *
   * @throws what the run rejects with
   */
  readonly refresh: (usage: Usage, age: number, holdOff: HoldOff, signal: AbortSignal) => Promise<Refreshed>;
  /** Results that are kept warm. */
  readonly most: number;
  readonly onOutcome: (outcome: WarmingOutcome, error: unknown) => void;
  readonly clock?: Clock;
}

export class Warmer {
  /** When this process next refreshes a result, in milliseconds since the epoch, by hash. */
  #next = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #clock: Clock;
  #cancelTimer = (): void => undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(private readonly options: WarmerOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  /** Results that this process keeps warm. */
  get warmed(): number {
    return this.#next.size;
  }

  start(): void {
    if (this.options.most > 0) this.#schedule();
  }

  /** Cancels refreshes in flight and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    await this.#round;
  }

  #schedule(): void {
    if (this.#stopping.signal.aborted) return;
    const shortest = this.options.bounds()?.shortest ?? Infinity;
    const pause = Math.max(SHORTEST_PAUSE, Math.min(LONGEST_PAUSE, shortest / ROUNDS_PER_INTERVAL));
    this.#cancelTimer = this.#clock.after(
      pause * (1 + Math.random() / 5),
      () => {
        // It failed for want of the shared store: the next round tries again.
        this.#round = this.#runRound()
          .catch(() => undefined)
          .finally(() => this.#schedule());
      },
      true,
    );
  }

  async #runRound(): Promise<void> {
    const bounds = this.options.bounds();
    if (bounds === null) return;
    const inUse = await this.options.usage.inUse(bounds.longestTtl, this.options.most);
    const now = this.#clock.now();
    const due: { readonly one: InUse; readonly warming: number }[] = [];
    const next = new Map<string, number>();
    for (const one of inUse) {
      const { hash, endpointId } = one.usage;
      const intervals = this.options.intervals(endpointId);
      if (intervals === null || one.idle > intervals.ttl) continue;
      const at = this.#next.get(hash) ?? now;
      next.set(hash, at);
      if (at <= now) due.push({ one, warming: intervals.warming });
    }
    this.#next = next;
    const work = due[Symbol.iterator]();
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#refreshAll(work)));
  }

  async #refreshAll(work: Iterable<{ readonly one: InUse; readonly warming: number }>): Promise<void> {
    for (const { one, warming } of work) {
      if (this.#stopping.signal.aborted) return;
      await this.#refresh(one, spread(one.usage.hash, warming), warming);
    }
  }

  async #refresh({ usage, failures }: InUse, age: number, warming: number): Promise<void> {
    const { hash } = usage;
    const book = this.options.usage;
    const pause = Math.min(warming * FIRST_HOLD_OFF * 2 ** Math.min(failures, 20), LONGEST_HOLD_OFF);
    let recorded: Promise<void> | null = null;
    const holdOff: HoldOff = {
      active: () => book.isHeldOff(hash),
      begin: async () => {
        if (!this.#stopping.signal.aborted) await (recorded ??= book.failed(hash, pause).catch(() => undefined));
      },
    };
    let refreshed: Refreshed;
    try {
      refreshed = await this.options.refresh(usage, age, holdOff, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.options.onOutcome('failed', error);
      this.#next.set(hash, this.#clock.now() + pause);
      // It may have failed before it had the lease.
      await holdOff.begin();
      return;
    }
    this.options.onOutcome(refreshed.outcome, null);
    if (refreshed.outcome === 'not due') this.#next.set(hash, refreshed.createdAt + age);
    if (refreshed.outcome === 'refreshed') this.#next.set(hash, this.#clock.now() + age);
    // A failed write to the book does not concern the refresh.
    if (refreshed.outcome === 'gone') await book.forget(hash).catch(() => undefined);
    if (refreshed.outcome === 'refreshed' && failures > 0) await book.succeeded(hash).catch(() => undefined);
  }
}

/** The interval of one result, the same in every process: up to a tenth shorter than `interval`. */
function spread(hash: string, interval: number): number {
  const part = createHash('sha256').update(hash).digest().readUInt32BE(0) / 2 ** 32;
  return interval * (1 - SPREAD * part);
}
