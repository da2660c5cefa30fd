import { LRUCache } from 'lru-cache';

import { type Clock, SYSTEM_CLOCK } from '../concurrency/clock';
import type { Entry } from './entry';
import type { Identity } from './identity';
import type { ResultStore } from './stores';

/** Bytes of an entry's objects and buffer headers, without its texts: 1400 were measured, with a margin. */
const OVERHEAD = 2048;

export interface MemoryStoreOptions {
  /** Bytes of all entries; 0: nothing is cached. */
  readonly bytes: number;
  /** Bytes of one entry. */
  readonly maxEntry: number;
  readonly clock?: Clock;
}

/** Entries in this process, bounded in bytes; the least recently used is evicted first. */
export class MemoryStore implements ResultStore {
  readonly #entries: LRUCache<string, Entry> | null;
  /** Bytes of the largest entry that is cached. */
  readonly maxEntry: number;

  constructor({ bytes, maxEntry, clock = SYSTEM_CLOCK }: MemoryStoreOptions) {
    this.maxEntry = Math.min(maxEntry, bytes);
    this.#entries =
      bytes === 0
        ? null
        : new LRUCache({
            maxSize: bytes,
            sizeCalculation: sizeOf,
            perf: { now: () => clock.monotonic() },
            ttlResolution: 0,
          });
  }

  /** Entries, and the bytes that they count as. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries?.size ?? 0, bytes: this.#entries?.calculatedSize ?? 0 };
  }

  /** As `read`, at once. */
  get(identity: Identity): Entry | null {
    const entry = this.#entries?.get(identity.hash);
    return entry?.question === identity.text ? entry : null;
  }

  /** As `write`, at once. */
  set({ hash }: Identity, entry: Entry, maxAge: number): boolean {
    if (this.#entries === null || maxAge <= 0 || sizeOf(entry) > this.maxEntry) return false;
    const current = this.#entries.peek(hash);
    if (current !== undefined && current.question === entry.question && current.fence > entry.fence) return false;
    this.#entries.set(hash, entry, { ttl: maxAge });
    return true;
  }

  read(identity: Identity): Promise<Entry | null> {
    return Promise.resolve(this.get(identity));
  }

  write(identity: Identity, entry: Entry, maxAge: number): Promise<boolean> {
    return Promise.resolve(this.set(identity, entry, maxAge));
  }

  close(): Promise<void> {
    this.#entries?.clear();
    return Promise.resolve();
  }
}

/** Size estimate of an entry in bytes with its compressed forms; a character of its question takes two at most. */
export function sizeOf({ question, response }: Entry): number {
  const { gzip, br } = response.forms ?? { gzip: null, br: null };
  return OVERHEAD + 2 * question.length + response.bytes.length + (gzip?.length ?? 0) + (br?.length ?? 0);
}
