/** `Server-Timing` is a precise clock: a key with pins gets it on no answer. */
import request, { type Response, type Test } from 'supertest';

import { ScriptedEngine, serve, type Served } from './served';

const RUN = '/api/endpoints/query';

let engine: ScriptedEngine;
let served: Served;
beforeEach(async () => {
  engine = new ScriptedEngine();
  served = await serve({ engine, docs: 'key', metricsKey: 'metrics-key' });
});
afterEach(() => served.close());

const agent = () => request(served.server);
/** Answers of every kind that a key can get: results, kept results, errors of every step, and paths that need no key. */
const ANSWERS: Readonly<Record<string, () => Test>> = {
  'a result': () => agent().get(`${RUN}/test.plain`),
  'a result of a POST': () => agent().post(`${RUN}/test.plain`).send({}),
  HEAD: () => agent().head(`${RUN}/test.plain`),
  304: () => agent().get(`${RUN}/test.plain`).set('If-None-Match', '*'),
  'a kept result': () => agent().get(`${RUN}/test.typed`),
  'a parameter that is wrong': () => agent().get(`${RUN}/test.typed?count=x`),
  'another value than the pinned one': () => agent().get(`${RUN}/test.typed?project=x`),
  'a dry run': () => agent().get(`${RUN}/test.typed?dry_run=true`),
  'a query that the gate refuses': () => agent().get(`${RUN}/test.typed?sql=select`),
  'an endpoint that there is not': () => agent().get(`${RUN}/nothing`),
  'Accept that cannot be met': () => agent().get(`${RUN}/test.plain`).set('Accept', 'image/png'),
  'a body of another type': () => agent().post(`${RUN}/test.plain`).type('text').send('x'),
  'a method that is not allowed': () => agent().delete(`${RUN}/test.plain`),
  'a URL that is too long': () => agent().get(`${RUN}/test.plain?x=${'x'.repeat(100_000)}`),
  'a malformed path': () => agent().get(`${RUN}/%ff`),
  OPTIONS: () => agent().options(`${RUN}/test.plain`),
  'the catalogue': () => agent().get('/api/endpoints'),
  'one endpoint': () => agent().get('/api/endpoints/test.plain'),
  '/openapi.json': () => agent().get('/openapi.json'),
  '/docs': () => agent().get('/docs'),
  '/health': () => agent().get('/health'),
  '/ready': () => agent().get('/ready'),
  '/metrics': () => agent().get('/metrics'),
  'a path that there is not': () => agent().get('/nothing'),
};

it.each(Object.keys(ANSWERS))('%s', async (what) => {
  const ask = (name: string, value: string): Promise<Response> => ANSWERS[what]?.().set(name, value) as never;
  for (let i = 0; i < 2; i++) {
    expect((await ask('X-API-KEY', 'pinned')).headers).not.toHaveProperty('server-timing');
    expect((await ask('X-API-KEY', 'all')).headers).toHaveProperty('server-timing');
  }
});

it('an engine that fails, and one that is cut off by the deadline', async () => {
  engine.onRun = () => Promise.reject(new Error('gone'));
  const { status, headers } = await agent().get(`${RUN}/test.plain`).set('X-API-KEY', 'pinned');
  expect([status, headers['server-timing']]).toEqual([500, undefined]);
});

it('is there for a key that is not valid, or none: nothing is hidden from nobody', async () => {
  for (const key of ['wrong', '']) {
    expect((await agent().get(`${RUN}/test.plain`).set('X-API-KEY', key)).headers).toHaveProperty('server-timing');
  }
});
