import type { Endpoint } from '../../src/endpoints/endpoint';
import { Metrics } from '../../src/metrics/metrics';
import { run as runOrExport } from '../../src/run/run';
import type { Services } from '../../src/run/services';
import type { RunResponse } from '../../src/run/types';
import { ENDPOINTS, KEYS, ScriptedEngine, services } from '../http/served';
import { TestRequest } from './request';

const [PLAIN] = ENDPOINTS;
if (PLAIN === undefined) throw new Error('No endpoints.');
const cached: Endpoint = { ...PLAIN, id: '44444444-aaaa-4000-8000-000000000001', name: 'test.cached', cacheTtl: 60 };
const slow: Endpoint = { ...PLAIN, id: '44444444-aaaa-4000-8000-000000000002', name: 'test.slow', timeout: 90_000 };

let engine: ScriptedEngine;
let shared: Services;
beforeEach(() => {
  engine = new ScriptedEngine();
  shared = services({ engine, endpoints: [PLAIN, cached, slow], timeout: 5000 }, new Metrics());
});

async function run(request: TestRequest, of: Services): Promise<RunResponse> {
  const answered = await runOrExport(request, of);
  if (answered === null) throw new Error('No export was asked for.');
  return answered;
}

const requestOf = (name: string, key = 'all'): TestRequest => {
  const values: Record<string, string> = key === 'pinned' ? {} : { project: 'abc' };
  return new TestRequest(name, { key, values });
};

it('executes a plan step by step and encodes the rows', async () => {
  const request = requestOf(PLAIN.name);
  const { response, headers } = await run(request, shared);
  expect(JSON.parse(String(response.bytes))).toEqual({ result: engine.rows.map((row) => JSON.parse(row) as unknown) });
  expect(request.phases).toEqual(['read', 'cache', 'gate', 'queue', 'engine', 'render']);
  expect(headers).toEqual(['Cache-Control', 'private, no-cache', 'Cache-Status', 'logquay; fwd=miss']);
  expect(engine.queries).toMatchObject([
    { stored: true, fence: null, maxRows: PLAIN.maxRows, labels: { endpoint: PLAIN.name, key: 'all', kind: 'run' } },
  ]);
});

it('answers from the cache without gate, slot or engine', async () => {
  await run(requestOf(cached.name), shared);
  const request = requestOf(cached.name, 'other');
  const { headers } = await run(request, shared);
  expect(engine.queries).toHaveLength(1);
  expect(request.phases).toEqual(['read']);
  expect(request.telemetry).toMatchObject({ cache: 'hit' });
  expect(headers.join('\n')).toContain('logquay; hit; ttl=');
});

describe('a start that is left to default_lookback', () => {
  const [project] = cached.parameters;
  if (project === undefined) throw new Error('No parameters.');
  const since = { ...project, name: 'since', type: 'timestamp', required: false, defaultLookback: '24h' } as const;
  const recent: Endpoint = {
    ...cached,
    sql: 'SELECT @project, @since',
    parameters: [project, since],
    cacheTtl: 86_400,
  };
  const boundStarts = (): unknown[] =>
    engine.queries.map(({ parameters }) => parameters.find(({ name }) => name === 'since')?.value);

  it('is named in a header, and gives no rows of another hour from the cache', async () => {
    let now = Date.parse('2026-11-23T06:10:00Z');
    const values = { project: 'abc' };
    const catalogue = { ...shared.catalogue, find: () => recent };
    const own: Services = { ...shared, catalogue, now: () => BigInt(now) * 1000n };
    const headersOf = async (more: Record<string, string> = {}, key = 'all'): Promise<string> => {
      const request = new TestRequest(recent.name, { key, values: { ...values, ...more } });
      return (await run(request, own)).headers.join('\n');
    };
    expect(await headersOf()).toContain('X-Default-Parameters\nsince=2026-11-22T06:00:00.000000Z');
    now = Date.parse('2026-11-23T06:59:59Z');
    const hit = await headersOf({}, 'other');
    expect(hit).toContain('logquay; hit');
    expect(hit).toContain('X-Default-Parameters\nsince=2026-11-22T06:00:00.000000Z');
    expect(boundStarts()).toEqual(['2026-11-22T06:00:00.000000Z']);
    now = Date.parse('2026-11-23T07:00:00Z');
    const later = await headersOf();
    expect(later).toContain('logquay; fwd=miss');
    expect(later).toContain('X-Default-Parameters\nsince=2026-11-22T07:00:00.000000Z');
    expect(boundStarts()).toEqual(['2026-11-22T06:00:00.000000Z', '2026-11-22T07:00:00.000000Z']);
    expect(await headersOf({ since: '2026-01-01' })).not.toContain('X-Default-Parameters');
    expect(boundStarts().at(-1)).toBe('2026-01-01T00:00:00.000000Z');
  });
});

it('announces the deadline of a run, and none for a cached result', async () => {
  const first = requestOf(cached.name);
  await run(first, shared);
  expect(first.deadlines).toEqual([first.arrived + 5000]);
  const second = requestOf(cached.name);
  await run(second, shared);
  expect(second.deadlines).toEqual([]);
  const third = requestOf(slow.name);
  await run(third, shared);
  expect(third.deadlines).toEqual([third.arrived + 90_000]);
});

it('sorts the rows of a fenced caller, whose order would reveal other rows', async () => {
  engine.rows = ['{"id":2}', '{"id":1}'];
  const unfenced = await run(requestOf(PLAIN.name), shared);
  expect(String(unfenced.response.bytes)).toBe('{"result":[{"id":2},{"id":1}]}');
  const fenced = await run(requestOf(PLAIN.name, 'pinned'), shared);
  expect(String(fenced.response.bytes)).toBe('{"result":[{"id":1},{"id":2}]}');
  expect(engine.queries[1]?.fence).not.toBeNull();
  expect(KEYS['pinned']?.pins.size).toBe(1);
});

it('refuses a broken endpoint before anything is read of the request', async () => {
  const broken = { ...shared, catalogue: { ...shared.catalogue, isBroken: () => true } };
  await expect(run(requestOf(PLAIN.name), broken)).rejects.toMatchObject({ reason: 'endpointBroken' });
});

it('estimates a dry run without running it, and does not cache it', async () => {
  const calls: string[] = [];
  const dry = Object.assign(new ScriptedEngine('bigquery'), {
    dryRun: ({ sql }: { sql: string }) => {
      calls.push(sql);
      return Promise.resolve({ bytesProcessed: 2n ** 39n, bytesBilled: 2n ** 40n });
    },
  });
  const withDryRun = { ...shared, engine: dry };
  for (let i = 0; i < 2; i++) {
    const request = new TestRequest(cached.name, { values: { project: 'abc', dry_run: 'true' } });
    const { response, headers } = await run(request, withDryRun);
    expect(JSON.parse(String(response.bytes))).toMatchObject({
      dryRun: { bytesProcessed: String(2n ** 39n), estimatedCost: 6.25, currency: 'USD' },
    });
    expect(headers).toContain('private, no-cache');
    expect(request.deadlines).toHaveLength(1);
  }
  expect(calls).toHaveLength(2);
  expect(dry.queries).toHaveLength(0);
});
