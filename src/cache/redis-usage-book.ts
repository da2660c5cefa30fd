import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { type Clock, SYSTEM_CLOCK } from '@logquay/duckdb-engine/concurrency';
import { readFlag, readNumber, Unexpected } from '../redis/client';
import type { RedisConnection } from '../redis/connection';
import { CLOCK, evaluate, script } from '../redis/scripts';
import { CONTENT_TYPES, type Representation } from '../rendering/representation';
import { FORMAT } from './redis-store';
import type { InUse, Usage, UsageBook } from './usage';

/**
 * The usage book in Lua. KEYS of every script: results by time of their last request (milliseconds), their records, and of
 * those whose refresh has failed, until when they are held off and the number of failures.
 */

/** Milliseconds after the last write until the book expires. */
const EXPIRY = 7 * 24 * 3600 * 1000;

const DROP = `
  local function drop(hash)
    redis.call('ZREM', KEYS[1], hash)
    redis.call('HDEL', KEYS[2], hash)
    redis.call('HDEL', KEYS[3], hash)
  end
`;

/** ARGV: number of results to remember, then a flat list of names and records. */
const TOUCH = script(`
  ${CLOCK} ${DROP}
  for i = 2, #ARGV, 2 do
    redis.call('ZADD', KEYS[1], millis, ARGV[i])
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
  local excess = redis.call('ZCARD', KEYS[1]) - ARGV[1]
  if excess > 0 then
    for _, hash in ipairs(redis.call('ZRANGE', KEYS[1], 0, excess - 1)) do drop(hash) end
  end
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ${EXPIRY}) end
  return 1
`);

/** ARGV: milliseconds to look back, maximal number. Returns a flat list of record, milliseconds since the last request, and failures. */
const IN_USE = script(`
  ${CLOCK}
  local most = tonumber(ARGV[2])
  -- Held-off results are skipped, so look at more.
  local limit = most + redis.call('HLEN', KEYS[3])
  local recent = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', millis - ARGV[1], 'WITHSCORES', 'LIMIT', 0, limit)
  local answer = {}
  for i = 1, #recent, 2 do
    if #answer >= most * 3 then break end
    local record = redis.call('HGET', KEYS[2], recent[i])
    local untilWhen, failures = string.match(redis.call('HGET', KEYS[3], recent[i]) or '', '^(%d+) (%d+)$')
    if record and (tonumber(untilWhen) or 0) <= millis then
      answer[#answer + 1] = record
      answer[#answer + 1] = math.max(0, millis - recent[i + 1])
      answer[#answer + 1] = tonumber(failures) or 0
    end
  end
  return answer
`);

/** ARGV: name, milliseconds to hold it off. */
export const FAILED = script(`
  ${CLOCK}
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
  local failures = tonumber(string.match(redis.call('HGET', KEYS[3], ARGV[1]) or '', ' (%d+)$')) or 0
  redis.call('HSET', KEYS[3], ARGV[1], string.format('%.0f %.0f', millis + ARGV[2], failures + 1))
  redis.call('PEXPIRE', KEYS[3], ${EXPIRY})
  return 1
`);

/** ARGV: name. Returns 1 while it is held off. */
const HELD_OFF = script(`
  ${CLOCK}
  local untilWhen = tonumber(string.match(redis.call('HGET', KEYS[3], ARGV[1]) or '', '^%d+'))
  return untilWhen and untilWhen > millis and 1 or 0
`);

/** ARGV: name. */
const SUCCEEDED = script(`
  return redis.call('HDEL', KEYS[3], ARGV[1])
`);

/** ARGV: name. */
const FORGET = script(`
  ${DROP}
  drop(ARGV[1])
  return 1
`);

/** Requests within so many milliseconds, or a tenth of the ttl where that is less, are recorded as one. */
const LONGEST_TOGETHER = 10_000;
const PART_OF_TTL = 0.1;

/** Milliseconds for which requests are collected before they are sent, and how many are sent at once. */
const BATCH_TIME = 200;
const BATCH_SIZE = 200;

/** Length of the longest record that is sent: results with longer parameters are not kept warm. */
const LONGEST_RECORD = 16_384;

const usageForm = z.strictObject({
  hash: z.string(),
  endpointId: z.string(),
  values: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  redacted: z.boolean(),
  representation: z.custom<Representation>((value) => typeof value === 'string' && Object.hasOwn(CONTENT_TYPES, value)),
  keyName: z.string(),
});

export interface RedisUsageBookOptions {
  readonly redis: RedisConnection;
  /** Results that are remembered, of all processes; the least recently requested is forgotten first. */
  readonly most: number;
  readonly clock?: Clock;
}

/** One usage book for all processes, which outlives each of them. Times in it are Redis's. */
export class RedisUsageBook implements UsageBook {
  /** When each result was last sent, on the monotonic clock. */
  readonly #sent: LRUCache<string, number>;
  readonly #batch = new Map<string, string>();
  readonly #keys: readonly string[];
  readonly #clock: Clock;
  #cancelTimer: (() => void) | null = null;

  constructor(private readonly options: RedisUsageBookOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    const stem = `${options.redis.prefix}:${FORMAT}:{usage}`;
    this.#keys = [`${stem}:requests`, `${stem}:records`, `${stem}:failures`];
    this.#sent = new LRUCache({ max: Math.max(1, options.most) });
  }

  touch(usage: Usage, ttl: number): void {
    const now = this.#clock.monotonic();
    const sent = this.#sent.get(usage.hash);
    if (sent !== undefined && now - sent < Math.min(LONGEST_TOGETHER, ttl * PART_OF_TTL)) return;
    this.#sent.set(usage.hash, now);
    const record = JSON.stringify(usage);
    if (record.length > LONGEST_RECORD || this.#batch.size >= this.options.most) return;
    this.#batch.set(usage.hash, record);
    this.#cancelTimer ??= this.#clock.after(BATCH_TIME, () => void this.#send(), true);
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

  async isHeldOff(hash: string): Promise<boolean> {
    return this.options.redis.run(async (client) => readFlag(await evaluate(client, HELD_OFF, this.#keys, [hash])));
  }

  async succeeded(hash: string): Promise<void> {
    await this.options.redis.run((client) => evaluate(client, SUCCEEDED, this.#keys, [hash]));
  }

  async forget(hash: string): Promise<void> {
    this.#sent.delete(hash);
    this.#batch.delete(hash);
    await this.options.redis.run((client) => evaluate(client, FORGET, this.#keys, [hash]));
  }

  /** Sends what is still to be sent, within the command timeout. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    await this.#send();
  }

  async #send(): Promise<void> {
    this.#cancelTimer = null;
    const all = [...this.#batch];
    this.#batch.clear();
    const parts: [string, string][][] = [];
    for (let i = 0; i < all.length; i += BATCH_SIZE) parts.push(all.slice(i, i + BATCH_SIZE));
    await Promise.all(parts.map((part) => this.#sendPart(part)));
  }

  async #sendPart(part: readonly [string, string][]): Promise<void> {
    try {
      const values = [this.options.most, ...part.flat()];
      await this.options.redis.run((client) => evaluate(client, TOUCH, this.#keys, values));
    } catch {
      // It is sent with the next request.
      for (const [hash] of part) this.#sent.delete(hash);
    }
  }
}

/** null: not a record of this version. */
function readUsage(text: unknown): Usage | null {
  if (typeof text !== 'string') return null;
  try {
    return usageForm.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
