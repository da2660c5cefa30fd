/** Rows and errors are what the document says of them, and a client generated from it compiles and runs. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Document } from '../../src/openapi/schema';
import { Stage } from '../process/started';
import { validated } from './validated';

jest.setTimeout(180_000);

const run = promisify(execFile);
const MODULES = path.join(__dirname, '../../node_modules');
const CLOCK = '2026-09-30T12:00:00Z';

/** Every type, nested both ways, present and NULL, with numbers that a double rounds and names that are no identifiers. */
const TYPES = `/*
id: 44444444-aaaa-4000-8000-000000000001
name: all.types
params:
  least: { type: integer, default: 0 }
*/
SELECT
  n, IF(n = 1, TRUE, NULL) AS b, IF(n = 1, 9007199254740993, NULL) AS i,
  CASE n WHEN 1 THEN 1.5 WHEN 2 THEN CAST('nan' AS FLOAT64) WHEN 3 THEN CAST('-inf' AS FLOAT64) END AS f,
  IF(n = 1, NUMERIC '-1.25', NULL) AS num, IF(n = 1, BIGNUMERIC '1234567.5', NULL) AS big,
  IF(n = 1, 'text', NULL) AS s, IF(n = 1, b'\\x00\\xff', NULL) AS bytes, IF(n = 1, DATE '2026-09-30', NULL) AS d,
  IF(n = 1, TIME '01:02:03.000004', TIME '01:02:03') AS t, IF(n = 1, DATETIME '2026-09-30 01:02:03.5', NULL) AS dt,
  IF(n = 1, TIMESTAMP '2026-09-30 01:02:03.000004+00', NULL) AS ts, IF(n = 1, JSON '{"a": [1, null]}', NULL) AS j,
  IF(n = 1, [1, 2], NULL) AS list, IF(n = 1, STRUCT(n AS a, 'x' AS b, [STRUCT(TIMESTAMP '1969-12-31 23:59:59+00' AS at_)] AS c), NULL) AS nested,
  [STRUCT(n AS \`a-b\`, CAST(NULL AS STRING) AS missing, CAST([] AS ARRAY<STRING>) AS none)] AS records, n + 1
FROM UNNEST([1, 2, 3, 4]) AS n WHERE n >= @least ORDER BY n
`;

const NESTED = `/*
id: 44444444-aaaa-4000-8000-000000000002
name: own.nested
sandbox: true
params:
  project: { type: string, required: true }
*/
WITH requests AS (SELECT id, timestamp, metadata FROM raw_edge_logs WHERE project = @project)
SELECT id, metadata[SAFE_OFFSET(0)].request AS requests, STRUCT(timestamp AS first, COUNT(*) OVER () AS total) AS summary
FROM requests ORDER BY timestamp DESC, id LIMIT 5
`;

/** Its parameter and its tables are those that the examples of errors name. */
const SHOWN = `/*
id: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001
name: shown
sandbox: true
params:
  project: { type: string, required: true, description: "Project reference, compared exactly." }
*/
WITH edge_logs AS (SELECT timestamp, id, event_message, metadata FROM raw_edge_logs WHERE project = @project),
auth_logs AS (SELECT timestamp, id, event_message, metadata FROM raw_auth_logs)
SELECT id FROM edge_logs
`;

const stage = new Stage();
let base: string;
let document: Document;
beforeAll(async () => {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/types.sql'), TYPES);
  writeFileSync(path.join(folder, 'queries/nested.sql'), NESTED);
  writeFileSync(path.join(folder, 'queries/shown.sql'), SHOWN);
  base = await stage.start({ API_KEY: 'test-key-of-the-service', CLOCK }, folder).ready();
  document = (await (await fetch(`${base}/openapi.json`)).json()) as Document;
});
afterAll(() => stage.end());

const headers = { 'X-API-KEY': 'test-key-of-the-service' };

