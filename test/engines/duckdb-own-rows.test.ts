/** Which queries behind the fence are computed in two steps, and what each does (docs/decisions/fence.md). */
import type { Fence } from '../../src/engines/contract';
import { TranslationBench } from './duckdb-translation';

const STORED = `WITH edge AS (SELECT id, timestamp, event_message FROM raw_edge_logs AS t WHERE t.project = 'mine'),
auth AS (SELECT id, timestamp, event_message, CAST(t.event_message AS INT64) AS n FROM raw_auth_logs AS t WHERE t.project = 'mine'),
rest AS (SELECT id, timestamp, event_message FROM raw_postgrest_logs AS t WHERE t.project = 'mine'),
records AS (SELECT id, metadata FROM raw_edge_logs AS t WHERE t.project = 'mine')
`;
/** Cannot fail, and is found again in what DuckDB gets. */
const MARKED = `id <> 'marked'`;

let bench: TranslationBench;
beforeAll(async () => {
  bench = await TranslationBench.open();
});
afterAll(() => bench.close());

function steps(
  consumer: string,
  fenced = true,
  maxRows: number | null = null,
): { readonly first: readonly string[]; readonly last: string } {
  const sql = `${STORED}(\n${consumer}\n)`;
  const fence: Fence = { consumer: { start: STORED.length, end: sql.length } };
  const { before, sql: last } = bench.translate(sql, {}, maxRows, fenced ? fence : null);
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

test('a column of the stored query that can fail is computed before anything is joined', () => {
  const { first, last } = steps(`SELECT a.n FROM edge AS e JOIN auth AS a ON e.id = a.id`);
  expect(first).toHaveLength(2);
  expect(first.join()).not.toContain('JOIN');
  expect(last).toContain('JOIN');
});

test('a condition on the side that an outer join fills up stays above it', () => {
  const { first, last } = steps(
    `SELECT e.id FROM edge AS e LEFT JOIN auth AS a ON LENGTH(a.id) = ${FAILING} WHERE a.${MARKED}`,
  );
  expect(first.join()).not.toContain(`'marked'`);
  expect(last).toContain(`'marked'`);
});

test.each([
  ['an aggregate', `SELECT DIV(1, d.m) AS x FROM (SELECT COUNTIF(id > 'x') AS m FROM edge) AS d`, /count/],
  [
    'fields of records',
    `SELECT CAST(r.method AS INT64) FROM records, UNNEST(metadata) AS m, UNNEST(m.request) AS r`,
    /"method"/,
  ],
])('the largest part that cannot fail, and gives the same in any order, is one table: %s', (_what, consumer, part) => {
  const { first } = steps(consumer);
  expect(first).toHaveLength(1);
  expect(first[0]).toMatch(part);
  // One column.
  expect(first[0]).toMatch(/^CREATE TEMPORARY TABLE temp\."w\d+" AS SELECT "c\d+" FROM/);
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
  expect(bench.translate(sql, {}, null, fence).before).not.toEqual([]);
  const fenced = await bench.run(sql, {}, null, fence);
  expect(fenced.rows.length).toBeGreaterThan(10);
  expect(fenced.rows).toEqual((await bench.run(sql)).rows);
});
