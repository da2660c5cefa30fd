/** What a Supabase stack sends to Logflare, sent to the real process. */
import { once } from 'node:events';
import http from 'node:http';

import { Stage } from './started';

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

const stage = new Stage();
let own: string;
beforeAll(async () => {
  own = await stage.start(STACK).ready();
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
  it('are 501 for who has a key', async () => {
    for (const [method, path] of [
      ['GET', '/api/backends?metadata%5Btype%5D=log-drain'],
      ['POST', '/api/backends'],
      ['GET', `/api/backends/${id}`],
      ['PUT', `/api/backends/${id}`],
      ['DELETE', `/api/backends/${id}`],
      ['GET', '/api/sources'],
      ['POST', '/api/rules'],
    ] as const) {
      const body = method === 'POST' || method === 'PUT' ? '{"name":"drain"}' : null;
      const headers = { Authorization: `Bearer ${PRIVATE}`, 'Content-Type': 'application/json' };
      const response = await fetch(own + path, { method, headers, body });
      const answer = (await response.json()) as { error: { message: string; errors: { reason: string }[] } };
      expect([method, path, response.status, answer.error.errors[0]?.reason]).toEqual([
        method,
        path,
        501,
        'notImplemented',
      ]);
      expect(answer.error.message).toContain('Vector');
      expect((await fetch(own + path, { method, body })).status).toBe(401);
    }
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
