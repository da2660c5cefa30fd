/** The spans of requests, as a collector gets them over HTTP from the service's own server. */
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import request from 'supertest';

import { Secret, type TracingConfig } from '../../src/config';
import { ServiceError } from '../../src/errors';
import { openLog } from '../../src/log';
import { openTracing } from '../../src/tracing/open';
import type { Tracing } from '../../src/tracing/request-spans';
import { ScriptedEngine, serve, type Served, type ServedOptions } from '../http/served';
import { type Arrived, Collector } from './collector';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const ROUTE = '/api/endpoints/query/:idOrName';
const TYPED = '/api/endpoints/query/test.typed?project=Zebra';

/** As the numbers of kinds and of status codes stand in opentelemetry-proto, trace/v1. */
const INTERNAL = 1;
const SERVER = 2;
const UNSET = 0;
const ERROR = 2;

let collector: Collector;
let tracing: Tracing;
let served: Served;
/** What tracing says in the log. */
let said: string[];
beforeEach(async () => {
  said = [];
  collector = await Collector.listen();
});
afterEach(async () => {
  await served.close();
  await tracing.close();
  await collector.close();
});

async function start(options: ServedOptions = {}, more: Partial<TracingConfig> = {}): Promise<Served> {
  const config = { collector: collector.url, headers: null, serviceName: 'logs', begun: 1, ...more };
  const lines = { write: (line: string) => said.push(line) > 0 } as unknown as NodeJS.WritableStream;
  tracing = openTracing(config, openLog('info', lines));
  served = await serve({ ...options, tracing });
  return served;
}

/** All spans of the requests so far, which is the end of tracing. */
async function spans(): Promise<readonly Arrived[]> {
  // An answer reaches its caller before its end is recorded.
  await served.idle();
  await tracing.close();
  return collector.spans;
}

async function span(): Promise<Arrived> {
  const [one, ...others] = (await spans()).filter(({ kind }) => kind === SERVER);
  if (one === undefined || others.length > 0)
    throw new Error(`Of requests there are ${one === undefined ? '0' : String(1 + others.length)}.`);
  return one;
}

/** A request as the service records it. */
const answered = () => ({
  method: 'GET',
  status: 200,
  arrived: performance.now(),
  milliseconds: 1,
  phases: [],
  bytes: 0,
});

/** The trace ids of the log's lines for requests. */
function logged(): unknown[] {
  return served.logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'request')
    .map(({ trace }) => trace);
}

