/** The life of an answer (docs/cache.md): kept, shared by everybody who asks meanwhile, or made by one run. */
import type { RunLimits } from '../engines/contract';
import { ERRORS, ServiceError } from '../errors';
import { RedisUnavailable } from '../redis/unavailable';
import type { EncodedResponse } from '../rendering/encoded-response';
import { ageOf, type Entry, isFresh } from './entry';
import { type FlightControl, Flights } from './flights';
import type { Identity } from './identity';
import type { MemoryStore } from './memory-store';
import type { Lease, SharedStore } from './stores';
import { takeTurn } from './turn';

/** For how long what this process keeps is taken for what the cluster keeps, in milliseconds. */
const TRUSTED = 5000;

/** How long a stale answer serves after a failed refresh before the next is tried, in milliseconds. */
const HOLD_OFF = 5000;

/** The part of a lifetime by which it is shortened at random, so that what was made together does not expire together. */
const JITTER = 0.1;

/** What a run gives. */
export interface RunResult {
  readonly response: EncodedResponse;
  /** null on an engine that does not bill. */
  readonly bytesProcessed: bigint | null;
  readonly bytesBilled: bigint | null;
}

export interface Ask {
  readonly identity: Identity;
  /** Milliseconds that an answer may be kept; 0: it is shared while it is made, and not kept. */
  readonly ttl: number;
  /** Of who asks. */
  readonly limits: RunLimits;
  /** Milliseconds that a run may take, from its own start. */
  readonly timeout: number;
  /** Who pays for a run that this ask begins. */
  readonly payer: string;
  readonly run: (limits: RunLimits) => Promise<RunResult>;
}

/** How an answer came about (RFC 9211); `collapsed`: by the run of another. */
export type Outcome = 'hit' | 'stale' | 'miss' | 'collapsed';

export interface Answered {
  readonly response: EncodedResponse;
  readonly outcome: Outcome;
  /** Where the answer is kept: seconds since it was made, and of its whole lifetime. */
  readonly kept: { readonly age: number; readonly lifetime: number } | null;
  /** The run that this ask began; null: none. */
  readonly made: RunResult | null;
}

export interface ResultsOptions {
  readonly memory: MemoryStore;
  /** null: this process is alone. */
  readonly shared: SharedStore | null;
  /** Milliseconds that an answer may serve on after its lifetime while refreshing it fails. */
  readonly staleIfError: number;
  /** Milliseconds after which a lease that is not renewed ends. */
  readonly leaseTime: number;
}

/** What a flight brings: an answer, kept or not, and where it comes from. */
interface Landed {
  readonly response: EncodedResponse;
  readonly entry: Entry | null;
  readonly from: { readonly run: RunResult } | 'store' | 'elsewhere';
}

export class Results {
  readonly #flights = new Flights<Landed>();
  /** When an entry was last found to be the cluster's, and until when a stale one serves without another try. */
  readonly #seen = new WeakMap<Entry, number>();
  readonly #heldOff = new WeakMap<Entry, number>();
  /** What goes on behind answers that were given. */
  readonly #behind = new Set<Promise<unknown>>();

  constructor(private readonly options: ResultsOptions) {}

  /** Runs in flight. */
  get flights(): number {
    return this.#flights.size;
  }

  /**
   * Answers from what is kept, else from a run: the one in flight, or a new one.
   *
   * @throws whatever the run rejects with; ServiceError deadlineExceeded and AbortError by the ask's limits
   */
  async answer(ask: Ask): Promise<Answered> {
    if (ask.ttl === 0) return this.#fly(ask, (control) => this.#run(ask, control));
    const known = this.known(ask.identity);
    if (known !== null) return known;
    try {
      return await this.#fly(ask, (control) => this.#make(ask, control));
    } catch (error) {
      const entry = this.#servable(ask.identity);
      if (entry === null || ask.limits.signal.aborted || !outlives(error)) throw error;
      this.#heldOff.set(entry, Date.now() + HOLD_OFF);
      return answered('stale', entry, null);
    }
  }

