/** What the routes beside a run say of queries, tables and keys, asked of the real process over HTTP. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { Stage, type Started } from './started';

jest.setTimeout(120_000);

const FIXTURE = path.join(__dirname, '../fixture');

/** A table whose schema nobody has declared, with a field that only rows of another project have. */
const INFERRED = [
  { timestamp: '2026-09-30T11:00:00Z', project: 'abc', message: 'mine' },
  { timestamp: '2026-09-30T11:00:01Z', project: 'other', message: 'theirs', secret_field: 7 },
];

const OTEL = `/*
id: 00000000-0000-4000-8000-0000000000aa
name: otel.rows
sandbox: true
params:
  project: { type: string, required: true }
*/
WITH rows_of AS (SELECT * FROM otel AS t WHERE t.project = @project)
SELECT * FROM rows_of
`;

const BROKEN = `/*
id: 00000000-0000-4000-8000-0000000000bb
name: broken.rows
*/
SELECT pth FROM raw_edge_logs
`;

/** It declares names of features, which are off there. */
const STRICT = `/*
id: 00000000-0000-4000-8000-0000000000cc
name: strict.rows
sandbox: true
strict_params: true
params:
  project: { type: string, required: true }
  position: { type: string }
*/
WITH rows_of AS (SELECT t.id, @position AS place FROM raw_edge_logs AS t WHERE t.project = @project)
SELECT place FROM rows_of LIMIT 1
`;

const COUNTS = `/*
id: 00000000-0000-4000-8000-0000000000dd
name: counts.by-project
cache_ttl: 60
sandbox: true
params:
  projects: { type: "string[]" }
*/
WITH rows_of AS (
  SELECT t.project FROM raw_edge_logs AS t
  WHERE NOT EXISTS (SELECT 1 FROM UNNEST(@projects)) OR t.project IN UNNEST(@projects)
)
SELECT project, COUNT(*) AS n FROM rows_of GROUP BY project ORDER BY project
`;

const KEYS = [
  { name: 'lists', hash: hash('lists'), pins: { projects: ['other', 'nobody'] } },
  { name: 'free', hash: hash('free') },
  { name: 'pinned', hash: hash('pinned'), pins: { project: 'abc' }, allowSql: true },
  { name: 'otel', hash: hash('otel'), pins: { project: 'abc' }, endpoints: ['otel.rows'] },
  { name: 'masked', hash: hash('masked'), redact: true, rateLimit: 50 },
];

function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

let stage: Stage;
let data: string;

function start(environment: Readonly<Record<string, string>>): Started {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/otel.sql'), OTEL);
  writeFileSync(path.join(folder, 'queries/broken.sql'), BROKEN);
  writeFileSync(path.join(folder, 'queries/strict.sql'), STRICT);
  writeFileSync(path.join(folder, 'queries/counts.sql'), COUNTS);
  writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys: KEYS }));
  return stage.start(
    { DATA_DIR: data, KEYS_FILE: 'keys.json', METRICS_KEY: 'metrics-metrics-metrics', ...environment },
    folder,
  );
}

