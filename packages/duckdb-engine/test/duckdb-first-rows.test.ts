/** The first rows by time of a table that is large enough for DuckDB to be shown where they are (parts/first-rows.ts). */
import type { Engine } from '../src/contract/contract';
import { DataFolder, rowsOf } from './data-folder';
import { schemaOf } from './fields';
import type { Shape } from './duckdb-shapes';
import { TranslationBench } from './duckdb-translation';
import { eventually } from './follow/eventually';

jest.setTimeout(120_000);

const SCHEMA = schemaOf({
  visits:
    'id STRING, timestamp TIMESTAMP, project STRING, n INT64, metadata RECORD*(text STRING, inner RECORD*(c INT64))',
});
const EPOCH = Date.UTC(2026, 8, 30, 11);
const ROWS = 70_000;

/** Thirty rows have one time. */
function line(i: number): string {
  return JSON.stringify({
    id: `v${String(i)}`,
    timestamp: new Date(EPOCH + ((i * 7919) % 4_001) * 1_000).toISOString(),
    project: ['a', 'b', 'c'][i % 3],
    n: i % 97,
    metadata: [{ text: `"}]{[,\\" ${String(i)}`, inner: [{ c: i }] }],
  });
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `${line(from + i)}\n`).join('');

let folder: DataFolder;
let engine: Engine;
beforeAll(async () => {
  folder = await DataFolder.make({
    'schema.json': SCHEMA,
    'visits/a.ndjson': lines(0, ROWS),
    'visits/b.ndjson': lines(ROWS, 2 * ROWS),
  });
  engine = await folder.open({ smallFile: 0 });
  await folder.append({ 'visits/c.ndjson': lines(2 * ROWS, 2 * ROWS + 200) });
  await eventually(async () => {
    expect(await rowsOf(engine, 'SELECT COUNT(*) AS n FROM visits')).toEqual([{ n: 2 * ROWS + 200 }]);
  });
});
afterAll(() => folder.remove());

const FILTERS = [
  'TRUE',
  `v.project = 'b'`,
  `v.project = 'b' AND v.n > 90`,
  `v.project = 'nobody'`,
  `REGEXP_CONTAINS(v.id, '77$')`,
  `v.timestamp > TIMESTAMP '2026-09-30 11:30:00+00' AND v.n < 3`,
  `EXISTS (SELECT 1 FROM UNNEST(v.metadata) AS m WHERE m.text LIKE '%7')`,
];
const ORDERS = ['v.timestamp DESC, v.id', 'v.timestamp, v.id DESC', 'v.timestamp DESC, v.n, v.id'];
const LIMITS = ['LIMIT 1', 'LIMIT 45', 'LIMIT 40 OFFSET 17'];

test.each(FILTERS.flatMap((filter) => ORDERS.map((order) => [filter, order] as const)))(
  'WHERE %s ORDER BY %s',
  async (filter, order) => {
    const select = `SELECT v.id, v.timestamp, v.metadata, v.n FROM visits AS v WHERE ${filter} ORDER BY ${order}`;
    const ids = (await rowsOf(engine, select.replace('v.timestamp, v.metadata, v.n', 'v.n'), 200_000)) as {
      id: string;
    }[];
    for (const limit of LIMITS) {
      const [count = 0, offset = 0] = limit.match(/\d+/g)!.map(Number);
      const rows = (await rowsOf(engine, `${select} ${limit}`)) as { id: string; metadata: unknown }[];
      const expected = ids.slice(offset, offset + count).map(({ id }) => id);
      expect(rows.map(({ id }) => id)).toEqual(expected);
      for (const row of rows) {
        const { metadata } = JSON.parse(line(Number(row.id.slice(1)))) as { metadata: unknown };
        expect(row.metadata).toEqual(metadata);
      }
    }
  },
);

