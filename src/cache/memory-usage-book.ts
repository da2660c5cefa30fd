import { LRUCache } from 'lru-cache';

import { type Clock, SYSTEM_CLOCK } from '../concurrency/clock';
import type { InUse, Usage, UsageBook } from './usage';

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
