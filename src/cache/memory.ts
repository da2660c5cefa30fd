import { LRUCache } from 'lru-cache';

import { type Clock, SYSTEM_CLOCK } from '@logquay/duckdb-engine/concurrency';
import type { Identity, Entry, ResultStore } from './stores';
import type { InUse, Usage, UsageBook } from './usage';

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

interface Line {
  usage: Usage;
  /** Of the last request, on the monotonic clock. */
  lastRequest: number;
  heldUntil: number;
  failures: number;
}

/** The usage book of a process without Redis. */
export class MemoryUsageBook implements UsageBook {
  readonly #lines: LRUCache<string, Line>;

  /** @param most results that it remembers; the least recently requested is forgotten first */
  constructor(
    most: number,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {
    this.#lines = new LRUCache({ max: Math.max(1, most) });
  }

  touch(usage: Usage): void {
    const line = this.#lines.get(usage.hash);
    const lastRequest = this.clock.monotonic();
    if (line === undefined) this.#lines.set(usage.hash, { usage, lastRequest, heldUntil: 0, failures: 0 });
    else {
      line.usage = usage;
      line.lastRequest = lastRequest;
    }
  }

  inUse(within: number, atMost: number): Promise<InUse[]> {
    const now = this.clock.monotonic();
    const found: InUse[] = [];
    for (const { usage, lastRequest, heldUntil, failures } of this.#lines.values()) {
      const idle = now - lastRequest;
      if (idle > within || found.length >= atMost) break;
      if (heldUntil <= now) found.push({ usage, idle, failures });
    }
    return Promise.resolve(found);
  }

  failed(hash: string, holdOff: number): Promise<void> {
    const line = this.#lines.peek(hash);
    if (line !== undefined) {
      line.failures++;
      line.heldUntil = this.clock.monotonic() + holdOff;
    }
    return Promise.resolve();
  }

  isHeldOff(hash: string): Promise<boolean> {
    return Promise.resolve((this.#lines.peek(hash)?.heldUntil ?? 0) > this.clock.monotonic());
  }

  succeeded(hash: string): Promise<void> {
    const line = this.#lines.peek(hash);
    if (line !== undefined) {
      line.failures = 0;
      line.heldUntil = 0;
    }
    return Promise.resolve();
  }

  forget(hash: string): Promise<void> {
    this.#lines.delete(hash);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#lines.clear();
    return Promise.resolve();
  }
}
