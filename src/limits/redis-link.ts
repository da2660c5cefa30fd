import type { Cluster, Redis } from 'ioredis';

/** The way to Redis: `run` rejects when Redis fails or is known to fail, within a timeout of its own. */
export interface RedisLink {
  run<T>(work: (client: Redis | Cluster) => Promise<T>): Promise<T>;
}
