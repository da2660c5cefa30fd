import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import request, { type Response } from 'supertest';

import { ENDPOINTS, ScriptedEngine, serve, type Served } from './served';

const PLAIN = '/api/endpoints/query/test.plain?project=abc';

let engine: ScriptedEngine;
let served: Served;
beforeEach(async () => {
  engine = new ScriptedEngine();
  served = await serve({ engine });
});
afterEach(() => served.close());

const get = (path: string) => request(served.server).get(path).set('X-API-KEY', 'all');
const post = (path: string) => request(served.server).post(path).set('X-API-KEY', 'all');

/** The body as it came over the wire: supertest unpacks by itself. */
function wire(path: string, headers: Record<string, string>): Promise<{ headers: Headers; body: Buffer }> {
  const { port } = served;
  return new Promise((resolve, reject) => {
    http
      .get({ port, path, headers: { 'X-API-KEY': 'all', ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ headers: new Headers(response.headers as Record<string, string>), body: Buffer.concat(chunks) });
        });
      })
      .on('error', reject);
  });
}

/** The answer to a request that sends headers more than once. */
function repeated(path: string, headers: Record<string, string[]>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    http
      .get({ port: served.port, path, headers: { 'X-API-KEY': 'all', ...headers } }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      })
      .on('error', reject);
  });
}

/** The status of a POST that does not say how long it will be. */
function chunked(path: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-API-KEY': 'all', 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const client = http.request({ method: 'POST', port: served.port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    client.on('error', reject);
    for (let at = 0; at < body.length; at += 50_000) client.write(body.slice(at, at + 50_000));
    client.end();
  });
}

describe('a result', () => {
  it('is the rows under one key, with every header that the service promises', async () => {
    const { status, text, headers } = await get(PLAIN);
    expect({ status, text }).toEqual({
      status: 200,
      text: '{"result":[{"id":1,"message":"one"},{"id":2,"message":null}]}',
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-cache',
      'cache-status': 'logquay; fwd=miss',
      vary: 'Accept, Accept-Encoding, X-API-KEY, Authorization, LF-ENDPOINT-REDACT-PII',
      etag: expect.stringMatching(/^W\/"[^"]+"$/) as string,
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/) as string,
      'server-timing': expect.stringMatching(
        /^read;dur=[\d.]+, gate;dur=[\d.]+, engine;dur=.*, total;dur=[\d.]+$/,
      ) as string,
      'x-content-type-options': 'nosniff',
    });
    for (const absent of ['x-powered-by', 'age', 'x-result-truncated', 'x-query-bytes-billed', 'set-cookie']) {
      expect(headers).not.toHaveProperty(absent);
    }
  });

  it('runs the stored text with bound values', async () => {
    await get('/api/endpoints/query/test.typed?project=a%27b&count=7&since=2026-09-30T12:00:00%2B02:00&ref=x').expect(
      200,
    );
    expect(engine.queries).toEqual([
      expect.objectContaining({
        sql: ENDPOINTS[1]?.sql,
        maxRows: 20,
        maxBytesBilled: 5000n,
        hideBytes: false,
        parameters: [
          { name: 'project', type: 'STRING', value: "a'b" },
          { name: 'level', type: 'STRING', value: 'error' },
          { name: 'since', type: 'STRING', value: '2026-09-30T10:00:00.000000Z' },
          { name: 'count', type: 'INT64', value: '7' },
          { name: 'ratio', type: 'FLOAT64', value: '0.5' },
          { name: 'deep', type: 'BOOL', value: 'false' },
        ],
      }),
    ]);
  });

  it('says when max rows cut it', async () => {
    engine.truncated = true;
    expect((await get(PLAIN)).headers['x-result-truncated']).toBe('true');
  });

  it('takes the + that a URL turned into a blank', async () => {
    await get('/api/endpoints/query/test.typed?project=a+b&since=2026-09-30T12:00:00+02:00').expect(200);
    expect(engine.queries[0]?.parameters).toContainEqual({ name: 'project', type: 'STRING', value: 'a b' });
    expect(engine.queries[0]?.parameters).toContainEqual({
      name: 'since',
      type: 'STRING',
      value: '2026-09-30T10:00:00.000000Z',
    });
  });

  it('echoes a sane request id, and makes its own for any other', async () => {
    expect((await get(PLAIN).set('X-Request-Id', 'a1/b-2')).headers['x-request-id']).toBe('a1/b-2');
    for (const id of ['', 'with blank', '"', 'x'.repeat(129)]) {
      expect((await get(PLAIN).set('X-Request-Id', id)).headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    }
  });
});

