/** Bytes of all keys and of one that are held at a time. */
export interface ShareBounds {
  readonly all: number;
  readonly perKey: number;
}

/** What is held for one request. */
export interface Holding {
  /**
   * Counts bytes.
   *
   * @param of whose bytes they are: what many requests hold, such as an answer of the cache, counts once
   * @returns false: there is no room, and nothing is counted
   */
  take(bytes: number, of?: object): boolean;
  give(of: object): void;
  /** Gives back everything. */
  release(): void;
}

/** Bytes by what they are of. */
class Account {
  bytes = 0;
  readonly #holders = new Map<object, number>();

  /** By how much it would grow. */
  growth(bytes: number, of: object): number {
    return this.#holders.has(of) ? 0 : bytes;
  }

  add(bytes: number, of: object): void {
    this.bytes += this.growth(bytes, of);
    this.#holders.set(of, (this.#holders.get(of) ?? 0) + 1);
  }

  remove(bytes: number, of: object): void {
    const left = (this.#holders.get(of) ?? 1) - 1;
    if (left > 0) this.#holders.set(of, left);
    else if (this.#holders.delete(of)) this.bytes -= bytes;
  }
}

class KeyAccount extends Account {
  /** Those that can be cut, the oldest first. */
  readonly cuttable = new Map<Holding, () => void>();
}

/** Memory that callers decide how long it is held: bounded, with a share for each key. */
export class ByteShares {
  readonly #all = new Account();
  readonly #keys = new Map<string, KeyAccount>();

  constructor(private readonly bounds: ShareBounds) {}

  /** Bytes that are held. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /**
   * Begins to hold bytes for a request of a key.
   *
   * @param cut ends the request: called where all is full, another key needs room, and this key has most. Without it nothing of it is
   *   taken away
   */
  hold(key: string, cut: (() => void) | null = null): Holding {
    const held = new Map<object, number>();
    const give = (of: object): void => {
      const bytes = held.get(of);
      if (bytes === undefined) return;
      held.delete(of);
      this.#all.remove(bytes, of);
      this.#keys.get(key)?.remove(bytes, of);
    };
    const holding: Holding = {
      take: (bytes, of = {}) => {
        const own = this.#keys.get(key) ?? new KeyAccount();
        if (held.has(of)) return true;
        if (!this.#makeRoom(own, bytes, of)) return false;
        this.#keys.set(key, own);
        held.set(of, bytes);
        this.#all.add(bytes, of);
        own.add(bytes, of);
        if (cut !== null) own.cuttable.set(holding, cut);
        return true;
      },
      give,
      release: () => {
        for (const of of held.keys()) give(of);
        const own = this.#keys.get(key);
        own?.cuttable.delete(holding);
        if (own?.bytes === 0) this.#keys.delete(key);
      },
    };
    return holding;
  }

  /** A key that holds nothing may take more than its share: what is larger is allowed by another bound. */
  #makeRoom(own: KeyAccount, bytes: number, of: object): boolean {
    const { all, perKey } = this.bounds;
    if (own.bytes > 0 && own.bytes + own.growth(bytes, of) > perKey) return false;
    while (this.#all.bytes > 0 && this.#all.bytes + this.#all.growth(bytes, of) > all) {
      const most = [...this.#keys.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a), own);
      const [oldest] = most.cuttable;
      if (most === own || oldest === undefined) return false;
      const [holding, cut] = oldest;
      holding.release();
      cut();
    }
    return true;
  }
}

const MIB = 1024 * 1024;

/** Bytes of unread answers of a key, or of one answer where that may be longer; and of bodies of requests. */
const UNREAD = 64 * MIB;
const BODIES = 32 * MIB;

/** Bytes of answers that clients have not taken yet, and of bodies of requests. */
export interface Shares {
  readonly unread: ByteShares;
  readonly bodies: ByteShares;
}

/** What callers may have the process hold (docs/operations.md): twice a key's share for all. @param longestResponse bytes */
export function sharesOf(longestResponse: number): Shares {
  const unread = Math.max(UNREAD, longestResponse);
  return {
    unread: new ByteShares({ perKey: unread, all: 2 * unread }),
    bodies: new ByteShares({ perKey: BODIES, all: 2 * BODIES }),
  };
}
