/** What a Supabase stack sends to Logflare, sent to the real process. */
import { once } from 'node:events';
import http from 'node:http';

import { page } from './stack/studio';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const PRIVATE = 'private-token-of-the-stack';
const PUBLIC = 'public-token-of-the-stack';
const STACK = {
  LOGFLARE_SINGLE_TENANT: 'true',
  LOGFLARE_SUPABASE_MODE: 'true',
  LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
  LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
  POSTGRES_BACKEND_URL: 'postgresql://supabase_admin:secret@db:5432/_supabase',
  GOOGLE_PROJECT_ID: 'project-of-nobody',
};
const KEY = { 'X-API-KEY': PRIVATE };
const RUN = '/api/endpoints/query/logs.all';
const COUNT = 'SELECT COUNT(*) AS n FROM edge_logs';
const METRICS_KEY = 'key-of-the-metrics';

const stage = new Stage();
let own: string;
let asLogflare: string;
let logged: Started['logged'];
beforeAll(async () => {
  const [plain, logflare] = [stage.start(STACK), stage.start({ ...STACK, QUERY_ERRORS: 'logflare', METRICS_KEY })];
  logged = (pattern) => logflare.logged(pattern);
  [own, asLogflare] = await Promise.all([plain.ready(), logflare.ready()]);
});
afterAll(() => stage.end());

function ask(sql: string, more: Readonly<Record<string, string>> = {}): string {
  return `${RUN}?${new URLSearchParams({ project: 'default', sql, ...more }).toString()}`;
}

/** Sends a request with whatever body: fetch refuses one for GET. */
async function send(
  base: string,
  path: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
  // Node frames the body of a GET in no way by itself.
  const framed = body === '' || 'Transfer-Encoding' in headers ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const request = http.request(base + path, { method, headers: { ...KEY, ...framed, ...headers } });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() };
}

async function rowsOf(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(own + path, { headers: KEY, ...init });
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: unknown }).result;
}

describe('paths and keys', () => {
  it('runs an endpoint under the paths of older clients', async () => {
    const expected = await rowsOf(ask(COUNT));
    for (const prefix of ['/endpoints/query/logs.all', '/api/endpoints/query/name/logs.all']) {
      const path = ask(COUNT).replace(RUN, prefix);
      expect(await rowsOf(path)).toEqual(expected);
      expect(await rowsOf(path, { method: 'POST' })).toEqual(expected);
      expect((await fetch(own + path, { headers: KEY, method: 'HEAD' })).status).toBe(200);
      expect((await fetch(own + path)).status).toBe(401);
    }
    expect((await fetch(`${own}/endpoints/query/none`, { headers: KEY })).status).toBe(404);
  });

  it('takes the key as Studio sends it for drains, and never from the URL or the public token', async () => {
    expect(await rowsOf(ask(COUNT), { headers: { Authorization: `Bearer ${PRIVATE}` } })).toHaveLength(1);
    expect((await fetch(own + ask(COUNT, { api_key: PRIVATE }))).status).toBe(401);
    const refused = await fetch(own + ask(COUNT), { headers: { 'X-API-KEY': PUBLIC } });
    expect(refused.status).toBe(401);
  });

  it('answers health to GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD']) expect((await fetch(`${own}/health`, { method })).status).toBe(200);
  });
});

