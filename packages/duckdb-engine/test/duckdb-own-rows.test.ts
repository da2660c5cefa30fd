/** Which queries behind the fence are computed in two steps, and what each does (docs/decisions/fence.md). */
import type { Fence } from '../src/contract/contract';
import { DataFolder, ndjson } from './data-folder';
import { OUT_OF_MEMORY } from '../src/contract/execution-faults';
import { TranslationBench } from './duckdb-translation';
import { FencedTables } from './fenced-tables';
import { restFieldsOf, schemaOf } from './fields';
import { textsOf } from './queries';
import { opened } from '../../../test/opened';

const STORED = `WITH edge AS (SELECT id, timestamp, event_message FROM raw_edge_logs AS t WHERE t.project = 'mine'),
auth AS (SELECT id, timestamp, event_message, CAST(t.event_message AS INT64) AS n FROM raw_auth_logs AS t WHERE t.project = 'mine'),
rest AS (SELECT id, timestamp, event_message FROM raw_postgrest_logs AS t WHERE t.project = 'mine'),
records AS (SELECT id, metadata FROM raw_edge_logs AS t WHERE t.project = 'mine')
`;
/** Cannot fail, and is found again in what DuckDB gets. */
const MARKED = `id <> 'marked'`;

const bench = opened(() => TranslationBench.open());

function steps(
  consumer: string,
  fenced = true,
  maxRows: number | null = null,
): { readonly first: readonly string[]; readonly last: string } {
  const sql = `${STORED}(\n${consumer}\n)`;
  const fence: Fence = { consumer: { start: STORED.length, end: sql.length } };
  const { before, sql: last } = bench().translate(sql, {}, maxRows, fenced ? fence : null);
  return { first: before.map((table) => table.sql), last };
}

const FAILING = `CAST(e.event_message AS INT64)`;
const JOIN = `SELECT ${FAILING} AS x FROM edge AS e JOIN auth AS a ON e.id = a.id`;

test.each([
  JOIN,
  `SELECT id FROM edge AS e WHERE ${FAILING} IN (SELECT LENGTH(id) FROM auth)`,
  `SELECT id FROM edge AS e WHERE EXISTS (SELECT 1 FROM auth AS a WHERE a.id = e.id AND ${FAILING} > 1)`,
  `SELECT LENGTH(id) AS x FROM auth INTERSECT DISTINCT SELECT ${FAILING} FROM edge AS e`,
  `WITH c AS (SELECT id, ${FAILING} AS x FROM edge AS e) SELECT c.x FROM c JOIN auth AS a ON a.id = c.id`,
  `FROM edge AS e |> JOIN auth AS a ON a.id = e.id |> EXTEND ${FAILING} AS x |> SELECT x`,
  `SELECT a.n FROM edge AS e JOIN auth AS a ON e.id = a.id`,
  `SELECT ${FAILING} AS x FROM edge AS e`,
  `SELECT ${FAILING} + p.y AS x FROM edge AS e, (SELECT 1 AS y) AS p`,
  `WITH c AS (SELECT id, ${FAILING} AS x FROM edge AS e) SELECT x FROM c WHERE id IN (SELECT id FROM c)`,
  `SELECT DIV(1, COUNT(*)) AS x FROM edge`,
  `SELECT n FROM auth`,
])('what can fail reads temporary tables alone: %s', (consumer) => {
  const { first, last } = steps(consumer);
  expect(first.length).toBeGreaterThan(0);
  for (const table of first) expect(table).toMatch(/^CREATE TEMPORARY TABLE temp\."w\d+" AS SELECT /);
  expect(last).not.toContain('raw_');
});

test.each([
  ['nothing is hidden from the caller', JOIN, false],
  ['nothing can fail', 'SELECT e.id FROM edge AS e JOIN rest AS a ON e.id = a.id', true],
  ['the stored query cannot fail on what is read of it', 'SELECT id FROM auth', true],
])('there is one step where %s', (_why, consumer, fenced) => {
  expect(steps(consumer, fenced).first).toEqual([]);
});

