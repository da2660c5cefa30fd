/** What the service really answers fits what the document says of it. */
import request from 'supertest';

import type { Document } from '../../src/openapi/schema';
import { ServiceError } from '../../src/errors';
import { ScriptedEngine, serve, type Served } from '../http/served';
import { type Case, validated } from './validated';

const engine = new ScriptedEngine('bigquery');
let served: Served;
let document: Document;
beforeAll(async () => {
  served = await serve({ engine, docs: 'open' });
  document = (await request(served.server).get('/openapi.json')).body as Document;
});
afterAll(() => served.close());

/** The schema of an answer's body: by path, method, status and type, as a client would find it. */
function schemaAt(path: string, method: 'get' | 'post', status: number, type: string): string {
  const item = `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${String(status)}`;
  const response = document.paths[path]?.[method]?.responses[String(status)];
  if (response === undefined) throw new Error(`${path} says nothing of ${String(status)}`);
  const at = '$ref' in response ? response.$ref.slice(1) : item;
  return `${at}/content/${type.replace('/', '~1')}/schema`;
}

const RUN = '/api/endpoints/query/test.plain';
const TYPED = '/api/endpoints/query/test.typed';
const OF_ONE = '/api/endpoints/{idOrName}';

/** Status, method and target, headers, body; the path of the document where it is another. */
type Asked = readonly [
  status: number,
  line: string,
  headers?: Readonly<Record<string, string>>,
  body?: object | string | undefined,
  template?: string,
];

const ASKED: readonly Asked[] = [
  [200, `GET ${RUN}?project=a`],
  [200, `GET ${RUN}?project=a`, { Accept: 'text/csv' }],
  [200, `GET ${RUN}?project=a`, { Accept: 'application/x-ndjson' }],
  [200, `POST ${RUN}`, {}, { project: 'a' }],
  [400, `GET ${RUN}`],
  [400, `GET ${TYPED}?project=a&level=x`],
  [400, `GET ${TYPED}?project=a&sql=SELECT%0A%201%20FROM`],
  [400, `GET ${TYPED}?project=a&lql=%22x`],
  [403, `GET ${TYPED}?project=a&sql=SELECT%201%20FROM%20other`],
  [401, `GET ${RUN}`, { 'X-API-KEY': 'unknown' }],
  [406, `GET ${RUN}`, { Accept: 'image/png' }],
  [413, `POST ${RUN}`, {}, { project: 'a'.repeat(300_000) }],
  [415, `POST ${RUN}`, { 'Content-Type': 'text/plain' }, 'x'],
  [405, `DELETE ${RUN}`],
  [200, 'GET /api/endpoints'],
  [200, 'GET /api/endpoints/test.typed', {}, undefined, OF_ONE],
  [404, 'GET /api/endpoints/none', {}, undefined, OF_ONE],
  [200, 'GET /health'],
  [200, 'GET /ready'],
  [200, 'GET /docs'],
  [406, 'GET /docs', { Accept: 'image/png' }],
  [200, 'GET /openapi.json'],
];

it('in every form and for every kind of error', async () => {
  const instances: NonNullable<Case['instances']>[number][] = [];
  const ask = async ([status, line, headers = {}, body, given]: Asked): Promise<void> => {
    const [sent, target = ''] = line.split(' ');
    const method = sent === 'POST' ? 'post' : sent === 'DELETE' ? 'delete' : 'get';
    const answer = await request(served.server)
      [method](target)
      .set({ 'X-API-KEY': 'all', ...headers })
      .buffer(true)
      .send(body);
    expect([line, answer.status]).toEqual([line, status]);
    const described = method === 'post' ? method : 'get';
    const template = given ?? target.replace(/\?.*/, '');
    const type = String(answer.headers['content-type']).split(';')[0] ?? '';
    const isText = ['text/csv', 'text/html', 'application/x-ndjson'].includes(type);
    instances.push({
      at: schemaAt(template, described, status, type),
      value: isText ? (answer.text ?? answer.body) : (answer.body as unknown),
    });
    // Headers, by name and by schema.
    const response = document.paths[template]?.[described]?.responses[String(status)];
    if (response === undefined || '$ref' in response) return;
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const text: unknown = answer.headers[name.toLowerCase()];
      if (text === undefined) continue;
      const at = '$ref' in header ? header.$ref.slice(1) : '';
      const isNumber = document.components.headers[name]?.schema.type === 'integer';
      instances.push({ at: `${at}/schema`, value: isNumber ? Number(text) : text });
    }
  };

  for (const one of ASKED) await ask(one);
  engine.onRun = () => Promise.reject(new ServiceError('backendUnavailable', 'Gone.', { retryAfter: 3 }));
  await ask([503, `GET ${RUN}?project=a`]);
  engine.onRun = () => Promise.reject(new Error('a bug'));
  await ask([500, `GET ${RUN}?project=a`]);
  served.lifecycle.drain();
  await ask([503, 'GET /ready']);
  expect(await validated([{ document, instances }])).toEqual([[]]);
  expect(instances.length).toBeGreaterThan(60);
});