  /** The answer that this process may give at once; null: it has none. */
  known(identity: Identity): Answered | null {
    const entry = this.#servable(identity);
    if (entry === null) return null;
    const now = Date.now();
    if (!isFresh(entry, now)) {
      return now < (this.#heldOff.get(entry) ?? 0) ? answered('stale', entry, null) : null;
    }
    if (this.options.shared !== null && now - (this.#seen.get(entry) ?? 0) > TRUSTED) {
      this.#seen.set(entry, now);
      this.#follow(this.#catchUp(identity, entry, this.options.shared));
    }
    return answered('hit', entry, null);
  }

  /**
   * Makes an answer anew before it is stale, unless somebody is at it.
   *
   * @param due whether the entry that there is should be replaced
   * @throws as `answer`; RedisUnavailable
   */
  async refresh(ask: Ask, due: (entry: Entry | null) => boolean): Promise<'made' | 'not due' | 'busy'> {
    const { identity } = ask;
    const { memory, shared } = this.options;
    const kept = shared === null ? memory.get(identity) : await shared.read(identity);
    if (!due(kept)) return 'not due';
    if (shared === null) return this.#refreshWith(ask, null);
    const lease = this.#flights.has(identity.hash) ? null : await shared.acquire(identity);
    if (lease === null) return 'busy';
    let outcome: 'made' | 'not due' | 'busy' = 'not due';
    try {
      // Somebody else may have done it between the look and the lease.
      const same = lease.previous === (kept?.fence ?? null);
      if (same || due(await shared.read(identity))) outcome = await this.#refreshWith(ask, lease);
      return outcome;
    } finally {
      // What is made is written first, and gives it back then.
      if (outcome !== 'made') this.#follow(lease.release());
    }
  }

  /** Gives up what is being made, so that other processes need not wait for it, and ends what goes on behind answers. */
  async close(): Promise<void> {
    await this.#flights.close();
    while (this.#behind.size > 0) await Promise.allSettled(this.#behind);
  }

  /** @throws as `answer` */
  async #refreshWith(ask: Ask, lease: Lease | null): Promise<'made' | 'busy'> {
    const { hash } = ask.identity;
    if (this.#flights.has(hash)) return 'busy';
    await this.#flights.join(hash, ask.limits, (control) => this.#runAndKeep(ask, control, lease)).catch(unwrap);
    return 'made';
  }

  async #fly(ask: Ask, work: (control: FlightControl) => Promise<Landed>): Promise<Answered> {
    for (;;) {
      const began = !this.#flights.has(ask.identity.hash);
      try {
        const { response, entry, from } = await this.#flights.join(ask.identity.hash, ask.limits, work);
        const made = began && typeof from === 'object' ? from.run : null;
        const outcome = made !== null ? 'miss' : from === 'store' ? 'hit' : 'collapsed';
        return entry === null ? { response, outcome, kept: null, made } : answered(outcome, entry, made);
      } catch (error) {
        // What one payer may not do another may: they begin anew.
        const others = !began && error instanceof PayerRefused && error.payer !== ask.payer;
        if (!others) return unwrap(error);
      }
    }
  }

  /** The flight of an answer that is to be kept. */
  async #make(ask: Ask, control: FlightControl): Promise<Landed> {
    const { shared } = this.options;
    if (shared === null) return this.#runAndKeep(ask, control, null);
    const tell = (entry: Entry): void => this.#remember(ask.identity, entry);
    const turn = await takeTurn(ask.identity, shared, control.signal, tell).catch(unlessUnavailable);
    if (turn === null) return this.#runAndKeep(ask, control, null);
    if (turn.lease !== null) return this.#runAndKeep(ask, control, turn.lease);
    return { response: turn.entry.response, entry: turn.entry, from: turn.waited ? 'elsewhere' : 'store' };
  }

  async #run(ask: Ask, { signal }: FlightControl): Promise<Landed & { from: { run: RunResult } }> {
    const limits = { deadline: performance.now() + ask.timeout, signal };
    const run = await ask.run(limits).catch((error: unknown) => {
      throw isPayersOwn(error) ? new PayerRefused(ask.payer, error) : error;
    });
    return { response: run.response, entry: null, from: { run } };
  }

