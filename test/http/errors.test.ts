import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import request, { type Test } from 'supertest';

import { executionFault } from '../../packages/duckdb-engine/src/contract/execution-faults';
import { ERRORS, QueryError, type Reason, ServiceError } from '../../src/errors';
import { ScriptedEngine, serve, type Served } from './served';

let engine: ScriptedEngine;
let served: Served;
beforeEach(async () => {
  engine = new ScriptedEngine();
  served = await serve({ engine, bounds: { perName: 1, waiting: 1 }, longestResponse: 2000 });
});
afterEach(() => served.close());

const as = (key: string, test: Test): Test => test.set('X-API-KEY', key);
const get = (path: string, key = 'all'): Test => as(key, request(served.server).get(path));
const post = (path: string, key = 'all'): Test => as(key, request(served.server).post(path));

const PLAIN = '/api/endpoints/query/test.plain';
const TYPED = '/api/endpoints/query/test.typed';
const MASKED = '/api/endpoints/query/test.masked';

interface ErrorBody {
  readonly error: {
    readonly code: number;
    readonly status: string;
    readonly message: string;
    readonly errors: readonly Record<string, unknown>[];
    readonly requestId: string;
  };
}

/** The one shape, judged in full; gives `errors[0]`. */
async function refused(test: Test, reason: Reason): Promise<Record<string, unknown>> {
  const { status, body, headers } = await test;
  const { error } = body as ErrorBody;
  expect({ status, reason: error.errors[0]?.reason }).toEqual({ status: ERRORS[reason].http, reason });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-request-id']).toBe(error.requestId);
  // A key that has pins gets no precise clock.
  if (test.get('X-API-KEY') === 'pinned') expect(headers).not.toHaveProperty('server-timing');
  else expect(headers['server-timing']).toMatch(/total;dur=/);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers).not.toHaveProperty('etag');
  expect(error.code).toBe(status);
  expect(error.status).toBe(ERRORS[reason].status);
  expect(error.message).not.toBe('');
  expect(error.errors).toEqual([expect.objectContaining({ domain: 'global', reason, message: error.message })]);
  return error.errors[0] ?? {};
}

describe('keys', () => {
  it('401 with WWW-Authenticate, before anything is revealed', async () => {
    for (const path of [PLAIN, '/api/endpoints/query/nothing', '/api/endpoints', '/api/endpoints/nothing']) {
      const response = request(served.server).get(path);
      await refused(response, 'unauthenticated');
      await request(served.server)
        .get(path)
        .set('X-API-KEY', 'wrong')
        .expect('WWW-Authenticate', 'Bearer realm="logquay"');
    }
    await refused(request(served.server).post(PLAIN).type('text').send('x'), 'unauthenticated');
  });
});

