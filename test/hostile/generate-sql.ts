/** SQL of every clause, repeated or nested up to the bounds on a text (docs/sandbox.md) and beyond. */
import { times } from './requests';

/** Makes one text of about `n` units of something. */
export type Shape = (n: number) => string;

const from = (item: string): string => `select ${item} from edge_logs`;
const chain = (n: number, body: (before: string, i: number) => string): string =>
  `with c0 as (select id, 1 as x from edge_logs), ${times(Math.max(1, n), (i) => `c${i + 1} as (${body(`c${i}`, i + 1)})`)} select * from c${Math.max(1, n)}`;
const nested = (n: number, open: string, inner: string, close: string): string =>
  `select ${open.repeat(n)}${inner}${close.repeat(n)} as x from edge_logs`;

/** What repeats, by its name. */
export const REPEATED: Readonly<Record<string, Shape>> = {
  'select items': (n) => from(times(n, (i) => `id as c${i}`)),
  'items of one name': (n) => from(times(n, () => 'id')),
  stars: (n) =>
    from(times(n, (i) => `e.* except (timestamp, event_message, metadata) replace ('${i}' as id)`)).replace(
      'edge_logs',
      'edge_logs e',
    ),
  'names left out': (n) => from(`* except (${times(n, (i) => `c${i}`)})`),
  'names replaced': (n) => from(`* replace (${times(n, (i) => `'${i}' as id`)})`),
  'cross joins': (n) => `select count(*) n from ${times(n, (i) => `edge_logs e${i}`)}`,
  'joins with USING': (n) =>
    `select count(*) n from edge_logs e ${times(n, (i) => `join auth_logs a${i} using (id)`, ' ')}`,
  'joins with ON': (n) =>
    `select count(*) n from edge_logs e ${times(n, (i) => `left join auth_logs a${i} on a${i}.id = e.id`, ' ')}`,
  'unnested arrays': (n) =>
    `select count(*) n from edge_logs e ${times(n, (i) => `cross join unnest(e.metadata) m${i}`, ' ')}`,
  'correlated paths': (n) =>
    `select count(*) n from edge_logs e${times(n, (i) => `, e.metadata m${i}, m${i}.request r${i}`, '')}`,
  unions: (n) => times(n, (i) => `select ${i} as x`, ' union all '),
  'distinct unions': (n) => times(n, (i) => `(select id from edge_logs where id <> '${i}')`, ' union distinct '),
  'unions of wide rows': (n) => times(n, () => 'select * from edge_logs', ' union all '),
  'CTEs of one name': (n) => `with ${times(n, () => 'c as (select 1 x)')} select 1`,
  'CTEs in a chain': (n) => chain(n, (c) => `select * from ${c}`),
  'CTEs read twice': (n) => chain(n, (c) => `select a.id, a.x from ${c} a, ${c} b`),
  'CTEs joined with themselves': (n) => chain(n, (c) => `select a.id, b.x from ${c} a join ${c} b using (id)`),
  'CTEs in EXISTS': (n) => chain(n, (c) => `select id, x from ${c} where exists (select 1 from ${c})`),
  'CTEs in IN': (n) => chain(n, (c) => `select id, x from ${c} where id in (select id from ${c})`),
  'CTEs in scalar subqueries': (n) => chain(n, (c) => `select id, (select max(x) from ${c}) as x from ${c}`),
  'CTEs in unions': (n) => chain(n, (c) => `select * from ${c} union all select * from ${c}`),
  'CTEs that aggregate': (n) =>
    chain(n, (c) => `select id, sum(x) as x from ${c} group by id having count(*) < (select count(*) + 1 from ${c})`),
  'CTEs of one row': (n) =>
    `with c0 as (select 1 x), ${times(n, (i) => `c${i + 1} as (select a.x from c${i} a, c${i} b)`)} select u from c${n}, unnest([c${n}.x]) u`,
  'CTEs that copy an expression': (n) => chain(n, (c) => `select id, x + x as x from ${c}`),
  'CTEs that join texts': (n) => chain(n, (c) => `select concat(id, id) as id, x from ${c}`),
  'CTEs that format': (n) => chain(n, (c) => `select format('%T %t', id, id) as id, x from ${c}`),
  'CTEs that wrap in structs': (n) =>
    `with c0 as (select 1 as x), ${times(n, (i) => `c${i + 1} as (select struct(x as a, x as b) as x from c${i})`)} select x from c${n}`,
  'CTEs with constant rows': (n) =>
    `select x from edge_logs, ${'(select (select x from edge_logs, '.repeat(n)}(select 1 as x) c${' limit 1) as x) d'.repeat(n)}`,
  'CTEs twice as wide': (n) =>
    `with c0 as (select * from edge_logs), ${times(n, (i) => `c${i + 1} as (select a.*, b.* from c${i} a, c${i} b)`)} select 1 from c${n}`,
  windows: (n) =>
    from(
      times(
        n,
        (i) =>
          `sum(1) over (partition by id order by timestamp rows between ${i} preceding and ${i} following) as w${i}`,
      ),
    ),
  'windows by name': (n) =>
    `select row_number() over w0 as x from edge_logs window ${times(n, (i) => (i === 0 ? 'w0 as (order by id)' : `w${i} as (w${i - 1})`))}`,
  'window functions of one window': (n) =>
    `select ${times(n, (i) => `lag(id, ${i}) over w as l${i}`)} from edge_logs window w as (order by id)`,
  QUALIFY: (n) =>
    `select id from edge_logs where true qualify ${times(n, (i) => `row_number() over (order by id) > ${i}`, ' and ')}`,
  'group keys': (n) => `select count(*) n from edge_logs group by ${times(n, (i) => `concat(id, '${i}')`)}`,
  'group keys by position': (n) =>
    `select ${times(n, (i) => `concat(id, '${i}') as c${i}`)} from edge_logs group by ${times(n, (i) => String(i + 1))}`,
  rollup: (n) => `select count(*) n from edge_logs group by rollup (${times(n, () => 'id')})`,
  cubes: (n) =>
    `select count(*) n from edge_logs group by grouping sets (${times(n, () => 'cube (id, timestamp, event_message)')})`,
  'a product of grouping sets': (n) =>
    `select count(*) n from edge_logs group by ${times(n, () => 'rollup (id, timestamp)')}`,
  aggregates: (n) => from(times(n, (i) => `countif(id = '${i}') as c${i}`)),
  'distinct aggregates': (n) => from(times(n, (i) => `count(distinct concat(id, '${i}')) as c${i}`)),
  'aggregated arrays': (n) => from(times(n, (i) => `array_agg(id order by timestamp limit ${i + 1}) as c${i}`)),
  'sort keys': (n) => `select id from edge_logs order by ${times(n, (i) => `concat(id, '${i}') desc`)}`,
  'sort positions': (n) => `select id from edge_logs order by ${times(n, () => '1')}`,
  'PIVOT columns': (n) =>
    `select * from (select id, 1 as n from edge_logs) pivot (sum(n) for id in (${times(n, (i) => `'${i}' as p${i}`)}))`,
  'PIVOT aggregates': (n) =>
    `select * from (select id, 1 as n from edge_logs) pivot (${times(n, (i) => `sum(n) as s${i}`)} for id in ('a', 'b', 'c'))`,
  'UNPIVOT columns': (n) =>
    `select * from (select ${times(n, (i) => `${i} as c${i}`)}) unpivot (v for k in (${times(n, (i) => `c${i}`)}))`,
  'conditions with OR': (n) => `select id from edge_logs where ${times(n, (i) => `id = '${i}'`, ' or ')}`,
  'conditions with AND and OR': (n) =>
    `select id from edge_logs where ${times(n, (i) => `(id = '${i}' or id like '%${i}%')`, ' and ')}`,
  'texts joined': (n) => from(`${times(n, () => 'id', ' || ')} as x`),
  sums: (n) => from(`${times(n, (i) => String(i), ' + ')} as x`),
  'items of IN': (n) => `select id from edge_logs where id in (${times(n, (i) => `'${i}'`)})`,
  'items of IN, all of other types': (n) =>
    `select id from edge_logs where 1 in (${times(n, (i) => (i % 3 === 0 ? `${i}.5` : i % 3 === 1 ? `numeric '${i}'` : String(i)))})`,
  'branches of CASE': (n) => from(`case id ${times(n, (i) => `when '${i}' then ${i}`, ' ')} end as x`),
  arguments: (n) => from(`greatest(${times(n, (i) => String(i))}) as x`),
  elements: (n) => from(`[${times(n, (i) => String(i))}] as x`),
  'fields of a struct': (n) => from(`struct(${times(n, (i) => `${i} as f${i}`)}) as x`),
  'fields that are read': (n) => from(times(n, (i) => `(select m.request[0].path from unnest(metadata) m) as c${i}`)),
  'scalar subqueries': (n) => from(times(n, (i) => `(select max(id) from auth_logs where id > '${i}') as c${i}`)),
  casts: (n) =>
    from(times(n, (i) => `safe_cast(id as ${['int64', 'float64', 'timestamp', 'numeric', 'date'][i % 5]}) as c${i}`)),
  patterns: (n) => from(times(n, (i) => `regexp_contains(id, r'(a{1,20}){20}b${i}') as c${i}`)),
  'a format of directives': (n) => from(`format('${'%s'.repeat(n)}'${', id'.repeat(n)}) as x`),
  'a time format of directives': (n) => from(`format_timestamp('${'%F %T %A '.repeat(n)}', timestamp) as x`),
  'a time format that is read': (n) => from(`safe.parse_timestamp('${'%F %T '.repeat(n)}', id) as x`),
  'a JSON path': (n) => from(`json_value(event_message, '$${'.a[0]'.repeat(n)}') as x`),
  'a LIKE pattern': (n) => `select id from edge_logs where id like '${'%_'.repeat(n)}'`,
  digits: (n) => from(`${'9'.repeat(n)} as x`),
  'digits of NUMERIC': (n) => from(`bignumeric '${'9'.repeat(n)}' as x`),
  'an exponent': (n) => from(`1e${'9'.repeat(n)} as x`),
  'a long name': (n) => from('x'.repeat(n)),
  'a long name in backticks': (n) => from(`\`${'x'.repeat(n)}\` as \`${'y'.repeat(n)}\``),
  'a path of names': (n) => from(`metadata${'.a'.repeat(n)}`),
  'a table path': (n) => `select 1 from ${times(n, () => 'a', '.')}`,
  'an unknown function': (n) => from(`${'f'.repeat(n)}(id)`),
  'a literal of escapes': (n) => from(`'${'\\u00e9\\x41\\n'.repeat(n)}' as x`),
  'a literal of quotes': (n) => from(`'${"''".repeat(n)}' as x`),
  'unknown escapes': (n) => from(`'${'\\d'.repeat(n)}' as x`),
  'casts with colons': (n) => from(times(n, (i) => `id::text as c${i}`)),
  'a chain of colons': (n) => from(`id${'::text'.repeat(n)} as x`),
  'a literal not closed': (n) => from(`'${'x'.repeat(n)}`),
  comments: (n) => `${'/* x */ -- y\n'.repeat(n)} select 1`,
  'a comment not closed': (n) => `select 1 ${'/* '.repeat(n)}`,
  semicolons: (n) => `select 1${';'.repeat(n)}`,
  blanks: (n) => `select${' '.repeat(n)}1`,
  garbage: (n) => `select ${'a + '.repeat(n)} from from`,
  parameters: (n) => from(times(n, (i) => `@project as c${i}`)),
  intervals: (n) => from(`timestamp_add(timestamp, interval ${'9'.repeat(n)} day) as x`),
  'a limit': (n) => `select id from edge_logs limit ${'9'.repeat(n)} offset ${'9'.repeat(n)}`,
  pipes: (n) => `from edge_logs ${'|> where true '.repeat(n)}`,
  'named types': (n) => from(`cast(null as struct<${times(n, (i) => `f${i} int64`)}>) as x`),
};

