/** Names that BigQuery's queries have for tables: paths, wildcards with `_TABLE_SUFFIX`, and files of days as tables of their own. */
import { rename } from 'node:fs/promises';

import type { BoundParameter } from '../src/contract/contract';
import { mayMean } from '../src/contract/table-names';
import { NamedTables } from '../src/data/named-tables';
import { type Part, unknownPart } from '../src/data/part';
import { openSchemaEngine } from '../src/engine/schema-engine';
import { DataFolder, FORMS, ndjson, rowsOf } from './data-folder';
import { schemaOf } from './fields';
import { textsOf, within } from './queries';

let folder: DataFolder;
afterEach(() => folder.remove());

const DAYS = {
  'events_20260917.json': ndjson({ n: 1 }, { n: 2, name: 'a' }),
  'events_20260918.json': ndjson({ n: 3, name: 'b' }),
  'events_20260919.ndjson': ndjson({ n: 4 }),
  'events_intraday_20260920.json': ndjson({ n: 5, extra: true, name: 'c' }),
  'events.json': ndjson({ n: 6 }),
  'other_20260918.json': ndjson({ n: 7 }),
};

it.each(FORMS)('mean the tables that begin like that, and a file of a day as one: %s', async (_form, options) => {
  folder = await DataFolder.make(DAYS);
  const engine = await folder.open(options);
  const parameters: readonly BoundParameter[] = [{ name: 'day', type: 'STRING', value: '20260918' }];
  for (const [from, expected] of [
    ['FROM `events_*`', [1, 2, 3, 4, 5]],
    ['FROM `project.dataset.events_*`', [1, 2, 3, 4, 5]],
    ['FROM project.dataset.`events_*`', [1, 2, 3, 4, 5]],
    ['FROM `events*`', [1, 2, 3, 4, 5, 6]],
    ['FROM `events_2026*`', [1, 2, 3, 4]],
    ['FROM `events_intraday_*`', [5]],
    ['FROM `e*` WHERE _TABLE_SUFFIX = "vents"', [6]],
    ["FROM `events_*` WHERE _TABLE_SUFFIX BETWEEN '20260917' AND '20260918'", [1, 2, 3]],
    ["FROM `events_*` AS e WHERE e._table_suffix > '20260918' AND _TABLE_SUFFIX NOT LIKE 'intra%'", [4]],
    ["FROM `events_*` WHERE ENDS_WITH(_TABLE_SUFFIX, FORMAT_DATE('%Y%m%d', DATE '2026-09-20'))", [5]],
    ["FROM `events_*` WHERE _TABLE_SUFFIX = '20260101'", []],
    [
      "FROM `events_*`, UNNEST([0]) AS i WHERE REGEXP_EXTRACT(_TABLE_SUFFIX, r'\\d+') IN ('20260917', @day) AND n > i",
      [1, 2, 3],
    ],
    ['FROM `events_*` AS a WHERE a._TABLE_SUFFIX = (SELECT MAX(_TABLE_SUFFIX) FROM `events_2*` WHERE n < 4)', []],
    ["FROM `events_*` WHERE PARSE_DATE('%Y%m%d', _TABLE_SUFFIX) > '2026-09-18' AND _TABLE_SUFFIX < 'i'", [4]],
    [
      'FROM (SELECT n FROM `events_*` WHERE _TABLE_SUFFIX = @day UNION ALL SELECT n FROM `events_*` WHERE n = 1)',
      [1, 3],
    ],
    ["FROM `other_*` AS o LEFT JOIN `events_*` AS e USING (n) WHERE IFNULL(e._TABLE_SUFFIX, 'none') = 'none'", [7]],
    ['FROM (SELECT n, _TABLE_SUFFIX AS day FROM `events_*`) WHERE day = @day', [3]],
    ['FROM `events_*` JOIN `other_*` AS o USING (_TABLE_SUFFIX, n) WHERE TRUE', []],
    ['FROM events', [1, 2, 3, 4, 6]],
    ['FROM `any`.`where.events_intraday`', [5]],
  ] as const) {
    const rows = await textsOf(engine, `SELECT n ${from} ORDER BY n`, {
      parameters: from.includes('@') ? parameters : [],
    });
    expect({ from, rows }).toEqual({ from, rows: expected.map((n) => `{"n":${n}}`) });
  }
});