describe('404', () => {
  it('is the same for what is not there and for what the key may not run', async () => {
    const bodies = await Promise.all(
      [
        get('/api/endpoints/query/nothing?project=x'),
        get('/api/endpoints/query/11111111-aaaa-4000-8000-00000000000f'),
        get(`${TYPED}?project=x`, 'listed'),
        // It declares no parameter that the key pins.
        get(MASKED, 'pinned'),
        get('/api/endpoints/nothing'),
        get('/api/endpoints/test.typed', 'listed'),
        get('/api/endpoints/test.masked', 'pinned'),
      ].map((test) => refused(test, 'notFound')),
    );
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  it('is JSON on every other path, with any method and key', async () => {
    for (const path of ['/api', '/nowhere', '/HEALTH', '/api/endpoints/query/a/b', '/*']) {
      await refused(request(served.server).get(path), 'notFound');
      await refused(request(served.server).post(path), 'notFound');
      await refused(request(served.server).options(path), 'notFound');
    }
  });
});

describe('405', () => {
  it.each([
    [PLAIN, 'delete', 'GET, HEAD, POST, OPTIONS'],
    [PLAIN, 'put', 'GET, HEAD, POST, OPTIONS'],
    [PLAIN, 'patch', 'GET, HEAD, POST, OPTIONS'],
    [PLAIN, 'trace', 'GET, HEAD, POST, OPTIONS'],
    [PLAIN, 'propfind', 'GET, HEAD, POST, OPTIONS'],
    ['/api/endpoints', 'post', 'GET, HEAD, OPTIONS'],
    ['/api/endpoints/test.plain', 'post', 'GET, HEAD, OPTIONS'],
    ['/health', 'post', 'GET, HEAD, OPTIONS'],
    ['/ready', 'delete', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s', async (path, method, allow) => {
    const test = request(served.server)[method as 'get'](path).expect('Allow', allow);
    expect((await refused(test, 'methodNotAllowed')).allowed).toEqual(allow.split(', '));
  });

  it('is not OPTIONS', async () => {
    await request(served.server).options(PLAIN).expect(204).expect('Allow', 'GET, HEAD, POST, OPTIONS');
    await request(served.server).options('/health').expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
  });
});

describe('406', () => {
  it('names the forms there are, and is JSON itself', async () => {
    const { allowed } = await refused(get(`${PLAIN}?project=x`).set('Accept', 'text/html'), 'notAcceptable');
    expect(allowed).toEqual(['application/json', 'application/x-ndjson', 'text/csv']);
    await refused(get('/api/endpoints').set('Accept', 'text/csv'), 'notAcceptable');
  });

  it('does not keep other errors from being JSON', async () => {
    await refused(get(PLAIN).set('Accept', 'text/csv'), 'invalidParameter');
    await refused(request(served.server).get('/nowhere').set('Accept', 'text/html'), 'notFound');
  });
});

describe('parameters', () => {
  it.each([
    ['of another enum', `${TYPED}?project=a&level=warn`, { parameter: 'level', allowed: ['error', 'fatal'] }],
    ['sql, which the endpoint does not take', `${PLAIN}?project=a&sql=select+1`, { parameter: 'sql' }],
    ['dry_run on DuckDB', `${PLAIN}?project=a&dry_run=true`, { parameter: 'dry_run' }],
    ['a dry_run that is neither', `${PLAIN}?project=a&dry_run=1`, { parameter: 'dry_run', allowed: ['true', 'false'] }],
    ['a malformed escape', `${PLAIN}?project=%zz`, {}],
    ['a malformed escape where nobody looks', `${PLAIN}?project=a&ref=%2`, {}],
    ['a malformed escape in a name', `${PLAIN}?project=a&%=1`, {}],
    ['an escape that is not UTF-8', `${PLAIN}?project=a&ref=%ff`, {}],
    ['a malformed escape in the path', '/api/endpoints/query/%zz?project=a', {}],
    ['a malformed escape in the path of the catalogue', '/api/endpoints/%c3', {}],
  ])('400: %s', async (_what, path, details) => {
    expect(await refused(get(path), 'invalidParameter')).toMatchObject(details);
    expect(engine.queries).toEqual([]);
  });

  it.each(['sql=', 'lql=', 'dry_run=', 'dry_run=false', 'sql=&lql=&dry_run=false'])(
    '%s counts as absent',
    async (given) => {
      await get(`${PLAIN}?project=a&${given}`).expect(200);
    },
  );

  it('400: a JSON body that is broken', async () => {
    await refused(post(TYPED).type('json').send('{"project":'), 'invalidParameter');
  });

  it('400: the same parameter in URL and body', async () => {
    for (const type of ['json', 'form']) {
      const body = type === 'json' ? '{"project":"a"}' : 'project=a';
      expect(await refused(post(`${PLAIN}?project=a`).type(type).send(body), 'invalidParameter')).toMatchObject({
        parameter: 'project',
      });
    }
  });

  it('400: bytes that are not UTF-8', async () => {
    const body = Buffer.from('{"project":"\xe9"}', 'latin1');
    const test = post(PLAIN)
      .type('json')
      .serialize((bytes) => bytes as string);
    await refused(test.send(body as unknown as string), 'invalidParameter');
    await refused(post(PLAIN).type('form').send('project=%e9'), 'invalidParameter');
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=latin1', 'json'])(
    '415: a body of %s',
    async (type) => {
      const { allowed } = await refused(
        post(PLAIN).set('Content-Type', type).send('project=a'),
        'unsupportedMediaType',
      );
      expect(allowed).toEqual(['application/json', 'application/x-www-form-urlencoded']);
    },
  );

  it('415: a compressed body', async () => {
    await refused(
      post(PLAIN).type('json').set('Content-Encoding', 'gzip').send('{"project":"a"}'),
      'unsupportedMediaType',
    );
  });
});

describe('sizes', () => {
  it('414: a URL of more than 96 KiB, and one of 96 KiB is answered', async () => {
    const url = (length: number): string => `${PLAIN}?project=a&x=`.padEnd(length, 'x');
    await get(url(98_304)).expect(200);
    await refused(get(url(98_305)), 'uriTooLong');
  });

  it('a long URL and long headers together are answered', async () => {
    await get(`${PLAIN}?project=a&x=`.padEnd(98_304, 'x')).set('X-Long', 'x'.repeat(30_000)).expect(200);
  });

  it('400 resourcesExceeded: a response beyond the bound', async () => {
    engine.rows = [`{"id":1,"message":"${'x'.repeat(3000)}"}`];
    await refused(get(`${PLAIN}?project=a`), 'resourcesExceeded');
  });
});

describe('the engine', () => {
  const failing = (error: unknown): Test => {
    engine.onRun = () => Promise.reject(error);
    return get(`${PLAIN}?project=a`);
  };

  it.each([
    'invalidQuery',
    'unknownField',
    'resourcesExceeded',
    'bytesBilledLimitExceeded',
    'sandboxViolation',
    'invalidLql',
    'budgetExceeded',
    'rateLimitExceeded',
    'backendError',
    'backendUnavailable',
    'deadlineExceeded',
  ] as const)('%s passes as it is', async (reason) => {
    const answer = await refused(
      failing(new ServiceError(reason, 'Words of the service.', { line: 2, hint: 'H' })),
      reason,
    );
    expect(answer).toEqual({ domain: 'global', reason, message: 'Words of the service.', line: 2, hint: 'H' });
  });

  it('says when to come back', async () => {
    await failing(new ServiceError('budgetExceeded', 'x', { retryAfter: 41.2 })).expect('Retry-After', '42');
    await failing(new ServiceError('backendUnavailable', 'x')).expect('Retry-After', '1');
    expect((await failing(new ServiceError('backendError', 'x'))).headers).not.toHaveProperty('retry-after');
  });

  it('keeps the place of a fault in a stored query to itself', async () => {
    const answer = await refused(failing(executionFault('division', { start: 3, end: 9 })), 'invalidQuery');
    expect(answer).toEqual({ domain: 'global', reason: 'invalidQuery', message: 'Division by zero' });
  });

  it('500: a stored query that is wrong is not the fault of the caller, and the log has its place', async () => {
    const fault = new QueryError('unknownField', 'Unrecognized name: pth.', { start: 3, end: 9 });
    const answer = await refused(failing(fault), 'storedQueryFailed');
    expect(JSON.stringify(answer)).not.toContain('pth');
    expect(served.logged.join('')).toContain('Unrecognized name: pth.');
  });

  it('500: nothing of the inside leaks, and the log has it', async () => {
    const answer = await refused(failing(new TypeError('secret inside')), 'internalError');
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(served.logged.join('')).toContain('secret inside');
  });

  it('429 only when the queue is full, 504 when the turn does not come', async () => {
    let release = (): void => undefined;
    engine.onRun = () => new Promise((resolve) => (release = resolve));
    const first = get(`${PLAIN}?project=a`).then(({ status }) => status);
    while (engine.queries.length === 0) await sleep(5);
    const second = refused(get(`${TYPED}?project=b`), 'deadlineExceeded');
    await sleep(50);
    await refused(get(`${TYPED}?project=c`).expect('Retry-After', '1'), 'tooManyConcurrentQueries');
    await second;
    release();
    expect(await first).toBe(200);
  });

  it('is given the deadline of the endpoint, and told when the client goes away', async () => {
    const aborted = new Promise<number>((resolve) => {
      engine.onRun = (_query, { deadline, signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            resolve(deadline - performance.now());
            reject(signal.reason as Error);
          });
        });
    });
    const client = http.get({ port: served.port, path: `${TYPED}?project=a`, headers: { 'X-API-KEY': 'all' } });
    client.on('error', () => undefined);
    while (engine.queries.length === 0) await sleep(5);
    client.destroy();
    const left = await aborted;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(2000);
    while (!served.logged.some((line) => line.includes('"status":499'))) await sleep(5);
    expect(served.logged.join('')).not.toContain('internalError');
  });
});

describe('docs/querying.md', () => {
  const page = readFileSync(path.join(__dirname, '../../docs/querying.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| `(\w+)` +\| (yes|no) +\|/gm)];

  it('tells every reason as it is, and no other', () => {
    expect(
      rows.map(([, reason, code, status, retry]) => [
        reason,
        { http: Number(code), status, retryable: retry === 'yes' },
      ]),
    ).toEqual(Object.entries(ERRORS));
  });
});
