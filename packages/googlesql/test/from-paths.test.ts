/** Whether a path in FROM is a table or an array: one answer, held to what the resolver scans. */
import { fromPaths, tablesRead } from '../src/from-paths';
import { parseQuery } from '../src/parser';
import { visitQuery } from '../src/resolved-walk';
import { resolve, tables } from './environment';

const named = (sql: string, given: readonly string[] = []): string[] =>
  [...fromPaths(parseQuery(sql), given)]
    .sort((a, b) => a.node.span.start - b.node.span.start)
    .map(({ node, names }) => `${names} ${node.path.map(({ name }) => name).join('.')}`);

it.each([
  ['select 1 from a, a.b', 'table a, array a.b'],
  ['select 1 from a.b, a', 'table a.b, table a'],
  ['select 1 from a as x, x.b, a.b', 'table a, array x.b, table a.b'],
  ['select 1 from p.a, a.b', 'table p.a, array a.b'],
  ['select 1 from `a.b`, `a.b`.c', 'table a.b, array a.b.c'],
  ['select 1 from a join a.b on true', 'table a, array a.b'],
  ['select 1 from a join (b join a.c on true) on true', 'table a, table b, table a.c'],
  ['select 1 from a, (select 1 from a.b)', 'table a, table a.b'],
  ['select (select 1 from a.b) from a', 'array a.b, table a'],
  ['select 1 from a where exists (select 1 from a.b, b.c)', 'table a, array a.b, array b.c'],
  ['select 1 from a order by (select 1 from a.b)', 'table a, array a.b'],
  ['select 1 from a, unnest(array(select x from a.b)) as u, u.v', 'table a, array a.b, array u.v'],
  ['select 1 from a pivot (count(*) for x in (1)) as p, p.b', 'table a, array p.b'],
  ['with w as (select 1 from w) select 1 from w', 'table w, cte w'],
  ['with recursive w as (select 1 from v), v as (select 1 from v) select 1 from w', 'cte v, cte v, cte w'],
  ['with w as (select 1), v as (select 1 from W) select 1 from w.x, v', 'cte W, table w.x, cte v'],
  ['select 1 from a, (with w as (select 1 from a.b) select 1 from w, a)', 'table a, table a.b, cte w, table a'],
  ['(with w as (select 1) select 1 from w) union all select 1 from w', 'cte w, table w'],

  // The case of ASCII letters alone is folded: what is called by a Kelvin sign does not hide a table k.
  ['with `\u212a` as (select 1) select * from k', 'table k'],
  ['with K as (select 1) select * from k', 'cte k'],
  ['select 1 from x as `\u212a`, k.a', 'table x, table k.a'],
  // Aliases of pipe operators.
  ['from t as e |> where true |> extend 1 as x |> distinct |> limit 1 |> cross join e.a', 'table t, array e.a'],
  ['from t as e |> as f |> cross join e.a |> cross join f.a', 'table t, table e.a, array f.a'],
  ['from t as e |> select x |> cross join e.a', 'table t, table e.a'],
  ['from t as e |> aggregate count(*) as n |> cross join e.a', 'table t, table e.a'],
  ['from t as e |> union all (from u) |> cross join e.a', 'table t, table u, table e.a'],
  ['from t as e |> drop e |> cross join e.a', 'table t, table e.a'],
  [
    'from t as e |> pivot (sum(x) for y in (1)) as p |> cross join p.a |> cross join e.a',
    'table t, array p.a, table e.a',
  ],
  ['from (from t as e) |> cross join e.a', 'table t, array e.a'],
  ['from (from t as e) as f |> cross join e.a', 'table t, table e.a'],
  ['from (from t as e), e.a', 'table t, array e.a'],
  ['from t as e |> where exists(from e.a |> where e.x in (from e.b))', 'table t, array e.a, array e.b'],
  ['from w |> with w as (select 1), v as (from w) |> cross join v |> cross join w', 'table w, cte w, cte v, cte w'],
  ['from t |> cross join (from u |> with w as (select 1)) |> cross join w', 'table t, table u, table w'],
])('%s', (sql, expected) => {
  expect(named(sql).sort()).toEqual(expected.split(', ').sort());
});

it('sees names that are given as if a WITH around the query had defined them', () => {
  expect(named('select 1 from A, b, p.a', ['a'])).toEqual(['cte A', 'table b', 'table p.a']);
});

it('says in which entry of the query’s own WITH a table is read', () => {
  const query = parseQuery(
    'with a as (with i as (select 1 from x) select 1 from i) select 1 from (with j as (select 1 from y) select 1 from j)',
  );
  expect(tablesRead(query).map(({ node, within }) => [node.path[0]?.name, within?.name.name])).toEqual([
    ['x', 'a'],
    ['y', undefined],
  ]);
});

it.each([
  'select e.id from edge_logs as e, e.metadata as m, m.request as r',
  'select (select count(*) from e.metadata as m, m.request) from edge_logs as e, auth_logs',
  'with e as (select * from edge_logs) select 1 from e left join e.metadata as m on true, (select 1 from auth_logs)',
  'select 1 from edge_logs as e, unnest(e.metadata) as m, m.request as r, r.headers',
])('agrees with the resolver: %s', (sql) => {
  const scanned: string[] = [];
  let arrays = 0;
  visitQuery(resolve(sql), {
    relation: (relation) => {
      if (relation.kind === 'table') scanned.push(relation.table.name);
      if (relation.kind === 'unnest') arrays++;
    },
  });
  const paths = fromPaths(parseQuery(sql));
  const namesOf = (kind: string): string[] =>
    paths.filter(({ names }) => names === kind).map(({ node }) => node.path[0]!.name);
  expect(namesOf('table').sort()).toEqual(scanned.sort());
  expect(namesOf('array').length + (sql.includes('unnest(') ? 1 : 0)).toBe(arrays);
  expect(namesOf('table').every((name) => tables.has(name))).toBe(true);
});
