/** Who listens to what: the evaluations that are shared, their listeners and the bounds of both (docs/tail.md). */
import { type Catalogue, mayRun } from '../../endpoints';
import { ServiceError } from '../../errors';
import type { RunLimits } from '../../concurrency/deadline';
import type { Key } from '../../keys';
import { currentKey, LOOK_AGAIN } from '../current-key';
import type { RequestPlan } from '../types';
import type { Cursors } from './cursor';
import type { Listener } from './listener';
import type { PlaceRecords } from './places';
import { SharedTail, type EndOf } from './shared-tail';
import type { ArrivingRows, TailEnd } from './types';

/** Queries that are asked again and again, of one key and of all; and milliseconds for which one is remembered when nobody listens. */
const MOST_POLLED_PER_KEY = 10;
const MOST_POLLED = 50;
const REMEMBERED = 300_000;
/** Milliseconds without an event after which one shows that the connection is alive. */
const HEARTBEAT = 15_000;

export interface TailsOptions {
  readonly cursors: Cursors;
  /** Of rows that no engine announces, what was given where; null: nowhere. */
  readonly records: PlaceRecords | null;
  /** Listeners at once, of one key and of all. */
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

interface Opening {
  /** Makes the plan's query. */
  readonly compose: (limits: RunLimits) => Promise<ArrivingRows>;
  /** Whether the engine has to be asked for its rows. */
  readonly polled: boolean;
}

interface WithCatalogue {
  readonly catalogue: Pick<Catalogue, 'find'>;
}

/** An evaluation, and the keys that use it, each as often as it does. */
interface Entry {
  readonly shared: Promise<SharedTail>;
  readonly users: string[];
  readonly polled: boolean;
  /** Set while nobody uses it and it is remembered. */
  forget: NodeJS.Timeout | null;
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

  get records(): PlaceRecords | null {
    return this.options.records;
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
    const ofKey = this.#slots.get(name) ?? 0;
    if (ofKey >= mostPerKey) throw tooMany(`This key has ${String(mostPerKey)} live tails open already.`);
    if (this.#taken >= most) throw tooMany(`There are ${String(most)} live tails open already.`);
    this.#slots.set(name, ofKey + 1);
    this.#taken++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#taken--;
        const left = (this.#slots.get(name) ?? 1) - 1;
        if (left > 0) this.#slots.set(name, left);
        else this.#slots.delete(name);
      },
    };
  }

  /**
   * The evaluation of a plan, which all who ask for the same share, until it is released.
   *
   * @throws as `compose`; ServiceError tooManyConcurrentQueries
   */
  async open(plan: RequestPlan, opening: Opening, limits: RunLimits): Promise<SharedTail> {
    const { hash } = plan.identity;
    if (opening.polled) this.#makeRoom(plan);
    let entry = this.#entries.get(hash);
    if (entry === undefined) {
      const shared = this.#opened(plan, opening, limits);
      this.#entries.set(hash, (entry = { shared, users: [], polled: opening.polled, forget: null }));
    }
    if (entry.forget !== null) clearTimeout(entry.forget);
    entry.forget = null;
    entry.users.push(plan.payer);
    try {
      return await entry.shared;
    } catch (error) {
      if (this.#entries.get(hash) === entry) this.#entries.delete(hash);
      throw error;
    }
  }

  /** One who has opened the evaluation of a plan does not use it any more. */
  release({ identity: { hash }, payer }: Pick<RequestPlan, 'identity' | 'payer'>): void {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return;
    entry.users.splice(entry.users.indexOf(payer), 1);
    if (entry.users.length > 0) return;
    // Clients come again, and what they were given is known nowhere else.
    if (entry.polled && !this.#closed) entry.forget = setTimeout(() => this.#drop(hash, entry), REMEMBERED).unref();
    else this.#drop(hash, entry);
  }

  /** @throws ServiceError tooManyConcurrentQueries */
  #makeRoom({ identity: { hash }, payer }: Pick<RequestPlan, 'identity' | 'payer'>): void {
    const entries = [...this.#entries];
    if (this.#entries.get(hash)?.users.includes(payer) === true) return;
    if (entries.filter(([, { users }]) => users.includes(payer)).length >= MOST_POLLED_PER_KEY) {
      throw tooMany(`This key has live tails of ${String(MOST_POLLED_PER_KEY)} queries open already.`);
    }
    if (this.#entries.has(hash) || entries.length < MOST_POLLED) return;
    const unused = entries.find(([, { users }]) => users.length === 0);
    if (unused === undefined) throw tooMany(`There are live tails of ${String(MOST_POLLED)} queries open already.`);
    this.#drop(...unused);
  }

  #drop(hash: string, { shared, forget }: Entry): void {
    if (forget !== null) clearTimeout(forget);
    this.#entries.delete(hash);
    shared.then(
      (opened) => {
        this.#open.delete(opened);
        opened.close();
      },
      () => undefined,
    );
  }

  async #opened(plan: RequestPlan, { compose }: Opening, limits: RunLimits): Promise<SharedTail> {
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
      else if (endpoint?.revision !== listener.endpoint.revision || !mayRun(key, endpoint)) {
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
    return currentKey(() => listener.authenticate(), listener.key);
  } catch {
    return null;
  }
}

function tooMany(message: string): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', message, { retryAfter: 5 });
}
