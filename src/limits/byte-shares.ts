import { groupOf } from '@logquay/duckdb-engine/concurrency';

/** Bytes of all keys and of one that are held at a time. */
export interface ShareBounds {
  readonly all: number;
  readonly perKey: number;
  /** Of all users of one issuer, of which one has a quarter; absent: each user is as a key. */
  readonly perIssuer?: number;
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

  /** To find out what would be, if. */
  copy(): Account {
    const copy = new Account();
    copy.bytes = this.bytes;
    for (const [of, count] of this.#holders) copy.#holders.set(of, count);
    return copy;
  }
}

/** A request whose answer can be cut. */
interface Cuttable {
  readonly holding: Holding;
  /** Bytes by what they are of. */
  readonly held: ReadonlyMap<object, number>;
  readonly cut: () => void;
}

class KeyAccount extends Account {
  /** The oldest first. */
  readonly cuttable = new Map<Holding, Cuttable>();
}

/** Memory that callers decide how long it is held: bounded, with a share for each key. */
export class ByteShares {
  readonly #all = new Account();
  readonly #keys = new Map<string, KeyAccount>();
  readonly #issuers = new Map<string, Account>();

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
    const group = groupOf(key);
    const isUser = group !== key && this.bounds.perIssuer !== undefined;
    const give = (of: object): void => {
      const bytes = held.get(of);
      if (bytes === undefined) return;
      held.delete(of);
      this.#all.remove(bytes, of);
      this.#keys.get(key)?.remove(bytes, of);
      this.#issuers.get(group)?.remove(bytes, of);
    };
    const holding: Holding = {
      take: (bytes, of = {}) => {
        const own = this.#keys.get(key) ?? new KeyAccount();
        const issuer = isUser ? (this.#issuers.get(group) ?? new Account()) : null;
        if (held.has(of)) return true;
        if (!this.#makeRoom(own, issuer, bytes, of)) return false;
        this.#keys.set(key, own);
        if (issuer !== null) this.#issuers.set(group, issuer);
        issuer?.add(bytes, of);
        held.set(of, bytes);
        this.#all.add(bytes, of);
        own.add(bytes, of);
        if (cut !== null) own.cuttable.set(holding, { holding, held, cut });
        return true;
      },
      give,
      release: () => {
        for (const of of held.keys()) give(of);
        const own = this.#keys.get(key);
        own?.cuttable.delete(holding);
        if (own?.bytes === 0) this.#keys.delete(key);
        if (this.#issuers.get(group)?.bytes === 0) this.#issuers.delete(group);
      },
    };
    return holding;
  }

  /** A key that holds nothing may take more than its share: what is larger is allowed by another bound. */
  #makeRoom(own: KeyAccount, issuer: Account | null, bytes: number, of: object): boolean {
    const { all, perKey, perIssuer = all } = this.bounds;
    const isFull = (account: Account, most: number): boolean =>
      account.bytes > 0 && account.bytes + account.growth(bytes, of) > most;
    if (isFull(own, issuer === null ? perKey : perIssuer / 4)) return false;
    if (issuer !== null && isFull(issuer, perIssuer)) return false;
    const victims = this.#victims(own, bytes, of);
    for (const { holding, cut } of victims ?? []) {
      holding.release();
      cut();
    }
    return victims !== null;
  }

  /** What is to be cut, each of the key that has most then; null: it would not be enough, and nobody is cut in vain. */
  #victims(own: KeyAccount, bytes: number, of: object): Cuttable[] | null {
    const victims: Cuttable[] = [];
    const isFull = ({ bytes: held }: Account, growth: number): boolean => held > 0 && held + growth > this.bounds.all;
    if (!isFull(this.#all, this.#all.growth(bytes, of))) return victims;
    const all = this.#all.copy();
    const keys = [own, ...this.#keys.values()].map((key) => ({
      key,
      left: key.copy(),
      next: [...key.cuttable.values()],
    }));
    while (isFull(all, all.growth(bytes, of))) {
      const most = keys.reduce((a, b) => (b.left.bytes > a.left.bytes ? b : a));
      const victim = most.next.shift();
      if (most.key === own || victim === undefined) return null;
      for (const [one, size] of victim.held) {
        all.remove(size, one);
        most.left.remove(size, one);
      }
      victims.push(victim);
    }
    return victims;
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
    // Nothing of a body can be cut.
    bodies: new ByteShares({ perKey: BODIES, perIssuer: BODIES, all: 2 * BODIES }),
  };
}
