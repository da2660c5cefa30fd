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

it('in every form and for every kind of error', async () => {
  const run = '/api/endpoints/query/test.plain';
  const typed = '/api/endpoints/query/test.typed';
  const instances: NonNullable<Case['instances']>[number][] = [];
  let key = 'all';
  const ask = async (
    path: string,
    status: number,
    send: (agent: ReturnType<typeof request>) => request.Test,
    template = path,
  ): Promise<void> => {
    const answer = await send(request(served.server)).set('X-API-KEY', key);
    expect([path, answer.status]).toEqual([path, status]);
    const method = answer.request.method === 'POST' ? 'post' : 'get';
    const type = String(answer.headers['content-type']).split(';')[0] ?? '';
    const value: unknown = type === 'text/csv' || type === 'text/html' ? answer.text : (answer.body as unknown);
    instances.push({ at: schemaAt(template, method, status, type), value });
    // Headers, by name and by schema.
    const response = document.paths[template]?.[method]?.responses[String(status)];
    if (response === undefined || '$ref' in response) return;
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const text: unknown = answer.headers[name.toLowerCase()];
      if (text === undefined) continue;
      const at = '$ref' in header ? header.$ref.slice(1) : '';
      const isNumber = document.components.headers[name]?.schema.type === 'integer';
      instances.push({ at: `${at}/schema`, value: isNumber ? Number(text) : text });
    }
  };

  await ask(run, 200, (agent) => agent.get(`${run}?project=a`));
  await ask(run, 200, (agent) => agent.get(`${run}?project=a`).set('Accept', 'text/csv'));
  await ask(run, 200, (agent) =>
    agent.get(`${run}?project=a`).set('Accept', 'application/x-ndjson').buffer(true).parse(asText),
  );
  await ask(run, 200, (agent) => agent.post(run).send({ project: 'a' }));
  await ask(run, 400, (agent) => agent.get(run));
  await ask(typed, 400, (agent) => agent.get(`${typed}?project=a&level=x`));
  await ask(typed, 400, (agent) => agent.get(typed).query({ project: 'a', sql: 'SELECT\n 1 FROM' }));
  await ask(typed, 400, (agent) => agent.get(typed).query({ project: 'a', lql: '"x' }));
  await ask(typed, 403, (agent) => agent.get(typed).query({ project: 'a', sql: 'SELECT 1 FROM other' }));
  key = 'unknown';
  await ask(run, 401, (agent) => agent.get(run));
  key = 'all';
  await ask(run, 406, (agent) => agent.get(run).set('Accept', 'image/png'));
  await ask(run, 413, (agent) => agent.post(run).send({ project: 'a'.repeat(300_000) }));
  await ask(run, 415, (agent) => agent.post(run).set('Content-Type', 'text/plain').send('x'));
  await ask(run, 405, (agent) => agent.delete(run));
  engine.onRun = () => Promise.reject(new ServiceError('backendUnavailable', 'Gone.', { retryAfter: 3 }));
  await ask(run, 503, (agent) => agent.get(`${run}?project=a`));
  engine.onRun = () => Promise.reject(new Error('a bug'));
  await ask(run, 500, (agent) => agent.get(`${run}?project=a`));
  await ask('/api/endpoints', 200, (agent) => agent.get('/api/endpoints'));
  await ask('/api/endpoints', 200, (agent) => agent.get('/api/endpoints/test.typed'), '/api/endpoints/{idOrName}');
  await ask('/api/endpoints', 404, (agent) => agent.get('/api/endpoints/none'), '/api/endpoints/{idOrName}');
  await ask('/health', 200, (agent) => agent.get('/health'));
  await ask('/ready', 200, (agent) => agent.get('/ready'));
  await ask('/docs', 200, (agent) => agent.get('/docs'));
  await ask('/docs', 406, (agent) => agent.get('/docs').set('Accept', 'image/png'));
  await ask('/openapi.json', 200, (agent) => agent.get('/openapi.json'));
  served.lifecycle.drain();
  await ask('/ready', 503, (agent) => agent.get('/ready'));

  expect(await validated([{ document, instances }])).toEqual([[]]);
  expect(instances.length).toBeGreaterThan(60);
});

function asText(response: request.Response, done: (error: Error | null, body: string) => void): void {
  const stream = response as unknown as NodeJS.ReadableStream;
  let text = '';
  stream.on('data', (chunk) => (text += String(chunk)));
  stream.on('end', () => {
    done(null, text);
  });
}