describe('POST', () => {
  const path = '/api/endpoints/query/test.typed';

  it('reads a JSON object, integers by their digits', async () => {
    await post(path)
      .set('Content-Type', 'application/json')
      .send('{"project":"abc","count":9007199254740993,"ratio":"1e1","deep":true,"since":null,"ref":{"a":[1]}}')
      .expect(200);
    expect(engine.queries[0]?.parameters.map(({ value }) => value)).toEqual([
      'abc',
      'error',
      '',
      '9007199254740993',
      '10',
      'true',
    ]);
  });

  it('reads a form, URL and body together', async () => {
    await post(`${path}?project=a%2Bc`).type('form').send('level=fatal&since=&count=3').expect(200);
    expect(engine.queries[0]?.parameters.slice(0, 4).map(({ value }) => value)).toEqual(['a+c', 'fatal', '', '3']);
  });

  it('needs no body', async () => {
    await post(`${path}?project=abc`).expect(200);
    await post(`${path}?project=abc`).set('Content-Type', 'text/plain').expect(200);
  });

  it('reads a body as long as 256 KiB, in pieces too', async () => {
    const body = (bytes: number): string => `{"project":"abc","x":"${'x'.repeat(bytes - 24)}"}`;
    await post(path).type('json').send(body(262_144)).expect(200);
    expect(await chunked(path, body(262_144))).toBe(200);
    await post(path).type('json').send(body(262_145)).expect(413);
    expect(await chunked(path, body(262_145))).toBe(413);
  });
});

describe('forms', () => {
  it('are NDJSON and CSV by Accept', async () => {
    const ndjson = await get(PLAIN).set('Accept', 'application/x-ndjson').buffer(true).parse(asText);
    expect(ndjson.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(ndjson.body).toBe('{"id":1,"message":"one"}\n{"id":2,"message":null}\n');
    const csv = await get(PLAIN).set('Accept', 'text/csv');
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(csv.text).toBe('id,message\r\n1,one\r\n2,\r\n');
  });

  it('have a CSV header without rows', async () => {
    engine.rows = [];
    expect((await get(PLAIN).set('Accept', 'text/csv')).text).toBe('id,message\r\n');
  });
});

describe('HEAD', () => {
  it('has status and headers of the GET, and no body', async () => {
    const full = await get(PLAIN).set('Accept-Encoding', 'identity');
    const head = await request(served.server).head(PLAIN).set('X-API-KEY', 'all').set('Accept-Encoding', 'identity');
    expect(head.status).toBe(200);
    expect(head.text).toBeUndefined();
    const compared = ({ headers }: { headers: Record<string, string> }): object => {
      const { date, 'x-request-id': id, 'server-timing': timing, ...rest } = headers;
      expect([date, id, timing].every(Boolean)).toBe(true);
      return rest;
    };
    expect(compared(head)).toEqual(compared(full));
    expect(engine.queries).toHaveLength(2);
  });

  it('is an error like the GET', async () => {
    await request(served.server)
      .head(PLAIN)
      .expect(401)
      .expect('WWW-Authenticate', /Bearer/);
    await request(served.server).head('/nowhere').expect(404);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['the tag', (tag: string) => tag],
    ['the tag as a strong one', (tag: string) => tag.slice(2)],
    ['a list', (tag: string) => `"other", ${tag} ,W/"x"`],
    ['a list with a comma in a tag', (tag: string) => `"a,b",${tag}`],
    ['a list with empty members', (tag: string) => `, ,${tag}`],
    ['*', () => '*'],
  ])('with %s is 304', async (_what, header) => {
    const { headers } = await get(PLAIN);
    const again = await get(PLAIN).set('If-None-Match', header(String(headers.etag)));
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
    expect(again.headers).toMatchObject({
      etag: headers.etag as string,
      'cache-control': 'private, no-cache',
      vary: headers.vary as string,
    });
    for (const absent of ['content-type', 'content-length', 'content-encoding']) {
      expect(again.headers).not.toHaveProperty(absent);
    }
  });

  it.each(['"other"', 'W/"other", "more"', 'nonsense', '"unfinished', `"a" ${' '.repeat(20_000)}x`])(
    'with %.20s is the result',
    async (header) => {
      await get(PLAIN).set('If-None-Match', header).expect(200);
    },
  );

  it('has no meaning for POST and for errors', async () => {
    await post(PLAIN).set('If-None-Match', '*').expect(200);
    await get('/api/endpoints/query/test.plain').set('If-None-Match', '*').expect(400);
  });
});

describe('Accept-Encoding', () => {
  beforeEach(() => {
    engine.rows = Array.from({ length: 40 }, (_, i) => `{"id":${String(i)},"message":"again and again"}`);
  });

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['identity, gzip;q=0.5', null],
    ['gzip;q=0', null],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['deflate, zstd', null],
    ['identity;q=0', null],
    ['', null],
  ] as const)('%s gives %s', async (accepted, coding) => {
    const plain = await wire(PLAIN, { 'Accept-Encoding': 'identity' });
    const { headers, body } = await wire(PLAIN, { 'Accept-Encoding': accepted });
    expect(headers.get('content-encoding')).toBe(coding);
    expect(headers.get('content-length')).toBe(String(body.length));
    expect(headers.get('etag')).toBe(plain.headers.get('etag'));
    const unpacked = coding === 'gzip' ? gunzipSync(body) : coding === 'br' ? brotliDecompressSync(body) : body;
    expect(unpacked).toEqual(plain.body);
  });

  it('is not asked where there is nothing to gain', async () => {
    engine.rows = [];
    const { headers } = await wire(PLAIN, { 'Accept-Encoding': 'gzip, br' });
    expect(headers.get('content-encoding')).toBeNull();
  });
});

