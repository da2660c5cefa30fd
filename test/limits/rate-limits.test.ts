import { RateLimits } from '../../src/limits/rate-limits';

const key = (name: string, rateLimit: number | null = null): { name: string; rateLimit: number | null } => ({
  name,
  rateLimit,
});

it('counts by key, by its own limit or the default', () => {
  const limits = new RateLimits({ perKey: 2, perEndpoint: 0, sync: null });
  const refused = (name: string, own: number | null): (string | undefined)[] =>
    [0, 1, 2, 3].map((now) => limits.countKey(key(name, own), now).refusal?.reason);
  const LIMIT = 'rateLimitExceeded';
  expect(refused('a', null)).toEqual([undefined, undefined, LIMIT, LIMIT]);
  expect(refused('b', null)).toEqual([undefined, undefined, LIMIT, LIMIT]);
  expect(refused('c', 3)).toEqual([undefined, undefined, undefined, LIMIT]);
});

it('says the policy and what is left of it, in structured fields', () => {
  const limits = new RateLimits({ perKey: 2, perEndpoint: 5, sync: null });
  expect(limits.countKey(key('a'), 0)).toEqual({
    headers: ['RateLimit-Policy', '"key";q=2;w=1', 'RateLimit', '"key";r=1;t=1'],
    refusal: null,
  });
  expect(limits.countEndpoint({ name: 'logs.all' }, key('a'), 1)).toEqual({
    headers: [
      'RateLimit-Policy',
      '"key";q=2;w=1, "endpoint";q=5;w=1',
      'RateLimit',
      '"key";r=1;t=1, "endpoint";r=4;t=1',
    ],
    refusal: null,
  });
});

it('refuses with when to come back, and in words', () => {
  const limits = new RateLimits({ perKey: 0, perEndpoint: 0, sync: null });
  limits.countKey(key('slow', 0.1), 0);
  const { headers, refusal } = limits.countKey(key('slow', 0.1), 2500);
  expect(refusal).toMatchObject({
    message: 'This key may make 1 request in 10 seconds.',
    details: { retryAfter: 8 },
  });
  expect(headers).toEqual(['RateLimit-Policy', '"key";q=1;w=10', 'RateLimit', '"key";r=0;t=8']);
});

it('counts an endpoint over all keys', () => {
  const limits = new RateLimits({ perKey: 0, perEndpoint: 2, sync: null });
  const refused = ['a', 'b', 'c'].map(
    (name) => limits.countEndpoint({ name: 'logs.all' }, key(name), 0)?.refusal?.message,
  );
  expect(refused).toEqual([undefined, undefined, 'All keys together may make 2 requests a second to this endpoint.']);
  expect(limits.countEndpoint({ name: 'other' }, key('a'), 0)?.refusal).toBeNull();
});

it('says nothing where there is no limit', () => {
  const limits = new RateLimits({ perKey: 0, perEndpoint: 0, sync: null });
  expect(limits.countKey(key('a'), 0)).toEqual({ headers: [], refusal: null });
  expect(limits.countEndpoint({ name: 'logs.all' }, key('a'), 0)).toBeNull();
});

it('takes up a changed limit at once', () => {
  const limits = new RateLimits({ perKey: 0, perEndpoint: 0, sync: null });
  limits.countKey(key('a', 1), 0);
  expect(limits.countKey(key('a', 1), 1).refusal).not.toBeNull();
  expect(limits.countKey(key('a', 5), 2).refusal).toBeNull();
});

it('holds no names for ever', () => {
  const limits = new RateLimits({ perKey: 5, perEndpoint: 0, sync: null });
  for (let i = 0; i < 20_000; i++) limits.countKey(key(`key-${String(i)}`), i * 10);
  // Those of the last second are there still: their count goes on.
  expect(limits.countKey(key('key-19999'), 200_000).headers[3]).toBe('"key";r=3;t=1');
  expect(limits.held).toBeLessThanOrEqual(2100);
});