it('one for the request below the caller’s, and one for each step below the step that it is part of', async () => {
  const engine = new ScriptedEngine('bigquery');
  engine.bytes = { processed: 5n, billed: 10n };
  engine.onRun = () => sleep(50);
  await start({ engine });
  const before = BigInt(Date.now()) * 1_000_000n;
  const headers = { 'X-API-KEY': 'all', traceparent: SAMPLED, tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7' };
  await request(served.server).get(TYPED).set(headers).expect(200);
  const after = BigInt(Date.now() + 1) * 1_000_000n;

  const all = await spans();
  const named = (name: string): Arrived => {
    const found = all.filter((one) => one.name === name);
    if (found.length !== 1) throw new Error(`Of ${name} there are ${String(found.length)}.`);
    return found[0] as Arrived;
  };
  const root = named(`GET ${ROUTE}`);
  expect(root).toMatchObject({
    traceId: TRACE,
    parentSpanId: CALLER,
    traceState: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
    kind: SERVER,
    status: { code: UNSET },
  });
  // Sampled, below a span of another process (opentelemetry-proto, SpanFlags).
  expect(root.flags).toBe(0x301);
  expect(root.attributes).toEqual({
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'http.route': ROUTE,
    'http.response.status_code': 200,
    'logquay.endpoint': 'test.typed',
    'logquay.key': 'all',
    'logquay.cache': 'miss',
    'logquay.bytes_billed': 10,
  });
  expect(root.resource).toMatchObject({
    'service.name': 'logs',
    'service.version': expect.stringMatching(/^\d/) as string,
    'telemetry.sdk.language': 'nodejs',
  });
  expect(root.spanId).toMatch(/^[0-9a-f]{16}$/);
  // By the wall clock.
  expect(root.began).toBeGreaterThanOrEqual(before - 5_000_000n);
  expect(root.ended).toBeLessThanOrEqual(after + 5_000_000n);
  expect(root.ended - root.began).toBeGreaterThanOrEqual(45_000_000n);

  const steps = ['read', 'cache', 'gate', 'queue', 'engine', 'render'];
  expect(all.map(({ name }) => name).sort()).toEqual([root.name, ...steps].sort());
  const parents = { read: root, cache: root, gate: named('cache'), queue: named('cache'), engine: named('queue') };
  for (const [name, parent] of Object.entries({ ...parents, render: named('cache') })) {
    const step = named(name);
    expect([name, step.parentSpanId]).toEqual([name, parent.spanId]);
    expect(step).toMatchObject({ traceId: TRACE, kind: INTERNAL, attributes: {}, status: { code: UNSET } });
    expect(step.began).toBeGreaterThanOrEqual(parent.began);
    expect(step.ended).toBeLessThanOrEqual(parent.ended);
    expect(step.ended).toBeGreaterThanOrEqual(step.began);
  }
  expect(named('gate').ended).toBeLessThanOrEqual(named('queue').began);
  expect(named('engine').ended - named('engine').began).toBeGreaterThanOrEqual(45_000_000n);
  expect(new Set(all.map(({ spanId }) => spanId)).size).toBe(all.length);
});

it('a trace of its own where the caller has none, which the log names', async () => {
  await start();
  await request(served.server).get(TYPED).set('X-API-KEY', 'all').expect(200);
  await request(served.server).get(TYPED).set('X-API-KEY', 'all').expect(200);
  const roots = (await spans()).filter(({ kind }) => kind === SERVER);
  expect(roots.map(({ attributes }) => attributes['logquay.cache'])).toEqual(['miss', 'hit']);
  expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
  const ids = roots.map(({ traceId }) => traceId);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(logged()).toEqual(ids);
});

it('none where the caller keeps none', async () => {
  await start();
  const headers = { 'X-API-KEY': 'all', traceparent: `00-${TRACE}-${CALLER}-00` };
  await request(served.server).get(TYPED).set(headers).expect(200);
  await request(served.server).get('/nowhere').set(headers).expect(404);
  expect(await spans()).toEqual([]);
  expect(logged()).toEqual([TRACE, TRACE]);
});

it.each(['00-short-01', `00-${TRACE}-${CALLER}-01-more`, `ff-${TRACE}-${CALLER}-01`])(
  'a trace of its own, without the caller’s state, where the caller says %s',
  async (traceparent) => {
    await start();
    await request(served.server).get('/api/endpoints').set({ traceparent, tracestate: 'congo=1' }).expect(401);
    const root = await span();
    expect([root.parentSpanId, root.traceId === TRACE]).toEqual([undefined, false]);
    expect(root.traceState ?? '').toBe('');
  },
);

it.each([['='], [','.repeat(2000)], ['a=1,'.repeat(1000)], ['\u00e9=1'], ['a=b=c,,d=e']])(
  'not fewer, whatever stands in tracestate (%#)',
  async (tracestate) => {
    await start();
    const headers = { 'X-API-KEY': 'all', traceparent: SAMPLED, tracestate };
    await request(served.server).get(TYPED).set(headers).expect(200);
    expect(await span()).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  },
);

describe('of an error', () => {
  it.each([
    ['/api/endpoints/query/test.typed', 'all', 400, 'invalidParameter'],
    ['/api/endpoints/query/test.typed?project=Zebra', 'Wombat', 401, 'unauthenticated'],
    ['/api/endpoints/query/Badger', 'all', 404, 'notFound'],
  ])('of the caller’s (%s): its reason, and no failure', async (url, key, status, reason) => {
    await start();
    await request(served.server).get(url).set('X-API-KEY', key).expect(status);
    const root = await span();
    expect(root.status).toEqual({ code: UNSET });
    expect(root.attributes).toMatchObject({ 'http.response.status_code': status, 'error.type': reason });
  });

  it('of the engine’s: a failure, with the steps as far as it got', async () => {
    const engine = new ScriptedEngine();
    engine.onRun = () => Promise.reject(new ServiceError('backendError', 'Giraffe'));
    await start({ engine });
    await request(served.server).get(TYPED).set('X-API-KEY', 'all').expect(502);
    const root = await span();
    expect(root.status).toEqual({ code: ERROR });
    expect(root.attributes).toMatchObject({ 'http.response.status_code': 502, 'error.type': 'backendError' });
    const steps = collector.spans.map(({ name }) => name).filter((name) => name !== root.name);
    expect(steps.sort()).toEqual(['cache', 'engine', 'gate', 'queue', 'read']);
  });

  it('where no route matches: the method alone', async () => {
    await start();
    await request(served.server).get('/Badger/Otter').expect(404);
    const root = await span();
    expect(root.name).toBe('GET');
    expect(root.attributes).toEqual({
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'http.response.status_code': 404,
      'error.type': 'notFound',
    });
  });

  it('of a method that the conventions do not know', async () => {
    await start();
    await request(served.server).propfind('/api/endpoints').expect(405);
    const root = await span();
    expect(root.name).toBe('HTTP /api/endpoints');
    expect(root.attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PROPFIND',
      'error.type': 'methodNotAllowed',
    });
  });
});

