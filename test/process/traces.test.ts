/** What a collector gets of a real process. */
import http from 'node:http';

import { Collector } from '../tracing/collector';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const API_KEY = 'Wombat';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const RUN = '/api/endpoints/query/logs.all?project=default';
const ROOT = 'GET /api/endpoints/query/:idOrName';

/** Milliseconds that the end may take: for what asks last, for the last spans, and for a machine that does other things. */
const LONGEST_END = 500 + 1000 + 2500;

/** Node's own client costs a third of what `fetch` does. */
const agent = new http.Agent({ keepAlive: true });
const stage = new Stage();
let collector: Collector;
beforeEach(async () => {
  collector = await Collector.listen();
});
afterEach(() => collector.close());
afterAll(async () => {
  agent.destroy();
  await stage.end();
});

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

it('a collector has every span when the process has ended, by names and times alone', async () => {
  const settings = { API_KEY, OTEL_SERVICE_NAME: 'logs of Otters', LOG_SQL: 'on' };
  const service = stage.start({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
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

it('the log says once that the collector fails, and once that it does no more', async () => {
  collector.behaviour = 'refuse';
  const service = stage.start({ API_KEY, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const base = await service.ready();
  for (const calls of [1, 2]) {
    expect(await ask(base + RUN)).toBe(200);
    await collector.called(calls);
  }
  await service.logged(/"failure":"400".*the collector takes no traces/);
  collector.behaviour = 'take';
  expect(await ask(base + RUN)).toBe(200);
  await service.logged(/the collector takes traces again/);
  await collector.close();
  expect(await ask(base + RUN)).toBe(200);
  await service.logged(/"failure":"ECONN[A-Z]+".*the collector takes no traces/);
  // It is dead at the end.
  expect(await end(service)).toBeLessThan(LONGEST_END);
  expect(service.err.split('the collector takes no traces').length - 1).toBe(2);
  expect(service.err.split('the collector takes traces again').length - 1).toBe(1);
  expect(service.err).not.toContain('words of its own');
});
