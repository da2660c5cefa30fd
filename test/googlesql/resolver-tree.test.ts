/** What the resolved tree says: which column a name is, which conversions are written out, what is stacked on what. */
import type {
  Aggregate,
  Compute,
  Expr,
  Filter,
  Relation,
  ResolvedQuery,
  Sort,
  UnnestScan,
} from '../../src/googlesql/resolved';
import { resolve } from './environment';

/** The relation's kinds from the top to the bottom of its left spine. */
function spine(relation: Relation): string[] {
  const below = 'input' in relation ? relation.input : relation.kind === 'join' ? relation.left : null;
  return [relation.kind, ...(below === null ? [] : spine(below))];
}

function find<K extends Relation['kind']>(query: ResolvedQuery, kind: K): Extract<Relation, { kind: K }> {
  let relation: Relation | null = query.relation;
  while (relation !== null && relation.kind !== kind)
    relation = 'input' in relation ? relation.input : relation.kind === 'join' ? relation.left : null;
  if (relation === null) throw new Error(`no ${kind}`);
  return relation as Extract<Relation, { kind: K }>;
}

/** A short notation: `$add(i, CAST(1 AS FLOAT64))`. */
function show(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return expr.value === null ? `NULL:${expr.type.kind}` : `${expr.value}:${expr.type.kind}`;
    case 'parameter':
      return `@${expr.name}`;
    case 'column':
      return expr.column.name;
    case 'field':
      return `${show(expr.input)}.${expr.index}`;
    case 'call':
      return `${expr.safe ? 'SAFE.' : ''}${expr.function}(${expr.args.map(show).join(', ')})${expr.part === null ? '' : `[${expr.part}]`}`;
    case 'cast':
      return `CAST(${show(expr.input)} AS ${expr.type.kind})`;
    case 'case':
      return `CASE(${expr.whens.map(({ when, then }) => `${show(when)} -> ${show(then)}`).join(', ')})`;
    case 'make_array':
      return `[${expr.elements.map(show).join(', ')}]`;
    case 'make_struct':
      return `(${expr.fields.map(show).join(', ')})`;
    case 'subquery':
      return expr.mode;
  }
}

/** The first select item. */
function item(sql: string): string {
  const query = resolve(sql);
  const { column } = query.output[0] ?? {};
  if (column === undefined) throw new Error('no output');
  const compute: Compute = find(query, 'compute');
  const computed = compute.columns.find((candidate) => candidate.column === column);
  if (computed === undefined) throw new Error('not computed');
  return show(computed.expr);
}

describe('conversions are written out', () => {
  it.each([
    ['i + 1.5', '$add(CAST(i AS FLOAT64), 1.5:FLOAT64)'],
    ['i / 2', '$divide(CAST(i AS FLOAT64), 2:FLOAT64)'],
    ['n + i', '$add(n, CAST(i AS NUMERIC))'],
    ['n + 1.5', '$add(n, 1.5:NUMERIC)'],
    ["ts > '2026-09-30T11:00:00Z'", '$greater(ts, 1790766000000000:TIMESTAMP)'],
    ["ts > '2026-09-30 13:00:00+02'", '$greater(ts, 1790766000000000:TIMESTAMP)'],
    ["ts > '2026-09-30 07:00:00 America/New_York'", '$greater(ts, 1790766000000000:TIMESTAMP)'],
    ['ts > @project', '$greater(ts, CAST(@project AS TIMESTAMP))'],
    ["d = '2026-9-3'", '$equal(d, 2026-09-03:DATE)'],
    ["dt = '2026-09-30 1:2:3.5'", '$equal(dt, 2026-09-30T01:02:03.5:DATETIME)'],
    ['dt > d', '$greater(dt, CAST(d AS DATETIME))'],
    ['if(bo, i, 1.5)', 'IF(bo, CAST(i AS FLOAT64), 1.5:FLOAT64)'],
    ['case when bo then 1 else f end', 'CASE(bo -> 1:FLOAT64)'],
    ['coalesce(s, null)', 'COALESCE(s, NULL:STRING)'],
    ['i in (1, 2.5)', '$in(CAST(i AS FLOAT64), 1:FLOAT64, 2.5:FLOAT64)'],
    ["[d, '2026-01-01']", '[d, 2026-01-01:DATE]'],
    ['(1, 2.5) = (i, f)', '$equal((1:INT64, 2.5:FLOAT64), (i, f))'],
    ['(1, f) = (f, i)', '$equal((1:FLOAT64, f), (f, CAST(i AS FLOAT64)))'],
    ['concat(s, i)', 'CONCAT(s, CAST(i AS STRING))'],
    ["cast('2026-01-01' as timestamp)", '1767225600000000:TIMESTAMP'],
    ["safe_cast('x' as date)", 'NULL:DATE'],
    ["cast('x' as int64)", 'CAST(x:STRING AS INT64)'],
  ])('%s', (expression, shown) => {
    expect(item(`select ${expression} as x from types_t`)).toBe(shown);
  });

  it('gives every input of a union the common types', () => {
    const { relation } = resolve('select i, null from types_t union all select f, s from types_t');
    if (relation.kind !== 'set') throw new Error('not a set operation');
    for (const input of relation.inputs)
      expect(input.output.map(({ column }) => column.type.kind)).toEqual(['FLOAT64', 'STRING']);
    expect(relation.columns.map(({ type }) => type.kind)).toEqual(['FLOAT64', 'STRING']);
  });
});

