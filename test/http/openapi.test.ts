import request from 'supertest';

import { PAGE_POLICY } from '../../src/http/routes/docs/page';
import type { Document } from '../../src/openapi/schema';
import { serve, type Served, type ServedOptions } from './served';

let served: Served | null = null;
afterEach(() => served?.close());

async function start(options: ServedOptions = {}): Promise<Served> {
  served = await serve(options);
  return served;
}

const PATHS = ['/openapi.json', '/docs'];
const named = (body: unknown): string[] =>
  Object.keys((body as Document).paths).flatMap((at) => /query\/(.*)/.exec(at)?.[1] ?? []);

describe('DOCS=open', () => {
  it('tells everybody everything, whatever key they send', async () => {
    const { server } = await start({ docs: 'open' });
    for (const key of [null, 'listed', 'unknown']) {
      const agent = request(server).get('/openapi.json');
      const { body, headers } = await (key === null ? agent : agent.set('X-API-KEY', key)).expect(200);
      expect(named(body)).toEqual(['test.plain', 'test.typed', 'test.masked']);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'private, no-cache',
        vary: 'Accept, Accept-Encoding',
      });
    }
  });
});

describe('DOCS=key', () => {
  it('tells a key what it may run, and nobody else anything', async () => {
    const { server, logged } = await start({ docs: 'key' });
    const listed = async (key: string): Promise<string[]> =>
      named((await request(server).get('/openapi.json').set('X-API-KEY', key).expect(200)).body);
    expect(await listed('all')).toEqual(['test.plain', 'test.typed', 'test.masked']);
    expect(await listed('listed')).toEqual(['test.plain']);
    expect(await listed('pinned')).toEqual(['test.plain', 'test.typed']);
    expect(logged.join('')).toContain('"key":"listed"');
    for (const path of PATHS) {
      for (const agent of [request(server).get(path), request(server).get(path).set('X-API-KEY', 'unknown')]) {
        const { text, body } = await agent.expect(401);
        expect(body).toMatchObject({ error: { errors: [{ reason: 'unauthenticated' }] } });
        expect(text).not.toContain('test.');
      }
    }
  });

  it('varies with the key', async () => {
    const { server } = await start({ docs: 'key' });
    for (const path of PATHS) {
      const { headers } = await request(server).get(path).set('X-API-KEY', 'all').expect(200);
      expect(headers).toMatchObject({
        'cache-control': 'private, no-cache',
        vary: 'Accept, Accept-Encoding, X-API-KEY, Authorization',
      });
    }
  });

  it('gives a browser without a key the page without a word of the catalogue', async () => {
    const { server } = await start({ docs: 'key' });
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const { text } = await request(server).get('/docs').set('Accept', accept).expect(200);
    expect(text).toContain('X-API-KEY: $KEY');
    expect(text).not.toMatch(/test\.|<article|rows_of_project/);
    // A wrong key is an error; a request for any type gets no page.
    await request(server).get('/docs').set('Accept', accept).set('X-API-KEY', 'unknown').expect(401);
    await request(server).get('/docs').set('Accept', accept).set('X-API-KEY', '').expect(401);
    await request(server).get('/docs').set('Accept', accept).set('Authorization', 'Basic x').expect(401);
    await request(server).get('/docs').set('Accept', '*/*').expect(401);
    await request(server).get('/docs').set('Accept', 'text/html;q=0, */*').expect(401);
    await request(server).get('/openapi.json').set('Accept', accept).expect(401);
  });

  it('shows a key with pins neither the value nor what it was chosen from', async () => {
    const { server } = await start({ docs: 'key' });
    const { text } = await request(server).get('/docs').set('X-API-KEY', 'pinned').expect(200);
    expect(text).toContain('fixed by this key');
    expect(text).not.toMatch(/data-parameter="project"|\babc\b/);
  });
});

describe('DOCS=off', () => {
  it.each(PATHS)('%s is not there, by any method', async (path) => {
    const { server } = await start({ docs: 'off' });
    for (const method of ['get', 'head', 'post', 'options'] as const) {
      await request(server)[method](path).set('X-API-KEY', 'all').expect(404);
    }
  });
});

describe.each(PATHS)('%s', (path) => {
  const type = path === '/docs' ? 'text/html' : 'application/json';

  it('has an ETag, and 304 for who has it', async () => {
    const { server } = await start();
    const { headers, text } = await request(server).get(path).expect(200);
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    for (const given of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const { text: none, headers: sent } = await request(server).get(path).set('If-None-Match', given).expect(304);
      expect(none).toBe('');
      expect(sent).toMatchObject({ etag, 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Encoding' });
    }
    const again = await request(server).get(path).set('If-None-Match', '"other"').expect(200);
    expect([again.text, again.headers.etag]).toEqual([text, etag]);
  });

  it('answers HEAD like GET, without a body', async () => {
    const { server } = await start();
    const got = await request(server).get(path).set('Accept-Encoding', 'identity').expect(200);
    const head = await request(server).head(path).set('Accept-Encoding', 'identity').expect(200);
    expect(head.text).toBeUndefined();
    for (const name of ['etag', 'content-type', 'content-length', 'vary', 'content-security-policy']) {
      expect([name, head.headers[name]]).toEqual([name, got.headers[name]]);
    }
  });

  it('refuses other methods, and tells which there are', async () => {
    const { server } = await start();
    for (const method of ['post', 'put', 'delete', 'patch'] as const) {
      await request(server)[method](path).expect(405).expect('Allow', 'GET, HEAD, OPTIONS');
    }
    await request(server).options(path).expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
  });

  it('judges Accept', async () => {
    const { server } = await start();
    const group = type.replace(/\/.*/, '/*');
    for (const accept of [type, '*/*', group, `image/png, ${type};q=0.1`, `${type}; charset=utf-8`, '']) {
      await request(server).get(path).set('Accept', accept).expect(200);
    }
    for (const accept of ['image/png', `${type};q=0`, `${type};q=0, */*`, `${group};q=0.0, */*`]) {
      const { body } = await request(server).get(path).set('Accept', accept).expect(406);
      expect(body).toMatchObject({ error: { errors: [{ reason: 'notAcceptable', allowed: [type] }] } });
    }
  });

  it('is compressed where that is accepted, with one tag', async () => {
    const { server } = await start();
    const plain = await request(server).get(path).set('Accept-Encoding', 'identity');
    for (const coding of ['gzip', 'br']) {
      const { headers } = await request(server).get(path).set('Accept-Encoding', coding).buffer(false);
      expect(headers).toMatchObject({ 'content-encoding': coding, etag: plain.headers.etag as string });
      expect(Number(headers['content-length'])).toBeLessThan(plain.text.length / 2);
    }
  });

  it('has one policy, that of the page: JSON needs none', async () => {
    const { server } = await start();
    const { headers } = await request(server).get(path).expect(200);
    const policy = path === '/docs' ? PAGE_POLICY : undefined;
    // A header that is sent twice comes as one, joined.
    expect(headers['content-security-policy']).toBe(policy);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('is 503 while starting', async () => {
    const { server } = await start({ starting: true });
    await request(server).get(path).expect(503).expect('Retry-After', '1');
  });
});