  /** @param lease null: no other process can know of this run */
  async #runAndKeep(ask: Ask, control: FlightControl, lease: Lease | null): Promise<Landed> {
    const renewal = lease === null ? null : this.#hold(lease, control);
    const fence = lease?.fence ?? this.#ownFence(ask.identity);
    try {
      const landed = await this.#run(ask, control);
      const entry = await this.#keep(ask, landed.response, lease, fence);
      return { ...landed, entry };
    } catch (error) {
      if (lease !== null) this.#follow(lease.release());
      throw error;
    } finally {
      clearInterval(renewal ?? undefined);
    }
  }

  /** Renews a lease while its run goes on, and lets the run go on while another process waits for it. */
  #hold(lease: Lease, control: FlightControl): NodeJS.Timeout {
    control.awaitedElsewhere = () => lease.awaited();
    const renew = (): void => this.#follow(lease.renew());
    return setInterval(renew, this.options.leaseTime / 3).unref();
  }

  /** Of a run that the shared store does not know of: microseconds, as that counts, and above what is kept here. */
  #ownFence(identity: Identity): number {
    return Math.max(Date.now() * 1000, (this.options.memory.get(identity)?.fence ?? 0) + 1);
  }

  /** null: it is not kept, as it is too large or older than what is. */
  async #keep(
    { identity, ttl }: Ask,
    response: EncodedResponse,
    lease: Lease | null,
    fence: number,
  ): Promise<Entry | null> {
    const { memory, shared } = this.options;
    const give = (): void => {
      if (lease !== null) this.#follow(lease.release());
    };
    if (response.bytes.length > Math.max(memory.maxEntry, shared?.maxEntry ?? 0)) {
      give();
      return null;
    }
    await response.complete();
    const made = Date.now();
    const entry: Entry = {
      question: identity.text,
      response,
      made,
      lifetime: jittered(ttl),
      fence,
    };
    this.#seen.set(entry, made);
    const keep = entry.lifetime + this.options.staleIfError;
    const kept = memory.set(identity, entry, keep);
    if (shared === null) return kept ? entry : null;
    // Who waits in another process finds the entry before the lease is gone; nobody here waits for either, unless it is
    // kept there alone.
    const written = shared.write(identity, entry, keep).finally(give);
    this.#follow(written.then((taken) => (taken ? undefined : this.#catchUp(identity, entry, shared))));
    return kept || (await written.catch(() => false)) ? entry : null;
  }

  /** Takes over what another process has made since. */
  async #catchUp(identity: Identity, entry: Entry, shared: SharedStore): Promise<void> {
    const fence = await shared.fenceOf(identity);
    if (fence === null || fence === entry.fence) return;
    const theirs = await shared.read(identity);
    if (theirs !== null && theirs.fence > entry.fence) this.#remember(identity, theirs);
  }

  #remember(identity: Identity, entry: Entry): void {
    const now = Date.now();
    this.#seen.set(entry, now);
    const keep = entry.lifetime + this.options.staleIfError - ageOf(entry, now);
    this.options.memory.set(identity, entry, keep);
  }

  #servable(identity: Identity): Entry | null {
    const entry = this.options.memory.get(identity);
    if (entry === null) return null;
    return ageOf(entry, Date.now()) < entry.lifetime + this.options.staleIfError ? entry : null;
  }

  /** Lets something go on behind an answer; its failure is the store's to tell. */
  #follow(work: Promise<unknown>): void {
    const ended = work
      .catch(() => undefined)
      .finally(() => {
        this.#behind.delete(ended);
      });
    this.#behind.add(ended);
  }
}

/** A run that failed for reasons of who was to pay for it. */
class PayerRefused extends Error {
  override readonly name = 'PayerRefused';

  constructor(
    readonly payer: string,
    override readonly cause: unknown,
  ) {
    super('The payer may not run this now.');
  }
}

/** For `catch`. */
function unwrap(error: unknown): never {
  throw error instanceof PayerRefused ? error.cause : error;
}

/** For `catch`. */
function unlessUnavailable(error: unknown): null {
  if (error instanceof RedisUnavailable) return null;
  throw error;
}

function isPayersOwn(error: unknown): boolean {
  return error instanceof ServiceError && ERRORS[error.reason].http === 429;
}

/** Whether a stale answer is better than this failure (RFC 5861, 4): the service's own, and not the caller's. */
function outlives(error: unknown): boolean {
  // What nobody worded is answered as an internal error.
  if (!(error instanceof ServiceError)) return true;
  return ERRORS[error.reason].http >= 500 || error.reason === 'tooManyConcurrentQueries';
}

/** Whole seconds, in milliseconds. */
function jittered(ttl: number): number {
  const longest = Math.floor((ttl * JITTER) / 1000);
  return ttl - Math.floor(Math.random() * (longest + 1)) * 1000;
}

function answered(outcome: Outcome, entry: Entry, made: RunResult | null): Answered {
  const age = Math.floor(ageOf(entry, Date.now()) / 1000);
  return { response: entry.response, outcome, kept: { age, lifetime: entry.lifetime / 1000 }, made };
}