describe('redaction', () => {
  beforeEach(() => {
    engine.rows = ['{"id":1,"message":"from 10.1.2.3"}'];
  });
  const redacted = '{"result":[{"id":1,"message":"from REDACTED"}]}';
  const open = '{"result":[{"id":1,"message":"from 10.1.2.3"}]}';

  it.each([
    ['true', redacted],
    ['TRUE', redacted],
    [' True ', redacted],
    ['false', open],
    ['False', open],
    ['', open],
    ['false, true', redacted],
    ['true,', redacted],
    ['false, false', open],
  ])('asked for as %j', async (value, text) => {
    expect((await get(PLAIN).set('LF-ENDPOINT-REDACT-PII', value)).text).toBe(text);
    expect(engine.queries[0]?.hideBytes).toBe(text === redacted);
  });

  it.each(['1', '0', 'yes', 'on', 'tru', 'true;q=1', 'true false', 'true, yes', '"true"'])(
    'asked for as %j is refused, since to ignore it would serve unmasked rows',
    async (value) => {
      for (const path of [PLAIN, '/api/endpoints/query/test.masked']) {
        const { status, body } = await get(path).set('LF-ENDPOINT-REDACT-PII', value);
        expect([status, body]).toMatchObject([
          400,
          {
            error: {
              errors: [{ reason: 'invalidParameter', parameter: 'LF-ENDPOINT-REDACT-PII', allowed: ['true', 'false'] }],
            },
          },
        ]);
      }
      expect(engine.queries).toEqual([]);
    },
  );

  it.each([
    [['false', 'true'], 200, redacted],
    [['', 'false'], 200, open],
    [['true', 'no'], 400, null],
  ])('asked for by the headers %j', async (values, status, text) => {
    const answer = await repeated(PLAIN, { 'LF-ENDPOINT-REDACT-PII': values });
    expect(answer.status).toBe(status);
    if (text !== null) expect(answer.text).toBe(text);
  });
});

function asText(response: Response, done: (error: Error | null, body: string) => void): void {
  const chunks: Buffer[] = [];
  const stream = response as unknown as NodeJS.ReadableStream;
  stream.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
  stream.on('end', () => {
    done(null, Buffer.concat(chunks).toString());
  });
}