test.each([
  `${JOIN} WHERE e.${MARKED}`,
  `SELECT ${FAILING} AS x FROM edge AS e LEFT JOIN auth AS a ON e.id = a.id WHERE e.${MARKED} AND ${FAILING} > 1`,
  `SELECT x FROM (SELECT ${FAILING} AS x, e.id FROM edge AS e WHERE e.${MARKED}) AS d JOIN auth AS a ON d.id = a.id`,
])('a condition that cannot fail leaves rows out in the first step: %s', (consumer) => {
  const { first, last } = steps(consumer);
  expect(first.filter((table) => table.includes(`'marked'`))).toHaveLength(1);
  expect(last).not.toContain(`'marked'`);
});

test.each([
  ['a LIMIT within', `SELECT ${FAILING} AS x FROM (SELECT * FROM edge LIMIT 10) AS e`, true],
  ['a join', JOIN, true],
  ['ANY_VALUE', `SELECT CAST(ANY_VALUE(event_message) AS INT64) AS x FROM edge`, true],
  ['a window', `SELECT ${FAILING} + ROW_NUMBER() OVER () AS x FROM edge AS e`, true],
  ['an array that may hold NULL', `SELECT [${FAILING}] AS x FROM edge AS e LIMIT 10`, true],
  ['a LIMIT at the end', `SELECT ${FAILING} AS x FROM edge AS e LIMIT 10`, false],
  ['a sum', `SELECT SUM(${FAILING}) AS x FROM edge AS e`, false],
])('rows lie as their values say where their order may decide: %s', (_what, consumer, inOrder) => {
  const { first } = steps(consumer);
  for (const table of first) expect(/ ORDER BY "c\d+"(?:, "c\d+")*$/.test(table)).toBe(inOrder);
});

test.each([
  ['max_rows', `SELECT id FROM edge AS e WHERE ${FAILING} = 1`, 5],
  ['a LIMIT of its own', `SELECT id FROM edge AS e WHERE ${FAILING} = 1 LIMIT 5`, null],
  ['with an order', `SELECT id FROM edge AS e WHERE ${FAILING} = 1 ORDER BY timestamp LIMIT 5`, null],
])('all rows are computed before any is cut off by %s', (_by, consumer, maxRows) => {
  expect(steps(consumer, true, maxRows).last).toMatch(
    /row_number\(\) OVER \(\) AS "place" .* ORDER BY .*"place" LIMIT 5/,
  );
});

test('rows are those of one step', async () => {
  const consumer = `SELECT e.id, SAFE_CAST(e.event_message AS INT64) AS x FROM edge AS e JOIN auth AS a ON e.id <> a.id WHERE LENGTH(e.id) / 2 > 0 ORDER BY e.id, a.id LIMIT 50`;
  const stored = STORED.replaceAll(`'mine'`, 't.project');
  const sql = `${stored}(\n${consumer}\n)`;
  const fence = { consumer: { start: stored.length, end: sql.length } };
  expect(bench().translate(sql, {}, null, fence).before).not.toEqual([]);
  const fenced = await bench().run(sql, {}, null, fence);
  expect(fenced.rows.length).toBeGreaterThan(10);
  expect(fenced.rows).toEqual((await bench().run(sql)).rows);
});

