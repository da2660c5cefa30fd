import { LRUCache } from 'lru-cache';

import type { InUse, Usage, UsageBook } from './usage';

interface Line {
  usage: Usage;
  /** By `performance.now()`. */
  asked: number;
  heldUntil: number;
  failures: number;
}

/** The book of a process that is alone. */
export class MemoryUsageBook implements UsageBook {
  readonly #lines: LRUCache<string, Line>;

  /** @param most results that it remembers: that asked for least recently is forgotten first */
  constructor(most: number) {
    this.#lines = new LRUCache({ max: Math.max(1, most) });
  }

  touch(usage: Usage): void {
    const line = this.#lines.get(usage.hash);
    const asked = performance.now();
    if (line === undefined) this.#lines.set(usage.hash, { usage, asked, heldUntil: 0, failures: 0 });
    else {
      line.usage = usage;
      line.asked = asked;
    }
  }

  inUse(within: number, atMost: number): Promise<InUse[]> {
    const now = performance.now();
    const found: InUse[] = [];
    for (const { usage, asked, heldUntil, failures } of this.#lines.values()) {
      const idle = now - asked;
      if (idle > within || found.length >= atMost) break;
      if (heldUntil <= now) found.push({ usage, idle, failures });
    }
    return Promise.resolve(found);
  }

  failed(hash: string, holdOff: number): Promise<void> {
    const line = this.#lines.peek(hash);
    if (line !== undefined) {
      line.failures++;
      line.heldUntil = performance.now() + holdOff;
    }
    return Promise.resolve();
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
