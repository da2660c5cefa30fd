/**
 * Endpoints of a Logflare, imported and run on the local BigQuery over tables as Logflare has them: named by the UUIDs of their sources, every record
 * REPEATED, only columns that were ever sent. The local BigQuery has no views: instead of each there is a table with what its `SELECT *` has.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { logquay } from '../cli/command-line';
import { overOwnLocalBigQuery } from '../engines/over-local-bigquery';
import { Stage } from './started';

jest.setTimeout(180_000);

const EDGE = '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5b';
const APP = '7c1d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5c';
const REUSED = '9e1d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5d';
const TOKEN = 'token-that-clients-have';

const FIELDS = [
  { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
  { name: 'id', type: 'STRING' },
  { name: 'event_message', type: 'STRING' },
];
const record = (name: string, ...fields: object[]): object => ({ name, type: 'RECORD', mode: 'REPEATED', fields });
const string = (name: string): object => ({ name, type: 'STRING' });
const TABLES: Readonly<Record<string, object[]>> = {
  [EDGE]: [...FIELDS, string('project'), record('metadata', record('request', string('method'), string('path')))],
  [APP]: [...FIELDS, record('metadata', string('level'))],
  [REUSED]: FIELDS,
};
const row = (id: string, more: object): object => ({ timestamp: `2026-09-30T11:0${id}:00Z`, id, ...more });
const ROWS: Readonly<Record<string, object[]>> = {
  [EDGE]: ['GET', 'POST', 'GET'].map((method, i) =>
    row(String(i), { event_message: method, project: 'abc', metadata: [{ request: [{ method, path: '/rest' }] }] }),
  ),
  [APP]: ['info', 'error', 'error'].map((level, i) =>
    row(String(i), { event_message: `${level} ${String(i)}`, metadata: [{ level }] }),
  ),
  [REUSED]: [row('0', { event_message: 'of the source that has the name now' })],
};

/** What its management API answers (Logflare's own schemas `EndpointApiSchema` and `Source`). */
const LOGFLARE: Readonly<Record<string, object>> = {
  '/api/sources': [
    { id: 1, name: 'cloudflare.logs.prod', token: EDGE, favorite: false, bq_table_id: `p.1_prod.${EDGE}`, metrics: {} },
    { id: 2, name: 'My App (EU)', token: APP, favorite: true, metrics: {} },
    { id: 3, name: 'my.app', token: REUSED, favorite: false, metrics: {} },
  ],
  '/api/endpoints': [
    {
      id: 1,
      token: '1f3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e91',
      name: 'app.errors',
      description: null,
      // Saved when the source had the name that another one has now.
      query: `with lines as (
  select t.id, t.timestamp, t.event_message, m.level from \`my.app\` as t cross join unnest(t.metadata) as m
  where m.level = @level and t.timestamp > timestamp_sub(current_timestamp(), interval 7 day)
) select id, event_message from lines order by timestamp`,
      language: 'bq_sql',
      source_mapping: { 'my.app': APP },
      sandboxable: true,
      cache_duration_seconds: 0,
      proactive_requerying_seconds: 1800,
      max_limit: 1000,
      enable_auth: true,
      redact_pii: false,
      enable_dynamic_reservation: false,
      labels: null,
      backend_id: null,
    },
    {
      id: 2,
      token: '1f3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e92',
      name: 'edge.methods',
      description: 'Requests by method.',
      query: `select r.method, count(*) as n from \`cloudflare.logs.prod\` as t, unnest(t.metadata) as m, unnest(m.request) as r
where t.project = @project and t.timestamp > timestamp_sub(current_timestamp(), interval 1 day) group by r.method order by n desc`,
      language: 'bq_sql',
      source_mapping: { 'cloudflare.logs.prod': EDGE },
      sandboxable: false,
      cache_duration_seconds: 3600,
      proactive_requerying_seconds: 1800,
      max_limit: 1000,
      enable_auth: true,
      redact_pii: false,
      enable_dynamic_reservation: false,
      labels: null,
      backend_id: null,
    },
  ],
};

const underscored = (id: string): string => id.replaceAll('-', '_');

const stage = new Stage();
const logflare = http.createServer((request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(LOGFLARE[request.url ?? '']));
});
let url = '';
let folder = '';
let imported = '';
let data = '';
beforeAll(async () => {
  logflare.listen(0, '127.0.0.1');
  await once(logflare, 'listening');
  url = `http://127.0.0.1:${String((logflare.address() as AddressInfo).port)}`;
  folder = stage.folder();
  imported = path.join(folder, 'imported');
});
afterAll(async () => {
  await stage.end();
  logflare.close();
});

/** Written before the local BigQuery starts. */
function dataFolder(): string {
  data = stage.folder();
  const tables = Object.entries(TABLES).map(([id, fields]) => [underscored(id), { fields }] as const);
  mkdirSync(data, { recursive: true });
  writeFileSync(path.join(data, 'schema.json'), JSON.stringify(Object.fromEntries(tables)));
  for (const [id, rows] of Object.entries(ROWS)) {
    const lines = rows.map((one) => JSON.stringify(one)).join('\n');
    writeFileSync(path.join(data, `${underscored(id)}.ndjson`), `${lines}\n`);
  }
  return data;
}