describe('a result that is cut off', () => {
  const FIELDS = restFieldsOf('id STRING, project STRING, timestamp TIMESTAMP, text STRING');
  /** More than a result has and than DuckDB works on at once, of which one fails. */
  const OWN = 6000;
  const MAX_ROWS = 1000;
  const row = (project: string, i: number): object => ({
    id: `${project}${i}`,
    project,
    timestamp: new Date(Date.UTC(2026, 8, 30) - i * 1000).toISOString(),
    text: i === 5000 ? 'odd' : '1',
  });
  const own = Array.from({ length: OWN }, (_, i) => row('mine', i));
  const others = (count: number): object[] => Array.from({ length: count }, (_, i) => row('other', i % OWN));
  const TABLES = {
    alone: own,
    before: [...own, ...others(9000)],
    after: [...others(20_000), ...own],
    among: own.flatMap((one) => [one, ...others(2)]),
    reversed: [...own].reverse(),
  };
  const stored = Object.keys(TABLES).map((name) => `WITH a AS (SELECT * FROM ${name} WHERE project = 'mine')`);

  let tables: FencedTables;
  beforeAll(async () => {
    tables = await FencedTables.make(TABLES, FIELDS);
  }, 300_000);
  afterAll(() => tables.remove());

  test.each([
    [`SELECT id FROM a WHERE SQRT(IF(STRPOS(text, 'odd') > 0, -1, 1)) = 1`, true],
    [`SELECT id FROM a WHERE SQRT(IF(STRPOS(text, 'odd') > 0, -1, 1)) = 1 LIMIT 10`, true],
    [`SELECT id, CAST(text AS INT64) AS x FROM a ORDER BY timestamp DESC`, true],
    [`SELECT id, CAST(text AS INT64) AS x FROM a ORDER BY timestamp DESC LIMIT 10`, true],
    [`SELECT id, CAST(text AS INT64) AS x FROM a WHERE text <> 'odd' ORDER BY timestamp DESC LIMIT 10`, false],
    [`SELECT id, CAST(text AS INT64) AS x FROM (SELECT * FROM a ORDER BY timestamp DESC LIMIT 4000)`, false],
    [`SELECT CAST(text AS INT64) AS x FROM (SELECT text FROM a LIMIT 5000)`, false],
    [
      `SELECT ARRAY(SELECT IF(x = 'odd', NULL, x) FROM UNNEST([text]) AS x) AS x FROM (SELECT * FROM a ORDER BY id)`,
      false,
    ],
    [`SELECT a.id FROM a JOIN a AS b ON a.id = b.id AND CAST(b.text AS INT64) = 1`, true],
    [`SELECT id FROM a WHERE CAST(text AS INT64) = 1 UNION ALL SELECT id FROM a`, true],
  ])('%s depends on the own rows alone', async (consumer, fails) => {
    const answers = await tables.answers(stored, consumer, true, MAX_ROWS);
    expect(new Set(answers.map((answer) => answer.startsWith('failed'))).size).toBe(1);
    expect(answers[0]?.startsWith('failed')).toBe(fails);
  });

  test('a row that fails is not always reached without the fence', async () => {
    const consumer = `SELECT id FROM a WHERE SQRT(IF(STRPOS(text, 'odd') > 0, -1, 1)) = 1`;
    const answers = await tables.answers(stored, consumer, false, MAX_ROWS);
    expect(answers.some((answer) => !answer.startsWith('failed'))).toBe(true);
  });
});

test('own rows beyond a quarter of the memory are refused, and only those that are read count', async () => {
  const rows = ['mine', 'mine', 'mine', 'other'].flatMap((project, at) =>
    Array.from({ length: 2000 }, (_, i) => ({ id: `${at}-${i}`, project, text: 'x'.repeat(4000) })),
  );
  const folder = await DataFolder.make({
    'raw.ndjson': ndjson(...rows),
    'schema.json': schemaOf({ raw: 'id STRING, project STRING, text STRING' }),
  });
  try {
    const engine = await folder.open({ memory: '64MB', smallFile: 0 });
    const run = (project: string, consumer: string): Promise<readonly string[]> => {
      const stored = `WITH a AS (SELECT * FROM raw WHERE project = '${project}')\n`;
      const sql = stored + consumer;
      const fence = { consumer: { start: stored.length, end: sql.length } };
      return textsOf(engine, sql, { fence });
    };
    const failing = `SELECT COUNT(SAFE.SUBSTR(text, LENGTH(id))) AS n FROM a`;
    await expect(run('mine', failing)).rejects.toThrow(OUT_OF_MEMORY);
    expect(await run('other', failing)).toEqual(['{"n":2000}']);
    expect(await run('mine', `SELECT COUNT(SAFE.SUBSTR(id, LENGTH(id))) AS n FROM a`)).toEqual(['{"n":6000}']);
    expect(await run('mine', `${failing} WHERE id < '1'`)).toEqual(['{"n":2000}']);
  } finally {
    await folder.remove();
  }
});