it('takes in no logs unless COLLECT is on', async () => {
  const init = { method: 'POST', headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' }, body: '[{}]' };
  expect((await fetch(`${own}/api/logs?source_name=cloudflare.logs.prod`, init)).status).toBe(404);
});

describe('log drains', () => {
  const id = '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5b';
  it.each([
    ['GET', '/api/backends?metadata%5Btype%5D=log-drain'],
    ['POST', '/api/backends'],
    ['GET', `/api/backends/${id}`],
    ['PUT', `/api/backends/${id}`],
    ['DELETE', `/api/backends/${id}`],
    ['GET', '/api/sources'],
    ['POST', '/api/rules'],
  ])('%s %s is 501 for who has a key', async (method, path) => {
    const body = method === 'POST' || method === 'PUT' ? '{"name":"drain"}' : null;
    const headers = { Authorization: `Bearer ${PRIVATE}`, 'Content-Type': 'application/json' };
    const response = await fetch(own + path, { method, headers, body });
    expect(response.status).toBe(501);
    const answer = (await response.json()) as { error: { message: string; errors: { reason: string }[] } };
    expect(answer.error.errors[0]?.reason).toBe('notImplemented');
    expect(answer.error.message).toContain('Vector');
    expect((await fetch(own + path, { method, body })).status).toBe(401);
  });
});

describe('a GET with a body', () => {
  const json = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ project: 'default', sql: COUNT });

  it('is read as a POST where it is JSON, and its answer is for no cache', async () => {
    const expected = { result: await rowsOf(ask(COUNT)) };
    const first = await send(own, RUN, { headers: json, body });
    expect(JSON.parse(first.text)).toEqual(expected);
    expect(first.headers['cache-control']).toBe('no-store');
    const again = await send(own, RUN, { headers: { ...json, 'If-None-Match': first.headers.etag ?? '*' }, body });
    expect(again.status).toBe(200);
    // Not the plan of the same URL without a body, nor the other way round.
    const url = `${RUN}?project=default`;
    const plain = await send(own, url, { headers: json });
    expect(JSON.parse(plain.text)).not.toEqual(expected);
    const mixed = await send(own, url, { headers: json, body: JSON.stringify({ sql: COUNT }) });
    expect(JSON.parse(mixed.text)).toEqual(expected);
    const chunked = await send(own, RUN, { headers: { ...json, 'Transfer-Encoding': 'chunked' }, body });
    expect(JSON.parse(chunked.text)).toEqual(expected);
  });

  it('is 400 where it is anything else, or a parameter comes twice', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const bodies = [
      [form, `sql=${COUNT}`],
      [{}, body],
      [{ ...json, 'Content-Encoding': 'gzip' }, body],
      [json, '[1]'],
      [json, '{'],
    ] as const;
    for (const [headers, sent] of bodies) {
      const { status, text } = await send(own, `${RUN}?project=default`, { headers, body: sent });
      expect([status, text]).toEqual([400, expect.stringContaining('invalidParameter')]);
    }
    expect((await send(own, `${RUN}?project=default`, { headers: json, body })).status).toBe(400);
    expect((await send(own, RUN, { headers: { ...json, 'X-API-KEY': 'wrong' }, body: '{' })).status).toBe(401);
    const long = JSON.stringify({ project: 'x'.repeat(300_000) });
    expect((await send(own, RUN, { headers: json, body: long })).status).toBe(413);
  });
});

