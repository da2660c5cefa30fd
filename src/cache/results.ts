/** The result cache (docs/cache.md): a response is cached, shared by all that request it meanwhile, or the result of one run. */
import { type Clock, type SharedNames, SYSTEM_CLOCK, type RunLimits } from '@logquay/duckdb-engine/concurrency';
import { ERRORS, ServiceError } from '../errors';
import { RedisUnavailable } from '../redis/failure';
import type { MemoryStore } from './memory';
import { acquireLease, type RunControl, SingleFlight } from './single-flight';
import { ageOf, type Entry, isFresh, type Lease, type SharedStore, type Identity } from './stores';
import type { EncodedResponse } from '../rendering/encoded-response';

/** Milliseconds for which a local entry is served without looking for a newer one in the shared store. */
const TRUSTED = 5000;

/** Milliseconds for which a stale response is served after a failed refresh before the next attempt. */
const HOLD_OFF = 5000;

/** Lifetimes are shortened by up to this part at random, so that entries created together do not expire together. */
const JITTER = 0.1;

/** What a run returns. */
export interface RunResult {
  readonly response: EncodedResponse;
  /** null on an engine that does not bill. */
  readonly bytesProcessed: bigint | null;
  readonly bytesBilled: bigint | null;
}

export interface CacheRequest {
  readonly identity: Identity;
  /** Milliseconds to cache the response; 0: the run is shared while in flight, its response is not cached. */
  readonly ttl: number;
  /** Of this caller alone. */
  readonly limits: RunLimits;
  /** Milliseconds that a run may take, from its own start. */
  readonly timeout: number;
  /** Name of the key that a run started by this request is billed to. */
  readonly payer: string;
  /** `payers`: the keys of all who wait for it. */
  readonly run: (limits: RunLimits, payers: SharedNames) => Promise<RunResult>;
}

/** Where a response came from (RFC 9211); `collapsed`: from the run of another request. */
export type Outcome = 'hit' | 'stale' | 'miss' | 'collapsed';

export interface CacheResult {
  readonly response: EncodedResponse;
  readonly outcome: Outcome;
  /** Seconds since the entry was created, and of its whole lifetime; null: it is not cached. */
  readonly cached: { readonly age: number; readonly lifetime: number } | null;
  /** The run that this request started; null: it started none. */
  readonly run: RunResult | null;
}

export interface ResultsOptions {
  readonly memory: MemoryStore;
  /** null: this process shares with no other. */
  readonly shared: SharedStore | null;
  /** Milliseconds for which a stale response may be served while refreshing it fails. */
  readonly staleIfError: number;
  /** Milliseconds after which a lease that is not renewed ends. */
  readonly leaseTime: number;
  readonly clock?: Clock;
}

/** What processes know of each other's failed refreshes. Both are called while this process holds the lease. */
export interface HoldOff {
  /** Whether a failure of another process holds this refresh off. */
  readonly active: () => Promise<boolean>;
  /** Records a failure; never rejects. */
  readonly begin: () => Promise<void>;
}

/** The outcome of a shared run: a response, cached or not, and its source. */
interface SharedRun {
  readonly response: EncodedResponse;
  readonly entry: Entry | null;
  readonly source: { readonly run: RunResult } | 'store' | 'elsewhere';
}

export class Results {
  readonly #clock: Clock;
  readonly #inFlight: SingleFlight<SharedRun>;
  /** When an entry was last compared with the shared store, and until when a stale one is served without another attempt. */
  readonly #checked = new WeakMap<Entry, number>();
  readonly #heldOff = new WeakMap<Entry, number>();
  /** Work that no response waits for. */
  readonly #background = new Set<Promise<unknown>>();

  constructor(private readonly options: ResultsOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#inFlight = new SingleFlight(this.#clock);
  }

  /** Runs in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Responds from the cache, else from a run: the one in flight, or a new one.
   *
   * @throws whatever the run rejects with; ServiceError deadlineExceeded and AbortError by the request's limits
   */
  async get(request: CacheRequest): Promise<CacheResult> {
    if (request.ttl === 0) return this.#share(request, (control) => this.#run(request, control));
    const cached = this.cached(request.identity);
    if (cached !== null) return cached;
    try {
      return await this.#share(request, (control) => this.#acquireAndRun(request, control));
    } catch (error) {
      const entry = this.#servable(request.identity);
      if (entry === null || request.limits.signal.aborted || !isServiceFailure(error)) throw error;
      this.#heldOff.set(entry, this.#clock.now() + HOLD_OFF);
      return this.#resultOf('stale', entry, null);
    }
  }