test('the endpoint and the consumer each limit, behind other tables of a query', async () => {
  const newest = `SELECT id, timestamp FROM visits WHERE project = 'c' ORDER BY timestamp DESC, id LIMIT 20`;
  const joined = await rowsOf(
    engine,
    `SELECT a.id FROM (${newest}) AS a JOIN (${newest.replace('DESC', 'ASC')}) AS b ON a.timestamp > b.timestamp
     WHERE a.id NOT IN (SELECT id FROM (${newest.replace('20', '5')})) ORDER BY a.timestamp DESC, a.id LIMIT 400`,
  );
  expect(joined).toHaveLength(300);
  expect(new Set((joined as { id: string }[]).map(({ id }) => id)).size).toBe(15);
});

describe('what DuckDB is given', () => {
  const benches = new Map<Shape, TranslationBench>();
  beforeAll(async () => {
    for (const shape of ['lists', 'records', 'mixed'] as const) benches.set(shape, await TranslationBench.open(shape));
  }, 60_000);
  afterAll(() => benches.forEach((bench) => bench.close()));

  const SEARCHED =
    /"(c\d+)" IN \(SELECT "\1" FROM \(SELECT "\1" FROM .* ORDER BY "\1" (?:DESC|ASC) NULLS \w+ LIMIT 10::BIGINT\)\)\)/;
  const translate = (shape: Shape, where: string, order = 'timestamp DESC'): string =>
    benches.get(shape)!.translate(`SELECT id FROM raw_edge_logs AS t WHERE ${where} ORDER BY ${order} LIMIT 10`).sql;

  test.each([
    ['records', `project = 'default'`, 'timestamp DESC'],
    ['records', `project = 'default' AND timestamp > TIMESTAMP '2026-09-30 11:00:00+00'`, 'timestamp, id'],
    ['mixed', `event_message LIKE '%signup%'`, 'timestamp DESC'],
  ] as const)('%s are searched by time: WHERE %s ORDER BY %s', (shape, where, order) => {
    expect(translate(shape, where, order)).toMatch(SEARCHED);
  });

  test.each([
    ['lists', `project = 'default'`, 'timestamp DESC'],
    ['records', `project = 'default'`, 'id, timestamp DESC'],
    // Evaluated twice it would be another condition, might fail, or cost as much again.
    ['mixed', `RAND() < 0.5`, 'timestamp DESC'],
    ['mixed', `CAST(event_message AS INT64) = 1`, 'timestamp DESC'],
    ['records', `event_message LIKE '%signup%'`, 'timestamp DESC'],
    ['mixed', `id IN (SELECT id FROM raw_auth_logs)`, 'timestamp DESC'],
  ] as const)('%s are not: WHERE %s ORDER BY %s', (shape, where, order) => {
    expect(translate(shape, where, order)).not.toMatch(SEARCHED);
  });

  test('JSON of a caller is no reason for brackets elsewhere', async () => {
    const sql = `SELECT PARSE_JSON(' "a,}b" ') AS a, PARSE_JSON(' { "x" : [ 1 , "]" ] } ') AS b, metadata, PARSE_JSON(' 7 ') AS c, 1.5 AS d
      FROM raw_edge_logs ORDER BY id LIMIT 3`;
    const rows = async (shape: Shape): Promise<readonly unknown[]> => (await benches.get(shape)!.run(sql)).rows;
    expect(benches.get('records')!.translate(sql).brackets).not.toBeNull();
    expect(await rows('records')).toEqual(await rows('lists'));
  });

  test('a record comes as it is stored, and the brackets of its lists are set in its text', async () => {
    const sql = `SELECT id, metadata AS m, 1 AS one FROM raw_edge_logs ORDER BY id LIMIT 3`;
    const { brackets, sql: translated, columns } = benches.get('records')!.translate(sql);
    expect(translated).not.toContain("'request':");
    expect(brackets).toMatchObject([null, { isList: true }, null]);
    expect(columns[1]!.type.kind).toBe('ARRAY');
    const texts = async (shape: Shape): Promise<readonly string[]> => (await benches.get(shape)!.run(sql)).texts;
    expect(await texts('records')).toEqual(await texts('lists'));
  });
});
