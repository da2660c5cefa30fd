/** Refreshes kept answers before they expire, while somebody uses them (docs/cache.md). */
import { createHash } from 'node:crypto';

import type { InUse, Usage, UsageBook } from './usage';

/** Milliseconds between two looks at what is in use, and until the first; each is made up to a fifth longer by chance. */
const LONGEST_PAUSE = 5000;
const SHORTEST_PAUSE = 200;
const LOOKS_PER_INTERVAL = 10;

/** Refreshes at a time. */
const AT_ONCE = 2;

/** The part of an interval by which refreshes of different answers are spread. */
const SPREAD = 0.1;

/** After a failure a refresh is held off for this part of its interval, twice as long after each more, and at most so long. */
const FIRST_HOLD_OFF = 0.25;
const LONGEST_HOLD_OFF = 3_600_000;

/** What may become of a refresh; `gone`: nobody could be asked, or made to pay, for it any more. */
export type Refreshed =
  | { readonly outcome: 'made' | 'not due'; /** Milliseconds since the epoch. */ readonly made: number }
  | { readonly outcome: 'busy' | 'gone' };

export type WarmingOutcome = Refreshed['outcome'] | 'failed';

export interface WarmerOptions {
  readonly usage: UsageBook;
  /** Milliseconds of an endpoint's `cache_ttl` and `cache_warming`; null: it is not warmed (any more). */
  readonly intervals: (endpointId: string) => { readonly ttl: number; readonly warming: number } | null;
  /** The shortest `cache_warming` of all and the longest `cache_ttl`; null: nothing is warmed. */
  readonly bounds: () => { readonly shortest: number; readonly longestTtl: number } | null;
  /**
   * Makes an answer anew unless the one that there is was made within `age` milliseconds.
   *
   * @throws what the run rejects with
   */
  readonly refresh: (usage: Usage, age: number, signal: AbortSignal) => Promise<Refreshed>;
  /** Answers that are kept warm. */
  readonly most: number;
  readonly told: (outcome: WarmingOutcome, error: unknown) => void;
}

export class Warmer {
  /** When this process next looks after an answer, in milliseconds since the epoch, by hash. */
  #next = new Map<string, number>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(private readonly options: WarmerOptions) {}

  /** Answers that this process looks after. */
  get warmed(): number {
    return this.#next.size;
  }

  start(): void {
    if (this.options.most > 0) this.#plan();
  }

  /** Resolves when nothing is being refreshed any more; what is in flight is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  #plan(): void {
    if (this.#stopping.signal.aborted) return;
    const shortest = this.options.bounds()?.shortest ?? Infinity;
    const pause = Math.max(SHORTEST_PAUSE, Math.min(LONGEST_PAUSE, shortest / LOOKS_PER_INTERVAL));
    this.#timer = setTimeout(
      () => {
        // A round that fails had no shared store to ask; the next one asks again.
        this.#round = this.#look()
          .catch(() => undefined)
          .finally(() => this.#plan());
      },
      pause * (1 + Math.random() / 5),
    ).unref();
  }

  async #look(): Promise<void> {
    const bounds = this.options.bounds();
    if (bounds === null) return;
    const inUse = await this.options.usage.inUse(bounds.longestTtl, this.options.most);
    const now = Date.now();
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
    let refreshed: Refreshed;
    try {
      refreshed = await this.options.refresh(usage, age, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.options.told('failed', error);
      const holdOff = Math.min(warming * FIRST_HOLD_OFF * 2 ** Math.min(failures, 20), LONGEST_HOLD_OFF);
      this.#next.set(hash, Date.now() + holdOff);
      await book.failed(hash, holdOff).catch(ignore);
      return;
    }
    this.options.told(refreshed.outcome, null);
    if ('made' in refreshed) this.#next.set(hash, refreshed.made + age);
    // A book that cannot be written in says nothing of the refresh: it is only read anew later.
    if (refreshed.outcome === 'gone') await book.forget(hash).catch(ignore);
    if (refreshed.outcome === 'made' && failures > 0) await book.succeeded(hash).catch(ignore);
  }
}

function ignore(): void {
  // The next round asks again.
}

/** An answer's own interval, the same in every process: up to a tenth shorter, so that not all are due together. */
function spread(hash: string, interval: number): number {
  const part = createHash('sha256').update(hash).digest().readUInt32BE(0) / 2 ** 32;
  return interval * (1 - SPREAD * part);
}
