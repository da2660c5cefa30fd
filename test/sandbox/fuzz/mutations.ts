/** Changes to a query text. They work on tokens, so that literals stay what they are. */
import { lex, type Token } from '../../../packages/googlesql/src/lexer';
import type { Random } from './random';

type Mutation = (sql: string, random: Random, seeds: readonly string[]) => string;

/** A statement without its semicolon and what surrounds it. */
export function body(sql: string): string {
  const tokens = lex(sql);
  const last = tokens.findLast(({ kind, symbol }) => kind !== 'end' && symbol !== ';');
  return sql.slice(tokens[0]?.start ?? 0, last?.end ?? 0);
}

/** The text with some tokens rewritten; what stands between them stays. */
function rewrite(
  sql: string,
  change: (token: Token, text: string, i: number, all: readonly Token[]) => string,
): string {
  const tokens = lex(sql).filter(({ kind }) => kind !== 'end');
  let at = 0;
  let out = '';
  tokens.forEach((token, i) => {
    out += sql.slice(at, token.start) + change(token, sql.slice(token.start, token.end), i, tokens);
    at = token.end;
  });
  return out + sql.slice(at);
}

/** `«q»`: the query; `«other»`: another accepted one; `«out»`, `«call»`: what no query may read or call, the same in all of its places. */
export function filled(template: string, sql: string, random: Random, seeds: readonly string[] = [sql]): string {
  const parts: Readonly<Record<string, () => string>> = {
    q: () => body(sql),
    other: () => body(random.pick(seeds)),
    out: () => random.pick(OUTSIDE),
    call: () => random.pick(SMUGGLED_CALLS),
  };
  const known = new Map<string, string>();
  return template.replace(/«(\w+)»/g, (_, name: string) => {
    if (!known.has(name)) known.set(name, parts[name]!());
    return known.get(name)!;
  });
}

const filling =
  (template: string): Mutation =>
  (sql, random, seeds) =>
    filled(template, sql, random, seeds);

const BLANKS = [
  ' ',
  '\n',
  '\t',
  ' \r\n ',
  '/* x */',
  '/* from raw */ ',
  ' -- from secrets\n',
  ' # "\n',
  ' -- \r',
  '/**/',
];

/** Mutations that keep the verdict: what a query reads and calls is the same. */
export const NEUTRAL: readonly Mutation[] = [
  // Case of words; parameters keep theirs.
  (sql, random) =>
    rewrite(sql, ({ kind, quoted, symbol }, text) =>
      kind === 'identifier' && !quoted && symbol !== '' && random.chance(40)
        ? Array.from(text, (char) => (random.chance(50) ? char.toUpperCase() : char.toLowerCase())).join('')
        : text,
    ),
  // Blanks and comments between tokens that had some.
  (sql, random) => {
    const tokens = lex(sql);
    let out = '';
    tokens.forEach((token, i) => {
      const end = tokens[i - 1]?.end ?? 0;
      const gap = sql.slice(end, token.start);
      out += gap !== '' && random.chance(30) ? `${gap}${random.pick(BLANKS)}` : gap;
      out += sql.slice(token.start, token.end);
    });
    return out;
  },
  // Backticks around CTE tables.
  (sql, random) =>
    rewrite(sql, (_token, text) => (/^[a-z]+_logs$/i.test(text) && random.chance(50) ? `\`${text}\`` : text)),
  ...[
    '(«q»)',
    'select * from («q»)',
    'select q.* from («q») as q',
    'with w as («q») select * from w',
    'with edge_logs2 as (select id from edge_logs), w as («q») select w.* from w, edge_logs2',
    'with raw_edge_logs as («q») select r.* from raw_edge_logs as r',
    'select count(*) as n from («q») as q left join auth_logs as a on true',
    'select (select count(*) from («q»)) as n, exists(«q») as e',
    '(«q») union all («q»)',
    // Beside another query, in all the places that a query may have.
    'select a.* from («q») as a cross join («other») as b',
    'select * from («q») where exists(«other»)',
    'with a as («q»), b as («other») select a.* from a, b',
    'select array(select as struct * from («q»)) as rows_of_it',
    '«q»;',
  ].map(filling),
  (sql) => `-- said before\n${sql}`,
];

export const OUTSIDE = [
  'raw_edge_logs',
  'billing_events',
  '`billing_events`',
  'logs.raw_edge_logs',
  '`acme-logs.prod.billing_events`',
  'acme-logs.prod.billing_events',
  '`acme-logs`.prod.billing_events',
  'prod.INFORMATION_SCHEMA.TABLES',
];

export const SMUGGLED_CALLS = [
  "external_query('us.c', 'select 1')",
  'session_user()',
  'lib.send_away(1)',
  '`lib.send_away`(1)',
];

