import type { RedisConnection } from '../../redis/connection';
import { type PlaceRecords, type RecordedLook, RECORDED } from './places';

/** Lists of looks in Redis: good in every process that shares it. */
export class PlacesInRedis implements PlaceRecords {
  constructor(private readonly redis: Pick<RedisConnection, 'run' | 'prefix'>) {}

  async append(name: string, looks: readonly RecordedLook[], most: number): Promise<void> {
    const key = this.#key(name);
    await this.redis.run(async (client) => {
      await client.rpush(key, ...looks.map((look) => JSON.stringify(look)));
      await client.ltrim(key, -most, -1);
      await client.pexpire(key, RECORDED);
    });
  }

  async read(name: string): Promise<readonly RecordedLook[]> {
    const texts = await this.redis.run((client) => client.lrange(this.#key(name), 0, -1));
    return texts.map((text) => JSON.parse(text) as RecordedLook);
  }

  #key(name: string): string {
    return `${this.redis.prefix}:tail:${name}`;
  }
}