it('without a status where the caller left before there was one', async () => {
  const engine = new ScriptedEngine();
  let begun = (): void => undefined;
  const running = new Promise<void>((resolve) => (begun = resolve));
  engine.onRun = (_query, { signal }) =>
    new Promise((_resolve, reject) => {
      begun();
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  await start({ engine });
  const outgoing = get(`http://127.0.0.1:${String(served.port)}${TYPED}`, { headers: { 'X-API-KEY': 'all' } });
  outgoing.on('error', () => undefined);
  await running;
  outgoing.destroy();
  const root = await span();
  expect(root.status).toEqual({ code: UNSET });
  expect(root.attributes).toMatchObject({ 'error.type': '499', 'logquay.endpoint': 'test.typed' });
  expect(root.attributes).not.toHaveProperty(['http.response.status_code']);
});

it('of probes only where the caller keeps a trace', async () => {
  await start();
  for (const path of ['/health', '/ready']) {
    await request(served.server).get(path).expect(200);
    await request(served.server).get(path).set('traceparent', SAMPLED).expect(200);
  }
  expect((await spans()).map(({ name, traceId }) => [name, traceId])).toEqual([
    ['GET /health', TRACE],
    ['GET /ready', TRACE],
  ]);
});

it('of a part of the requests, and of all whose caller keeps a trace', async () => {
  await start({}, { begun: 0.25 });
  const facts = answered();
  const parent = { traceId: TRACE, spanId: CALLER, sampled: true };
  const traces = Array.from({ length: 2000 }, () => tracing.record(facts, undefined, undefined));
  for (let i = 0; i < 100; i++) expect(tracing.record(facts, parent, undefined)).toBe(TRACE);
  const begun = traces.filter((id) => id !== undefined);
  // Ten standard deviations around 500.
  expect(begun.length).toBeGreaterThan(300);
  expect(begun.length).toBeLessThan(700);
  const arrived = (await spans()).map(({ traceId }) => traceId);
  expect(arrived.sort()).toEqual([...begun, ...Array<string>(100).fill(TRACE)].sort());
});

it('none but those of callers where no request begins a trace', async () => {
  await start({}, { begun: 0 });
  await request(served.server).get(TYPED).set('X-API-KEY', 'all').expect(200);
  await request(served.server).get(TYPED).set({ 'X-API-KEY': 'all', traceparent: SAMPLED }).expect(200);
  expect(new Set((await spans()).map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(logged()).toEqual([undefined, TRACE]);
});

it('with the headers that the collector asks for', async () => {
  await start({}, { headers: new Secret('authorization=Bearer%20a%2Cb=, X-Scope=logs') });
  await request(served.server).get(TYPED).set('X-API-KEY', 'all').expect(200);
  await span();
  expect(collector.headers).toMatchObject({ authorization: 'Bearer a,b=', 'x-scope': 'logs' });
});

it('no more than may wait, however many there are', async () => {
  await start();
  for (let i = 0; i < 20_000; i++) tracing.record(answered(), undefined, undefined);
  const { length } = await spans();
  expect(length).toBeGreaterThan(1000);
  expect(length).toBeLessThanOrEqual(4096 + 512);
});

it('that a hung collector does not take: they hold up nothing, nor the end', async () => {
  collector.behaviour = 'hang';
  await start();
  for (let i = 0; i < 20_000; i++) tracing.record(answered(), undefined, undefined);
  await collector.called(1);
  const began = performance.now();
  await tracing.close();
  // What the last ones may take.
  expect(performance.now() - began).toBeLessThan(1000 + 1500);
  expect(said.join('')).toContain('the collector did not take the last traces; they are dropped');
});