describe('QUERY_ERRORS=logflare', () => {
  it.each([
    ['SELECT nope FROM edge_logs', 400, /^Unrecognized name: nope\. \(line 1, column 8\)/],
    ['SELECT id FROM other_table', 403, /other_table/],
    ['SELECT id FROM edge_logs WHERE', 400, /\(line 1, column \d+\)/],
    ["SELECT CAST('x' AS INT64) AS n FROM edge_logs", 400, /./],
  ])('%s is 200 with the text', async (sql, status, text) => {
    const [before, after] = [
      await fetch(own + ask(sql), { headers: KEY }),
      await fetch(asLogflare + ask(sql), { headers: KEY }),
    ];
    expect(before.status).toBe(status);
    expect(before.headers.get('x-error-status')).toBeNull();
    expect(after.status).toBe(200);
    expect(Object.fromEntries(after.headers)).toMatchObject({
      'x-error-status': String(status),
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(after.headers.get('etag')).toBeNull();
    expect(await after.json()).toEqual({ error: expect.stringMatching(text) as string });
  });

  it('is the same for POST, lql, bad parameters beside sql, and a request that is repeated', async () => {
    const post = { method: 'POST', headers: { ...KEY, 'Content-Type': 'application/json' } };
    const sql = 'SELECT nope FROM edge_logs';
    for (let i = 0; i < 2; i++) {
      const answers = [
        await fetch(asLogflare + RUN, { ...post, body: JSON.stringify({ project: 'default', sql }) }),
        await fetch(`${asLogflare}${RUN}?project=default&lql=%22open`, { headers: KEY }),
        await fetch(asLogflare + ask(COUNT, { iso_timestamp_start: 'yesterday' }), { headers: KEY }),
      ];
      expect(answers.map(({ status, headers }) => [status, headers.get('x-error-status')])).toEqual(
        answers.map(() => [200, '400']),
      );
    }
  });

  it.each([
    ['no sql or lql', `${RUN}?project=default&iso_timestamp_start=yesterday`, KEY, 400],
    ['an empty sql', `${RUN}?project=default&sql=&iso_timestamp_start=yesterday`, KEY, 400],
    ['CSV', ask('SELECT nope FROM edge_logs'), { ...KEY, Accept: 'text/csv' }, 400],
    ['a dry run', ask('SELECT nope FROM edge_logs', { dry_run: 'true' }), KEY, 400],
    ['a wrong key', ask('SELECT nope FROM edge_logs'), { 'X-API-KEY': 'wrong' }, 401],
    ['an unknown endpoint', ask(COUNT).replace('logs.all', 'none'), KEY, 404],
    ['an unacceptable form', ask('SELECT nope FROM edge_logs'), { ...KEY, Accept: 'image/png' }, 406],
  ])('changes nothing with %s', async (_what, path, headers, status) => {
    const response = await fetch(asLogflare + path, { headers });
    expect([response.status, response.headers.get('x-error-status')]).toEqual([status, null]);
  });

  it('logs and counts the true status', async () => {
    const badRequests = async (): Promise<number> => {
      const metrics = await (await fetch(`${asLogflare}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } })).text();
      const lines = metrics.split('\n').filter((line) => /^logquay_requests_total\{.*"400"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = await badRequests();
    const headers = { ...KEY, 'X-Request-Id': 'true-status' };
    await fetch(asLogflare + ask('SELECT counted FROM edge_logs'), { headers });
    const [line] = await logged(/^.*"id":"true-status".*"msg":"request".*$/m);
    expect(JSON.parse(line)).toMatchObject({ status: 400, reason: 'unknownField' });
    expect(await badRequests()).toBe(before + 1);
  });
});

describe("Studio's logs page", () => {
  it('shows the text of an error at once with QUERY_ERRORS=logflare, and nothing after four requests without', async () => {
    const sql = 'SELECT nope FROM edge_logs';
    const with200 = await page(asLogflare, PRIVATE, sql);
    expect(with200).toMatchObject({
      shown: expect.stringContaining('Unrecognized name: nope') as string,
      rows: [],
      requests: 1,
    });
    expect(await page(own, PRIVATE, sql)).toMatchObject({ shown: null, rows: [], requests: 4 });
  });

  it('has the rows of a query either way', async () => {
    for (const base of [own, asLogflare]) {
      const { shown, rows, requests } = await page(base, PRIVATE, COUNT);
      expect({ shown, requests }).toEqual({ shown: null, requests: 1 });
      expect(rows).toEqual([{ n: expect.any(Number) as number }]);
    }
  });
});

it('does not start on sample logs in a stack', async () => {
  const service = stage.start({ ...STACK, DATA_DIR: '', GOOGLE_PROJECT_ID: '' });
  expect(await service.exit).toBe(1);
  expect(service.err).toContain('DATA_DIR: required in a Supabase stack');
  expect(service.err + service.out).not.toMatch(/secret@|private-token|public-token/);
});
