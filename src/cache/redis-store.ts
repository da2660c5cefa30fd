import { randomUUID } from 'node:crypto';

import type { Entry } from './entry';
import type { Identity } from './identity';
import { sizeOf } from './memory-store';
import type { Lease, SharedStore } from './stores';
import { decode, encode, FIELDS, FORMAT, readFence } from './redis-codec';
import { readFlag, readNumber, readPair, Unexpected } from '../redis/replies';
import type { RedisConnection } from '../redis/connection';
import { evaluate } from '../redis/scripts';
import { ACQUIRE, AWAIT, AWAITED, RELEASE, RENEW, WRITE } from './redis-scripts';

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