/** What nests, by its name. */
export const NESTED: Readonly<Record<string, Shape>> = {
  parentheses: (n) => nested(n, '(', '1', ')'),
  brackets: (n) => nested(n, '[', '1', ']'),
  'array subqueries': (n) => nested(n, 'array(select ', '1', ')'),
  structs: (n) => nested(n, 'struct(', '1', ')'),
  'structs of two': (n) => nested(n, 'struct(1, ', '1', ')'),
  casts: (n) => nested(n, 'cast(', '1', ' as string)'),
  CASE: (n) => nested(n, "case when id = 'a' then ", '1', ' end'),
  IF: (n) => nested(n, "if(id = 'a', 1, ", '1', ')'),
  COALESCE: (n) => nested(n, 'coalesce(null, ', 'id', ')'),
  'SAFE calls': (n) => nested(n, 'safe.substr(', 'id', ', 1)'),
  REPLACE: (n) => nested(n, 'replace(', 'id', ", 'a', 'aa')"),
  FORMAT: (n) => nested(n, "format('%T', ", 'id', ')'),
  TO_JSON_STRING: (n) => nested(n, 'to_json_string(', 'id', ')'),
  CONCAT: (n) => nested(n, 'concat(id, ', 'id', ')'),
  'a product of FORMAT': (n) => nested(n, "format('%s%s', id, ", 'id', ')'),
  NOT: (n) => nested(n, 'not ', 'true', ''),
  signs: (n) => nested(n, '- ', '1', ''),
  subscripts: (n) => nested(n, '', '[[1]]', '[0]'),
  comparisons: (n) => nested(n, '(1 = ', '1', ')'),
  'scalar subqueries': (n) => nested(n, '(select ', '1', ')'),
  'correlated subqueries': (n) => nested(n, '(select max(id || ', "'x'", ') from auth_logs)'),
  EXISTS: (n) => nested(n, 'exists (select 1 from edge_logs where ', 'true', ')'),
  'EXISTS over arrays': (n) =>
    nested(n, 'exists (select 1 from unnest(metadata) where ', 'exists (select 1 from auth_logs)', ')'),
  'subqueries in FROM': (n) => `select * from ${'(select * from '.repeat(n)}edge_logs${')'.repeat(n)}`,
  'joins in parentheses': (n) =>
    `select 1 from ${'('.repeat(n)}edge_logs e0${times(n, (i) => ` join auth_logs a${i} on true)`, '')}`,
  WITH: (n) => `${times(n, (i) => `with c${i} as (select 1) (`, '')}select 1${')'.repeat(n)}`,
  'unions in parentheses': (n) => `${'('.repeat(n)}select 1${' union all select 1)'.repeat(n)}`,
  types: (n) => `select cast(null as ${'array<struct<a '.repeat(n)}int64${'>>'.repeat(n)})`,
  windows: (n) => nested(n, 'max(', '1', ') over ()'),
  aggregates: (n) => nested(n, 'max(', '1', ')'),
  'CASE twice': (n) =>
    Array.from({ length: Math.min(n, 10) })
      .reduce<string>((inner) => `case when ${inner} = 1 then ${inner} else 0 end`, '1')
      .replace(/^/, 'select '),
};
