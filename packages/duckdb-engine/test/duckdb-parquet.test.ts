/** Parquet columns that are kept as they stand, and those that only look so. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { DataFolder } from './data-folder';
import { schemaOf } from './fields';

const SCHEMA = schemaOf({ x: 'id INTEGER!, tags STRING*, m RECORD*(k STRING, r RECORD*(k STRING, tags STRING*))' });
const TYPES = {
  id: 'BIGINT',
  tags: 'VARCHAR[]',
  m: 'STRUCT(k VARCHAR, r STRUCT(k VARCHAR, tags VARCHAR[])[])[]',
};
const WHOLE = {
  id: '1',
  tags: "['a', 'b']",
  m: "[{'k': NULL, 'r': [{'k': 'x', 'tags': []}, {'k': 'y', 'tags': ['z']}]}]",
};
const AS_STORED = {
  id: 1,
  tags: ['a', 'b'],
  m: JSON.parse('[{"k":null,"r":[{"k":"x","tags":[]},{"k":"y","tags":["z"]}]}]') as unknown,
};

let folder: DataFolder;
afterEach(() => folder.remove());

/** Writes the rows of a query into the table `x`. */
async function copied(query: string, options = ''): Promise<DuckDBConnection> {
  const duck = await (await DuckDBInstance.create()).connect();
  await duck.run(`COPY (${query}) TO '${folder.dataDir}/x.parquet' (FORMAT parquet${options})`);
  return duck;
}

async function stored(...rows: readonly Readonly<Record<string, string>>[]): Promise<unknown[]> {
  folder = await DataFolder.make({ 'schema.json': SCHEMA });
  const selects = rows.map((row, line) => {
    const columns = Object.entries(TYPES).map(([name, type]) => `CAST(${row[name] ?? 'NULL'} AS ${type}) AS ${name}`);
    return `SELECT ${columns.join(', ')}, ${line} AS line`;
  });
  await copied(`SELECT * EXCLUDE line FROM (${selects.join(' UNION ALL ')}) ORDER BY line`);
  return folder.rows('SELECT * FROM x ORDER BY id');
}

it('rows with whole lists are kept as they stand', async () => {
  expect(await stored(WHOLE, { ...WHOLE, id: '2', m: '[]' })).toEqual([AS_STORED, { ...AS_STORED, id: 2, m: [] }]);
  expect(folder.skipped).toEqual([]);
});

// One row among whole ones decides for the column.
it.each([
  ['a list that is NULL', { tags: 'NULL' }, { tags: [] }],
  ['a NULL in a list', { tags: "['a', NULL]" }, { tags: ['a'] }],
  ['records that are NULL', { m: 'NULL' }, { m: [] }],
  ['a record that is NULL', { m: "[NULL, {'k': 'x', 'r': []}]" }, { m: [{ k: 'x', r: [] }] }],
  ['a list in a record', { m: "[{'k': 'x', 'r': NULL}]" }, { m: [{ k: 'x', r: [] }] }],
  ['a NULL in there', { m: "[{'k': 'x', 'r': [NULL]}]" }, { m: [{ k: 'x', r: [] }] }],
  [
    'a list two levels down',
    { m: "[{'k': 'x', 'r': [{'k': 'y', 'tags': NULL}]}]" },
    { m: [{ k: 'x', r: [{ k: 'y', tags: [] }] }] },
  ],
  [
    'a NULL two levels down',
    { m: "[{'k': 'x', 'r': [{'k': 'y', 'tags': [NULL]}]}]" },
    { m: [{ k: 'x', r: [{ k: 'y', tags: [] }] }] },
  ],
])('%s is stored as BigQuery would', async (_, odd, asStored) => {
  expect(await stored(WHOLE, { ...WHOLE, ...odd, id: '2' }, { ...WHOLE, id: '3' })).toEqual([
    AS_STORED,
    { ...AS_STORED, ...asStored, id: 2 },
    { ...AS_STORED, id: 3 },
  ]);
  expect(folder.skipped).toEqual([]);
});

it('a required value is required of columns that stand as they are, too', async () => {
  expect(await stored(WHOLE, { ...WHOLE, id: 'NULL' })).toEqual([AS_STORED]);
  expect(folder.skipped).toEqual([
    { file: expect.stringContaining('x.parquet') as unknown, line: 2, reason: 'id is required' },
  ]);
});

