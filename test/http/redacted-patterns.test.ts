/** Patterns where redaction is forced: which rows match would tell what the mask hides. */
import request, { type Response } from 'supertest';

import { endpointOf } from '../openapi/endpoints';
import { ScriptedEngine, serve, type Served } from './served';

const COUNTS = endpointOf(`/*
id: 11111111-aaaa-4000-8000-000000000004
name: test.counts
params:
  project: { type: regex, required: true, description: Whose rows. }
  also: { type: regex, default: a.b }
*/
SELECT @project AS project, @also AS also
`);
const MASKED = endpointOf(`/*
id: 11111111-aaaa-4000-8000-000000000005
name: test.masked-counts
redact_pii: true
params:
  project: { type: regex, default: a.b }
  text: { type: string }
*/
SELECT @project AS project, @text AS text
`);

let engine: ScriptedEngine;
let served: Served;
beforeEach(async () => {
  engine = new ScriptedEngine();
  served = await serve({ engine, endpoints: [COUNTS, MASKED] });
});
afterEach(() => served.close());

async function ask(endpoint: string, query: string, key: string, headers: object = {}): Promise<Response> {
  return request(served.server)
    .get(`/api/endpoints/query/${endpoint}?${query}`)
    .set({ 'X-API-KEY': key, ...headers });
}

it.each([
  ['by the key', 'test.counts', 'project=10%5C.1', 'masked', 'project'],
  ['by the key, in another parameter', 'test.counts', 'also=10', 'masked', 'also'],
  ['by the key, given twice', 'test.counts', 'project=a&project=b', 'masked', 'project'],
  ['by the key, malformed', 'test.counts', 'project=(', 'masked', 'project'],
  ['by the endpoint', 'test.masked-counts', 'project=10', 'all', 'project'],
  ['by both', 'test.masked-counts', 'project=10', 'masked', 'project'],
])('are refused where it is forced %s', async (_who, endpoint, query, key, parameter) => {
  const { status, body } = await ask(endpoint, query, key);
  expect([status, body]).toMatchObject([403, { error: { errors: [{ reason: 'accessDenied', parameter }] } }]);
  expect(engine.queries).toEqual([]);
});

it('are refused in a body too', async () => {
  for (const send of [{ project: 'a' }, { project: 5 }, { project: ['a'] }]) {
    const { status } = await request(served.server)
      .post('/api/endpoints/query/test.counts')
      .set('X-API-KEY', 'masked')
      .send(send);
    expect(status).toBe(403);
  }
  expect(engine.queries).toEqual([]);
});

it.each([
  ['with a key that may send SQL', 'test.counts', 'project=10', 'masked-sql', {}],
  ['with a key that may send SQL, where the endpoint forces it', 'test.masked-counts', 'project=10', 'masked-sql', {}],
  ['where the caller asks for redaction', 'test.counts', 'project=10', 'all', { 'LF-ENDPOINT-REDACT-PII': 'true' }],
  ['pinned by the key', 'test.masked-counts', '', 'pinned', {}],
  ['pinned by the key, sent as pinned', 'test.masked-counts', 'project=abc', 'pinned', {}],
  ['left to its default', 'test.masked-counts', 'text=a', 'all', {}],
  ['empty, which is absent', 'test.masked-counts', 'project=&text=a', 'all', {}],
])('are bound %s', async (_when, endpoint, query, key, headers) => {
  expect((await ask(endpoint, query, key, headers)).status).toBe(200);
});

it('that are required are asked for before they are refused', async () => {
  const { status, body } = await ask('test.counts', '', 'masked');
  expect([status, body]).toMatchObject([400, { error: { errors: [{ parameter: 'project' }] } }]);
});