describe('calls', () => {
  it.each([
    ['timestamp_sub(ts, interval 5 minute)', 'TIMESTAMP_SUB(ts, 5:INT64)[MINUTE]'],
    ["timestamp_trunc(ts, week(monday), 'UTC')", 'TIMESTAMP_TRUNC(ts, UTC:STRING)[WEEK_MONDAY]'],
    ['date_diff(d, d, isoweek)', 'DATE_DIFF(d, d)[ISOWEEK]'],
    ["extract(hour from ts at time zone 'Asia/Kolkata')", '$extract(ts, Asia/Kolkata:STRING)[HOUR]'],
    ['ts - interval 1 day', '$subtract(ts, $interval(1:INT64)[DAY])'],
    ["interval '1-2 3 4:5:6.5' year to second", '1-2 3 4:5:6.5:INTERVAL'],
    ["safe.parse_timestamp('%F', s)", 'SAFE.PARSE_TIMESTAMP(%F:STRING, s)'],
    ['substring(s, 2)', 'SUBSTR(s, 2:INT64)'],
    ['ai[0]', '$at(ai, 0:INT64)'],
    ['ai[ordinal(1)]', '$at(ai, 0:INT64)'],
    ['ai[safe_ordinal(i)]', '$safe_at(ai, $subtract(i, 1:INT64))'],
    ['ast[safe_offset(0)].b', '$safe_at(ast, 0:INT64).1'],
    ['j.a[0]', '$json_element($json_member(j, a:STRING), 0:INT64)'],
    ['not i in unnest(ai)', '$not($in_unnest(i, ai))'],
    ['bo and i > 1 and s is not null', '$and(bo, $greater(i, 1:INT64), $not($is_null(s)))'],
    ['bo or i > 1 and bo', '$or(bo, $and($greater(i, 1:INT64), bo))'],
    ['-i', '$negate(i)'],
    ['-5', '-5:INT64'],
  ])('%s', (expression, shown) => {
    expect(item(`select ${expression} as x from types_t`)).toBe(shown);
  });
});