async function rowsOf(query: string): Promise<{ result: Record<string, unknown>[] }> {
  const answer = await fetch(`${base}/api/endpoints/query/${query}`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { result: Record<string, unknown>[] };
}

describe('/openapi.json', () => {
  it('describes the rows that come, no more and no less', async () => {
    const instances = [];
    for (const [name, query, count] of [
      ['all.types', '', 4],
      ['own.nested', 'project=default', 5],
      ['logs.all', 'project=default', 10],
      ['usage.api-counts', 'project=.&interval=daily', 1],
    ] as const) {
      const value = await rowsOf(`${name}?${query}`);
      expect(value.result.length).toBeGreaterThanOrEqual(count);
      const at = `/paths/~1api~1endpoints~1query~1${name}/get/responses/200/content/application~1json/schema`;
      instances.push({ at, value });
      const row =
        document.components.schemas[`${name.replace(/(^|[.-])(.)/g, (_, __, c: string) => c.toUpperCase())}Row`];
      expect(Object.keys(row?.properties ?? {})).toEqual(Object.keys(value.result[0] ?? {}));
      expect(row?.required).toEqual(Object.keys(row?.properties ?? {}));
    }
    expect(await validated([{ document, instances }])).toEqual([[]]);
  });

  it('refuses rows of another form', async () => {
    const [first] = (await rowsOf('all.types')).result;
    const at = '/components/schemas/AllTypesRow';
    const wrong = [
      { i: 1.5 },
      { b: 'true' },
      { f: 'nan' },
      { num: 1 },
      { big: 1 },
      { s: 1 },
      { d: '2026' },
      { t: '01:02' },
      { dt: '2026-09-30 01:02:03' },
      { ts: '2026-09-30' },
      { list: null },
      { list: [null] },
      { list: ['1'] },
      { nested: {} },
      { nested: { ...(first?.['nested'] as object), c: [{ at_: 'x' }] } },
      { records: null },
      { s: undefined },
    ];
    const instances = wrong.map((change) => ({ at, value: { ...first, ...change } }));
    const [faults = []] = await validated([{ document, instances }]);
    expect(faults.map((fault) => (fault as [string])[0])).toEqual(wrong.map((_, i) => `instance ${String(i)}`));
  });

  it("shows examples of the endpoint's own columns, in every form", () => {
    const content = (name: string) => {
      const response = document.paths[`/api/endpoints/query/${name}`]?.get?.responses['200'];
      return response !== undefined && 'content' in response ? (response.content ?? {}) : {};
    };
    const counts = content('usage.api-counts');
    const columns = ['rest', 'storage', 'auth', 'realtime'].map((one) => `total_${one}_requests`);
    const row = { timestamp: '2026-09-30T12:00:00', ...Object.fromEntries(columns.map((name) => [name, 42])) };
    expect(counts['application/json']?.examples?.['rows']).toMatchObject({ value: { result: [row] } });
    expect(counts['application/x-ndjson']?.example).toBe(`${JSON.stringify(row)}\n`);
    expect(counts['text/csv']?.example).toBe(`timestamp,${columns.join(',')}\r\n2026-09-30T12:00:00,42,42,42,42\r\n`);
    expect(content('all.types')['text/csv']?.example).toMatch(/^n,b,i,f,.*,f0_\r\n42,true,/);
  });
});

interface Answer {
  readonly error: { readonly code: number; readonly requestId: string; readonly errors: readonly { reason: string }[] };
}

const RUN = '/api/endpoints/query/shown';
const given = (values: Readonly<Record<string, string>>): string =>
  `${RUN}?${new URLSearchParams({ project: 'default', ...values }).toString()}`;
/** What provokes each error of those that a caller can provoke at will. */
const PROVOKED: readonly (readonly [string, string, RequestInit])[] = [
  ['invalidParameter', RUN, {}],
  ['invalidQuery', given({ sql: 'SELECT id FROM edge_logs WHERE' }), {}],
  ['invalidLql', given({ lql: 'f:edge_logs "timeout' }), {}],
  ['unknownField', given({ sql: 'SELECT event_mesage FROM edge_logs' }), {}],
  ['unauthenticated', RUN, { headers: {} }],
  ['sandboxViolation', given({ sql: 'SELECT id FROM edge_log' }), {}],
  ['notFound', '/api/endpoints/query/none', {}],
  ['methodNotAllowed', RUN, { method: 'DELETE' }],
  ['notAcceptable', RUN, { headers: { ...headers, Accept: 'image/png' } }],
  ['payloadTooLarge', RUN, { method: 'POST', body: JSON.stringify({ project: 'x'.repeat(300_000) }) }],
  ['uriTooLong', given({ x: 'x'.repeat(100_000) }), {}],
  ['headersTooLarge', RUN, { headers: { ...headers, 'X-Long': 'x'.repeat(33_000) } }],
  ['unsupportedMediaType', RUN, { method: 'POST', body: 'x' }],
];

it('has examples of errors in the words of the service, as far as a caller can provoke them', async () => {
  const { examples } = document.components;
  for (const [reason, at, init] of PROVOKED) {
    const { error } = (await (await fetch(base + at, { headers, ...init })).json()) as Answer;
    const shown = (examples[reason] as { value: Answer } | undefined)?.value.error;
    expect({ ...error, requestId: shown?.requestId }).toEqual(shown);
  }
});

const PROGRAM = `import createClient from 'openapi-fetch';
import type { components, paths } from './api';

type Schemas = components['schemas'];
type Free = Schemas['Row'];
const isLog = (row: Schemas['LogsAllRow'] | Free): row is Schemas['LogsAllRow'] => 'event_message' in row;
const isCount = (row: Schemas['UsageApiCountsRow'] | Free): row is Schemas['UsageApiCountsRow'] =>
  'total_rest_requests' in row;
const isNested = (row: Schemas['OwnNestedRow'] | Free): row is Schemas['OwnNestedRow'] => 'requests' in row;

const client = createClient<paths, 'application/json'>({
  baseUrl: process.env['BASE'] ?? '',
  headers: { 'X-API-KEY': process.env['KEY'] ?? '' },
});

async function main(): Promise<void> {
  const logs = await client.GET('/api/endpoints/query/logs.all', { params: { query: { project: 'default' } } });
  if (logs.error !== undefined) throw new Error(logs.error.error.message);
  const log = logs.data.result[0];
  if (!isLog(log)) throw new Error('The rows are those of the stored query.');
  const message: string | null = log.event_message;
  const micros: number | null = log.timestamp;
  const status: number | null = log.metadata[0].response[0].status_code;
  // @ts-expect-error The endpoint has no such column.
  log.event_mesage;

  const own = await client.GET('/api/endpoints/query/logs.all', {
    params: { query: { project: 'default', sql: 'select count(*) as n from edge_logs' } },
  });
  if (own.error !== undefined) throw new Error(own.error.error.message);
  const counted = own.data.result[0];
  const n = isLog(counted) ? null : counted['n'];

  const counts = await client.GET('/api/endpoints/query/usage.api-counts', {
    params: { query: { project: '.', interval: 'daily' } },
  });
  if (counts.error !== undefined) throw new Error(counts.error.error.message);
  const count = counts.data.result[0];
  if (!isCount(count)) throw new Error('The rows are those of the stored query.');
  const total: number | null = count.total_rest_requests;
  const day: string | null = count.timestamp;
  await client.GET('/api/endpoints/query/usage.api-counts', {
    // @ts-expect-error There is no such interval.
    params: { query: { project: '.', interval: 'yearly' } },
  });

  const nested = await client.POST('/api/endpoints/query/own.nested', { body: { project: 'default' } });
  if (nested.error !== undefined) throw new Error(nested.error.error.message);
  const row = nested.data.result[0];
  if (!isNested(row)) throw new Error('The rows are those of the stored query.');
  const path: string | null = row.requests[0].path;
  const summary: number | null | undefined = row.summary?.total;

  const refused = await client.GET('/api/endpoints/query/logs.all', { params: { query: { project: '' } } });
  const reason = refused.error?.error.errors[0]?.reason;
  console.log(JSON.stringify({ message, micros, status, total, day, path, summary, reason, n }));
}

void main();
`;

it('openapi-typescript and openapi-fetch make a typed client of it, which compiles without a cast and runs', async () => {
  const folder = path.join(stage.folder(), 'client');
  mkdirSync(folder);
  symlinkSync(MODULES, path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM);
  const options = {
    strict: true,
    target: 'ES2022',
    module: 'Node16',
    moduleResolution: 'Node16',
    types: ['node'],
    skipLibCheck: true,
  };
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['program.ts'] }),
  );
  const bin = (name: string, ...args: string[]) =>
    run(process.execPath, [path.join(MODULES, name), ...args], { cwd: folder }).catch((error: unknown) => {
      throw new Error(String((error as { stdout?: string }).stdout) + String((error as { stderr?: string }).stderr));
    });
  await bin('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'api.d.ts');
  await bin('typescript-native/bin/tsc', '-p', '.');
  const { stdout } = await run(process.execPath, ['program.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], BASE: base, KEY: headers['X-API-KEY'] },
  });
  const logs = (await rowsOf('logs.all?project=default')).result[0];
  const counts = (await rowsOf('usage.api-counts?project=.&interval=daily')).result[0];
  expect(JSON.parse(stdout)).toEqual({
    message: logs?.['event_message'],
    micros: logs?.['timestamp'],
    status: expect.any(Number),
    total: counts?.['total_rest_requests'],
    day: counts?.['timestamp'],
    path: expect.stringMatching(/^\//),
    summary: expect.any(Number),
    reason: 'invalidParameter',
    n: expect.any(Number),
  });
});
