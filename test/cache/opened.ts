import { RedisStore } from '../../src/cache/redis-store';
import { RedisUsageBook } from '../../src/cache/redis-usage-book';
import type { Clock } from '../../packages/duckdb-engine/src/concurrency/clock';
import { Secret } from '../../src/config';
import { openLog } from '../../src/log';
import { connectRedis, type RedisConnection } from '../../src/redis/connection';
import { LEASE, MAX_ENTRY } from './store-contract';

/** What one process has in Redis. */
export interface OpenedRedis {
  readonly connection: RedisConnection;
  readonly store: RedisStore;
  readonly usage: RedisUsageBook;
  /** Lines of the log, as JSON. */
  readonly logged: readonly string[];
  close(): Promise<void>;
}

interface Options {
  readonly prefix?: string;
  readonly timeout?: number;
  readonly maxEntry?: number;
  readonly leaseTime?: number;
  readonly mostInUse?: number;
  readonly clock?: Clock;
}

/** Opens all that a process would; the command timeout is long, for machines that are busy with something else. */
export function openTestRedis(url: string, options: Options = {}): OpenedRedis {
  const { prefix = 'test', timeout = 30_000, maxEntry = MAX_ENTRY, leaseTime = LEASE, mostInUse = 50, clock } = options;
  const logged: string[] = [];
  const out = { write: (line: string) => logged.push(line) > 0 } as unknown as NodeJS.WritableStream;
  const connection = connectRedis({ url: new Secret(url), prefix, timeout }, openLog('trace', out), {
    ...(clock && { clock }),
  });
  const store = new RedisStore({ redis: connection, maxEntry, leaseTime });
  const usage = new RedisUsageBook({ redis: connection, most: mostInUse, ...(clock && { clock }) });
  return {
    connection,
    store,
    usage,
    logged,
    async close() {
      await usage.close();
      connection.close();
    },
  };
}

/** Several processes connected to one Redis, used round robin. */
export class Processes {
  #all: OpenedRedis[] = [];
  #next = 0;

  async open(url: string, options: Options = {}): Promise<void> {
    this.#all = Array.from({ length: 3 }, () => openTestRedis(url, options));
    await Promise.all(this.#all.map(({ connection }) => connection.tried));
  }

  next(): OpenedRedis {
    const one = this.#all[this.#next++ % this.#all.length];
    if (one === undefined) throw new Error('No process is open.');
    return one;
  }

  /** The store of the next one, with leases of so many milliseconds. */
  store(leaseTime = LEASE): RedisStore {
    return new RedisStore({ redis: this.next().connection, maxEntry: MAX_ENTRY, leaseTime });
  }

  /** Resolves when Redis has executed all commands sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#all.map(({ connection }) => connection.run((client) => client.ping())));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((redis) => redis.close()));
  }
}
