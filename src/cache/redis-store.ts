import { createHash, randomUUID } from 'node:crypto';

import { z } from 'zod';

import { readFlag, readNumber, readPair, Unexpected } from '../redis/client';
import type { RedisConnection } from '../redis/connection';
import { CLOCK, evaluate, script } from '../redis/scripts';
import { EncodedResponse, type Forms } from '../rendering/encoded-response';
import { CONTENT_TYPES, type Representation } from '../rendering/representation';
import type { Identity, Entry, Lease, SharedStore } from './stores';
import { sizeOf } from './memory';

/** Entries as fields of a Redis hash (docs/cache.md). Whatever does not parse as an entry is ignored. */

/** Part of every key: changed whenever the format of entries, leases or the usage book changes. */
export const FORMAT = 3;

/** In the order of `decode`'s values; a missing compressed form is an empty value. */
export const FIELDS = ['fence', 'question', 'meta', 'body', 'gzip', 'br'] as const;

const metaForm = z.strictObject({
  createdAt: z.number().int().nonnegative(),
  lifetime: z.number().nonnegative(),
  representation: z.custom<Representation>((value) => typeof value === 'string' && Object.hasOwn(CONTENT_TYPES, value)),
  truncated: z.boolean(),
  rows: z.number().int().nonnegative().optional(),
  /** A hash of the body. */
  etag: z.string(),
  /** A hash of the compressed forms. */
  packed: z.string(),
});

/** All fields but the fence, as a flat list of names and values. */
export function encode({ question, response, createdAt, lifetime }: Entry, forms: Forms): (string | Buffer)[] {
  const { representation, truncated, etag, rows } = response;
  const gzip = forms.gzip ?? Buffer.alloc(0);
  const br = forms.br ?? Buffer.alloc(0);
  const meta: z.infer<typeof metaForm> = {
    createdAt,
    lifetime,
    representation,
    truncated,
    ...(rows === undefined ? {} : { rows }),
    etag,
    packed: hashOf(gzip, br),
  };
  return ['question', question, 'meta', JSON.stringify(meta), 'body', forms.bytes, 'gzip', gzip, 'br', br];
}

/**
 * @param values of `FIELDS`
 * @returns null: no entry; `unreadable`: damaged, of another format, or of another identity
 */
export function decode(values: readonly (Buffer | null)[], question: string): Entry | 'unreadable' | null {
  if (values.every((value) => value === null)) return null;
  const [fenceText, questionText, metaText, bytes, gzip, br] = values;
  if (!fenceText || !questionText || !metaText || !bytes || !gzip || !br) return 'unreadable';
  if (questionText.toString() !== question) return 'unreadable';
  const fence = readFence(fenceText.toString('latin1'));
  const meta = readMeta(metaText);
  if (fence === null || meta === null || hashOf(gzip, br) !== meta.packed) return 'unreadable';
  const { createdAt, lifetime, representation, truncated, etag } = meta;
  const response = EncodedResponse.of({ bytes, gzip: orNull(gzip), br: orNull(br) }, representation, truncated);
  response.rows = meta.rows;
  // The etag is a hash of the bytes anyway.
  if (response.etag !== etag) return 'unreadable';
  return { question, response, createdAt, lifetime, fence };
}

/** null: not a valid fence. */
function readFence(text: string): number | null {
  const fence = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(fence) ? fence : null;
}

function readMeta(text: Buffer): z.infer<typeof metaForm> | null {
  try {
    return metaForm.safeParse(JSON.parse(text.toString())).data ?? null;
  } catch {
    return null;
  }
}

function hashOf(gzip: Buffer, br: Buffer): string {
  // The length separates the bytes of the two forms.
  return createHash('sha256').update(`${gzip.length} `).update(gzip).update(br).digest('base64url');
}

function orNull(bytes: Buffer): Buffer | null {
  return bytes.length === 0 ? null : bytes;
}

/** Leases and entries: what has to happen in Redis in one step, in Lua. */

