/** Traces of a real process: what is loaded for them, what a collector gets, and that a bad collector holds up nothing. */
import http from 'node:http';

import { listingModules, packageOf } from '../loaded-modules';
import { Collector } from '../tracing/collector';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const API_KEY = 'Wombat';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const RUN = '/api/endpoints/query/logs.all?project=default';
const ROOT = 'GET /api/endpoints/query/:idOrName';

/** Milliseconds that the end may take: for what asks last, for the last spans, and for a machine that does other things. */
const LONGEST_END = 500 + 1000 + 2500;

const collectors: Collector[] = [];
/** Node's own client costs a third of what `fetch` does. */
let agent: http.Agent;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  agent = new http.Agent({ keepAlive: true });
});
afterEach(async () => {
  agent.destroy();
  await stage.end();
  await Promise.all(collectors.splice(0).map((collector) => collector.close()));
});

async function listen(port = 0): Promise<Collector> {
  const collector = await Collector.listen(port);
  collectors.push(collector);
  return collector;
}

function start(endpoint: string, more: Readonly<Record<string, string>> = {}): Started {
  return stage.start({ API_KEY, RATE_LIMIT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more });
}

/** Asks, on a connection that is kept, and reads the answer. */
function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const options = { agent, headers: { 'X-API-KEY': API_KEY, ...headers }, signal: AbortSignal.timeout(60_000) };
  return new Promise((resolve, reject) => {
    const request = http.get(url, options, (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    request.on('error', reject);
  });
}

/** Ends the process by a signal. @returns milliseconds that it took */
async function end(service: Started): Promise<number> {
  const signalled = performance.now();
  service.signal('SIGTERM');
  expect(await service.exit).toBe(0);
  return performance.now() - signalled;
}

const count = ({ err }: Started, message: string): number => err.split(message).length - 1;

describe('OpenTelemetry’s libraries', () => {
  it.each([
    ['are not loaded where no collector is set', ''],
    ['are loaded where one is', 'http://127.0.0.1:9'],
  ])('%s', async (_, endpoint) => {
    const folder = stage.folder();
    const { options: NODE_OPTIONS, loaded } = listingModules(folder);
    const service = stage.start({ API_KEY, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, NODE_OPTIONS }, folder);
    expect(await ask((await service.ready()) + RUN, { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` })).toBe(200);
    await end(service);
    const modules = loaded();
    const packages = new Set(modules.map(packageOf));
    expect(packages).toContain('express');
    // prom-client loads that one, for exemplars.
    packages.delete('@opentelemetry/api');
    const theirs = [...packages].filter((name) => name?.startsWith('@opentelemetry/'));
    expect(theirs.length > 0).toBe(endpoint !== '');
    expect(modules.some((module) => module.startsWith('src/tracing/'))).toBe(endpoint !== '');
  });
});

it('a collector has every span when the process has ended, by names and times alone', async () => {
  const collector = await listen();
  const service = start(`${collector.url}/`, { OTEL_SERVICE_NAME: 'logs of Otters', LOG_SQL: 'on' });
  const base = await service.ready();
  const sql = encodeURIComponent("select id, 'Giraffe' as x from edge_logs limit 1");
  const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, 'X-Request-Id': 'Heron' };
  expect(await ask(`${base}${RUN}&sql=${sql}`, headers)).toBe(200);
  expect(await ask(`${base}${RUN}&sql=select+Okapi+from+edge_logs`)).toBe(400);
  expect(await ask(`${base}${RUN}&sql=select+1+from+Badgers`)).toBe(403);
  expect(await ask(`${base}${RUN}`, { 'X-API-KEY': 'Lynx' })).toBe(401);
  expect(await ask(`${base}${RUN}`, { traceparent: `00-${TRACE}-00f067aa0ba902b7-00` })).toBe(200);
  expect(await end(service)).toBeLessThan(LONGEST_END);

  const roots = collector.spans.filter(({ name }) => name === ROOT);
  expect(roots.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([200, 400, 403, 401]);
  expect(roots.map(({ attributes }) => attributes['error.type'])).toEqual([
    undefined,
    'unknownField',
    'sandboxViolation',
    'unauthenticated',
  ]);
  const [first] = roots;
  expect(first).toMatchObject({
    traceId: TRACE,
    parentSpanId: '00f067aa0ba902b7',
    attributes: { 'logquay.endpoint': 'logs.all', 'logquay.key': 'API_KEY', 'logquay.cache': 'miss' },
    resource: { 'service.name': 'logs of Otters' },
  });
  const steps = collector.spans.filter(({ traceId, name }) => traceId === TRACE && name !== ROOT);
  expect(steps.map(({ name }) => name).sort()).toEqual(['cache', 'engine', 'gate', 'queue', 'read', 'render']);
  expect(collector.sent).not.toMatch(/Wombat|Giraffe|Okapi|Badger|Lynx|Heron|select|default/i);
  // The log names each trace.
  const logged = [...service.err.matchAll(/"trace":"([0-9a-f]{32})"/g)].map(([, id]) => id);
  expect(logged).toEqual([...roots.map(({ traceId }) => traceId), TRACE]);
});

describe('requests are answered and the process ends in time', () => {
  it.each(['dead', 'hung'] as const)('with a %s collector', async (state) => {
    const collector = await listen();
    collector.behaviour = 'hang';
    if (state === 'dead') await collectors.pop()?.close();
    const service = start(state === 'dead' ? 'http://127.0.0.1:9' : collector.url, { LOG_LEVEL: 'warn' });
    const base = `http://127.0.0.1:${String(await service.port())}`;
    const run = `${base}/api/endpoints/query/usage.api-counts?project=x&interval=daily`;
    expect(await ask(run)).toBe(200);
    if (state === 'hung') await collector.called(1);
    // More spans than may wait.
    for (let i = 0; i < 60; i++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(run)));
      expect(new Set(answers)).toEqual(new Set([200]));
    }
    await service.logged(/the collector takes no traces/);
    expect(await ask(run)).toBe(200);
    expect(await end(service)).toBeLessThan(LONGEST_END);
    expect(service.err).toContain('the collector did not take the last traces; they are dropped');
    expect(count(service, 'the collector takes no traces')).toBe(1);
  });
});

it('the log says once that the collector fails, and once that it does no more', async () => {
  const collector = await listen();
  collector.behaviour = 'refuse';
  const service = start(collector.url);
  const base = await service.ready();
  const { port } = collector;
  for (const calls of [1, 2, 3]) {
    expect(await ask(base + RUN)).toBe(200);
    await collector.called(calls);
  }
  await service.logged(/the collector takes no traces/);
  collector.behaviour = 'take';
  expect(await ask(base + RUN)).toBe(200);
  await service.logged(/the collector takes traces again/);
  expect(await ask(base + RUN)).toBe(200);
  await collector.called(5);

  await collectors.pop()?.close();
  expect(await ask(base + RUN)).toBe(200);
  await service.logged(/"failure":"ECONN[A-Z]+".*the collector takes no traces/);
  await listen(port);
  expect(await ask(base + RUN)).toBe(200);
  await service.logged(/takes traces again[^]*takes traces again/);
  expect(await end(service)).toBeLessThan(LONGEST_END);
  expect(service.err).toMatch(/"failure":"400".*the collector takes no traces/);
  expect(count(service, 'the collector takes no traces')).toBe(2);
  expect(count(service, 'the collector takes traces again')).toBe(2);
  expect(service.err).not.toContain('words of its own');
});
