/** A semaphore shared fairly: a name with many waiting delays none with few. */
import { ServiceError } from '../contract/service-error';
import { type Clock, SYSTEM_CLOCK } from './clock';
import { checkLimits, deadlineExceeded, remaining, type RunLimits } from './deadline';

/** Of GROUP/MEMBER the group; of any other name the name. Keys have no slash; users of an issuer's tokens are members of its group. */
export function groupOf(name: string): string {
  const slash = name.indexOf('/');
  return slash < 0 ? name : name.slice(0, slash);
}

/** Items that wait, by key: groups take turns, within a group its keys do, and within a key the oldest item comes first. */
export class FairQueue<Item> {
  /** Groups, and in each its keys, in the order of their next turns; what is without items is not listed. */
  readonly #groups = new Map<string, Map<string, Item[]>>();
  #size = 0;

  /** Items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** The keys that items wait for. */
  get keys(): string[] {
    return [...this.#groups.values()].flatMap((keys) => [...keys.keys()]);
  }

  sizeOf(key: string): number {
    return this.#groups.get(groupOf(key))?.get(key)?.length ?? 0;
  }

  /** @param isLater items of the key that this one overtakes: the last ones; default: none */
  push(key: string, item: Item, isLater: (other: Item) => boolean = () => false): void {
    const group = this.#groups.get(groupOf(key)) ?? new Map<string, Item[]>();
    this.#groups.set(groupOf(key), group);
    const items = group.get(key) ?? [];
    group.set(key, items);
    const at = items.findIndex(isLater);
    items.splice(at < 0 ? items.length : at, 0, item);
    this.#size++;
  }

  /**
   * The item that makes room for one more of a key: the last one of the key with most, in the group with most. Where that is the
   * key's own group, or has hardly more items: in that of the key.
   *
   * @returns undefined: nothing has two items more than the key, or its group
   */
  surplus(key: string): Item | undefined {
    const sizeOf = (keys: ReadonlyMap<string, Item[]>): number =>
      [...keys.values()].reduce((n, one) => n + one.length, 0);
    const own = this.#groups.get(groupOf(key)) ?? new Map<string, Item[]>();
    const most = [...this.#groups.values()].reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a), own);
    const isOwn = sizeOf(most) <= sizeOf(own) + 1;
    // Of keys with as many it is the one whose turn comes last.
    const items = [...(isOwn ? own : most).values()].reduce((a, b) => (b.length >= a.length ? b : a), []);
    return isOwn && items.length <= this.sizeOf(key) + 1 ? undefined : items.at(-1);
  }

  /** Takes the next item of the first key that `may` have one, round robin. */
  shift(may: (key: string) => boolean): Item | undefined {
    for (const [name, group] of this.#groups) {
      for (const [key, items] of group) {
        if (!may(key)) continue;
        const item = items.shift();
        this.#groups.delete(name);
        group.delete(key);
        if (items.length > 0) group.set(key, items);
        if (group.size > 0) this.#groups.set(name, group);
        this.#size--;
        return item;
      }
    }
    return undefined;
  }

  /** Removes an item, wherever it is. */
  remove(key: string, item: Item): void {
    const group = this.#groups.get(groupOf(key));
    const items = group?.get(key);
    const at = items?.indexOf(item) ?? -1;
    if (group === undefined || items === undefined || at < 0) return;
    items.splice(at, 1);
    this.#size--;
    if (items.length === 0) group.delete(key);
    if (group.size === 0) this.#groups.delete(groupOf(key));
  }
}

export interface SlotBounds {
  /** Slots of all names together. */
  readonly total: number;
  /** Slots of one name, or of one group; of a member of a group a quarter of them, two at least where a name may have two. */
  readonly perName: number;
  /** The same while another name has used slots within the last `RECENT` milliseconds; default: as many. */
  readonly perNameBesideOthers?: number;
  /** Slots of one group; default: those of one name. */
  readonly perGroup?: number;
  /**
   * How many may wait, all together; default: any number. Where as many wait, one more of a name with few takes the place of the
   * newest of the name with most, in the group with most: no name and no group fills the queue for the others.
   */
  readonly waiting?: number;
  /** How long a name that is not alone holds its slot on top, unused; default: it does not. */
  readonly pause?: Pause;
}

/** A share of the processors: work that took longer than `beyond` milliseconds is followed by a pause of `times` what was beyond. */
export interface Pause {
  readonly beyond: number;
  readonly times: number;
  /** Slots whose other names count as well. */
  readonly beside: FairSlots;
}

/** Names of one work beyond these are left out: each waits in a place of its own. */
const MOST_NAMES = 4;

/** Names for all of which one work is done: more may come while it waits for its slot. */
export class SharedNames {
  readonly #names = new Set<string>();
  #onName: (name: string) => void = () => undefined;

  constructor(...names: readonly string[]) {
    for (const name of names) this.add(name);
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  add(name: string): void {
    if (this.#names.has(name) || this.#names.size >= MOST_NAMES) return;
    this.#names.add(name);
    this.#onName(name);
  }

  /** Visits all, and each that comes. */
  each(visit: (name: string) => void): void {
    this.#onName = visit;
    for (const name of this.#names) visit(name);
  }
}

const RECENT = 10_000;

interface Waiter {
  /** Waits behind those of its name that do not. */
  readonly isLater: boolean;
  /** Hands it a slot. */
  readonly admit: () => void;
  /** Its place in the queue goes to another. */
  readonly refuse: () => void;
}

/** Slots are handed out round robin by name, first come first served within a name. */
export class FairSlots {
  readonly #queue = new FairQueue<Waiter>();
  /** Slots that each name holds, and each group; without those that hold none. */
  readonly #holders = new Map<string, number>();
  /** When each group has asked for a slot last; the most recent comes last. */
  readonly #uses = new Map<string, number>();
  #held = 0;

  constructor(
    private readonly bounds: SlotBounds,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {}

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Runs `work` holding a slot until it has ended.
   *
   * @param name under which the slot is counted
   * @param isLater waits until nothing else of this name waits: of a hundred texts that are checked and then run in one queue, the
   *   first would run when all have been checked, and end at its deadline
   * @throws ServiceError `tooManyConcurrentQueries` when too many wait, and most of them of this name, `deadlineExceeded` when no slot is free in time;
   *   AbortError or the signal's reason after a cancellation; whatever `work` throws
   */
  async use<T>(name: string, limits: RunLimits, work: () => Promise<T>, isLater = false): Promise<T> {
    checkLimits(limits, this.clock);
    this.#note(name);
    await this.#acquire(name, limits, isLater);
    const started = this.clock.monotonic();
    try {
      return await work();
    } finally {
      const pause = this.#pauseAfter(name, this.clock.monotonic() - started);
      if (pause > 0) this.clock.after(pause, () => this.#release(name), true);
      else this.#release(name);
    }
  }

  /**
   * As `use`, under the one of several names that has a slot first: who has many waiting delays no other that waits for the same.
   *
   * @throws as `use`, when it throws for each of the names
   */
  async useAny<T>(shared: SharedNames, limits: RunLimits, work: (name: string) => Promise<T>): Promise<T> {
    checkLimits(limits, this.clock);
    const free = shared.names.find((name) => this.#isFree(name));
    if (free !== undefined) return this.use(free, limits, () => work(free));
    const others = new AbortController();
    const leave = (): void => others.abort(limits.signal.reason);
    limits.signal.addEventListener('abort', leave);
    try {
      return await new Promise<T>((resolve, reject) => {
        let waiting = 0;
        let isOver = false;
        shared.each((name) => {
          if (isOver) return;
          waiting++;
          this.use(name, { ...limits, signal: others.signal }, async () => {
            // Two may have theirs in one turn.
            if (isOver) return;
            isOver = true;
            others.abort();
            await work(name).then(resolve, reject);
          }).catch((error: unknown) => {
            if (--waiting > 0 || isOver) return;
            isOver = true;
            reject(error);
          });
        });
      });
    } finally {
      limits.signal.removeEventListener('abort', leave);
    }
  }

  #pauseAfter(name: string, milliseconds: number): number {
    const { pause } = this.bounds;
    if (pause === undefined || milliseconds <= pause.beyond) return 0;
    return this.isAlone(name) && pause.beside.isAlone(name) ? 0 : pause.times * (milliseconds - pause.beyond);
  }

  #take(name: string): void {
    this.#held++;
    for (const holder of new Set([name, groupOf(name)]))
      this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + 1);
  }

  #release(name: string): void {
    this.#held--;
    for (const holder of new Set([name, groupOf(name)])) {
      const left = (this.#holders.get(holder) ?? 1) - 1;
      if (left > 0) this.#holders.set(holder, left);
      else this.#holders.delete(holder);
    }
    this.#handOn();
  }

  #isFree(name: string): boolean {
    const { perName, perNameBesideOthers = perName, perGroup, total } = this.bounds;
    const group = groupOf(name);
    const ofName = this.isAlone(name) ? perName : perNameBesideOthers;
    const bound = group === name ? ofName : (perGroup ?? ofName);
    const ofMember = group === name ? bound : Math.min(perName, Math.max(2, Math.floor(perName / 4)));
    const held = (holder: string): number => this.#holders.get(holder) ?? 0;
    return this.#held < total && held(group) < bound && held(name) < ofMember;
  }

  #note(name: string): void {
    this.#uses.delete(groupOf(name));
    this.#uses.set(groupOf(name), this.clock.monotonic());
  }

  /** Whether no name of another group has asked for a slot within the last `RECENT` milliseconds. */
  isAlone(name: string): boolean {
    const since = this.clock.monotonic() - RECENT;
    for (const [other, at] of this.#uses) {
      if (at >= since) break;
      this.#uses.delete(other);
    }
    return this.#uses.size - (this.#uses.has(groupOf(name)) ? 1 : 0) === 0;
  }

  /** Resolves when the slot is already counted as held, so no other caller gets in between. */
  async #acquire(name: string, limits: RunLimits, isLater: boolean): Promise<void> {
    if (this.#isFree(name)) {
      this.#take(name);
      return;
    }
    if (this.waiting >= (this.bounds.waiting ?? Infinity)) this.#makeRoom(name);
    const { signal } = limits;
    await new Promise<void>((resolve, reject) => {
      const stopWaiting = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        this.#queue.remove(name, waiter);
      };
      const waiter: Waiter = {
        isLater,
        admit: () => {
          stopWaiting();
          this.#take(name);
          resolve();
        },
        refuse: () => {
          stopWaiting();
          reject(queueFull());
        },
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal.reason as Error);
      };
      const cancelTimer = this.clock.after(remaining(limits, this.clock), () => {
        stopWaiting();
        reject(deadlineExceeded('The deadline passed while the query waited for a slot.'));
      });
      signal.addEventListener('abort', onAbort);
      this.#queue.push(name, waiter, (other) => other.isLater && !isLater);
    });
  }

  /** @throws ServiceError where no name or group has two waiters more than this one: a place would be worth no more to another */
  #makeRoom(name: string): void {
    const surplus = this.#queue.surplus(name);
    if (surplus === undefined) throw queueFull();
    surplus.refuse();
  }

  /** Hands free slots to the names in their order. */
  #handOn(): void {
    for (;;) {
      const next = this.#queue.shift((name) => this.#isFree(name));
      if (next === undefined) return;
      next.admit();
    }
  }
}

function queueFull(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many queries wait for a slot.', { retryAfter: 1 });
}

/**
 * Slots that one name may hold of `total`: half of them, as another name with a single slot would wait five times as long
 * next to slow queries (docs/decisions/engine-process.md); one at least.
 */
export function fairShare(total: number): number {
  return Math.max(1, Math.floor(total / 2));
}