it('has the columns of all tables, without the suffix unless that is named', async () => {
  folder = await DataFolder.make(DAYS);
  expect(await folder.rows('SELECT * FROM `events_*` WHERE n > 3 ORDER BY n')).toEqual([
    { n: 4, extra: null, name: null },
    { n: 5, extra: true, name: 'c' },
  ]);
  expect(
    await folder.rows("SELECT *, _TABLE_SUFFIX AS s FROM `events_2*` |> WHERE s LIKE '%8' |> SELECT s, n, name"),
  ).toEqual([{ s: '0260918', n: 3, name: 'b' }]);
  await expect(folder.rows('WITH e AS (SELECT * FROM `events_*`) SELECT _TABLE_SUFFIX FROM e')).rejects.toMatchObject({
    fault: 'unknownField',
  });
  await expect(folder.rows('SELECT n FROM `nothing_*`')).rejects.toMatchObject({ fault: 'invalidQuery' });
});

it('has new tables, new days and files with other names at once', async () => {
  folder = await DataFolder.make({ 'x_20260917.json': ndjson({ n: 1 }) });
  const engine = await folder.open();
  const sql = 'SELECT n, _TABLE_SUFFIX AS s FROM `x_*` ORDER BY n, s';
  const eventually = async (expected: unknown): Promise<void> => {
    for (let tries = 0; tries < 50; tries++) {
      if (JSON.stringify(await rowsOf(engine, sql)) === JSON.stringify(expected)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await rowsOf(engine, sql)).toEqual(expected);
  };
  const rows: { n: number; s: string }[] = [{ n: 1, s: '20260917' }];
  await eventually(rows);
  await folder.write({ 'x_20260918.json': ndjson({ n: 2 }) });
  await eventually([...rows, { n: 2, s: '20260918' }]);
  await folder.write({ 'x_other.json': ndjson({ n: 3 }) });
  await eventually([...rows, { n: 2, s: '20260918' }, { n: 3, s: 'other' }]);
  await folder.write({ 'x.json': ndjson({ n: 4 }) });
  await rename(`${folder.dataDir}/x_20260918.json`, `${folder.dataDir}/x_20260919.json`);
  await eventually([...rows, { n: 2, s: '20260919' }, { n: 3, s: 'other' }]);
});

it('reads the parts alone that have rows of the tables that are wanted', () => {
  const part = (relation: string, sources?: readonly number[]): Part => ({
    ...unknownPart(relation),
    ...(sources && { sources }),
  });
  const schema = { name: 'x', columns: [{ name: 'n', type: { kind: 'INT64' } }] } as const;
  const shards = [1, 2, 3].map((day) => ({ name: `x_2026091${day}`, sources: [day, 10 + day] }));
  const parts = [part('a', [1, 11, 2]), part('b', [3]), part('c')];
  const tables = new Map([['x', { schema, parts, revision: 1, shards: [...shards, { name: 'x', sources: [9] }] }]]);
  const read = (...days: readonly string[]): readonly string[] =>
    new NamedTables(tables, new Map([['x_*', days]])).find('x_*')!.parts.map(({ relation }) => relation);
  const source = '"logquay:source"';
  const suffix = (sql: string): string => `${sql} AS "_TABLE_SUFFIX"`;
  expect(read('20260911')).toEqual([
    `(SELECT *, ${suffix(`'20260911'`)} FROM a WHERE ${source} IN (1, 11))`,
    `(SELECT *, ${suffix(`'20260911'`)} FROM c WHERE ${source} IN (1, 11))`,
  ]);
  expect(read('20260912', '20260913')).toHaveLength(3);
  expect(read()).toEqual([expect.stringContaining('WHERE false')]);
});

it('keeps rows of others from deciding on an error', async () => {
  folder = await DataFolder.make(DAYS);
  const engine = await folder.open();
  const consumer = 'SELECT CAST(name AS INT64) AS x, day FROM e';
  const sql = `WITH e AS (SELECT name, n, _TABLE_SUFFIX AS day FROM \`events_*\` WHERE n = @n AND _TABLE_SUFFIX < 'i')\n(${consumer})`;
  const start = sql.lastIndexOf(consumer);
  const fence = { consumer: { start, end: start + consumer.length } };
  const of = (n: string): Promise<readonly string[]> =>
    textsOf(engine, sql, { fence, parameters: [{ name: 'n', type: 'INT64', value: n }] });
  expect(await of('1')).toEqual(['{"x":null,"day":"20260917"}']);
  await expect(of('2')).rejects.toMatchObject({ fault: 'invalidQuery' });
  expect(await of('5')).toEqual([]);
});

it('takes the wider type of numbers, at any depth, and refuses types that do not go together', async () => {
  folder = await DataFolder.make({
    'schema.json': schemaOf({
      t_1: 'a INTEGER, r RECORD*(x INTEGER, y STRING)',
      t_2: 'a FLOAT, r RECORD*(x NUMERIC, z RECORD*(k STRING))',
      u_1: 'r RECORD(x STRING)',
      u_2: 'r RECORD(x INTEGER)',
    }),
    't_1.ndjson': ndjson({ a: 1, r: [{ x: 1, y: 'y' }] }),
    't_2.ndjson': ndjson({ a: 1.5, r: [{ x: 2.5, z: [{ k: 'k' }] }] }),
  });
  expect(await folder.rows('SELECT a, r FROM `t_*` ORDER BY a')).toEqual([
    { a: 1, r: [{ x: '1', z: [], y: 'y' }] },
    { a: 1.5, r: [{ x: '2.5', z: [{ k: 'k' }], y: null }] },
  ]);
  await expect(folder.rows('SELECT 1 AS one FROM `u_*`')).rejects.toMatchObject({
    fault: 'invalidQuery',
    message: expect.stringContaining('u_1.r.x') as unknown,
    span: { start: 21, end: 26 },
  });
});

it('has numbers as times where all tables that have them do, in one unit', async () => {
  const time = 1_789_000_000_000;
  folder = await DataFolder.make({
    'a_20260917.json': ndjson({ time }),
    'a_20260918.json': ndjson({ time: time + 1 }),
    'a_b.json': ndjson({ other: 1 }),
    'c_1.json': ndjson({ time }),
    'c_2.json': ndjson({ time: 5 }),
  });
  const engine = await folder.open();
  const { schemas } = await engine.tables([['a_*'], ['c_*']], within());
  expect(Array.from(schemas.values(), ({ timeUnits }) => [...(timeUnits ?? [])])).toEqual([[['time', 'ms']], []]);
});

it('is read by `check` as by the service', async () => {
  folder = await DataFolder.make(DAYS);
  const { dataDir } = folder;
  const engine = await openSchemaEngine({ dataDir, declared: new Map() });
  const path = ['project.dataset', 'events_2*'];
  const { schemas } = await engine.tables([path, ['events']], within());
  expect([...schemas.keys()]).toEqual(['project.dataset.events_2*', 'events']);
  expect(await engine.describe('SELECT *, _TABLE_SUFFIX AS s FROM d.`events_2*`', [], within())).toMatchObject([
    { name: 'n' },
    { name: 'name' },
    { name: 's' },
  ]);
});

it('reads tables that begin with _ where a file, or the schema of a folder, says so', async () => {
  folder = await DataFolder.make({
    'schema.json': schemaOf({ _folder: 'n INTEGER' }),
    '_AllLogs.ndjson': ndjson({ n: 1 }),
    '_folder/a.ndjson': ndjson({ n: 2 }),
    '_folder/_b.ndjson': ndjson({ n: 3 }),
    '_temporary/x.ndjson': ndjson({ n: 4 }),
    '.hidden.ndjson': ndjson({ n: 5 }),
  });
  expect(
    await folder.rows('SELECT n FROM `project.dataset._AllLogs` UNION ALL SELECT n FROM d._folder ORDER BY n'),
  ).toEqual([{ n: 1 }, { n: 2 }]);
  await expect(folder.rows('SELECT n FROM _temporary')).rejects.toMatchObject({ fault: 'invalidQuery' });
});

it.each([
  ['events_*', 'events', true],
  ['events_*', 'events_intraday', true],
  ['events_20*', 'events', true],
  ['events*', 'events', true],
  ['*', 'any', true],
  ['events_*', 'event', false],
  ['events_*', 'other', false],
  ['events', 'events', true],
  ['events', 'events_20260917', false],
])('%s may mean rows of table %s: %s', (name, table, may) => {
  expect(mayMean(name, table)).toBe(may);
});