overOwnLocalBigQuery(
  'an owner of endpoints moves over',
  (local) => {
    const rest = async (at: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(`http://${local().host}/bigquery/v2/projects/test/${at}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      expect([at, answer['error']]).toEqual([at, undefined]);
      return answer;
    };
    const understood = async (query: string): Promise<unknown> =>
      ((await rest('queries', { query, useLegacySql: false, dryRun: true }))['schema'] as { fields?: unknown }).fields;

    it('imports them, with the tables that their sources have today', async () => {
      const { code, notes } = await logquay(['import-logflare', '--url', url, '--token', 't', '--out', imported]);
      expect([code, notes]).toEqual([
        0,
        [
          'app.errors: it is not requeried before its cache expires: that takes a shorter time',
          'app.errors: declare what its parameters are: level',
          'edge.methods: declare what its parameters are: project',
          '2 of 2 endpoints are written. "logquay check" says what does not resolve.',
        ],
      ]);
    });

    it("gives each source a view with its table's columns, and makes no other table", async () => {
      const sources = path.join(imported, 'logflare-sources.json');
      const args = ['--project', 'test', '--dataset', 'logs', '--sources', sources, '--from', 'test.1_prod'];
      const { code, out } = await logquay(['setup-bigquery', ...args]);
      expect(code).toBe(0);
      const text = out.join('\n');
      expect(text.match(/^CREATE TABLE/gm)).toBeNull();
      const views = [
        ...text.matchAll(/^CREATE OR REPLACE VIEW `test`\.`logs`\.`(\w+)` AS\n(SELECT \*\nFROM (\S+));$/gm),
      ];
      const names = views.map(([, name, , path]) => [name, path]);
      expect(names).toEqual([
        ['raw_edge_logs', `\`test\`.\`1_prod\`.\`${underscored(EDGE)}\``],
        ['my_app_eu_', `\`test\`.\`1_prod\`.\`${underscored(APP)}\``],
        ['my_app', `\`test\`.\`1_prod\`.\`${underscored(REUSED)}\``],
      ]);
      await rest('datasets', { datasetReference: { datasetId: 'logs' } });
      for (const [i, [statement, tableId = '', select = '']] of views.entries()) {
        const job = { configuration: { dryRun: true, query: { query: statement, useLegacySql: false } } };
        expect(await rest('jobs', job)).toMatchObject({ statistics: { query: { statementType: 'CREATE_VIEW' } } });
        const fields = await understood(select);
        await rest('datasets/logs/tables', { tableReference: { tableId }, schema: { fields } });
        const rows = (Object.values(ROWS)[i] ?? []).map((json) => ({ json }));
        await rest(`datasets/logs/tables/${tableId}/insertAll`, { rows });
      }
    });

    it('runs them for the tokens that clients have, under the paths that they know', async () => {
      const hash = createHash('sha256').update(TOKEN).digest('hex');
      const keys = path.join(folder, 'keys.json');
      const { code } = await logquay(['keys', 'create', '--name', 'clients', '--sha256', hash], {
        KEYS_FILE: keys,
        QUERIES_DIR: imported,
      });
      expect(code).toBe(0);
      const environment = {
        ENGINE: 'bigquery',
        BIGQUERY_EMULATOR_HOST: local().host,
        BIGQUERY_PROJECT_ID: 'test',
        BIGQUERY_DATASET: 'logs',
        DATA_DIR: '',
        CLOCK: '2026-09-30T12:00:00Z',
        KEYS_FILE: keys,
        QUERIES_DIR: imported,
        STRICT_START: 'on',
      };
      const service = stage.start(environment, folder);
      await service.logged(/"msg":"ready"/);
      const base = await service.base();
      const result = async (at: string, headers: Record<string, string> = { 'X-API-KEY': TOKEN }): Promise<unknown> => {
        const response = await fetch(base + at, { headers });
        return [response.status, ((await response.json()) as { result: unknown }).result];
      };
      const errors = [200, ['1', '2'].map((id) => ({ id, event_message: `error ${id}` }))];
      const bearer = { Authorization: `Bearer ${TOKEN}` };
      expect(await result('/api/endpoints/query/app.errors?level=error')).toEqual(errors);
      expect(await result('/endpoints/query/app.errors?level=error', bearer)).toEqual(errors);
      expect(await result('/api/endpoints/query/1f3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e91?level=error')).toEqual(errors);
      const sql = new URLSearchParams({ level: 'info', sql: 'select level, count(*) as n from lines group by level' });
      expect(await result(`/api/endpoints/query/app.errors?${sql.toString()}`)).toEqual([
        200,
        [{ level: 'info', n: 1 }],
      ]);
      expect(await result('/api/endpoints/query/name/edge.methods?project=abc')).toEqual([
        200,
        [
          { method: 'GET', n: 2 },
          { method: 'POST', n: 1 },
        ],
      ]);
      expect(
        (await result('/api/endpoints/query/app.errors?level=error', { 'X-API-KEY': 'other' })) as unknown[],
      ).toContain(401);
    });
  },
  ['--dataset', '1_prod', '--data', dataFolder()],
);
