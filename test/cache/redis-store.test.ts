import { openRedis, type OpenRedis } from '../../src/cache/redis';
import { Secret } from '../../src/config';
import { openLog } from '../../src/log';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { LEASE, MAX_ENTRY, testSharedStore } from './store-contract';

describeWithRedis('the store in Redis', () => {
  let server: RedisServer;
  let opened: OpenRedis[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    opened = Array.from({ length: 3 }, () =>
      openRedis({
        url: new Secret(server.url),
        prefix: 'test',
        timeout: 1000,
        maxEntry: MAX_ENTRY,
        leaseTime: LEASE,
        log: openLog('silent', process.stdout),
      }),
    );
    await Promise.all(opened.map(({ link }) => link.tried));
  });
  afterEach(() => Promise.all(opened.map((redis) => redis.close())));

  let next = 0;
  testSharedStore(() => {
    const redis = opened[next++ % opened.length];
    if (redis === undefined) throw new Error('None is open.');
    return redis.store;
  });
});
