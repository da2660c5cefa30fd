/** Requests with a wrong key are slowed down by where they come from, and never one with a right key. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import request, { type Response } from 'supertest';

import { ServiceError } from '../../src/errors';
import { FailedLogins, networkOf } from '../../src/http/server/failed-logins';
import { serve, type Served } from './served';

const PATH = '/api/endpoints/query/test.plain?project=a';

describe('over HTTP', () => {
  let served: Served;
  beforeEach(async () => {
    served = await serve({ docs: 'key', metricsKey: 'metrics-key' });
  });
  afterEach(() => served.close());

  const ask = (path: string, key?: string): Promise<Response> =>
    request(served.server)
      .get(path)
      .set(key === undefined ? {} : { 'X-API-KEY': key });
  async function fail(times: number): Promise<Response[]> {
    const answers: Response[] = [];
    for (let i = 0; i < times; i++) answers.push(await ask(PATH, `wrong-${String(i)}`));
    return answers;
  }

  it('is 401 twenty times a minute, then 429 with Retry-After', async () => {
    const answers = await fail(25);
    expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(401), ...Array(5).fill(429)]);
    const { body, headers } = answers[24] as Response;
    expect(body).toMatchObject({ error: { errors: [{ reason: 'rateLimitExceeded' }] } });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(await served.metrics.text()).toContain('logquay_failed_logins_total 25');
  });

  it('serves a right key from the same address at once, before and after', async () => {
    await fail(30);
    for (let i = 0; i < 5; i++) {
      expect((await ask(PATH, 'all')).status).toBe(200);
    }
    expect((await ask(PATH, 'wrong')).status).toBe(429);
  });

  it('counts for every path that takes a key', async () => {
    await fail(20);
    for (const path of [PATH, '/api/endpoints', '/api/endpoints/x', '/openapi.json', '/docs', '/metrics']) {
      expect([path, (await ask(path, 'wrong')).status]).toEqual([path, 429]);
    }
    expect((await ask('/metrics', 'metrics-key')).status).toBe(200);
  });

  it('counts no request without a key, and none that needs no key', async () => {
    for (let i = 0; i < 30; i++) expect((await ask(PATH)).status).toBe(401);
    for (const path of ['/health', '/ready', '/nothing']) {
      for (let i = 0; i < 10; i++) expect((await ask(path, 'wrong')).status).toBe(path === '/nothing' ? 404 : 200);
    }
    expect((await ask(PATH, 'wrong')).status).toBe(401);
    expect(await served.metrics.text()).toContain('logquay_failed_logins_total 1');
  });
});

describe('networks', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['', ''],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  const error = new ServiceError('unauthenticated', 'The key is not valid.');

  it('of others are not slowed down, and a /64 is one', async () => {
    const logins = new FailedLogins();
    for (let i = 0; i < 30; i++) await logins.count(`2001:db8::${i.toString(16)}`, error);
    expect((await logins.count('2001:db8::ffff', error)).reason).toBe('rateLimitExceeded');
    expect(await logins.count('2001:db8:0:1::1', error)).toBe(error);
    expect(await logins.count('203.0.113.7', error)).toBe(error);
  });

  it('take no more memory than there are counters', async () => {
    const logins = new FailedLogins();
    const before = retained();
    for (let i = 0; i < 60_000; i++)
      await logins.count(`10.${String(i >> 16)}.${String((i >> 8) & 255)}.${String(i & 255)}`, error);
    expect(retained() - before).toBeLessThan(64 * 1024 * 1024);
  });
});

/** Bytes of the heap that are in use, garbage aside. */
function retained(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