  /** The response that this process may serve at once; null: it has no usable entry. */
  cached(identity: Identity): CacheResult | null {
    const entry = this.#servable(identity);
    if (entry === null) return null;
    const now = this.#clock.now();
    if (!isFresh(entry, now)) {
      return now < (this.#heldOff.get(entry) ?? 0) ? this.#resultOf('stale', entry, null) : null;
    }
    if (this.options.shared !== null && now - (this.#checked.get(entry) ?? 0) > TRUSTED) {
      this.#checked.set(entry, now);
      this.#detach(this.#catchUp(identity, entry, this.options.shared));
    }
    return this.#resultOf('hit', entry, null);
  }

  /**
   * Refreshes an entry before it is stale, unless another run is already at it or has just failed.
   *
   * @param due whether the current entry, of that age in milliseconds, should be replaced
   * @throws as `get`; RedisUnavailable
   */
  async refresh(
    request: CacheRequest,
    due: (entry: Entry | null, age: number) => boolean,
    holdOff: HoldOff | null = null,
  ): Promise<'refreshed' | 'not due' | 'busy'> {
    const { identity } = request;
    const { memory, shared } = this.options;
    const current = shared === null ? memory.get(identity) : await shared.read(identity);
    if (!this.#isDue(due, current)) return 'not due';
    if (shared === null) return this.#refreshWith(request, null, holdOff);
    const lease = this.#inFlight.has(identity.hash) ? null : await shared.acquire(identity);
    if (lease === null) return 'busy';
    let started = false;
    try {
      // Another process may have refreshed it, or failed to, between the read and the lease.
      const same = lease.previous === (current?.fence ?? null);
      if (!same && !this.#isDue(due, await shared.read(identity))) return 'not due';
      if ((await holdOff?.active()) === true) return 'busy';
      return await this.#refreshWith(request, lease, holdOff, () => (started = true));
    } finally {
      // A run releases it itself: when the entry is written, or its failure recorded.
      if (!started) this.#detach(lease.release());
    }
  }

  /** Aborts runs in flight, so that other processes need not wait for them, and waits for background work. */
  async close(): Promise<void> {
    await this.#inFlight.close();
    while (this.#background.size > 0) await Promise.allSettled(this.#background);
  }

  /** @throws as `get` */
  async #refreshWith(
    request: CacheRequest,
    lease: Lease | null,
    holdOff: HoldOff | null,
    onStart: () => void = () => undefined,
  ): Promise<'refreshed' | 'busy'> {
    const { hash } = request.identity;
    if (this.#inFlight.has(hash)) return 'busy';
    const work = (control: RunControl): Promise<SharedRun> => {
      onStart();
      return this.#runAndStore(request, control, lease, holdOff);
    };
    await this.#inFlight.join(hash, request.limits, work, request.payer).catch(unwrap);
    return 'refreshed';
  }

  async #share(request: CacheRequest, work: (control: RunControl) => Promise<SharedRun>): Promise<CacheResult> {
    for (;;) {
      const started = !this.#inFlight.has(request.identity.hash);
      try {
        const { identity, limits, payer } = request;
        const { response, entry, source } = await this.#inFlight.join(identity.hash, limits, work, payer);
        const run = started && typeof source === 'object' ? source.run : null;
        const outcome = run !== null ? 'miss' : source === 'store' ? 'hit' : 'collapsed';
        return entry === null ? { response, outcome, cached: null, run } : this.#resultOf(outcome, entry, run);
      } catch (error) {
        // A refusal concerns the key that started the run: the others start their own.
        const others = !started && error instanceof KeyRefused && error.payer !== request.payer;
        if (!others) return unwrap(error);
      }
    }
  }

  /** A run whose response is to be cached. */
  async #acquireAndRun(request: CacheRequest, control: RunControl): Promise<SharedRun> {
    const { shared } = this.options;
    if (shared === null) return this.#runAndStore(request, control, null);
    const onEntry = (entry: Entry): void => this.#storeLocally(request.identity, entry);
    const acquired = await acquireLease(request.identity, shared, control, onEntry, this.#clock).catch(
      unlessUnavailable,
    );
    if (acquired === null) return this.#runAndStore(request, control, null);
    if (acquired.lease !== null) return this.#runAndStore(request, control, acquired.lease);
    const { entry, waited } = acquired;
    return { response: entry.response, entry, source: waited ? 'elsewhere' : 'store' };
  }

  async #run(
    request: CacheRequest,
    { signal, payers }: RunControl,
  ): Promise<SharedRun & { source: { run: RunResult } }> {
    const limits = { deadline: this.#clock.monotonic() + request.timeout, signal };
    const run = await request.run(limits, payers).catch((error: unknown) => {
      throw isOfTheKey(error) ? new KeyRefused(request.payer, error) : error;
    });
    return { response: run.response, entry: null, source: { run } };
  }

  /** @param lease null: the shared store does not know of this run */
  async #runAndStore(
    request: CacheRequest,
    control: RunControl,
    lease: Lease | null,
    holdOff: HoldOff | null = null,
  ): Promise<SharedRun> {
    const stopRenewing = lease === null ? null : this.#renew(lease);
    const fence = lease?.fence ?? this.#ownFence(request.identity);
    try {
      const outcome = await this.#run(request, control);
      const entry = await this.#store(request, outcome.response, lease, fence);
      return { ...outcome, entry };
    } catch (error) {
      await holdOff?.begin();
      if (lease !== null) this.#detach(lease.release());
      throw error;
    } finally {
      stopRenewing?.();
    }
  }

  /** Renews a lease during its run. @returns stops renewing */
  #renew(lease: Lease): () => void {
    let cancel = (): void => undefined;
    const renewLater = (): void => {
      cancel = this.#clock.after(
        this.options.leaseTime / 3,
        () => {
          this.#detach(lease.renew());
          renewLater();
        },
        true,
      );
    };
    renewLater();
    return () => cancel();
  }

