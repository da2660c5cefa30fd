/** Which names pipe operators leave, as BigQuery's reference and the tests of Google's analyser have it. */
import { QueryError } from '../src/errors';
import { fixesOrder } from '../src/row-order';
import { parseQuery } from '../src/parser';
import { columnsText, resolve } from './environment';

const T = '(select 1 as x, 2 as y) as t';

it.each([
  [`from ${T}`, 'x INT64, y INT64'],
  [`from ${T} |> set x = 'a' |> select t.x as old, x`, 'old INT64, x STRING'],
  [`from ${T} |> drop x |> select t.x, y`, 'x INT64, y INT64'],
  [`from ${T} |> rename x as y, y as x |> select t.x as a, x`, 'a INT64, x INT64'],
  [`from ${T} |> extend 'a' as t |> select t.x`, 'x INT64'],
  [`from ${T} |> extend x as x2 |> as q |> select q.x2`, 'x2 INT64'],
  [`from ${T} |> distinct |> select t.y`, 'y INT64'],
  [`from ${T} |> where x > 1 |> order by y |> limit 1 |> select t.*`, 'x INT64, y INT64'],
  [`from (from ${T}) |> select t.x`, 'x INT64'],
  [`select t.x from (from ${T})`, 'x INT64'],
  [`from ${T} |> join (select 1 as x, 'b' as z) as u using (x) |> select t.x, u.z`, 'x INT64, z STRING'],
  [`from ${T} |> aggregate sum(x) as s, count(*) group by y, x + 1 as k`, 'y INT64, k INT64, s INT64, - INT64'],
  [`from ${T} |> aggregate group by y`, 'y INT64'],
  ['from unnest([1, 2]) as e with offset |> select e, offset', 'e INT64, offset INT64'],
  ["from unnest([struct(1 as a, 'b' as b)]) as e |> set a = 'x' |> select *", null],
  [`from ${T} |> union all (select 'a', 1)`, null],
  [`from ${T} |> union all (select 1.5, 1)`, 'x FLOAT64, y INT64'],
  [`from ${T} |> with w as (select 3 as z) |> cross join w |> select *`, 'x INT64, y INT64, z INT64'],
])('%s', (sql, columns) => {
  if (columns === null) expect(() => resolve(sql)).toThrow(QueryError);
  else expect(columnsText(resolve(sql))).toBe(columns);
});

it.each([
  [`from ${T} |> as u |> select t.x`, 'Unrecognized name: t.'],
  [`from ${T} |> select x |> select t.x`, 'Unrecognized name: t.'],
  [`from ${T} |> select distinct * |> select t.x`, 'Unrecognized name: t.'],
  [`from ${T} |> aggregate count(*) as n |> select x`, 'Unrecognized name: x.'],
  [`from ${T} |> set z = 1`, 'Column name in pipe SET not found in input table: z.'],
  [`from ${T} |> set x = 1, X = 2`, 'Duplicate column name in pipe SET: X.'],
  [`from ${T} |> set t = 1`, 'Name in pipe SET is a table alias; SET can only update columns: t.'],
  [`from ${T} |> drop x, y`, 'Pipe DROP dropped all columns in the input table.'],
  [`from ${T} |> drop t`, 'Name in pipe DROP is a table alias; DROP can only drop columns: t.'],
  [`from ${T} |> rename z as a`, 'Column name in pipe RENAME not found in input table: z.'],
  [
    `from ${T}, ${T.replace('as t', 'as u')} |> set x = 1`,
    'Column name in pipe SET exists more than once in input table: x.',
  ],
  [`from ${T}, ${T.replace('as t', 'as u')} |> select x`, 'Column name x is ambiguous.'],
  [`from ${T} |> aggregate x`, 'Pipe AGGREGATE cannot include non-aggregate expressions.'],
  [
    `from ${T} |> aggregate sum(x) + y`,
    'AGGREGATE list expression references column y which is neither grouped nor aggregated.',
  ],
  [`from ${T} |> aggregate count(*) group by 1`, 'GROUP BY ordinal not allowed in pipe AGGREGATE.'],
  [`from ${T} |> aggregate count(*) over ()`, 'Pipe AGGREGATE cannot include analytic/window functions.'],
  [`from ${T} |> where sum(x) > 1`, 'Aggregate function SUM not allowed in pipe WHERE clause.'],
  [`from ${T} |> window x + 1`, 'Pipe WINDOW expression must include a window function call (with an OVER clause).'],
  [`from ${T} |> join ${T} on true`, 'Duplicate table alias t in the same FROM clause.'],
  [`from ${T} |> join (select 1) as u`, 'INNER JOIN needs ON or USING.'],
  [`from ${T} |> order by 3`, 'ORDER BY is out of SELECT column number range: 3.'],
])('%s: %s', (sql, message) => {
  expect(() => resolve(sql)).toThrow(message);
});

it('makes rows distinct once', () => {
  const { relation } = resolve(`from ${T} |> distinct |> distinct |> as u |> distinct`);
  expect(relation).toMatchObject({ kind: 'aggregate', input: { kind: 'query' } });
});

it('knows which operators leave rows in the order that they had', () => {
  const ordered = (sql: string): boolean => fixesOrder(parseQuery(sql));
  const after = (operators: string): boolean => ordered(`from a |> order by x ${operators}`);
  expect(after('|> limit 1 |> select x |> extend y |> set x = 1 |> drop y |> rename x as z |> as t')).toBe(true);
  for (const operator of ['where x', 'distinct', 'join b on true', 'union all (from b)', 'aggregate count(*)'])
    expect([operator, after(`|> ${operator}`)]).toEqual([operator, false]);
  expect(after('|> extend count(*) over ()')).toBe(false);
  expect(after('|> extend (select count(*) over () from b) as c')).toBe(true);
  expect(ordered('from a |> aggregate count(*) group and order by x')).toBe(true);
  expect(ordered('from a |> aggregate count(*) as n desc group by x')).toBe(true);
  expect(ordered('select x from a order by x |> limit 1')).toBe(true);
});
