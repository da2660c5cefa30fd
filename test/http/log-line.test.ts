import request from 'supertest';

import { parentOf } from '../../src/http/request-log';
import { ScriptedEngine, serve, type Served, type ServedOptions } from './served';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TYPED = '/api/endpoints/query/test.typed?project=Zebra';

let served: Served | null = null;
afterEach(() => served?.close());

async function start(options: ServedOptions = {}): Promise<Served> {
  served = await serve(options);
  return served;
}

/** The lines of requests, each parsed. */
async function lines({ logged, idle }: Served): Promise<Record<string, unknown>[]> {
  await idle();
  return logged.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === 'request');
}

const MS = expect.any(Number) as number;

it('tells who asked what, how it came about, what it took and what it cost', async () => {
  const engine = new ScriptedEngine('bigquery');
  engine.bytes = { processed: 5n, billed: 10n };
  const here = await start({ engine });
  const headers = { 'X-API-KEY': 'all', 'X-Request-Id': 'abc', 'Accept-Encoding': 'identity' };
  const { headers: sent } = await request(here.server)
    .get(TYPED)
    .set({ ...headers, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
  await request(here.server).get(TYPED).set(headers);
  const common = {
    level: 30,
    time: MS,
    id: 'abc',
    method: 'GET',
    route: '/api/endpoints/query/:idOrName',
    key: 'all',
    endpoint: 'test.typed',
    status: 200,
    ms: MS,
    bytes: Number((sent as Record<string, string>)['content-length']),
    msg: 'request',
  };
  expect(await lines(here)).toEqual([
    {
      ...common,
      cache: 'miss',
      billed: 10,
      trace: TRACE,
      readMs: MS,
      gateMs: MS,
      engineMs: MS,
      queueMs: MS,
      renderMs: MS,
      cacheMs: MS,
    },
    { ...common, cache: 'hit' },
  ]);
});

it('tells the caller’s own SQL and LQL where it is asked to, and nothing else more', async () => {
  const here = await start({ logSql: true });
  const sql = "SELECT 'Giraffe' FROM nowhere";
  await request(here.server).get(TYPED).query({ sql }).set('X-API-KEY', 'all').expect(403);
  await request(here.server).get(TYPED).query({ lql: 'm.a:(' }).set('X-API-KEY', 'all').expect(400);
  await request(here.server).get(TYPED).set('X-API-KEY', 'all').expect(200);
  const [first = {}, second = {}, third = {}] = await lines(here);
  expect([first.sql, first.reason, second.lql]).toEqual([sql, 'sandboxViolation', 'm.a:(']);
  expect(Object.keys(third)).not.toEqual(expect.arrayContaining(['sql']));
  expect(Object.keys(third)).not.toEqual(expect.arrayContaining(['lql']));
  expect(here.logged.join('')).not.toContain('Zebra');
});

describe('a trace', () => {
  it.each([
    [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
    [`00-${TRACE}-00f067aa0ba902b7-00`, TRACE],
    [`cc-${TRACE}-00f067aa0ba902b7-01-what-comes-later`, TRACE],
    [`cc-${TRACE}-00f067aa0ba902b7-01`, TRACE],
  ])('is taken over from %s', (header, id) => {
    expect(parentOf(header)?.traceId).toBe(id);
  });

  it.each([
    ['00', false],
    ['01', true],
    ['02', false],
    ['03', true],
    ['fe', false],
    ['ff', true],
  ])('with flags %s: the caller keeps it: %s', (flags, sampled) => {
    const spanId = '00f067aa0ba902b7';
    expect(parentOf(`00-${TRACE}-${spanId}-${flags}`)).toEqual({ traceId: TRACE, spanId, sampled });
  });

  it.each([
    [undefined],
    [''],
    [`00-${TRACE}-00f067aa0ba902b7`],
    [`00-${TRACE}-00f067aa0ba902b7-01-more`],
    [`ff-${TRACE}-00f067aa0ba902b7-01`],
    [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE}-00f067aa0ba902b7-01, 00-${TRACE}-00f067aa0ba902b7-01`],
    [`cc-${TRACE}-00f067aa0ba902b7-01.later`],
  ])('is not taken over from %s', (header) => {
    expect(parentOf(header)).toBeUndefined();
  });
});

it('a request before the service is ready is no error of the log', async () => {
  const here = await start({ starting: true });
  const { body } = await request(here.server).get(TYPED).set('X-API-KEY', 'all').expect(503);
  expect(body.error.errors[0]).toMatchObject({ reason: 'backendUnavailable', message: 'The service is starting.' });
  expect(await lines(here)).toMatchObject([{ level: 30, status: 503, reason: 'backendUnavailable' }]);
  expect(here.logged).toHaveLength(1);
});