describe('scopes', () => {
  it('lists only the columns of a table that are read', () => {
    const { columns } = find(resolve('select id from edge_logs where timestamp is not null'), 'table');
    expect(columns.map(({ source }) => source).sort()).toEqual(['id', 'timestamp']);
    expect(find(resolve('select count(*) from edge_logs'), 'table').columns).toEqual([]);
  });

  it('makes a table alias a struct of its columns', () => {
    expect(item('select t as x from (select 1 as a, s from types_t) as t')).toBe('(a, s)');
  });

  it('prefers an alias of UNNEST to a column of its name', () => {
    const query = resolve(
      'select metadata from edge_logs cross join unnest(metadata) as metadata cross join unnest(metadata.request) as r',
    );
    const inner: UnnestScan = find(query, 'unnest');
    if (inner.input?.kind !== 'unnest') throw new Error('two arrays are unnested');
    expect(show(inner.array)).toBe('metadata.1');
    expect(query.output[0]?.column).toBe(inner.input.element);
  });

  it('keeps rows without elements for LEFT JOIN only', () => {
    expect(find(resolve('select x from types_t left join unnest(ai) x'), 'unnest')).toMatchObject({
      outer: true,
      on: null,
    });
    expect(find(resolve('select x from types_t left join unnest(ai) x on true'), 'unnest')).toMatchObject({
      outer: true,
      on: null,
    });
    expect(find(resolve('select x from types_t, types_t.ai x'), 'unnest')).toMatchObject({ outer: false });
  });

  it('takes the left column of USING, the right one of a RIGHT JOIN, and whichever is there of a FULL one', () => {
    const using = (join: string): Relation =>
      resolve(`select i from (select 1 as i) a ${join} join (select 1 as i) b using (i)`).relation;
    expect(using('left').kind).toBe('join');
    const right = resolve('select i from (select 1 as i) a right join (select 2 as i) b using (i)');
    if (right.relation.kind !== 'join' || right.relation.right.kind !== 'query') throw new Error('not a join');
    expect(right.output[0]?.column).toBe(right.relation.right.query.output[0]?.column);
    const full = using('full');
    expect(full.kind).toBe('compute');
    if (full.kind === 'compute') expect(full.columns.map(({ expr }) => show(expr))).toEqual(['COALESCE(i, i)']);
  });

  it('gives each scan of a CTE columns of its own', () => {
    const { relation, ctes } = resolve('with c as (select 1 as x) select a.x, b.x from c as a, c as b');
    if (relation.kind !== 'join' || relation.left.kind !== 'cte' || relation.right.kind !== 'cte')
      throw new Error('not a join of CTEs');
    expect(ctes).toHaveLength(1);
    expect(relation.left.cte).toBe(relation.right.cte);
    expect(relation.left.columns[0]?.column.id).not.toBe(relation.right.columns[0]?.column.id);
    expect(relation.left.columns[0]?.source).toBe(ctes[0]?.query.output[0]?.column);
  });

  it('hides a table by a CTE of its name, which itself reads the table', () => {
    const { ctes } = resolve('with edge_logs as (select id from edge_logs) select * from edge_logs');
    expect(ctes[0]?.query.relation.kind).toBe('table');
  });

  it('lets a subquery read the rows around it', () => {
    const query = resolve('select (select max(x) from unnest(t.ai) as x where x < t.i) as m from types_t as t');
    const table = find(query, 'table');
    expect(table.columns.map(({ source }) => source).sort()).toEqual(['ai', 'i']);
  });
});

describe('grouping', () => {
  it('groups by the alias where a column has its name', () => {
    const sql =
      'select timestamp_trunc(t.timestamp, minute) as timestamp, count(*) from edge_logs t group by timestamp';
    const aggregate: Aggregate = find(resolve(sql), 'aggregate');
    expect(aggregate.keys.map(({ expr }) => show(expr))).toEqual(['TIMESTAMP_TRUNC(timestamp)[MINUTE]']);
  });

  it('reads keys, not rows, after grouping', () => {
    const query = resolve('select s, i + count(*) as n from types_t group by s, i having s > "a" order by s');
    expect(spine(query.relation)).toEqual(['sort', 'compute', 'filter', 'aggregate', 'table']);
    const aggregate: Aggregate = find(query, 'aggregate');
    const keys = new Set(aggregate.keys.map(({ column }) => column.id));
    expect(keys.has(query.output[0]?.column.id ?? 0)).toBe(true);
    const filter: Filter = find(query, 'filter');
    if (filter.condition.kind !== 'call') throw new Error('not a comparison');
    const [left] = filter.condition.args;
    expect(left?.kind === 'column' && keys.has(left.column.id)).toBe(true);
  });

  it('reads keys inside correlated subqueries too', () => {
    const query = resolve('select (select max(a) + t.i from unnest([1]) as a) as x from types_t as t group by t.i');
    const aggregate: Aggregate = find(query, 'aggregate');
    const compute: Compute = find(query, 'compute');
    const text = JSON.stringify(compute.columns);
    expect(text).toContain(`"id":${aggregate.keys[0]?.column.id ?? -1},`);
    const source = aggregate.keys[0]?.expr;
    expect(source?.kind === 'column' && text.includes(`"id":${source.column.id},`)).toBe(false);
  });

  it.each([
    ['rollup(i, s)', [[0, 1], [0], []]],
    ['cube(i, s)', [[0, 1], [0], [1], []]],
    ['grouping sets ((i, s), i, ())', [[0, 1], [0], []]],
    ['grouping sets (rollup(i), s)', [[0], [], [1]]],
    ['i, s', null],
  ])('%s', (clause, sets) => {
    const aggregate: Aggregate = find(resolve(`select i, s, count(*) from types_t group by ${clause}`), 'aggregate');
    expect(aggregate.groupingSets).toEqual(sets);
  });

  it('takes every item without an aggregate for GROUP BY ALL', () => {
    const aggregate: Aggregate = find(
      resolve("select s || 'x', i, count(*), 1 from types_t group by all"),
      'aggregate',
    );
    expect(aggregate.keys.map(({ expr }) => show(expr))).toEqual(['$concat(s, x:STRING)', 'i']);
  });

  it('reads a key in GROUPING', () => {
    const aggregate: Aggregate = find(resolve('select grouping(i) as g from types_t group by rollup(i)'), 'aggregate');
    expect(aggregate.aggregates[0]?.call).toMatchObject({
      function: 'GROUPING',
      args: [{ kind: 'column', column: aggregate.keys[0]?.column }],
    });
  });
});