/** Microseconds by which a fence may be ahead of Redis's clock, as after a fail-over to another clock; any further, it does not count. */
const MOST_AHEAD = 86_400_000_000;

/** The fence of the entry in KEYS[at]; 0: no entry. After CLOCK. */
const THERE = (at: number): string => `
  local there = 0
  if redis.call('TYPE', KEYS[${at}]).ok == 'hash' then
    there = tonumber(redis.call('HGET', KEYS[${at}], 'fence') or '0') or 0
    if not (there >= 0 and there < micros + ${MOST_AHEAD}) then there = 0 end
  end
`;

/** Milliseconds beyond which no lease is given: what has longer, or no end at all, is of somebody else's making. */
const LONGEST_LEASE = 60_000;

/** Gives the lease in KEYS[1] an end if it has none, so that it is gone within one lease time (milliseconds). */
const BOUNDED = (leaseTime: string): string => `
  local left = redis.call('PTTL', KEYS[1])
  if left == -1 or left > ${LONGEST_LEASE} then redis.call('PEXPIRE', KEYS[1], ${leaseTime}) end
`;

/**
 * KEYS: lease, last fence, entry. ARGV: owner, milliseconds of the lease, milliseconds for which the last fence is
 * remembered. Returns the fence and that of the current entry (0: no entry); nil: the lease is held.
 */
const ACQUIRE = script(`
  if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    ${BOUNDED('ARGV[2]')}
    return nil
  end
  ${CLOCK} ${THERE(3)}
  local last = redis.call('TYPE', KEYS[2]).ok == 'string' and tonumber(redis.call('GET', KEYS[2])) or 0
  if not (last >= 0 and last < micros + ${MOST_AHEAD}) then last = 0 end
  local fence = math.max(micros, last + 1, there + 1)
  redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ARGV[3])
  return { fence, there }
`);

/** KEYS: lease. ARGV: owner, milliseconds of the lease. Returns 1; 0: it is not the owner's any more. */
const RENEW = script(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS: lease. ARGV: owner. Returns 1; 0: it was not the owner's any more. */
export const RELEASE = script(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])
`);

/**
 * KEYS: lease, waiters. ARGV: id of the waiter, milliseconds for which it is registered. Returns 1: the lease is held;
 * 0: it is not.
 */
const AWAIT = script(`
  if redis.call('EXISTS', KEYS[1]) == 0 then
    redis.call('ZREM', KEYS[2], ARGV[1])
    return 0
  end
  ${BOUNDED('ARGV[2]')} ${CLOCK}
  redis.call('ZADD', KEYS[2], millis + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[2] * 2)
  return 1
`);

/** KEYS: waiters. ARGV: id of the caller. Returns how many others wait. */
const AWAITED = script(`
  ${CLOCK}
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis)
  local all = redis.call('ZCARD', KEYS[1])
  return redis.call('ZSCORE', KEYS[1], ARGV[1]) and all - 1 or all
