import request from 'supertest';

import type { Document } from '../../src/openapi/schema';
import { ENDPOINTS, serve, type Served, type ServedOptions } from './served';

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

  it('makes one document for all keys that may do the same, as tokens are many', async () => {
    let made = 0;
    const counting = Object.defineProperty({ ...ENDPOINTS[0]! }, 'description', {
      get: () => `made ${String(made++)}`,
    });
    const { server } = await start({ docs: 'key', endpoints: [counting] });
    for (const path of PATHS) {
      for (const key of ['all', 'other', 'all']) await request(server).get(path).set('X-API-KEY', key).expect(200);
      expect(made).toBe(1);
      for (const key of ['masked', 'masked-sql', 'exporter'])
        await request(server).get(path).set('X-API-KEY', key).expect(200);
      expect(made).toBe(4);
      made = 0;
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
});
