/** A 304 has the headers of the 200: browsers update what they stored by them, its policy among it. */
import request, { type Test } from 'supertest';

import { ScriptedEngine, serve, type Served } from './served';

/** Of one answer alone, or of the body that a 304 does not have. */
const OWN = ['date', 'x-request-id', 'server-timing', 'content-type', 'content-length', 'content-encoding'];

const ROUTES: readonly (readonly [path: string, docs: 'open' | 'key', headers: Readonly<Record<string, string>>])[] = [
  ['/docs', 'open', {}],
  ['/docs', 'key', { 'X-API-KEY': 'all' }],
  ['/docs', 'key', { Accept: 'text/html' }],
  ['/openapi.json', 'open', {}],
  ['/openapi.json', 'key', { 'X-API-KEY': 'pinned' }],
  ['/api/endpoints/query/test.plain?project=abc', 'open', { 'X-API-KEY': 'all' }],
  ['/api/endpoints/query/test.plain', 'open', { 'X-API-KEY': 'pinned' }],
  ['/api/endpoints/query/test.typed?project=abc', 'open', { 'X-API-KEY': 'all', Accept: 'text/csv' }],
];

describe.each(ROUTES)('%s with DOCS=%s and %j', (path, docs, headers) => {
  let served: Served;
  beforeEach(async () => {
    const engine = new ScriptedEngine('bigquery');
    engine.truncated = true;
    engine.bytes = { processed: 1n, billed: 2n };
    served = await serve({ engine, docs, corsOrigins: ['https://a.example'] });
  });
  afterEach(() => served.close());

  it.each([{}, { Origin: 'https://a.example' }, { 'Accept-Encoding': 'br' }])('and %j', async (more) => {
    const ask = (method: 'get' | 'head'): Test =>
      request(served.server)
        [method](path)
        .set({ ...headers, ...more });
    // The first answer of a cached endpoint is stored, those after it come out of the cache.
    await ask('get');
    const full = await ask('get').expect(200);
    for (const method of ['get', 'head'] as const) {
      const { headers: sent } = await ask(method).set('If-None-Match', String(full.headers.etag)).expect(304);
      expect(rest(sent as Headers)).toEqual(rest(full.headers as Headers));
    }
  });
});

type Headers = Readonly<Record<string, string>>;

function rest(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.includes(name)));
}
