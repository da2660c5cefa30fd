import fc from 'fast-check';

import type { Endpoint } from '../../src/endpoints/endpoint';
import { ServiceError } from '../../src/errors';
import { Metrics } from '../../src/metrics/metrics';
import { PlanCache } from '../../src/run/plan-cache';
import { planRequest } from '../../src/run/plan';
import type { Services } from '../../src/run/services';
import type { RequestPlan } from '../../src/run/types';
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
      asParquet: false,
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

describe('a start that moves on with the clock', () => {
  const [project] = warmed.parameters;
  if (project === undefined) throw new Error('No parameters.');
  const since = { ...project, name: 'since', type: 'timestamp', required: false, defaultLookback: '7d' } as const;
  const recent: Endpoint = { ...warmed, parameters: [project, since] };
  let now: bigint;
  const at = (instant: string): void => {
    now = BigInt(Date.parse(instant)) * 1000n;
  };
  beforeEach(() => {
    at('2026-11-23T06:10:00Z');
    shared = { ...shared, now: () => now };
  });
  const startOf = ({ parameters }: RequestPlan): unknown => parameters.find(({ name }) => name === 'since')?.value;

  it('has one identity within an hour, and another one after it, as its start is another', async () => {
    const first = await planned({}, recent);
    expect(startOf(first)).toBe('2026-11-16T06:00:00.000000Z');
    at('2026-11-23T06:59:59.999Z');
    expect((await planned({ headers: { 'x-request-id': 'a' } }, recent)).identity).toEqual(first.identity);
    at('2026-11-23T07:00:00Z');
    const later = await planned({}, recent);
    expect(startOf(later)).toBe('2026-11-16T07:00:00.000000Z');
    expect(later.identity.hash).not.toBe(first.identity.hash);
    // Who sends the same start is given the same result.
    const values = { project: 'abc', since: '2026-11-16T07:00:00Z' };
    expect((await planned({ values }, recent)).identity).toEqual(later.identity);
  });

  it('is cached as a plan for its hour alone, whichever way the clock goes', async () => {
    const reads = async (): Promise<number> => {
      const { request, result } = plan({}, recent);
      await result;
      return request.reads;
    };
    expect([await reads(), await reads()]).toEqual([1, 0]);
    at('2026-11-23T06:59:59Z');
    expect(await reads()).toBe(0);
    at('2026-11-23T07:00:00Z');
    expect([await reads(), await reads()]).toEqual([1, 0]);
    at('2026-11-23T06:59:59Z');
    expect(await reads()).toBe(1);
    // One that is sent stays.
    const values = { project: 'abc', since: '2026-01-01' };
    await planned({ values }, recent);
    at('2026-11-24T06:00:00Z');
    const { request, result } = plan({ values }, recent);
    await result;
    expect(request.reads).toBe(0);
  });

  it('is one request for the warmer at any time, which leaves the start out', async () => {
    const first = await planned({}, recent);
    at('2026-11-25T09:00:00Z');
    const later = await planned({}, recent);
    expect(later.usage).toEqual(first.usage);
    expect(first.usage?.values).toEqual({ project: 'abc' });
    const values = { project: 'abc', since: '2026-11-16T06:00:00Z' };
    const fixed = await planned({ values }, recent);
    expect(fixed.usage?.hash).toBe(fixed.identity.hash);
    expect(fixed.usage?.hash).not.toBe(first.usage?.hash);
  });
});

it('is the same from the plan cache, whatever was asked before: as a tail, in another form, masked, by another key', async () => {
  const asked = fc.record({
    key: fc.constantFrom('all', 'masked', 'pinned', 'exporter'),
    accept: fc.constantFrom(
      '',
      '*/*',
      'text/*',
      'text/csv',
      'text/event-stream',
      'application/x-ndjson',
      'text/event-stream, text/csv;q=0.1',
    ),
    tail: fc.boolean(),
    redact: fc.constantFrom('', 'true', 'false'),
    project: fc.constantFrom('abc', 'b'),
    switches: fc.constantFrom({}, { export: 'true' }, { timestamps: 'iso' }, { page_size: '5' }),
    exports: fc.boolean(),
  });
  const endpoints = { false: warmed, true: { ...warmed, exportRows: 100 } };
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 12 }), async (requests) => {
      const kept = new PlanCache();
      for (const { key: name, accept, tail, redact, project, switches, exports } of requests) {
        const key = KEYS[name];
        if (key === undefined) throw new Error(name);
        const planOf = async (plans: PlanCache): Promise<unknown> => {
          const headers = { accept, 'lf-endpoint-redact-pii': redact };
          const request = new TestRequest(warmed.name, { key: name, values: { project, ...switches }, headers });
          const form = tail ? ['application/json'] : [];
          const planned = planRequest(request, key, endpoints[`${exports}`], { ...shared, plans }, ...form);
          return planned.catch((error: unknown) =>
            error instanceof ServiceError ? [error.reason, error.message] : error,
          );
        };
        expect(await planOf(kept)).toEqual(await planOf(new PlanCache()));
      }
    }),
  );
});