describe('order of execution', () => {
  it.each([
    ['select i from types_t order by s limit 1', ['limit', 'sort', 'table']],
    ['select i + 1 as x from types_t order by x', ['sort', 'compute', 'table']],
    ['select distinct i from types_t order by i', ['sort', 'aggregate', 'table']],
    ['select rank() over (order by i) as r from types_t qualify r = 1', ['filter', 'window', 'table']],
    ['select i from types_t qualify rank() over (order by i) = 1', ['filter', 'window', 'table']],
    [
      'select s, sum(count(*)) over () as x from types_t where i > 1 group by s having count(*) > 2',
      ['window', 'filter', 'aggregate', 'filter', 'table'],
    ],
    ['select as struct i from types_t', ['compute', 'table']],
  ])('%s', (sql, kinds) => {
    expect(spine(resolve(sql).relation)).toEqual(kinds);
  });

  it.each([
    ['order by i', false, true],
    ['order by i desc', true, false],
    ['order by i nulls last', false, false],
    ['order by i desc nulls first', true, true],
  ])('%s says where NULLs go', (clause, descending, nullsFirst) => {
    const sort: Sort = find(resolve(`select i from types_t ${clause}`), 'sort');
    expect(sort.keys[0]).toMatchObject({ descending, nullsFirst });
  });

  it('sorts by the alias before the column, and by position', () => {
    const byAlias: Sort = find(resolve('select s as i from types_t order by i'), 'sort');
    expect(byAlias.keys.map(({ expr }) => show(expr))).toEqual(['s']);
    const byPosition: Sort = find(resolve('select i, s from types_t order by 2'), 'sort');
    expect(byPosition.keys.map(({ expr }) => show(expr))).toEqual(['s']);
  });

  it('knows whether the result is ordered', () => {
    expect(resolve('select i from types_t').ordered).toBe(false);
    expect(resolve('select i from types_t order by i').ordered).toBe(true);
    expect(resolve('(select i from types_t order by i)').ordered).toBe(true);
    expect(resolve('select i from (select i from types_t order by i)').ordered).toBe(false);
  });
});

describe('PIVOT and UNPIVOT', () => {
  it('groups by what nobody reads and aggregates once per value', () => {
    const query = resolve(
      "select * from (select i, s, f from types_t) pivot (sum(f) as t, count(*) as c for s in ('a', 'b'))",
    );
    const aggregate: Aggregate = find(query, 'aggregate');
    expect(aggregate.keys.map(({ expr }) => show(expr))).toEqual(['i']);
    expect(aggregate.aggregates.map(({ call }) => call.function)).toEqual(['SUM', 'COUNTIF', 'SUM', 'COUNTIF']);
    expect(query.output.map(({ name }) => name)).toEqual(['i', 't_a', 'c_a', 't_b', 'c_b']);
  });

  it('leaves rows of NULLs out unless told', () => {
    const kinds = (nulls: string): string[] =>
      spine(resolve(`select v from (select 1 as a, 2 as b) unpivot ${nulls} (v for k in (a, b))`).relation);
    expect(kinds('')).toEqual(['filter', 'compute', 'unnest', 'query']);
    expect(kinds('include nulls')).toEqual(['compute', 'unnest', 'query']);
  });
});
