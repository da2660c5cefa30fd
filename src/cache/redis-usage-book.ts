import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { CONTENT_TYPES, type Representation } from '../rendering/representation';
import type { InUse, Usage, UsageBook } from './usage';
import { FORMAT } from './redis-codec';
import type { RedisConnection } from '../redis/connection';
import { readNumber, Unexpected } from '../redis/replies';
import { evaluate } from '../redis/scripts';
import { FAILED, FORGET, IN_USE, SUCCEEDED, TOUCH } from './redis-usage-scripts';

/** Asks within this many milliseconds, or a tenth of the ttl where that is less, are told Redis as one. */
const LONGEST_TOGETHER = 10_000;
const PART_OF_TTL = 0.1;

/** Milliseconds for which asks are gathered before they are told, and how many are told at once. */
const GATHER = 200;
const AT_ONCE = 200;

/** Bytes of one record beyond which it is not told: nobody needs a result with parameters like that kept warm. */
const LONGEST_RECORD = 16_384;

const usageForm = z.strictObject({
  hash: z.string(),
  endpointId: z.string(),
  values: z.record(z.string(), z.string()),
  redacted: z.boolean(),
  representation: z.custom<Representation>((value) => typeof value === 'string' && Object.hasOwn(CONTENT_TYPES, value)),
  keyName: z.string(),
});

export interface RedisUsageBookOptions {
  readonly redis: RedisConnection;
  /** Results that are remembered, of all processes: that asked for least recently is forgotten first. */
  readonly most: number;
}

/** One book for all processes, which outlives each of them. Its clock is Redis's. */
export class RedisUsageBook implements UsageBook {
  /** When each result was last told, by `performance.now()`. */
  readonly #told: LRUCache<string, number>;
  readonly #gathered = new Map<string, string>();
  readonly #keys: readonly string[];
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: RedisUsageBookOptions) {
    const stem = `${options.redis.prefix}:${FORMAT}:{usage}`;
    this.#keys = [`${stem}:asked`, `${stem}:records`, `${stem}:failures`];
    this.#told = new LRUCache({ max: Math.max(1, options.most) });
  }

  touch(usage: Usage, ttl: number): void {
    const now = performance.now();
    const told = this.#told.get(usage.hash);
    if (told !== undefined && now - told < Math.min(LONGEST_TOGETHER, ttl * PART_OF_TTL)) return;
    this.#told.set(usage.hash, now);
    const record = JSON.stringify(usage);
    if (record.length > LONGEST_RECORD || this.#gathered.size >= this.options.most) return;
    this.#gathered.set(usage.hash, record);
    this.#timer ??= setTimeout(() => void this.#tell(), GATHER).unref();
  }

  async inUse(within: number, atMost: number): Promise<InUse[]> {
    return this.options.redis.run(async (client) => {
      const lines = await evaluate(client, IN_USE, this.#keys, [Math.ceil(within), atMost]);
      if (!Array.isArray(lines) || lines.length % 3 !== 0) throw new Unexpected();
      const found: InUse[] = [];
      for (let i = 0; i < lines.length; i += 3) {
        const usage = readUsage(lines[i]);
        if (usage === null) continue;
        found.push({ usage, idle: readNumber(lines[i + 1]), failures: readNumber(lines[i + 2]) });
      }
      return found;
    });
  }

  async failed(hash: string, holdOff: number): Promise<void> {
    await this.options.redis.run((client) => evaluate(client, FAILED, this.#keys, [hash, Math.ceil(holdOff)]));
  }

  async succeeded(hash: string): Promise<void> {
    await this.options.redis.run((client) => evaluate(client, SUCCEEDED, this.#keys, [hash]));
  }

  async forget(hash: string): Promise<void> {
    this.#told.delete(hash);
    this.#gathered.delete(hash);
    await this.options.redis.run((client) => evaluate(client, FORGET, this.#keys, [hash]));
  }

  /** Tells what is still to be told, within the command timeout. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#tell();
  }

  async #tell(): Promise<void> {
    this.#timer = null;
    const all = [...this.#gathered];
    this.#gathered.clear();
    const parts: [string, string][][] = [];
    for (let i = 0; i < all.length; i += AT_ONCE) parts.push(all.slice(i, i + AT_ONCE));
    await Promise.all(parts.map((part) => this.#tellPart(part)));
  }

  async #tellPart(part: readonly [string, string][]): Promise<void> {
    try {
      const values = [this.options.most, ...part.flat()];
      await this.options.redis.run((client) => evaluate(client, TOUCH, this.#keys, values));
    } catch {
      // The next who asks has it told.
      for (const [hash] of part) this.#told.delete(hash);
    }
  }
}

/** null: it is none, or one of another make. */
function readUsage(text: unknown): Usage | null {
  if (typeof text !== 'string') return null;
  try {
    return usageForm.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
