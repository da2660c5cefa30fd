import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import request from 'supertest';

import { SharedSearches } from '../../src/endpoints/shared-searches';
import { Health } from '../../src/health/health';
import { endpointOf } from '../openapi/endpoints';
import { ENDPOINTS, ScriptedEngine, serve, type Served, type ServedOptions } from './served';

let served: Served | null = null;
afterEach(() => served?.close());

async function start(options: ServedOptions = {}): Promise<Served> {
  served = await serve(options);
  return served;
}

describe('the catalogue', () => {
  const names = (body: { result: { name: string }[] }): string[] => body.result.map(({ name }) => name);

  it('lists what this key may run', async () => {
    const { server } = await start();
    const listed = async (key: string): Promise<string[]> =>
      names((await request(server).get('/api/endpoints').set('X-API-KEY', key).expect(200)).body as never);
    expect(await listed('all')).toEqual(['test.plain', 'test.typed', 'test.masked']);
    expect(await listed('listed')).toEqual(['test.plain']);
    expect(await listed('pinned')).toEqual(['test.plain', 'test.typed']);
  });

  it('describes an endpoint by id and by name, and never shows its SQL', async () => {
    const { server } = await start();
    for (const named of ['test.typed', ENDPOINTS[1]?.id.toUpperCase()]) {
      const { body, headers, text } = await request(server)
        .get(`/api/endpoints/${named ?? ''}`)
        .set('X-API-KEY', 'all');
      expect(body).toEqual({
        result: {
          id: ENDPOINTS[1]?.id,
          name: 'test.typed',
          description: 'One parameter of each kind.',
          params: [
            { name: 'project', type: 'string', required: true, description: 'Whose rows.' },
            {
              name: 'level',
              type: 'enum',
              required: false,
              description: '',
              default: 'error',
              values: ['error', 'fatal'],
            },
            { name: 'since', type: 'timestamp', required: false, description: '' },
            { name: 'count', type: 'integer', required: false, description: '', default: '1', minimum: 1 },
            { name: 'ratio', type: 'number', required: false, description: '', default: '0.5' },
            { name: 'deep', type: 'boolean', required: false, description: '', default: 'false' },
          ],
          maxRows: 20,
          cacheTtl: 900,
          cacheWarming: 300,
          sandbox: true,
          redactPii: false,
          tail: false,
          tables: ['rows_of_project'],
        },
      });
      expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Accept, X-API-KEY, Authorization' });
      expect(text).not.toMatch(/select/i);
    }
  });

  it('hides what a parameter that the key pins could be', async () => {
    const endpoint = endpointOf(`/*
id: 11111111-aaaa-4000-8000-000000000006
name: test.pinned
params:
  project: { type: enum, values: [other-tenant, abc], default: other-tenant, description: Whose rows. }
  n: { type: integer, default: 1, min: 1 }
*/
SELECT @project AS project, @n AS n
`);
    const { server } = await start({ endpoints: [endpoint] });
    const params = [
      { name: 'project', type: 'enum', required: false, description: 'Whose rows.', fixed: true },
      { name: 'n', type: 'integer', required: false, description: '', default: '1', minimum: 1 },
    ];
    for (const path of ['/api/endpoints', '/api/endpoints/test.pinned', `/api/endpoints/${endpoint.id}`]) {
      const { body, text } = await request(server).get(path).set('X-API-KEY', 'pinned').expect(200);
      expect([(body as { result: unknown }).result].flat()).toMatchObject([{ params }]);
      expect(text).not.toMatch(/other-tenant|"abc"/);
      const open = await request(server).get(path).set('X-API-KEY', 'all').expect(200);
      expect(open.text).toContain('"default":"other-tenant","values":["other-tenant","abc"]');
      expect(open.text).not.toContain('fixed');
    }
  });
});

describe('/health', () => {
  it('needs no key and no engine, while starting and draining too', async () => {
    const { server, lifecycle } = await start({ starting: true });
    await request(server).get('/health').expect(200, { status: 'ok' }).expect('Cache-Control', 'no-store');
    await request(server).head('/health').expect(200);
    lifecycle.drain();
    await request(server).get('/health').set('Accept', 'text/plain').expect(200);
  });
});