  /** The fencing token of a run without a lease: microseconds, as Redis counts, and above that of the local entry. */
  #ownFence(identity: Identity): number {
    return Math.max(this.#clock.now() * 1000, (this.options.memory.get(identity)?.fence ?? 0) + 1);
  }

  /** null: it is not cached, being too large or older than the current entry. */
  async #store(
    { identity, ttl }: CacheRequest,
    response: EncodedResponse,
    lease: Lease | null,
    fence: number,
  ): Promise<Entry | null> {
    const { memory, shared } = this.options;
    const release = (): void => {
      if (lease !== null) this.#detach(lease.release());
    };
    if (response.bytes.length > Math.max(memory.maxEntry, shared?.maxEntry ?? 0)) {
      release();
      return null;
    }
    await response.complete();
    const createdAt = this.#clock.now();
    const entry: Entry = {
      question: identity.text,
      response,
      createdAt,
      lifetime: jittered(ttl),
      fence,
    };
    this.#checked.set(entry, createdAt);
    const maxAge = entry.lifetime + this.options.staleIfError;
    const isLocal = memory.set(identity, entry, maxAge);
    if (shared === null) return isLocal ? entry : null;
    // The lease is released after the entry is written, for those that wait in other processes. This one waits for it only
    // where the entry is in the shared store alone.
    const written = shared.write(identity, entry, maxAge).finally(release);
    this.#detach(written.then((taken) => (taken ? undefined : this.#catchUp(identity, entry, shared))));
    return isLocal || (await written.catch(() => false)) ? entry : null;
  }

  /** Takes over a newer entry of another process. */
  async #catchUp(identity: Identity, entry: Entry, shared: SharedStore): Promise<void> {
    const fence = await shared.fenceOf(identity);
    if (fence === null || fence === entry.fence) return;
    const theirs = await shared.read(identity);
    if (theirs !== null && theirs.fence > entry.fence) this.#storeLocally(identity, theirs);
  }

  #storeLocally(identity: Identity, entry: Entry): void {
    const now = this.#clock.now();
    this.#checked.set(entry, now);
    this.options.memory.set(identity, entry, entry.lifetime + this.options.staleIfError - ageOf(entry, now));
  }

  #servable(identity: Identity): Entry | null {
    const entry = this.options.memory.get(identity);
    if (entry === null) return null;
    return ageOf(entry, this.#clock.now()) < entry.lifetime + this.options.staleIfError ? entry : null;
  }

  #isDue(due: (entry: Entry | null, age: number) => boolean, entry: Entry | null): boolean {
    return due(entry, entry === null ? Infinity : ageOf(entry, this.#clock.now()));
  }

  #resultOf(outcome: Outcome, entry: Entry, run: RunResult | null): CacheResult {
    const age = Math.floor(ageOf(entry, this.#clock.now()) / 1000);
    return { response: entry.response, outcome, cached: { age, lifetime: entry.lifetime / 1000 }, run };
  }

  /** Lets work go on that no response waits for; the store logs its failures. */
  #detach(work: Promise<unknown>): void {
    const ended = work
      .catch(() => undefined)
      .finally(() => {
        this.#background.delete(ended);
      });
    this.#background.add(ended);
  }
}

/** A run refused for reasons of the key that it is billed to. */
class KeyRefused extends Error {
  override readonly name = 'KeyRefused';

  constructor(
    readonly payer: string,
    override readonly cause: unknown,
  ) {
    super('The key may not run this now.');
  }
}

/** For `catch`. */
function unwrap(error: unknown): never {
  throw error instanceof KeyRefused ? error.cause : error;
}

/** For `catch`. */
function unlessUnavailable(error: unknown): null {
  if (error instanceof RedisUnavailable) return null;
  throw error;
}

function isOfTheKey(error: unknown): boolean {
  return error instanceof ServiceError && ERRORS[error.reason].http === 429;
}

/** Whether to serve a stale response rather than this failure (RFC 5861, 4): one of the service, not of the caller. */
function isServiceFailure(error: unknown): boolean {
  // Anything else becomes an internal error.
  if (!(error instanceof ServiceError)) return true;
  return ERRORS[error.reason].http >= 500 || error.reason === 'tooManyConcurrentQueries';
}

/** Whole seconds, in milliseconds. */
function jittered(ttl: number): number {
  const longest = Math.floor((ttl * JITTER) / 1000);
  return ttl - Math.floor(Math.random() * (longest + 1)) * 1000;
}
