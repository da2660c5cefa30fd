/** SQL of every clause, repeated or nested up to the bounds on a text (docs/sandbox.md) and beyond. */
import { times } from './requests';

/** Makes one text of about `n` units of something. */
export type Shape = (n: number) => string;

/**
 * `«unit¦separator»` is the unit n times, with `, ` between where no separator is given, and after `≤97 ` so many times at the most; within it
 * `#` is the number of the unit, `##` that of the next. `¤` is n.
 */
const expanded = (template: string, n: number): string =>
  template
    .replace(/«(?:≤(\d+) )?([^¦»]*)(?:¦([^»]*))?»/g, (_, most: string | undefined, unit: string, between = ', ') => {
      const numbered = (i: number): string => unit.replaceAll('##', String(i + 1)).replaceAll('#', String(i));
      return times(Math.min(n, Number(most ?? n)), numbered, String(between));
    })
    .replaceAll('¤', String(n));

/** @param around what stands around each template */
export function shapes(
  templates: Readonly<Record<string, string>>,
  around = (template: string): string => template,
): Readonly<Record<string, Shape>> {
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name, (n) => expanded(around(template), n)]),
  );
}

/** What stands in a select list. */
const ITEMS = {
  'select items': 'id as c#',
  'items of one name': 'id',
  'fields that are read': '(select m.request[0].path from unnest(metadata) m) as c#',
  windows: 'sum(1) over (partition by id order by timestamp rows between # preceding and # following) as w#',
  aggregates: "countif(id = '#') as c#",
  'distinct aggregates': "count(distinct concat(id, '#')) as c#",
  'aggregated arrays': 'array_agg(id order by timestamp limit ##) as c#',
  'scalar subqueries': "(select max(id) from auth_logs where id > '#') as c#",
  casts:
    'safe_cast(id as int64) as c#, safe_cast(id as float64) as d#, safe_cast(id as timestamp) as e#, safe_cast(id as numeric) as f#, safe_cast(id as date) as g#',
  patterns: "regexp_contains(id, r'(a{1,20}){20}b#') as c#",
  'casts with colons': 'id::text as c#',
  parameters: '@project as c#',
};

/** A select list. */
const LISTS = {
  'names left out': '* except («c#»)',
  'names replaced': "* replace («'#' as id»)",
  'texts joined': '«id¦ || » as x',
  sums: '«#¦ + » as x',
  'branches of CASE': "case id «when '#' then #¦ » end as x",
  arguments: 'greatest(«#») as x',
  elements: '[«#»] as x',
  'fields of a struct': 'struct(«# as f#») as x',
  'a format of directives': "format('«%s¦»'«, id¦») as x",
  'a time format of directives': "format_timestamp('«%F %T %A ¦»', timestamp) as x",
  'a time format that is read': "safe.parse_timestamp('«%F %T ¦»', id) as x",
  'a JSON path': "json_value(event_message, '$«.a[0]¦»') as x",
  digits: '«9¦» as x',
  'digits of NUMERIC': "bignumeric '«9¦»' as x",
  'an exponent': '1e«9¦» as x',
  'a long name': '«x¦»',
  'a long name in backticks': '`«x¦»` as `«y¦»`',
  'a path of names': 'metadata«.a¦»',
  'an unknown function': '«f¦»(id)',
  'a literal of escapes': "'«\\u00e9\\x41\\n¦»' as x",
  'a literal of quotes': "'«''¦»' as x",
  'unknown escapes': "'«\\d¦»' as x",
  'a chain of colons': 'id«::text¦» as x',
  'a literal not closed': "'«x¦»",
  intervals: 'timestamp_add(timestamp, interval «9¦» day) as x',
  'named types': 'cast(null as struct<«f# int64»>) as x',
};

/** A CTE over the one before it, `c#`, whose columns are `id` and `x`. */
const CHAINS = {
  'CTEs in a chain': 'select * from c#',
  'CTEs read twice': 'select a.id, a.x from c# a, c# b',
  'CTEs joined with themselves': 'select a.id, b.x from c# a join c# b using (id)',
  'CTEs in EXISTS': 'select id, x from c# where exists (select 1 from c#)',
  'CTEs in IN': 'select id, x from c# where id in (select id from c#)',
  'CTEs in scalar subqueries': 'select id, (select max(x) from c#) as x from c#',
  'CTEs in unions': 'select * from c# union all select * from c#',
  'CTEs that aggregate': 'select id, sum(x) as x from c# group by id having count(*) < (select count(*) + 1 from c#)',
  'CTEs that copy an expression': 'select id, x + x as x from c#',
  'CTEs that join texts': 'select concat(id, id) as id, x from c#',
  'CTEs that format': "select format('%T %t', id, id) as id, x from c#",
};

