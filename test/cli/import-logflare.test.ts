/** What a Logflare's management API answers, as files of stored queries. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readSources } from '../../packages/collector/src/sources';
import { readDefinition } from '../../src/endpoints/definition';
import { type Ended, logquay } from './command-line';

const ID = '1f3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e9';
const SOURCES = [
  { name: 'cloudflare.logs.prod', token: '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5b', metrics: {} },
  { name: 'My App (EU)', token: '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5c' },
  { name: 'my-app-eu', token: '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5d' },
  { name: '2nd', token: '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5e' },
];

let answers: Record<string, unknown> = {};
const server = http.createServer((request, response) => {
  const allowed = request.headers.authorization === 'Bearer the-token';
  const body = answers[request.url ?? ''];
  response.writeHead(allowed ? (body === undefined ? 404 : 200) : 401, { 'Content-Type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
});
let url = '';
let folder = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function endpoint(i: number, more: object): object {
  return {
    id: i,
    token: `${ID}${String(i)}`,
    description: null,
    language: 'bq_sql',
    source_mapping: {},
    sandboxable: false,
    cache_duration_seconds: 3600,
    proactive_requerying_seconds: 1800,
    max_limit: 1000,
    enable_auth: true,
    labels: null,
    redact_pii: false,
    ...more,
  };
}

function run(token = 'the-token'): Promise<Ended> {
  return logquay(['import-logflare', '--url', `${url}/`, '--token', token, '--out', folder]);
}

it('writes endpoints with the tables of their sources, and a map of them', async () => {
  const query = `with a as (select t.id, t.metadata from \`cloudflare.logs.prod\` as t where t.project = @project),
b as (select id from \`My App (EU)\` union all select id from \`my-app-eu\` union all select id from \`2nd\`)
select a.id, 'cloudflare.logs.prod' as source from a, unnest(a.metadata) as m join b on b.id = a.id where m.level = @level or @project = ''`;
  const description = 'Ends */ here: "x"';
  answers = {
    '/api/endpoints': [endpoint(1, { name: 'logs.mine', query, description, sandboxable: true, redact_pii: true })],
    '/api/sources': SOURCES,
  };
  const { code, out, notes } = await run();
  expect([code, notes]).toEqual([
    0,
    [
      'logs.mine: declare what its parameters are: project, level',
      '1 of 1 endpoints are written. "logquay check" says what does not resolve.',
    ],
  ]);
  expect(out).toEqual([path.join(folder, 'logs.mine.sql'), path.join(folder, 'logflare-sources.json')]);
  const { endpoint: read, faults } = readDefinition(readFileSync(out[0] ?? ''));
  expect(faults).toEqual([]);
  expect(read).toMatchObject({
    id: `${ID}1`,
    name: 'logs.mine',
    description: 'Ends * / here: "x"',
    maxRows: 1000,
    cacheTtl: 3600,
    cacheWarming: 1800,
    sandbox: true,
    redactPii: true,
    cteTables: ['a', 'b'],
    parameters: [
      { name: 'project', type: 'string', required: false },
      { name: 'level', type: 'string', required: false },
    ],
  });
  for (const part of [
    'from raw_edge_logs as t',
    'from my_app_eu_ ',
    'from my_app_eu ',
    'from t2nd)',
    "'cloudflare.logs.prod' as",
  ]) {
    expect(read?.sql).toContain(part);
  }
  // What the collector reads as COLLECT_SOURCES.
  expect(readSources(out[1] ?? '').tables.get('0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5c')).toBe('my_app_eu_');
});

it('says what does not carry over, and leaves out what cannot be served', async () => {
  answers = {
    '/api/endpoints': [
      endpoint(1, { name: 'a', query: 'select 1 as x', language: 'pg_sql' }),
      endpoint(2, { name: 'b', query: 'select from where' }),
      endpoint(3, { name: 'c d/e', query: 'select id from elsewhere', sandboxable: true, max_limit: 20_000 }),
      endpoint(4, {
        name: '../up',
        query: 'select 2 as x',
        enable_auth: false,
        labels: 'a=b',
        cache_duration_seconds: 60,
      }),
      { name: 'no endpoint' },
    ],
    '/api/sources': [],
  };
  const { code, out, notes } = await run();
  expect(code).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(['c-d-e.sql', 'logflare-sources.json', 'up.sql']);
  expect(out).toHaveLength(3);
  expect(notes.map((note) => note.replace(/(cannot be read): .*/, '$1'))).toEqual([
    "a: left out: its query is pg_sql, not BigQuery's SQL",
    'b: left out: the query cannot be read',
    'c d/e: its name is c-d-e here',
    'c d/e: it answers 10000 rows at most',
    'c d/e: it takes no queries of callers: its query has no WITH',
    'c d/e: it reads elsewhere, which is no source',
    '../up: its name is up here',
    '../up: it is not requeried before its cache expires: that takes a shorter time',
    '../up: it needs a key here',
    '../up: its labels are left out',
    'endpoint 5: left out: it has not the members of an endpoint',
    '2 of 5 endpoints are written. "logquay check" says what does not resolve.',
  ]);
});

it('fails without a word of the token where Logflare does not answer as it should, and overwrites nothing', async () => {
  answers = { '/api/endpoints': [endpoint(1, { name: 'a', query: 'select 1 as x' })], '/api/sources': [] };
  expect(await run('wrong')).toMatchObject({ code: 1, notes: [`${url}/api/endpoints answers 401.`] });
  expect((await run()).code).toBe(0);
  expect(await run()).toMatchObject({ code: 1, notes: [expect.stringContaining('nothing is overwritten')] });
  for (const bad of ['no JSON', '{}']) {
    answers = { '/api/endpoints': bad, '/api/sources': [] };
    expect(await run()).toMatchObject({ code: 1, notes: [expect.stringContaining('something else')] });
  }
  expect((await logquay(['import-logflare', '--url', 'nothing', '--token', 'secret-token'])).notes.join()).toMatch(
    /^--url/,
  );
});