`);

/**
 * KEYS: entry. ARGV: fence, milliseconds to store it, then its other fields as a flat list of names and values, always the same
 * names. Returns 1; 0: the current entry has a higher fence.
 */
export const WRITE = script(`
  ${CLOCK} ${THERE(1)}
  if there > tonumber(ARGV[1]) then return 0 end
  local fields = { 'fence', ARGV[1] }
  for i = 3, #ARGV do fields[#fields + 1] = ARGV[i] end
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
`);

/** Milliseconds for which the last fence of an identity is remembered: longer than any run. */
const FENCE_REMEMBERED = 2 * 3600 * 1000;

export interface RedisStoreOptions {
  readonly redis: RedisConnection;
  /** Bytes of the largest entry that is stored. */
  readonly maxEntry: number;
  /** Milliseconds after which a lease that is not renewed ends. */
  readonly leaseTime: number;
}

/** Names of keys; the braces put those of one identity in one hash slot of a Cluster. */
interface Keys {
  readonly entry: string;
  readonly lease: string;
  readonly fence: string;
  readonly waiters: string;
}

export class RedisStore implements SharedStore {
  /** Id of this process as a waiter. */
  readonly #self = randomUUID();
  #unreadable = 0;

  constructor(private readonly options: RedisStoreOptions) {}

  get maxEntry(): number {
    return this.options.maxEntry;
  }

  /** Unreadable entries found since the start. */
  get unreadable(): number {
    return this.#unreadable;
  }

  async read(identity: Identity): Promise<Entry | null> {
    const { entry } = this.#keys(identity);
    const values = await this.options.redis.run(async (client) => {
      try {
        return await client.hmgetBuffer(entry, ...FIELDS);
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return [Buffer.alloc(0)];
        throw error;
      }
    });
    const read = decode(values, identity.text);
    if (read === null) return null;
    if (read !== 'unreadable' && !this.#isAhead(read)) return read;
    this.#unreadable++;
    return null;
  }

  /** Whether an entry is of a time to come, by more than clocks of machines differ: it would be fresh until then. */
  #isAhead({ createdAt }: Entry): boolean {
    return createdAt > Date.now() + this.options.leaseTime;
  }

  async fenceOf(identity: Identity): Promise<number | null> {
    const { entry } = this.#keys(identity);
    return this.options.redis.run(async (client) => {
      try {
        const text = await client.hget(entry, 'fence');
        return text === null ? null : readFence(text);
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
        throw error;
      }
    });
  }

  async write(identity: Identity, entry: Entry, maxAge: number): Promise<boolean> {
    const milliseconds = Math.ceil(maxAge);
    const forms = await entry.response.complete();
    if (milliseconds <= 0 || sizeOf(entry) > this.options.maxEntry) return false;
    const keys = [this.#keys(identity).entry];
    const values = [entry.fence, milliseconds, ...encode(entry, forms)];
    return this.options.redis.run(async (client) => readFlag(await evaluate(client, WRITE, keys, values)));
  }

  async acquire(identity: Identity): Promise<Lease | null> {
    const { redis, leaseTime } = this.options;
    const keys = this.#keys(identity);
    const { lease, waiters } = keys;
    const owner = randomUUID();
    const release = async (): Promise<void> => {
      await redis.run((client) => evaluate(client, RELEASE, [lease], [owner]));
    };
    let granted: readonly [number, number] | null;
    try {
      granted = await redis.run(async (client) => {
        const answer = await evaluate(
          client,
          ACQUIRE,
          [lease, keys.fence, keys.entry],
          [owner, leaseTime, FENCE_REMEMBERED],
        );
        return answer === null ? null : readPair(answer);
      });
    } catch (error) {
      // Redis may have granted it although the reply was lost.
      release().catch(() => undefined);
      throw error;
    }
    if (granted === null) return null;
    const [fence, previous] = granted;
    return {
      fence,
      previous: previous === 0 ? null : previous,
      renew: () => redis.run(async (client) => readFlag(await evaluate(client, RENEW, [lease], [owner, leaseTime]))),
      awaited: () =>
        redis.run(async (client) => readNumber(await evaluate(client, AWAITED, [waiters], [this.#self])) > 0),
      release,
    };
  }

  await(identity: Identity): Promise<'running' | 'over'> {
    const { lease, waiters } = this.#keys(identity);
    const values = [this.#self, this.options.leaseTime];
    return this.options.redis.run(async (client) =>
      readFlag(await evaluate(client, AWAIT, [lease, waiters], values)) ? 'running' : 'over',
    );
  }

  async leave(identity: Identity): Promise<void> {
    const { waiters } = this.#keys(identity);
    await this.options.redis.run(async (client) => {
      const answer = await client.zrem(waiters, this.#self);
      if (typeof answer !== 'number') throw new Unexpected();
    });
  }

  /** The connection is closed by its owner. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #keys({ hash }: Identity): Keys {
    const stem = `${this.options.redis.prefix}:${FORMAT}:{${hash}}`;
    return { entry: `${stem}:entry`, lease: `${stem}:lease`, fence: `${stem}:fence`, waiters: `${stem}:waiters` };
  }
}