const STATEMENTS = {
  stars: "select «e.* except (timestamp, event_message, metadata) replace ('#' as id)» from edge_logs e",
  'cross joins': 'select count(*) n from «edge_logs e#»',
  'joins with USING': 'select count(*) n from edge_logs e «join auth_logs a# using (id)¦ »',
  'joins with ON': 'select count(*) n from edge_logs e «left join auth_logs a# on a#.id = e.id¦ »',
  'unnested arrays': 'select count(*) n from edge_logs e «cross join unnest(e.metadata) m#¦ »',
  'correlated paths': 'select count(*) n from edge_logs e«, e.metadata m#, m#.request r#¦»',
  unions: '«select # as x¦ union all »',
  'distinct unions': "«(select id from edge_logs where id <> '#')¦ union distinct »",
  'unions of wide rows': '«select * from edge_logs¦ union all »',
  'CTEs of one name': 'with «c as (select 1 x)» select 1',
  'CTEs of one row':
    'with c0 as (select 1 x), «c## as (select a.x from c# a, c# b)» select u from c¤, unnest([c¤.x]) u',
  'CTEs that wrap in structs':
    'with c0 as (select 1 as x), «c## as (select struct(x as a, x as b) as x from c#)» select x from c¤',
  'CTEs with constant rows':
    'select x from edge_logs, «(select (select x from edge_logs, ¦»(select 1 as x) c« limit 1) as x) d¦»',
  'CTEs twice as wide':
    'with c0 as (select * from edge_logs), «c## as (select a.*, b.* from c# a, c# b)» select 1 from c¤',
  'windows by name': 'select row_number() over w0 as x from edge_logs window w0 as (order by id)«, w## as (w#)¦»',
  'window functions of one window': 'select «lag(id, #) over w as l#» from edge_logs window w as (order by id)',
  QUALIFY: 'select id from edge_logs where true qualify «row_number() over (order by id) > #¦ and »',
  'group keys': "select count(*) n from edge_logs group by «concat(id, '#')»",
  'group keys by position': "select «concat(id, '#') as c#» from edge_logs group by «##»",
  rollup: 'select count(*) n from edge_logs group by rollup («id»)',
  cubes: 'select count(*) n from edge_logs group by grouping sets («cube (id, timestamp, event_message)»)',
  'a product of grouping sets': 'select count(*) n from edge_logs group by «rollup (id, timestamp)»',
  'sort keys': "select id from edge_logs order by «concat(id, '#') desc»",
  'sort positions': 'select id from edge_logs order by «1»',
  'PIVOT columns': "select * from (select id, 1 as n from edge_logs) pivot (sum(n) for id in («'#' as p#»))",
  'PIVOT aggregates':
    "select * from (select id, 1 as n from edge_logs) pivot («sum(n) as s#» for id in ('a', 'b', 'c'))",
  'UNPIVOT columns': 'select * from (select «# as c#») unpivot (v for k in («c#»))',
  'conditions with OR': "select id from edge_logs where «id = '#'¦ or »",
  'conditions with AND and OR': "select id from edge_logs where «(id = '#' or id like '%#%')¦ and »",
  'items of IN': "select id from edge_logs where id in («'#'»)",
  'items of IN, all of other types': "select id from edge_logs where 1 in («#.5, numeric '#', #»)",
  'a LIKE pattern': "select id from edge_logs where id like '«%_¦»'",
  'a table path': 'select 1 from «a¦.»',
  comments: '«/* x */ -- y\n¦» select 1',
  'a comment not closed': 'select 1 «/* ¦»',
  semicolons: 'select 1«;¦»',
  blanks: 'select« ¦»1',
  garbage: 'select «a + ¦» from from',
  'a limit': 'select id from edge_logs limit «9¦» offset «9¦»',
  pipes: 'from edge_logs «|> where true ¦»',
};

/** What repeats, by its name. */
export const REPEATED: Readonly<Record<string, Shape>> = {
  ...shapes(ITEMS, (item) => `select «${item}» from edge_logs`),
  ...shapes(LISTS, (list) => `select ${list} from edge_logs`),
  ...shapes(CHAINS, (cte) => `with c0 as (select id, 1 as x from edge_logs), «c## as (${cte})» select * from c¤`),
  ...shapes(STATEMENTS),
};

/** Before, within and after an expression. */
const EXPRESSIONS = {
  parentheses: '(·1·)',
  brackets: '[·1·]',
  'array subqueries': 'array(select ·1·)',
  structs: 'struct(·1·)',
  'structs of two': 'struct(1, ·1·)',
  casts: 'cast(·1· as string)',
  CASE: "case when id = 'a' then ·1· end",
  IF: "if(id = 'a', 1, ·1·)",
  COALESCE: 'coalesce(null, ·id·)',
  'SAFE calls': 'safe.substr(·id·, 1)',
  REPLACE: "replace(·id·, 'a', 'aa')",
  FORMAT: "format('%T', ·id·)",
  TO_JSON_STRING: 'to_json_string(·id·)',
  CONCAT: 'concat(id, ·id·)',
  'a product of FORMAT': "format('%s%s', id, ·id·)",
  NOT: 'not ·true·',
  signs: '- ·1·',
  subscripts: '·[[1]]·[0]',
  comparisons: '(1 = ·1·)',
  'scalar subqueries': '(select ·1·)',
  'correlated subqueries': "(select max(id || ·'x'·) from auth_logs)",
  EXISTS: 'exists (select 1 from edge_logs where ·true·)',
  'EXISTS over arrays': 'exists (select 1 from unnest(metadata) where ·exists (select 1 from auth_logs)·)',
  windows: 'max(·1·) over ()',
  aggregates: 'max(·1·)',
};

/** What nests, by its name. */
export const NESTED: Readonly<Record<string, Shape>> = {
  ...shapes(EXPRESSIONS, (expression) => {
    const [open = '', inner = '', close = ''] = expression.split('·');
    return `select «${open}¦»${inner}«${close}¦» as x from edge_logs`;
  }),
  ...shapes({
    'subqueries in FROM': 'select * from «(select * from ¦»edge_logs«)¦»',
    'joins in parentheses': 'select 1 from «(¦»edge_logs e0« join auth_logs a# on true)¦»',
    WITH: '«with c# as (select 1) (¦»select 1«)¦»',
    'unions in parentheses': '«(¦»select 1« union all select 1)¦»',
    types: 'select cast(null as «array<struct<a ¦»int64«>>¦»)',
  }),
  'CASE twice': (n) =>
    Array.from({ length: Math.min(n, 10) })
      .reduce<string>((inner) => `case when ${inner} = 1 then ${inner} else 0 end`, '1')
      .replace(/^/, 'select '),
};