/** Mutations after which the query reads or calls something outside, wherever that lands; null: no place for it. */
export const SMUGGLING: readonly ((sql: string, random: Random, seeds: readonly string[]) => string | null)[] = [
  // In the place of a table.
  (sql, random) => replaceOne(sql, random, (_token, i, all) => isTable(all, i), random.pick(OUTSIDE)),
  // As a scalar subquery in the place of a literal or a bare word of an expression.
  (sql, random) => {
    const subquery = `(select max(id) from ${random.pick(OUTSIDE)})`;
    return replaceOne(sql, random, (token, i, all) => isOperand(token, i, all), subquery);
  },
  (sql, random) => replaceOne(sql, random, (token, i, all) => isOperand(token, i, all), random.pick(SMUGGLED_CALLS)),
  (sql, random) =>
    `with w as (select * from ${random.pick(OUTSIDE)}) ${/^\s*with\b/i.test(body(sql)) ? 'select * from w' : body(sql)}`,
  ...[
    '(«q») union all select * from «out»',
    'select q.* from («q») as q join «out» as b on true',
    'select q.* from («q») as q, «out»',
    'select * from («q») where exists(select 1 from «out»)',
    'select * from («q») order by (select count(*) from «out»)',
    'select * from («q») limit (select count(*) from «out»)',
    'select array(select as struct * from «out») as x from («q»)',
    '«q»; select * from «out»',
    'select * from («q») cross join (edge_logs a cross join «out»)',
    "select q.* from («q») q where 'x' in (select id from «out»)",
    'select * from («q»), unnest(array(select id from «out»))',
    "select * from «out» pivot(count(*) for id in ('a')), («q»)",
    'select row_number() over (order by (select max(id) from «out»)), («q») as x',
    'select count(*) from («q») group by (select max(id) from «out»)',
    'select (select max(id) from «out»)::text, * from («q»)',
    'select * from («q») |> join «out» on true',
    'select * from («q»), «out» tablesample system (1 percent)',
    // Table functions, models and aliases that are no tables.
    "select q.* from («q») q, external_query('us.c', 'select 1')",
    'select * from ml.predict(model m, («q»))',
    'select * from edge_logs as billing_events, billing_events, («q»)',
    'select * from (select * from edge_logs as logs), logs.raw_edge_logs, («q»)',
    // A CTE of the name, which is not visible where it is read.
    'with billing_events as (select * from billing_events) select * from billing_events, («q»)',
    'select * from (with billing_events as («q») select 1 as one), billing_events',
  ].map(filling),
];

const WORDS =
  "select from where group by having order limit with as union all distinct join on using cross left unnest offset pivot unpivot qualify window over partition rows between case when then end cast safe_cast struct array exists not in is null like and or interval extract ( ) [ ] , . ; + - * / || = < > @ ? id e.metadata metadata edge_logs billing_events 'x' 1 1.5 `a b` b'x' count(*) except replace asc nulls first ::text ::int8 'it''s' '\\d' limit rows preceding ignore having max tablesample lateral recursive ordinal grouping sets rollup cube intersect values table all any some full inner natural right default window |> for system_time set exclude".split(
    ' ',
  );

/** Any change at all: most results are no queries. Whatever they are, two parsers must agree on it. */
export const ARBITRARY: readonly Mutation[] = [
  (sql, random) => editOne(sql, random, () => ''),
  (sql, random) => editOne(sql, random, (text) => `${text} ${text}`),
  (sql, random) => editOne(sql, random, (text) => `${text} ${random.pick(WORDS)}`),
  (sql, random) => editOne(sql, random, () => random.pick(WORDS)),
  // A piece of another query in the place of a token.
  (sql, random, seeds) => editOne(sql, random, () => piece(random.pick(seeds), random)),
  (sql, random, seeds) => editOne(sql, random, (text) => `${text} ${piece(random.pick(seeds), random)}`),
  // Two tokens change places.
  (sql, random) => {
    const count = Math.max(1, lex(sql).length - 1);
    const [a, b] = [random.below(count), random.below(count)];
    return rewrite(sql, (_token, text, i, all) => {
      const other = i === a ? all[b] : i === b ? all[a] : undefined;
      return other === undefined ? text : sql.slice(other.start, other.end);
    });
  },
];

/** Up to eight tokens in a row. */
function piece(sql: string, random: Random): string {
  const tokens = lex(sql).filter(({ kind }) => kind !== 'end');
  const first = random.below(Math.max(1, tokens.length));
  const last = Math.min(tokens.length - 1, first + random.below(8));
  return sql.slice(tokens[first]?.start ?? 0, tokens[last]?.end ?? 0);
}

function editOne(sql: string, random: Random, change: (text: string) => string): string {
  const at = random.below(Math.max(1, lex(sql).length - 1));
  return rewrite(sql, (_token, text, i) => (i === at ? change(text) : text));
}

function replaceOne(
  sql: string,
  random: Random,
  fits: (token: Token, i: number, all: readonly Token[]) => boolean,
  replacement: string,
): string | null {
  const all = lex(sql);
  const places = all.flatMap((token, i) => (fits(token, i, all) ? [i] : []));
  if (places.length === 0) return null;
  const place = random.pick(places);
  return rewrite(sql, (_token, text, i) => (i === place ? replacement : text));
}

function isTable(all: readonly Token[], i: number): boolean {
  const before = all[i - 1]?.symbol;
  return (
    /^[a-z]+_logs$/i.test(all[i]?.value ?? '') && (before === 'FROM' || before === 'JOIN') && all[i + 1]?.symbol !== '.'
  );
}

/** A string or number where an expression stands, but not in a typed literal, an alias list or a LIMIT. */
function isOperand(token: Token, i: number, all: readonly Token[]): boolean {
  if (token.kind !== 'string' && token.kind !== 'integer') return false;
  return ['=', '<', '>', '+', '-', '*', 'THEN', 'ELSE', 'SELECT', 'AND', 'OR', 'WHEN', '||'].includes(
    all[i - 1]?.symbol ?? '',
  );
}