it('rows of every row group are there once, and those left out are named by their place in the file', async () => {
  folder = await DataFolder.make({ 'schema.json': SCHEMA });
  const lists = `['a'] AS tags, [{'k': CAST(i AS VARCHAR), 'r': [{'k': 'y', 'tags': CASE WHEN i % 1000 = 7 THEN NULL ELSE ['z'] END}]}] AS m`;
  const duck = await copied(
    `SELECT CASE WHEN i IN (1, 3000, 4999) THEN NULL ELSE i END AS id, ${lists} FROM range(5000) AS r(i)`,
    ', ROW_GROUP_SIZE 2048',
  );
  const groups = await duck.runAndReadAll(
    `SELECT count(DISTINCT row_group_id) FROM parquet_metadata('${folder.dataDir}/x.parquet')`,
  );
  expect(groups.getRows()).toEqual([[3n]]);
  const query = `SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids, SUM(id) AS sum, COUNTIF(ARRAY_LENGTH(m[OFFSET(0)].r[OFFSET(0)].tags) = 0) AS empty,
    COUNTIF(m[OFFSET(0)].k = CAST(id AS STRING)) AS whole FROM x`;
  expect(await folder.rows(query)).toEqual([
    { n: 4997, ids: 4997, sum: (4999 * 5000) / 2 - 1 - 3000 - 4999, empty: 5, whole: 4997 },
  ]);
  expect(folder.skipped).toMatchObject([2, 3001, 5000].map((line) => ({ line, reason: 'id is required' })));
});

it('a text without a zone is of UTC, whatever zones the rows before it name', async () => {
  const times = [
    '2026-09-30 11:00:00 Europe/Berlin',
    '2026-09-30 11:00:00',
    '2026-09-30',
    '2026-09-30T11:00:00.5',
    '2026-09-30 11:00:00+02:00',
    '2026-09-30T11:00:00Z',
  ];
  const expected = ['09:00:00.0', '11:00:00.0', '00:00:00.0', '11:00:00.5', '09:00:00.0', '11:00:00.0'];
  folder = await DataFolder.make({ 'schema.json': schemaOf({ x: 'id INTEGER, t TIMESTAMP, m RECORD*(t TIMESTAMP)' }) });
  const list = times.map((time) => `'${time}'`).join(', ');
  await copied(
    `SELECT i AS id, t, [{'t': t}] AS m FROM (SELECT unnest([${list}]) AS t, unnest(range(${times.length})) AS i)`,
  );
  const text = (x: string): string => `FORMAT_TIMESTAMP('%H:%M:%E1S', ${x})`;
  expect(
    await folder.rows(`SELECT ${text('t')} AS t, ${text('m[OFFSET(0)].t')} AS inner_t FROM x ORDER BY id`),
  ).toEqual(expected.map((t) => ({ t, inner_t: t })));
});

it('a column of JSON holds JSON: NaN, Infinity and a comma too many are none', async () => {
  folder = await DataFolder.make({ 'schema.json': schemaOf({ x: 'id INTEGER, j JSON, m RECORD*(j JSON)' }) });
  const texts = ['{"a":1}', '{"a":NaN}', '[1,]', '-inf', '"NaN,]"'];
  const rows = texts.map((text, i) => `(${i}, '${text}')`).join(', ');
  await copied(
    `SELECT id, CAST(j AS JSON) AS j, CAST([{'j': '[NaN]'}] AS STRUCT(j JSON)[]) AS m FROM (VALUES ${rows}) AS r(id, j)`,
  );
  expect(await folder.rows('SELECT * FROM x ORDER BY id')).toEqual([
    { id: 0, j: { a: 1 }, m: [{ j: null }] },
    { id: 4, j: 'NaN,]', m: [{ j: null }] },
  ]);
  expect(folder.skipped).toMatchObject([2, 3, 4].map((line) => ({ line, reason: 'j is not a JSON' })));
});

it('rows of more values than a row may have are left out and named, those of as many are kept', async () => {
  // Records of `m` have three leaf fields, those of `r` two: 5 values each, and one for each tag.
  const records = (count: number): string =>
    `list_transform(range(${count}), lambda i: {'k': 'x', 'r': [{'k': 'y', 'tags': CAST([] AS VARCHAR[])}]})`;
  const tags = (count: number): string => `list_transform(range(${count}), lambda i: 'a')`;
  const rows = await stored(
    { id: '1', tags: tags(4), m: records(204) },
    { id: '2', tags: tags(5), m: records(204) },
    { id: '3', tags: tags(1_024), m: '[]' },
    { id: '4', tags: tags(300_000), m: records(1) },
  );
  expect(rows).toMatchObject([{ id: 1 }, { id: 3 }]);
  expect(folder.skipped.map(({ line }) => line)).toEqual([2, 4]);
});

const ENTRIES = [{ key: 'k', value: 'v' }];
it.each([
  ['undeclared', undefined, ENTRIES, []],
  ['declared', 'RECORD*(key STRING, value STRING)', ENTRIES, []],
  ["as BigQuery's default", 'RECORD(key_value RECORD*(key STRING, value STRING))', { key_value: ENTRIES }, null],
  ['as JSON', 'JSON', { k: 'v' }, null],
])('a map is a list of keys and values: %s', async (_how, type, attr, missing) => {
  folder = await DataFolder.make(
    type === undefined ? {} : { 'schema.json': schemaOf({ x: `id INTEGER, attr ${type}` }) },
  );
  await copied(`SELECT 1 AS id, MAP {'k': 'v'} AS attr UNION ALL SELECT 2, NULL`);
  expect(await folder.rows('SELECT * FROM x ORDER BY id')).toEqual([
    { id: 1, attr },
    { id: 2, attr: missing },
  ]);
});