describe('/ready', () => {
  it('is 200 when the engine answers', async () => {
    const { server } = await start();
    await request(server).get('/ready').expect(200, { status: 'ready', engine: 'duckdb', cache: 'ok' });
    await request(server).head('/ready').expect(200);
  });

  it('is 503 while starting, and so is everything that needs a room', async () => {
    const { server } = await start({ starting: true });
    const { body } = await request(server).get('/ready').expect(503).expect('Retry-After', '1');
    expect(body).toMatchObject({
      status: 'starting',
      error: { code: 503, errors: [{ reason: 'backendUnavailable' }] },
    });
    for (const path of ['/api/endpoints/query/test.plain', '/api/endpoints', '/api/endpoints/x']) {
      await request(server).get(path).expect(503).expect('Retry-After', '1');
    }
    await request(server).get('/nowhere').expect(404);
  });

  it('is 503 while draining, when requests are still answered and connections closed', async () => {
    const { server, lifecycle } = await start();
    lifecycle.drain();
    const { body } = await request(server).get('/ready').expect(503).expect('Connection', 'close');
    expect(body).toMatchObject({ status: 'draining' });
    await request(server)
      .get('/api/endpoints/query/test.plain?project=a')
      .set('X-API-KEY', 'all')
      .expect(200)
      .expect('Connection', 'close');
  });

  it('is 503 when the engine fails, or does not answer in time', async () => {
    const engine = new ScriptedEngine();
    const { server } = await start({ engine });
    engine.onPing = () => Promise.reject(new Error('gone'));
    expect((await request(server).get('/ready').expect(503)).body).toMatchObject({ status: 'engine-unavailable' });
    let pings = 0;
    engine.onPing = () => {
      pings++;
      return new Promise(() => undefined);
    };
    await Promise.all([1, 2, 3].map(() => request(server).get('/ready').expect(503)));
    expect(pings).toBe(1);
    engine.onPing = () => Promise.resolve();
    await request(server).get('/ready').expect(200);
  });
});

describe('shared searches', () => {
  it('are those of the file, or of its last good state, for keys without pins', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'searches-'));
    const file = path.join(folder, 'searches.json');
    const one = { name: 'The 5xx', search: '#endpoint=logs.all&lql=m.response.status_code%3A%3E499' };
    writeFileSync(file, JSON.stringify({ searches: [one] }));
    const faults: (string | null)[] = [];
    const { server } = await start({ searches: new SharedSearches(file, (fault) => faults.push(fault)) });
    const ask = (key: string) => request(server).get('/api/searches').set('X-API-KEY', key);
    expect((await ask('all').expect(200)).body).toEqual({ result: [one] });
    for (const text of ['{', '{"searches":[{"name":"x","search":"javascript:alert(1)"}]}', '[]']) {
      writeFileSync(file, text);
      expect((await ask('all').expect(200)).body).toEqual({ result: [one] });
    }
    rmSync(folder, { recursive: true });
    expect((await ask('all').expect(200)).body).toEqual({ result: [one] });
    expect(faults.map((fault) => fault === null)).toEqual([true, false, false, false, false]);
    await ask('pinned').expect(403);
    await ask('nobody').expect(401);
    await request(server).post('/api/searches').set('X-API-KEY', 'all').expect(405);
    served = (await served?.close(), await serve());
    expect((await request(served.server).get('/api/searches').set('X-API-KEY', 'all')).body).toEqual({ result: [] });
  });
});

