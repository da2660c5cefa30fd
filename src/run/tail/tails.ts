/** Who listens to what: the evaluations that are shared, their listeners and the bounds of both (docs/querying.md). */
import { type Catalogue, mayRun } from '../../endpoints/catalogue';
import { isSameDefinition } from '../../endpoints/endpoint';
import { ServiceError } from '../../errors';
import { type Key, currentKey, LOOK_AGAIN } from '../../keys/key';
import { groupOf, type RunLimits } from '@logquay/duckdb-engine/concurrency';
import type { RequestPlan } from '../types';
import type { Cursors, ArrivingRows, TailEnd } from './types';
import type { Listener } from './listener';
import { SharedTail, type EndOf } from './shared-tail';

/** Milliseconds without an event after which one shows that the connection is alive. */
const HEARTBEAT = 15_000;

export interface TailsOptions {
  readonly cursors: Cursors;
  /** Listeners at once, of one key and of all; users of one issuer have half of them at most. */
  readonly mostPerKey: number;
  readonly most: number;
  readonly endOf: EndOf;
  readonly onRows: (endpoint: string, rows: number) => void;
  readonly onEnd: (cause: TailEnd) => void;
  readonly onFailure: (error: unknown) => void;
}

/** A place among the listeners, for as long as one is there. */
export interface ListenerSlot {
  release(): void;
}

/** Makes the query of a plan. */
type Compose = (limits: RunLimits) => Promise<ArrivingRows>;

interface WithCatalogue {
  readonly catalogue: Pick<Catalogue, 'find'>;
}

/** An evaluation, and how many use it. */
interface Entry {
  readonly shared: Promise<SharedTail>;
  users: number;
}

export class Tails {
  readonly #entries = new Map<string, Entry>();
  readonly #open = new Set<SharedTail>();
  readonly #listeners = new Set<Listener>();
  readonly #slots = new Map<string, number>();
  #taken = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(private readonly options: TailsOptions) {}

  get cursors(): Cursors {
    return this.options.cursors;
  }

  /** Listeners now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Rows may have arrived. */
  wake(): void {
    for (const shared of this.#open) shared.wake();
  }

  /** @throws ServiceError tooManyConcurrentQueries; backendUnavailable when the service ends */
  reserve({ name }: Pick<Key, 'name'>): ListenerSlot {
    if (this.#closed) throw new ServiceError('backendUnavailable', 'The service is shutting down.', { retryAfter: 1 });
    const { most, mostPerKey } = this.options;
    const taken = (holder: string): number => this.#slots.get(holder) ?? 0;
    const group = groupOf(name);
    if (taken(name) >= mostPerKey) throw tooMany(`This key has ${String(mostPerKey)} live tails open already.`);
    // Users of one issuer, however many they are, leave room for others.
    if (this.#taken >= most || (group !== name && taken(group) >= most / 2))
      throw tooMany('Too many live tails are open already.');
    const holders = new Set([name, group]);
    for (const holder of holders) this.#slots.set(holder, taken(holder) + 1);
    this.#taken++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#taken--;
        for (const holder of holders) {
          const left = taken(holder) - 1;
          if (left > 0) this.#slots.set(holder, left);
          else this.#slots.delete(holder);
        }
      },
    };
  }

  /**
   * The evaluation of a plan, which all who ask for the same share, until it is released.
   *
   * @throws as `compose`
   */
  async open(plan: RequestPlan, compose: Compose, limits: RunLimits): Promise<SharedTail> {
    const { hash } = plan.identity;
    let entry = this.#entries.get(hash);
    if (entry === undefined) {
      const shared = this.#opened(plan, compose, limits);
      this.#entries.set(hash, (entry = { shared, users: 0 }));
    }
    entry.users++;
    try {
      return await entry.shared;
    } catch (error) {
      if (this.#entries.get(hash) === entry) this.#entries.delete(hash);
      throw error;
    }
  }

  /** One who has opened the evaluation of a plan does not use it any more. */
  release({ identity: { hash } }: Pick<RequestPlan, 'identity'>): void {
    const entry = this.#entries.get(hash);
    if (entry === undefined || --entry.users > 0) return;
    this.#entries.delete(hash);
    entry.shared.then(
      (opened) => {
        this.#open.delete(opened);
        opened.close();
      },
      () => undefined,
    );
  }

  async #opened(plan: RequestPlan, compose: Compose, limits: RunLimits): Promise<SharedTail> {
    // Others may wait for it, too.
    const own = { ...limits, signal: new AbortController().signal };
    const query = await compose(own);
    const { endOf, onRows, onFailure } = this.options;
    const { name } = plan.endpoint;
    const shared = new SharedTail(query, { endOf, onFailure, onRows: (rows) => onRows(name, rows) });
    this.#open.add(shared);
    return shared;
  }

  /** Watches over a listener from now on. */
  add(listener: Listener, services: WithCatalogue): void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#look(services), LOOK_AGAIN).unref();
    if (this.#closed) this.#leave([listener]);
  }

  /** A listener has ended. */
  remove(listener: Listener, cause: TailEnd): void {
    this.#listeners.delete(listener);
    this.options.onEnd(cause);
  }

  /** Ends all streams: their clients come again, and find another process or this one anew. */
  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#leave([...this.#listeners]);
  }

  #leave(listeners: readonly Listener[]): void {
    for (const listener of listeners) listener.end('shutting_down', 'The service is shutting down.');
  }

  #look(services: WithCatalogue): void {
    const keys = new Map<Key, Key | null>();
    for (const listener of [...this.#listeners]) {
      const endpoint = services.catalogue.find(listener.endpoint.id);
      const key = keyOf(listener, keys);
      if (key === null) listener.end('key_changed', 'The key is not valid any more, or may do something else.');
      else if (!isSameDefinition(listener.endpoint, endpoint) || !mayRun(key, endpoint)) {
        listener.end('endpoint_changed', 'The endpoint has changed.');
      } else if (listener.idle > HEARTBEAT) listener.beat();
    }
  }
}

/** The key of a listener as it is now; null: it is not valid, or says something else. */
function keyOf(listener: Listener, known: Map<Key, Key | null>): Key | null {
  const before = listener.key;
  if (!known.has(before)) known.set(before, validKey(listener));
  const key = known.get(before) ?? null;
  if (key !== null) listener.key = key;
  return key;
}

function validKey(listener: Listener): Key | null {
  try {
    return currentKey((before) => listener.authenticate(before), listener.key);
  } catch {
    return null;
  }
}

function tooMany(message: string): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', message, { retryAfter: 5 });
}
