/** List parameters on the real process: from the request to the rows, the cache, keys, and what describes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { logquay } from '../cli/command-line';
import { Stage } from './started';

jest.setTimeout(120_000);

const COUNTS = `/*
id: 77777777-aaaa-4000-8000-000000000001
name: counts.by-project
cache_ttl: 60
cache_warming: 30
sandbox: true
params:
  projects:
    type: string[]
    description: Whose rows.
  most:
    type: integer[]
    default: [1000]
*/
WITH rows_of AS (
  SELECT t.project, t.id FROM raw_edge_logs AS t
  WHERE NOT EXISTS (SELECT 1 FROM UNNEST(@projects)) OR t.project IN UNNEST(@projects)
)
SELECT project, COUNT(*) AS n, ARRAY_LENGTH(@most) AS given FROM rows_of GROUP BY project ORDER BY project`;

const stage = new Stage();
const folder = stage.folder();
const keysFile = path.join(folder, 'keys.json');
const keys = { all: '', pinned: '', listless: '' };
let base: string;

beforeAll(async () => {
  writeFileSync(path.join(folder, 'queries/counts.sql'), COUNTS);
  const pins = {
    all: [],
    pinned: ['--pin', 'projects=other', '--pin', 'projects=nobody'],
    listless: ['--pin', 'most=1'],
  };
  for (const name of ['all', 'pinned', 'listless'] as const) {
    const { out } = await logquay(['keys', 'create', '--name', name, ...pins[name]], {
      KEYS_FILE: keysFile,
      QUERIES_DIR: path.join(folder, 'queries'),
    });
    keys[name] = out[0] ?? '';
  }
  base = await stage.start({ KEYS_FILE: keysFile }, folder).ready();
});
afterAll(() => stage.end());

const PATH = '/api/endpoints/query/counts.by-project';

async function ask(
  what: string | { readonly json: unknown } | { readonly form: string },
  { key = keys.all, accept = 'application/json', route = PATH } = {},
): Promise<{ readonly status: number; readonly body: ReturnType<typeof JSON.parse>; readonly headers: Headers }> {
  const sent =
    typeof what === 'string'
      ? {}
      : 'json' in what
        ? { method: 'POST', body: JSON.stringify(what.json), type: 'application/json' }
        : { method: 'POST', body: what.form, type: 'application/x-www-form-urlencoded' };
  const { type, ...init } = { type: undefined, ...sent };
  const response = await fetch(`${base}${route}${typeof what === 'string' ? what : ''}`, {
    ...init,
    headers: { 'X-API-KEY': key, Accept: accept, ...(type === undefined ? {} : { 'Content-Type': type }) },
  });
  const text = await response.text();
  return {
    status: response.status,
    body: accept === 'application/json' ? JSON.parse(text) : text,
    headers: response.headers,
  };
}

const OTHER = { project: 'other', n: 16, given: 1 };
const DEFAULT = { project: 'default', n: 78, given: 1 };

it('are given several times, in a form, or as a JSON list', async () => {
  for (const what of [
    '?projects=other&projects=default',
    { form: 'projects=other&projects=default' },
    { json: { projects: ['other', 'default'] } },
  ]) {
    expect((await ask(what)).body.result).toEqual([DEFAULT, OTHER]);
  }
  expect((await ask('?projects=other')).body.result).toEqual([OTHER]);
  expect((await ask({ json: { projects: 'other', most: [1, 2, 3] } })).body.result).toEqual([{ ...OTHER, given: 3 }]);
  expect((await ask("?projects=' OR true --")).body.result).toEqual([]);
  expect((await ask('')).body.result).toEqual((await ask({ json: { projects: [] } })).body.result);
  expect((await ask('?projects=other', { accept: 'text/csv' })).body).toBe('project,n,given\r\nother,16,1\r\n');
});

it('are refused with what is wrong', async () => {
  const refused = await ask('?most=1&most=x');
  expect([refused.status, refused.body.error.errors[0].parameter]).toEqual([400, 'most']);
  expect(refused.body.error.message).toMatch(/^Each value of parameter "most" must be a whole number/);
  const both = await ask({ json: { projects: ['a'] } }, { route: `${PATH}?projects=b` });
  expect(both.body.error.message).toBe('Parameter "projects" is given more than once.');
});

it('name a cached result by their values in their order', async () => {
  const cached = async (what: string): Promise<string | null> => (await ask(what)).headers.get('age');
  await ask('?most=1&most=2');
  expect(await cached('?most=1&most=2')).not.toBeNull();
  expect((await ask('?most=2&most=1')).headers.get('age')).toBe('0');
});

it('may be named by a consumer query, and are analysed', async () => {
  const sql = encodeURIComponent('SELECT x FROM UNNEST(@projects) AS x WHERE x IN (SELECT project FROM rows_of)');
  expect((await ask(`?projects=other&projects=default&sql=${sql}`)).status).toBeLessThan(500);
  const counted = encodeURIComponent('SELECT COUNT(*) AS n FROM rows_of WHERE project IN UNNEST(@projects)');
  expect((await ask(`?projects=other&sql=${counted}`)).body.result).toEqual([{ n: 16 }]);
  const analysis = await ask(`?projects=other&sql=${counted}`, { route: '/api/endpoints/analyze/counts.by-project' });
  expect(analysis.body.result).toMatchObject({
    errors: [],
    columns: [{ name: 'n', type: 'INT64' }],
    parameters: [
      { name: 'projects', type: 'string[]', required: false },
      { name: 'most', type: 'integer[]', default: ['1000'] },
    ],
  });
});

it('are pinned as a whole', async () => {
  const key = keys.pinned;
  for (const what of ['', '?projects=other&projects=nobody', { json: { projects: ['other', 'nobody'] } }]) {
    expect((await ask(what, { key })).body.result).toEqual([OTHER]);
  }
  for (const what of [
    '?projects=other',
    '?projects=default',
    '?projects=nobody&projects=other',
    { json: { projects: ['default'] } },
  ]) {
    const { status, body } = await ask(what, { key });
    expect([status, body.error.errors[0].reason]).toEqual([403, 'accessDenied']);
    expect(JSON.stringify(body)).not.toMatch(/"other"|nobody/);
  }
  const { body } = await ask('', { key, route: '/api/endpoints/counts.by-project' });
  expect(body.result.params[0]).toEqual({
    name: 'projects',
    type: 'string[]',
    required: false,
    description: 'Whose rows.',
    fixed: true,
  });
  // A pin of one value is a list of one; one of several fits no parameter that takes one.
  expect((await ask('?projects=other', { key: keys.listless })).body.result).toEqual([OTHER]);
  expect((await ask('?project=other', { key, route: '/api/endpoints/query/logs.all' })).status).toBe(404);
});

it('are in the keys file as a list, and in the list of keys', async () => {
  expect(JSON.parse(readFileSync(keysFile, 'utf8')).keys[1].pins).toEqual({ projects: ['other', 'nobody'] });
  const { out } = await logquay(['keys', 'list'], {
    KEYS_FILE: keysFile,
    QUERIES_DIR: path.join(folder, 'queries'),
  });
  expect(out.join('\n')).toContain('pin projects=["other","nobody"]');
});