describe('/ready while something is impaired', () => {
  const MESSAGE = 'The keys file /secret/place/keys.json cannot be read';
  let health: Health;
  beforeEach(() => {
    health = new Health(() => Date.UTC(2026, 8, 30));
    health.report('keys_file', MESSAGE);
    health.report('stored_queries', 'queries/secret.sql:3: it is faulty');
  });
  const detail = [
    { component: 'keys_file', message: MESSAGE, since: '2026-09-30T00:00:00.000Z' },
    { component: 'stored_queries', message: 'queries/secret.sql:3: it is faulty', since: '2026-09-30T00:00:00.000Z' },
  ];
  const plain = { status: 'ready', engine: 'duckdb', cache: 'ok' };

  it('says only that it is, whatever key an endpoint takes', async () => {
    const { server } = await start({ health, metricsKey: 'metrics-key' });
    for (const key of ['', 'all', 'wrong', 'metrics-key2']) {
      await request(server)
        .get('/ready')
        .set(key === '' ? {} : { 'X-API-KEY': key })
        .expect(200, { ...plain, degraded: true });
    }
    await request(server)
      .get('/ready?key=metrics-key')
      .expect(200, { ...plain, degraded: true });
  });

  it('says what, with METRICS_KEY', async () => {
    const { server } = await start({ health, metricsKey: 'metrics-key' });
    const expected = { ...plain, degraded: true, detail };
    await request(server).get('/ready').set('X-API-KEY', 'metrics-key').expect(200, expected);
    await request(server).get('/ready').set('Authorization', 'Bearer metrics-key').expect(200, expected);
    health.report('keys_file', null);
    health.report('stored_queries', null);
    await request(server)
      .get('/ready')
      .set('X-API-KEY', 'metrics-key')
      .expect(200, { ...plain, detail: [] });
    await request(server).get('/ready').expect(200, plain);
  });

  it('says nothing more where METRICS_KEY is not set', async () => {
    const { server } = await start({ health });
    for (const key of ['', 'undefined', 'null']) {
      await request(server)
        .get('/ready')
        .set('X-API-KEY', key)
        .expect(200, { ...plain, degraded: true });
    }
  });
});

describe('CORS', () => {
  const PATH = '/api/endpoints/query/test.plain?project=a';
  const cors = (headers: Record<string, string>): string[] =>
    Object.keys(headers).filter((name) => name.startsWith('access-control'));

  it('is off unless it is configured', async () => {
    const { server } = await start();
    const { headers } = await request(server).get(PATH).set('X-API-KEY', 'all').set('Origin', 'https://a.example');
    expect(cors(headers)).toEqual([]);
    expect(headers.vary).not.toContain('Origin');
    const preflight = await request(server)
      .options(PATH)
      .set('Origin', 'https://a.example')
      .set('Access-Control-Request-Method', 'GET')
      .expect(204);
    expect(cors(preflight.headers)).toEqual([]);
  });

  it('lets pages of the configured origins read answers and errors', async () => {
    const { server } = await start({ corsOrigins: ['https://a.example', 'http://localhost:3000'] });
    for (const path of [PATH, '/api/endpoints', '/nowhere', '/health']) {
      const { headers } = await request(server).get(path).set('Origin', 'http://localhost:3000');
      expect(headers['access-control-allow-origin']).toBe('http://localhost:3000');
      expect(headers['access-control-expose-headers']).toContain('X-Request-Id');
      expect(headers.vary).toMatch(/(^|, )Origin$/);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('lets no other page', async () => {
    const { server } = await start({ corsOrigins: ['https://a.example'] });
    for (const origin of ['https://b.example', 'https://a.example.evil', 'null', 'http://a.example']) {
      const { headers } = await request(server).get(PATH).set('X-API-KEY', 'all').set('Origin', origin).expect(200);
      expect(cors(headers)).toEqual([]);
      expect(headers.vary).toMatch(/, Origin$/);
    }
  });

  it('answers a preflight without a key', async () => {
    const { server } = await start({ corsOrigins: '*' });
    const { headers, text } = await request(server)
      .options(PATH)
      .set('Origin', 'https://a.example')
      .set('Access-Control-Request-Method', 'POST')
      .set('Access-Control-Request-Headers', 'x-api-key,content-type')
      .expect(204);
    expect(text).toBe('');
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': expect.stringMatching(
        /Content-Type.*LF-ENDPOINT-REDACT-PII.*X-API-KEY/,
      ) as string,
      'access-control-max-age': '600',
    });
  });
});
