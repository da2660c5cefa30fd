import { Metrics } from '../../src/metrics';
import { planRequest } from '../../src/run/plan';
import type { Services } from '../../src/run/services';
import type { RequestPlan } from '../../src/run/types';
import type { Endpoint } from '../../src/endpoints';
import { ENDPOINTS, KEYS, services } from '../http/served';
import { TestRequest } from './request';

const [PLAIN] = ENDPOINTS;
if (PLAIN === undefined) throw new Error('No endpoints.');
const warmed: Endpoint = { ...PLAIN, cacheTtl: 60, cacheWarming: 30 };

let shared: Services;
beforeEach(() => {
  shared = services({}, new Metrics());
});

function plan(options: ConstructorParameters<typeof TestRequest>[1] = {}, endpoint: Endpoint = warmed) {
  const request = new TestRequest(endpoint.name, { values: { project: 'abc' }, ...options });
  const key = KEYS[options.key ?? 'all'];
  if (key === undefined) throw new Error(options.key);
  return { request, result: planRequest(request, key, endpoint, shared) };
}
const planned = (options: Parameters<typeof plan>[0] = {}, endpoint?: Endpoint): Promise<RequestPlan> =>
  plan(options, endpoint).result;

describe('a plan', () => {
  it('has everything that a run needs', async () => {
    expect(await planned()).toMatchObject({
      endpoint: { name: 'test.plain' },
      query: null,
      parameters: [{ name: 'project', type: 'STRING', value: 'abc' }],
      redacted: false,
      fenced: false,
      representation: 'application/json',
      payer: 'all',
      purpose: 'run',
    });
  });

  it('takes pinned values from the key, and is fenced then', async () => {
    const { parameters, fenced } = await planned({ key: 'pinned', values: {} });
    expect(parameters).toEqual([{ name: 'project', type: 'STRING', value: 'abc' }]);
    expect(fenced).toBe(true);
  });

  it.each([
    ['the key', { key: 'masked' }, warmed],
    ['the endpoint', {}, { ...warmed, redactPii: true }],
    ['the header', { headers: { 'lf-endpoint-redact-pii': 'true' } }, warmed],
  ])('redacts if %s says so', async (_, options, endpoint) => {
    expect((await planned(options, endpoint)).redacted).toBe(true);
  });

  it('has one identity for one result', async () => {
    const hash = async (...args: Parameters<typeof planned>): Promise<string> => (await planned(...args)).identity.hash;
    const base = await hash();
    // Who pays makes no difference.
    expect(await hash({ key: 'other' })).toBe(base);
    const others = await Promise.all([
      hash({ values: { project: 'other' } }),
      hash({ headers: { accept: 'text/csv' } }),
      hash({ headers: { 'lf-endpoint-redact-pii': 'true' } }),
      hash({ key: 'pinned', values: {} }),
      hash({}, { ...warmed, revision: 'another' }),
    ]);
    expect(new Set([base, ...others]).size).toBe(6);
  });

  it('keeps for the warmer what was sent, without pinned values', async () => {
    expect((await planned()).usage).toMatchObject({ values: { project: 'abc' }, keyName: 'all' });
    expect((await planned({ key: 'pinned', values: {} })).usage).toMatchObject({ values: {}, keyName: 'pinned' });
    expect((await planned({}, { ...warmed, cacheWarming: 0 })).usage).toBeNull();
  });

  it('is refused in a fixed order: Accept, permissions, values', async () => {
    const values = { project: 'abc', dry_run: 'true', unknown: 'x' };
    const refused = async (options: Parameters<typeof plan>[0]): Promise<unknown> =>
      planned(options).catch((error: unknown) => (error as { reason: string }).reason);
    expect(await refused({ values, key: 'pinned', headers: { accept: 'image/png' } })).toBe('notAcceptable');
    expect(await refused({ values, key: 'pinned' })).toBe('accessDenied');
    expect(await refused({ values })).toBe('invalidParameter');
  });
});

describe('the plan cache', () => {
  it('gives the same plan for the same request, without reading it again', async () => {
    const first = plan();
    const second = plan();
    expect(await second.result).toStrictEqual(await first.result);
    const third = plan();
    expect(await third.result).toBe(await second.result);
    expect(third.request.reads).toBe(0);
  });

  it('does not know a plan of another key, endpoint object, text or header', async () => {
    await planned();
    for (const [options, endpoint] of [
      [{ key: 'other' }, warmed],
      [{}, { ...warmed }],
      [{ values: { project: 'b' } }, warmed],
      [{ headers: { accept: 'text/csv' } }, warmed],
      [{ headers: { 'lf-endpoint-redact-pii': 'true' } }, warmed],
    ] as const) {
      const { request, result } = plan(options, endpoint);
      await result;
      expect(request.reads).toBe(1);
    }
  });

  it.each([
    ['a body', { post: true }],
    ['a long query', { values: { project: 'x'.repeat(3000) } }],
  ])('does not hold plans of requests with %s', async (_, options) => {
    await planned(options).catch(() => undefined);
    const { request, result } = plan(options);
    await result.catch(() => undefined);
    expect(request.reads).toBe(1);
  });

  it('does not hold more than 2000 plans', async () => {
    await planned();
    for (let i = 0; i < 2000; i++) await planned({ values: { project: String(i) } });
    const { request, result } = plan();
    await result;
    expect(request.reads).toBe(1);
  });
});
