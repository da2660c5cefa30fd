import { once } from 'node:events';
import { connect } from 'node:net';

import request from 'supertest';

import { ServiceError } from '../../src/errors';
import { LABELS, METRICS } from '../../src/metrics/table';
import { until } from '../until';
import { ScriptedEngine, serve, type Served, type ServedOptions } from './served';

const PLAIN = '/api/endpoints/query/test.plain?project=a';
const CACHED = '/api/endpoints/query/test.typed?project=a';

let served: Served | null = null;
afterEach(() => served?.close());

async function start(options: ServedOptions = {}): Promise<Served> {
  served = await serve({ metricsKey: 'scrape', ...options });
  return served;
}

/** Lines of one metric that are not 0, by their labels. */
async function counted({ metrics }: Served, name: string): Promise<Record<string, number>> {
  // What is counted when an answer has gone out is counted by the time the next turn of the loop has passed.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const lines = [...(await metrics.text()).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)];
  return Object.fromEntries(
    lines
      .filter(([, one, , value]) => one === name && value !== '0')
      .map(([, , labels, value]) => [labels, Number(value)]),
  );
}

describe('GET /metrics', () => {
  it('is not there without METRICS_KEY', async () => {
    const { server } = await start({ metricsKey: null });
    for (const key of ['', 'all', 'scrape']) await request(server).get('/metrics').set('X-API-KEY', key).expect(404);
  });

  it('wants its own key, in either header, and none for endpoints', async () => {
    const { server } = await start();
    const get = (headers: Record<string, string>): request.Test => request(server).get('/metrics').set(headers);
    for (const wrong of [{}, { 'X-API-KEY': 'all' }, { 'X-API-KEY': 'scrapE' }, { 'X-API-KEY': 'scrape2' }]) {
      const { body } = await get(wrong)
        .expect(401)
        .expect('WWW-Authenticate', /Bearer/);
      expect(body).toMatchObject({ error: { errors: [{ reason: 'unauthenticated' }] } });
    }
    await get({ 'X-API-KEY': 'wrong', Authorization: 'Bearer scrape' }).expect(401);
    await get({ Authorization: 'Bearer scrape' }).expect(200);
    const { text } = await get({ 'X-API-KEY': 'scrape' })
      .expect(200)
      .expect('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
      .expect('Cache-Control', 'no-store');
    expect(text).toContain('# TYPE logquay_requests_total counter\n');
    await request(server).get(PLAIN).set('X-API-KEY', 'scrape').expect(401);
  });

  it('answers HEAD, while starting too, and no other method', async () => {
    const { server } = await start({ starting: true });
    const { headers } = await request(server).head('/metrics').set('X-API-KEY', 'scrape').expect(200);
    expect(Number((headers as Record<string, string>)['content-length'])).toBeGreaterThan(1000);
    await request(server)
      .post('/metrics')
      .set('X-API-KEY', 'scrape')
      .expect(405)
      .expect('Allow', /GET, HEAD/);
  });
});

describe('requests', () => {
  it('are counted by route, endpoint, status and reason, and by key', async () => {
    const here = await start();
    const { server } = here;
    const get = (path: string, key = 'all'): request.Test => request(server).get(path).set('X-API-KEY', key);
    await get(PLAIN);
    await get(PLAIN);
    await get('/api/endpoints/query/test.plain');
    await get('/api/endpoints/query/secret-name?project=a');
    await get(PLAIN, 'wrong');
    await get('/secret-path');
    await request(server).delete('/health');
    await get('/api/endpoints', 'other');
    const run = 'route="/api/endpoints/query/:idOrName"';
    expect(await counted(here, 'logquay_requests_total')).toEqual({
      [`${run},endpoint="test.plain",status="200",reason="none"`]: 2,
      [`${run},endpoint="test.plain",status="400",reason="invalidParameter"`]: 1,
      [`${run},endpoint="none",status="404",reason="notFound"`]: 1,
      [`${run},endpoint="none",status="401",reason="unauthenticated"`]: 1,
      'route="none",endpoint="none",status="404",reason="notFound"': 1,
      'route="/health",endpoint="none",status="405",reason="methodNotAllowed"': 1,
      'route="/api/endpoints",endpoint="none",status="200",reason="none"': 1,
    });
    expect(await counted(here, 'logquay_key_requests_total')).toEqual({
      'key="all",status="200"': 2,
      'key="all",status="400"': 1,
      'key="all",status="404"': 1,
      'key="none",status="401"': 1,
      'key="none",status="404"': 1,
      'key="none",status="405"': 1,
      'key="other",status="200"': 1,
    });
    expect(await here.metrics.text()).not.toMatch(/secret|wrong/);
    const durations = await counted(here, 'logquay_request_duration_seconds_count');
    expect(durations[`${run},endpoint="test.plain"`]).toBe(3);
    const phases = await counted(here, 'logquay_phase_duration_seconds_count');
    // What was sent before is not read again.
    expect(phases).toEqual({
      'phase="read"': 2,
      'phase="gate"': 2,
      'phase="queue"': 2,
      'phase="engine"': 2,
      'phase="render"': 2,
      'phase="cache"': 2,
    });
  });

  it('that cannot be parsed are counted and logged too, with nothing of what they held', async () => {
    const here = await start();
    for (const text of ['nonsense\r\n\r\n', 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
      const socket = connect(here.port, '127.0.0.1');
      await once(socket, 'connect');
      const answered = once(socket, 'data');
      socket.write(text);
      const answer = String((await answered)[0]);
      const id = /^X-Request-Id: (\S+)/m.exec(answer)?.[1];
      expect(here.logged.some((line) => (JSON.parse(line) as { id?: string }).id === id)).toBe(true);
      socket.destroy();
    }
    const none = 'route="none",endpoint="none"';
    expect(await counted(here, 'logquay_requests_total')).toEqual({
      [`${none},status="400",reason="invalidParameter"`]: 1,
      [`${none},status="405",reason="methodNotAllowed"`]: 2,
    });
    expect(here.logged.join('')).not.toMatch(/nonsense|BREW|pot/);
  });
});

it('results are counted by where they came from, and whether they were kept', async () => {
  const engine = new ScriptedEngine();
  const here = await start({ engine });
  const get = (path: string): request.Test => request(here.server).get(path).set('X-API-KEY', 'all');
  await get(CACHED);
  await get(CACHED);
  await get(CACHED);
  await get(PLAIN);
  let go = (): void => undefined;
  engine.onRun = () => new Promise((resolve) => (go = resolve));
  const joined = jest.spyOn(here.lifecycle.services().results, 'get');
  const shared = [1, 2].map(() => get(`${CACHED}2`).then(({ status }) => status));
  await until(() => joined.mock.calls.length === 2);
  go();
  await Promise.all(shared);
  expect(await counted(here, 'logquay_cache_requests_total')).toEqual({
    'endpoint="test.typed",cache="miss"': 2,
    'endpoint="test.typed",cache="hit"': 2,
    'endpoint="test.typed",cache="collapsed"': 1,
    'endpoint="test.plain",cache="miss"': 1,
  });
  expect(await counted(here, 'logquay_cache_writes_total')).toEqual({ 'endpoint="test.typed",write="stored"': 2 });
});

it('runs are counted by kind and outcome, with bytes by endpoint and who paid', async () => {
  const engine = new ScriptedEngine('bigquery');
  engine.bytes = { processed: 7n, billed: 10n };
  const here = await start({ engine });
  await request(here.server).get(PLAIN).set('X-API-KEY', 'all').expect(200);
  await request(here.server).get(PLAIN).set('X-API-KEY', 'other').expect(200);
  engine.onRun = () => Promise.reject(new ServiceError('backendError', 'No.'));
  await request(here.server).get(PLAIN).set('X-API-KEY', 'other').expect(502);
  expect(await counted(here, 'logquay_engine_runs_total')).toEqual({
    'endpoint="test.plain",kind="run",result="ok"': 2,
    'endpoint="test.plain",kind="run",result="backendError"': 1,
  });
  expect(await counted(here, 'logquay_bytes_processed_total')).toEqual({
    'endpoint="test.plain",key="all"': 7,
    'endpoint="test.plain",key="other"': 7,
  });
  expect(await counted(here, 'logquay_bytes_billed_total')).toEqual({
    'endpoint="test.plain",key="all"': 10,
    'endpoint="test.plain",key="other"': 10,
  });
});

it('refusals of the gate are counted by language and reason', async () => {
  const here = await start();
  const send = (body: object): request.Test =>
    request(here.server).post('/api/endpoints/query/test.typed?project=a').set('X-API-KEY', 'all').send(body);
  await send({ sql: 'SELECT * FROM other_table' }).expect(403);
  await send({ sql: 'SELECT FROM' }).expect(400);
  await send({ lql: 'c:nonsense(' }).expect(400);
  // Not the gate's: this key may send no query at all.
  await request(here.server).get(`${CACHED}&sql=SELECT%201`).set('X-API-KEY', 'masked').expect(403);
  expect(await counted(here, 'logquay_sandbox_refusals_total')).toEqual({
    'language="sql",reason="sandboxViolation"': 1,
    'language="sql",reason="invalidQuery"': 1,
    'language="lql",reason="invalidLql"': 1,
  });
});

it('no label ever has a value outside its closed list', async () => {
  const here = await start({ rate: 3 / 59 });
  const paths = [
    PLAIN,
    CACHED,
    '/x',
    '/health',
    '/ready',
    `${CACHED}&sql=DROP%20TABLE%20x`,
    '/api/endpoints/query/%ff',
  ];
  for (const path of paths) {
    for (const method of ['get', 'head', 'delete', 'options'] as const) {
      await request(here.server)[method](path).set({ 'X-API-KEY': 'all', 'X-Request-Id': 'made-up' });
    }
  }
  const text = await here.metrics.text();
  const byName = new Map(Object.values(METRICS).map((one) => [one.name as string, one.labels as readonly string[]]));
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const declared = byName.get(name) ?? byName.get(name.replace(/_(bucket|sum|count)$/, ''));
    expect(declared).toBeDefined();
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      if (label === 'le') continue;
      expect(declared).toContain(label);
      const allowed: 'names' | readonly string[] = LABELS[label as keyof typeof LABELS];
      if (allowed !== 'names') expect([label, allowed.includes(value)]).toEqual([label, true]);
    }
  }
});