beforeAll(() => {
  stage = new Stage();
  data = path.join(stage.folder(), 'data');
  mkdirSync(data);
  for (const file of readdirSync(FIXTURE)) cpSync(path.join(FIXTURE, file), path.join(data, file));
  writeFileSync(path.join(data, 'otel.ndjson'), INFERRED.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterAll(() => stage.end());

interface Answer {
  readonly status: number;
  readonly body: ReturnType<typeof JSON.parse>;
  readonly text: string;
}

async function ask(
  base: string,
  place: string,
  key: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const url = `${base}${place}?${new URLSearchParams(parameters).toString()}`;
  const response = await fetch(url, { headers: { 'X-API-KEY': key } });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text };
}

describe('a service with docs for keys', () => {
  let base: string;
  beforeAll(async () => {
    base = await start({ DOCS: 'key' }).ready();
  });

  const analyze = (key: string, parameters: Readonly<Record<string, string>>, name = 'logs.all'): Promise<Answer> =>
    ask(base, `/api/endpoints/analyze/${name}`, key, parameters);

  it('analyses SQL without running it: columns, or every fault with its place', async () => {
    const sound = await analyze('free', { project: 'abc', sql: 'select id, count(*) as n from edge_logs group by id' });
    expect(sound.status).toBe(200);
    expect(sound.body.result).toMatchObject({
      kind: 'sql',
      tables: ['edge_logs'],
      columns: [
        { name: 'id', type: 'STRING' },
        { name: 'n', type: 'INT64' },
      ],
      errors: [],
      estimate: null,
    });
    const faulty = await analyze('free', { sql: 'select event_mesage,\n lenght(id) from edge_logs' });
    expect(faulty.body.result.columns).toBeNull();
    expect(faulty.body.result.errors).toMatchObject([
      { reason: 'invalidParameter', parameter: 'project' },
      {
        reason: 'unknownField',
        line: 1,
        column: 8,
        near: 'event_mesage',
        hint: 'Did you mean event_message?',
        start: 7,
      },
      { reason: 'sandboxViolation', line: 2, column: 2, near: 'lenght', hint: 'Did you mean LENGTH?' },
    ]);
    const posted = await fetch(`${base}/api/endpoints/analyze/logs.all`, {
      method: 'POST',
      headers: { 'X-API-KEY': 'free', 'Content-Type': 'application/json' },
      body: JSON.stringify({ project: 'abc', lql: 'f:edge_logs timeout' }),
    });
    expect([posted.status, (await posted.json()) as object]).toMatchObject([
      200,
      { result: { kind: 'lql', lqlAsSql: expect.stringContaining('STRPOS') as string, errors: [] } },
    ]);
  });

  it('tells a key with pins what it tells any other of declared tables', async () => {
    for (const sql of ['select metadata from edge_logs', 'select metdata from edge_logs']) {
      const [free, pinned] = [await analyze('free', { project: 'abc', sql }), await analyze('pinned', { sql })];
      const { parameters, ...rest } = pinned.body.result;
      expect(free.body.result).toMatchObject(rest);
      expect(parameters[0]).toEqual(expect.objectContaining({ name: 'project', fixed: true }));
      expect(pinned.text).not.toContain('abc');
    }
    const { status, body } = await analyze('pinned', { project: 'other' });
    expect([status, body.error.errors[0].reason]).toEqual([403, 'accessDenied']);
  });

  it('hides from a key with pins the types that come from rows of all projects', async () => {
    const of = (key: string, place: string): Promise<Answer> => ask(base, place, key, { project: 'abc' });
    const places = ['/api/endpoints/schema/otel.rows', '/api/endpoints/analyze/otel.rows', '/openapi.json'];
    for (const place of places) {
      expect([place, (await of('free', place)).text.includes('secret_field')]).toEqual([place, true]);
      for (const key of ['pinned', 'otel']) {
        const { status, text } = await of(key, place);
        expect([place, status, text.includes('secret_field')]).toEqual([place, 200, false]);
      }
    }
    const schema = (await of('otel', '/api/endpoints/schema/otel.rows')).body.result;
    expect(schema).toMatchObject({ columns: null, tables: [], functions: [] });
    const refused = await analyze('otel', { sql: 'select secret_field from rows_of' }, 'otel.rows');
    expect([refused.status, refused.body.error.errors[0].reason]).toEqual([403, 'accessDenied']);
    for (const own of [{ sql: 'select secret_field from rows_of' }, { lql: 'f:rows_of s:secret_field' }]) {
      for (const key of ['otel', 'pinned']) {
        const { status, body } = await ask(base, '/api/endpoints/query/otel.rows', key, { project: 'abc', ...own });
        expect([own, key, status, body.error.errors[0].reason]).toEqual([own, key, 403, 'accessDenied']);
      }
    }
    // Nor are they shown by `*`.
    const shown = (await of('otel', '/api/endpoints/query/otel.rows')).body;
    expect(shown.error.errors[0].reason).toBe('accessDenied');
    const document = (await of('otel', '/openapi.json')).body;
    expect(Object.keys(document.paths)).not.toContain('/api/endpoints/query/logs.all');
    const parameters = document.paths['/api/endpoints/query/otel.rows'].get.parameters;
    expect(parameters.map(({ name }: { name?: string }) => name)).not.toContain('sql');
  });

  describe('to a key with pins, nothing of rows behind them, nor the pinned value', () => {
    /** Everything that says what there is, without a row of a result: as one text. */
    async function said(key: string): Promise<string> {
      const texts: string[] = [];
      const add = async (place: string, parameters: Readonly<Record<string, string>> = {}): Promise<void> => {
        const url = `${base}${place}?${new URLSearchParams(parameters).toString()}`;
        const response = await fetch(url, { headers: { 'X-API-KEY': key } });
        texts.push(`${place} ${JSON.stringify([...response.headers])} ${await response.text()}`);
      };
      const place = '/api/endpoints/analyze/otel.rows';
      const required: Record<string, string> = key === 'free' ? { project: 'abc' } : {};
      for (const one of ['/api/endpoints', '/api/endpoints/otel.rows', '/api/key', '/openapi.json', '/docs'])
        await add(one);
      await add('/api/endpoints/schema/otel.rows');
      await add(place, required);
      for (const sql of [
        'select  from rows_of',
        'select secret_feld from rows_of',
        'select * from rows_of',
        'select s from rows_of where s.',
      ])
        for (const position of ['7', '8', String(sql.length)]) await add(place, { ...required, sql, position });
      for (const lql of ['f:rows_of secret_feld:1', 'f:rows_of s', 's:'])
        for (const position of ['0', String(lql.length)]) await add(place, { ...required, lql, position });
      await add(place, { ...required, position: '0', page_size: '1', estimate: 'true', projct: 'x' });
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { 'X-API-KEY': key } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }));
      const given = { endpoint: 'otel.rows', parameters: required };
      texts.push(JSON.stringify(await client.listTools()));
      for (const [name, more] of [
        ['list_endpoints', {}],
        ['describe_endpoint', given],
        ['analyze', { ...given, sql: 'select secret_feld from rows_of' }],
        ['query_logs', { ...given, sql: 'select secret_feld from rows_of' }],
      ] as const)
        texts.push(JSON.stringify(await client.callTool({ name, arguments: more })));
      await client.close();
      return texts.join('\n');
    }

    it.each(['pinned', 'otel'])('%s', async (key) => {
      const hidden = await said(key);
      expect(hidden).toContain('rows_of');
      expect(hidden).not.toContain('secret_field');
      expect(hidden).not.toMatch(/\babc\b/);
      // Another key sees it in each of these ways.
      const free = await said('free');
      for (const seen of [
        '"name":"secret_field","type":"INT64"',
        '"label":"secret_field"',
        'Did you mean secret_field?',
      ])
        expect(free.replaceAll('\\"', '"')).toContain(seen);
    });
  });

  it('says what a key is, by the rules that requests are held to', async () => {
    const result = async (key: string): Promise<Answer['body']> => (await ask(base, '/api/key', key)).body.result;
    expect(await result('free')).toMatchObject({ name: 'free', pinned: [], redacted: false, mayQuery: true });
    expect(await result('otel')).toEqual({
      name: 'otel',
      endpoints: ['otel.rows'],
      pinned: ['project'],
      redacted: false,
      mayQuery: false,
      mayExport: false,
      expires: null,
      limits: { requestsPerSecond: null },
      budgetLeft: null,
    });
    expect(await result('masked')).toMatchObject({
      redacted: true,
      mayQuery: false,
      limits: { requestsPerSecond: 50 },
    });
    expect((await ask(base, '/api/key', 'nobody')).status).toBe(401);
  });

  it('runs with lists, which stand for another result in another order, and are pinned as a whole', async () => {
    const counts = async (query: string, key = 'free'): Promise<unknown> => {
      const url = `${base}/api/endpoints/query/counts.by-project?${query}`;
      const response = await fetch(url, { headers: { 'X-API-KEY': key } });
      const { result, error } = (await response.json()) as Answer['body'];
      return result ?? [response.status, error.errors[0].reason];
    };
    const [OTHER, DEFAULT] = [
      { project: 'other', n: 16 },
      { project: 'default', n: 78 },
    ];
    expect(await counts('projects=other&projects=default')).toEqual([DEFAULT, OTHER]);
    expect(await counts('projects=other')).toEqual([OTHER]);
    expect(await counts("projects=' OR true --")).toEqual([]);
    const sql = encodeURIComponent('SELECT COUNT(*) AS n FROM rows_of WHERE project IN UNNEST(@projects)');
    expect(await counts(`projects=other&sql=${sql}`)).toEqual([{ n: 16 }]);
    for (const query of ['', 'projects=other&projects=nobody']) expect(await counts(query, 'lists')).toEqual([OTHER]);
    for (const query of ['projects=other', 'projects=nobody&projects=other'])
      expect(await counts(query, 'lists')).toEqual([403, 'accessDenied']);
  });

  it('says of LQL what it was read as, where it looks like another language', async () => {
    const run = (lql: string): Promise<Response> =>
      fetch(`${base}/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'default', lql }).toString()}`, {
        headers: { 'X-API-KEY': 'free' },
      });
    const [or, equals, plain] = [
      await run('f:edge_logs error OR timeout'),
      await run('f:edge_logs level=é'),
      await run('f:edge_logs error timeout'),
    ];
    expect([or.status, equals.status, plain.status]).toEqual([200, 200, 200]);
    expect(or.headers.get('x-query-warnings')).toMatch(/^LQL has no OR: it searches messages for the word\. /);
    expect(equals.headers.get('x-query-warnings')).toMatch(
      /searches messages for the text level=%C3%A9\. .*: level:%C3%A9$/,
    );
    expect(plain.headers.get('x-query-warnings')).toBeNull();
    const { result } = (await analyze('free', { project: 'default', lql: 'f:edge_logs level=error' })).body;
    expect(result).toMatchObject({
      errors: [],
      warnings: [{ hint: 'A field is compared after a colon: level:error' }],
    });
  });

  it.each([
    ['lql', 'f:edge_log x', { hint: 'Did you mean f:edge_logs?' }],
    ['lql', 'f:edge_logs status:500', { hint: 'Did you mean metadata.response.status_code?', column: 13 }],
    [
      'sql',
      'select status from edge_logs',
      {
        hint: 'status_code is in metadata.response: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r and write r.status_code.',
      },
    ],
    ['sql', 'describe edge_logs', { hint: expect.stringContaining('/api/endpoints/schema/') as string }],
    [
      'sql',
      'select * from INFORMATION_SCHEMA.TABLES',
      { reason: 'sandboxViolation', hint: expect.stringContaining('/api/endpoints/schema/') as string },
    ],
  ])('points from %s %j to what helps', async (language, text, fault) => {
    const { status, body } = await ask(base, '/api/endpoints/query/logs.all', 'free', {
      project: 'default',
      [language]: text,
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body.error.errors[0]).toMatchObject(fault);
  });

  it('names unknown parameters of a run in a header: ten at most, in 256 bytes', async () => {
    const unknown = async (names: readonly string[]): Promise<[number, string | null]> => {
      const parameters = new URLSearchParams([
        ['project', 'default'],
        ...names.map((name): [string, string] => [name, 'x']),
      ]);
      const url = `${base}/api/endpoints/query/logs.all?${parameters.toString()}`;
      const response = await fetch(url, { headers: { 'X-API-KEY': 'free' } });
      return [response.status, response.headers.get('x-unknown-parameters')];
    };
    expect(await unknown([])).toEqual([200, null]);
    expect(await unknown(['projct', 'a b,\r\nX: é'])).toEqual([200, 'projct, a%20b%2C%0D%0AX%3A%20%C3%A9']);
    const many = Array.from({ length: 12 }, (_, i) => `n${String(i)}`);
    expect(await unknown(many)).toEqual([200, many.slice(0, 10).join(', ')]);
    const long = Array.from({ length: 3 }, (_, i) => `${'n'.repeat(120)}${String(i)}`);
    expect(await unknown([...long, 'short'])).toEqual([200, `${long.slice(0, 2).join(', ')}, short`]);
    expect((await unknown(['x'.repeat(300)]))[1]).toBeNull();
  });

  it('refuses unknown parameters where the endpoint says so, and leaves it the names of features that it declares', async () => {
    const [query, analysis] = ['/api/endpoints/query/strict.rows', '/api/endpoints/analyze/strict.rows'];
    const refused = await ask(base, query, 'free', { project: 'default', projct: 'x' });
    const [fault] = refused.body.error.errors;
    expect([refused.status, fault]).toMatchObject([
      400,
      { reason: 'invalidParameter', parameter: 'projct', hint: 'Did you mean project?' },
    ]);
    const { errors } = (await ask(base, analysis, 'free', { project: 'default', projct: 'x' })).body.result;
    expect(errors).toEqual([expect.objectContaining({ parameter: 'projct', message: fault.message })]);
    const declared = { project: 'default', position: 'not a number' };
    expect((await ask(base, query, 'free', declared)).body.result).toEqual([{ place: 'not a number' }]);
    const { result } = (await ask(base, analysis, 'free', declared)).body;
    expect([result.errors, 'completions' in result]).toEqual([[], false]);
  });

  it('serves an endpoint that does not resolve as broken, says so, and the others run', async () => {
    const broken = await ask(base, '/api/endpoints/query/broken.rows', 'free');
    expect([broken.status, broken.body.error.errors[0].reason]).toEqual([503, 'endpointBroken']);
    const ready = await ask(base, '/ready', 'metrics-metrics-metrics');
    expect([ready.status, ready.body.degraded]).toEqual([200, true]);
    expect(JSON.stringify(ready.body.detail)).toMatch(/broken\.sql:5:8: Unrecognized name: pth/);
    const metrics = await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': 'metrics-metrics-metrics' } });
    expect((await metrics.text()).match(/^logquay_broken_endpoint\{.*$/gm)).toEqual([
      'logquay_broken_endpoint{endpoint="broken.rows"} 1',
    ]);
    const rows = await ask(base, '/api/endpoints/query/otel.rows', 'free', { project: 'abc' });
    expect(rows.body.result).toHaveLength(1);
  });
});

it('STRICT_START ends a start with a query that does not resolve; docs for everybody hold no inferred type', async () => {
  const strict = start({ STRICT_START: 'on' });
  expect(await strict.exit).toBe(1);
  expect(strict.err).toMatch(/broken\.sql:5:8: Unrecognized name: pth/);
  const base = await start({ DOCS: 'open' }).ready();
  const { text } = await ask(base, '/openapi.json', '');
  expect(text).toContain('event_message');
  expect(text).not.toContain('secret_field');
});
