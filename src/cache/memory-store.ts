import { LRUCache } from 'lru-cache';

import type { Entry } from './entry';
import type { Identity } from './identity';
import type { ResultStore } from './stores';

/** What an entry takes beside its bytes and its question, objects and books of buffers: 1400 were measured, and some more. */
const OVERHEAD = 2048;

export interface MemoryStoreOptions {
  /** Bytes of all entries; 0: nothing is kept. */
  readonly bytes: number;
  /** Bytes of one entry. */
  readonly maxEntry: number;
}

/** Entries in the process, bounded in bytes; the one asked for least recently goes first. */
export class MemoryStore implements ResultStore {
  readonly #entries: LRUCache<string, Entry> | null;
  /** Bytes of one entry beyond which it is not kept. */
  readonly maxEntry: number;

  constructor({ bytes, maxEntry }: MemoryStoreOptions) {
    this.maxEntry = Math.min(maxEntry, bytes);
    this.#entries = bytes === 0 ? null : new LRUCache({ maxSize: bytes, sizeCalculation: sizeOf });
  }

  /** Entries, and the bytes they are counted with. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries?.size ?? 0, bytes: this.#entries?.calculatedSize ?? 0 };
  }

  /** As `read`, at once. */
  get(identity: Identity): Entry | null {
    const entry = this.#entries?.get(identity.hash);
    return entry?.question === identity.text ? entry : null;
  }

  /** As `write`, at once. */
  set({ hash }: Identity, entry: Entry, keep: number): boolean {
    if (this.#entries === null || keep <= 0 || sizeOf(entry) > this.maxEntry) return false;
    const there = this.#entries.peek(hash);
    if (there !== undefined && there.question === entry.question && there.fence > entry.fence) return false;
    this.#entries.set(hash, entry, { ttl: keep });
    return true;
  }

  read(identity: Identity): Promise<Entry | null> {
    return Promise.resolve(this.get(identity));
  }

  write(identity: Identity, entry: Entry, keep: number): Promise<boolean> {
    return Promise.resolve(this.set(identity, entry, keep));
  }

  close(): Promise<void> {
    this.#entries?.clear();
    return Promise.resolve();
  }
}

/** Bytes that an entry takes with every form it has; a character of its question takes two at most. */
export function sizeOf({ question, response }: Entry): number {
  const { gzip, br } = response.forms ?? { gzip: null, br: null };
  return OVERHEAD + 2 * question.length + response.bytes.length + (gzip?.length ?? 0) + (br?.length ?? 0);
}
