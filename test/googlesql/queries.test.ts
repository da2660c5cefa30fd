import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { lineAndColumn, QueryError } from '../../src/errors';
import { forEachChild, walk, type SyntaxNode } from '../../src/googlesql/syntax-walk';
import { QUERY_BOUNDS } from '../../src/googlesql/bounds';
import { lex } from '../../src/googlesql/lexer';
import { parseQuery, surveyQuery } from '../../src/googlesql/parser';
import type { FromItem, Query, Select } from '../../src/googlesql/syntax';
import { runs } from '../scale';

function lines(file: string): { id: string; sql: string }[] {
  const text = readFileSync(`test/cases/${file}`, 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as { id: string; sql: string });
}

function select(sql: string): Select {
  const { body } = parseQuery(sql);
  if (body.kind !== 'select') throw new Error(`no SELECT: ${sql}`);
  return body;
}

/** A FROM clause in brackets: `((a left b) inner c)`. */
function tables(item: FromItem): string {
  const alias = 'alias' in item && item.alias !== null ? ` as ${item.alias.name}` : '';
  switch (item.kind) {
    case 'table_path':
      return item.path.map(({ name }) => name).join('.') + alias + (item.offset === null ? '' : ' offset');
    case 'unnest':
      return `unnest${alias}${item.offset === null ? '' : ` offset ${item.offset.alias?.name ?? ''}`}`;
    case 'join': {
      const condition = item.on !== null ? ' on' : item.using.length > 0 ? ' using' : '';
      return `(${tables(item.left)} ${item.type} ${tables(item.right)}${condition})`;
    }
    case 'parenthesised_join':
      return `[${tables(item.item)}]`;
    case 'pivot':
    case 'unpivot':
      return `${item.kind}(${tables(item.input)})${alias}`;
    case 'subquery_item':
    case 'table_function':
      return item.kind + alias;
  }
}

function from(sql: string): string {
  const item = select(`select 1 from ${sql}`).from;
  if (item === null) throw new Error('no FROM');
  return tables(item);
}

function fault(text: string): QueryError {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe('consumer queries', () => {
  it.each([...lines('log-queries.jsonl'), ...lines('log-queries-error.jsonl')])('reads $id', ({ sql }) => {
    const { query, end, tokens } = surveyQuery(sql);
    expect(sql.slice(end).replace(/;|\s/g, '')).toBe('');
    expect(sql.slice(query.span.start, query.span.end)).not.toMatch(/^\s|;\s*$/);
    expect(tokens.at(-1)).toMatchObject({ kind: 'end', end: sql.length });
  });

  it('reads every query that the sandbox accepts', () => {
    const cases = JSON.parse(readFileSync('test/cases/sandbox.json', 'utf8')) as { kind: string; consumer: string }[];
    const accepted = cases.filter(({ kind }) => kind === 'accept');
    expect(accepted.length).toBeGreaterThan(40);
    for (const { consumer } of accepted) expect(surveyQuery(consumer).unsupported).toEqual([]);
  });

  it('refuses what only the lenient reading takes', () => {
    for (const { sql } of lines('log-queries-lenient.jsonl')) expect(fault(sql).fault).toBe('invalidQuery');
  });
});

describe('FROM', () => {
  it.each([
    ['a b, c.d as e, unnest(f) g with offset h', '((a as b comma c.d as e) comma unnest as g offset h)'],
    ['a join b on x left join c using (y) cross join d', '(((a inner b on) left c using) cross d)'],
    ['a join b join c on x on y', '(a inner (b inner c on) on)'],
    ['a join b join c on x left join d on y on z', '(a inner ((b inner c on) left d on) on)'],
    ['a join b cross join c join d on x on y', '(a inner ((b cross c) inner d on) on)'],
    ['a left join unnest(b) c', '(a left unnest as c)'],
    ['a left join (b as c cross join unnest(c.d) e) on x', '(a left [(b as c cross unnest as e)] on)'],
    ['((a join b on x) join c on y)', '[([(a inner b on)] inner c on)]'],
    ['((select 1) a join b on x)', '[(subquery_item as a inner b on)]'],
    ['((select 1) union all (select 2)) a', 'subquery_item as a'],
    ['(with a as (select 1) select * from a)', 'subquery_item'],
    ['a pivot, b unpivot', '(a as pivot comma b as unpivot)'],
    ['a pivot (sum(x) as s for y in (1 as one, 2)) p', 'pivot(a) as p'],
    ['a as b unpivot include nulls ((x, y) for n in ((c, d) as "k")) u', 'unpivot(a as b) as u'],
    ['acme-logs-2.prod.t', 'acme-logs-2.prod.t'],
    ['`a.b`.c', 'a.b.c'],
    ['a.select.1x', 'a.select.1x'],
    ['f(table a.b, model c, x => 1) g', 'table_function as g'],
    ['table(a.f(1))', 'table_function'],
  ])('reads %s', (sql, expected) => {
    expect(from(sql)).toBe(expected);
  });

  it.each([
    '(a)',
    '(a, b)',
    '((a join b on x))',
    '(a join b on x) c',
    'a join b on x on y',
    'a join b join c join d on x on y',
    'a, b join c join d on x on y',
    'a join b join c on x on y, d',
    'a, b right join c on x',
    'a, b full join c on x',
    'a outer join b on x',
    'lateral (select 1)',
    'acme -logs.t',
    '`acme`-logs.t',
    'a[0]',
    '@a',
    "'a'",
    'unnest()',
    'unnest(select 1)',
    'a for update',
    'a,',
    '(select 1) a with offset',
  ])('refuses %s', (sql) => {
    expect(fault(`select 1 from ${sql}`).fault).toBe('invalidQuery');
  });
});

describe('clauses', () => {
  it('reads a SELECT with all of them', () => {
    const text = `select distinct as struct a.* except (x) replace (y as z), b as c, d e, from t where f group by g, rollup(h, (i, j)),
      grouping sets ((k, l), m, ()) having n qualify o window w as (partition by p), v as w`;
    expect(select(text)).toMatchObject({
      distinct: true,
      as: 'struct',
      items: [
        { kind: 'select_star', of: { kind: 'path' }, except: [{ name: 'x' }], replace: [{ alias: { name: 'z' } }] },
        { alias: { name: 'c' } },
        { alias: { name: 'e' } },
      ],
      groupBy: {
        items: [
          { kind: 'expression' },
          { kind: 'rollup', sets: [[{}], [{}, {}]] },
          {
            kind: 'grouping_sets',
            items: [{ kind: 'list' }, { kind: 'expression' }, { kind: 'list', expressions: [] }],
          },
        ],
      },
      having: { kind: 'path' },
      qualify: { kind: 'path' },
      windows: [{ name: { name: 'w' } }, { window: { base: { name: 'w' } } }],
    });
    expect(select('select a from t group by all').groupBy).toMatchObject({ all: true });
  });

  it('puts ORDER BY and LIMIT of set operations on the whole', () => {
    const query = parseQuery(
      'select 1 union all (select 2 limit 1) union all select 3 order by 1 desc nulls first limit @n offset 2',
    );
    expect(query).toMatchObject({
      body: {
        kind: 'set_operation',
        operator: 'union',
        distinct: false,
        inputs: [{ kind: 'select' }, { kind: 'query' }, {}],
      },
      orderBy: [{ descending: true, nulls: 'first' }],
      limit: { count: { kind: 'parameter' }, offset: { value: '2' } },
    });
  });

  it('reads WITH in its order and says whether it is recursive', () => {
    const query = parseQuery('with recursive a as (select 1), `b c` as ((select 2)) (select * from a) limit 1');
    expect(query.with).toMatchObject({
      recursive: true,
      entries: [{ name: { name: 'a' } }, { name: { name: 'b c' } }],
    });
  });

  it.each([
    'select',
    'select from t',
    'select a,, b from t',
    'select a as from t',
    'select a + b.* from t',
    'select -a.* from t',
    'select * a from t',
    'select * except () from t',
    'select a b c from t',
    'select a from t b c',
    'select a from t qualify b having c',
    'select a from t limit 1 order by a',
    'select a from t offset 1',
    'select a from t limit 1, 2',
    'select 1 union select 2',
    'select 1 order by 1 union all select 2',
    'with a as (select 1), select 1',
    'with a as select 1 select 1',
    'with a as (select 1)',
    '(select 1',
    'select 1)',
    '(select 1) a',
    'select a from t group by a,',
    'select a from t order by a nulls',
    'select distinct on (a) b from t',
  ])('refuses %s', (sql) => {
    expect(fault(sql).fault).toBe('invalidQuery');
  });

  it('keeps non-reserved words as names', () => {
    const words =
      'date timestamp value offset first last row key time json pivot safe_cast match_recognize system'.split(' ');
    for (const word of words) {
      expect(select(`select ${word}, a as ${word}, b ${word} from ${word} ${word}`).items).toHaveLength(3);
    }
    for (const word of ['qualify', 'rows', 'lookup', 'groups', 'of', 'at']) {
      expect(fault(`select ${word} from t`).fault).toBe('invalidQuery');
    }
  });
});

describe('constructs that are refused by name', () => {
  it.each([
    ['FOR SYSTEM_TIME AS OF', 'select * from a for system_time as of (select max(x) from hidden)'],
    ['TABLESAMPLE', 'select * from a tablesample system (10 percent) join hidden on true'],
    ['the pipe operator ASSERT', 'from a |> where x |> assert (select 1 from hidden) > 0 |> limit 1'],
    ['the pipe operator CALL', 'from hidden |> call f(1)'],
    ['TABLESAMPLE', 'from a |> tablesample system (10 percent) |> join hidden using (id)'],
    [
      'MATCH_RECOGNIZE',
      `select * from a match_recognize (partition by b order by c measures max(d) as e after match skip past last row
       pattern ((f | g)+) define f as f.x > (select 1 from hidden)) as h`,
    ],
    ['COLLATE with a parameter', 'select a from b order by c collate @d, (select 1 from hidden)'],
    ['= ANY', "select a = any ((select 1 from hidden), 'x')"],
    ['a chained function call', 'select (select 1 from hidden).f(1)'],
    ['a MODEL argument', 'select f(model a.b, (select 1 from hidden))'],
    ['INTERSECT ALL', 'select 1 intersect all select 2 from hidden'],
    ['EXCEPT ALL', 'select 1 except all select 2 from hidden'],
    ['a mix of set operations without parentheses', 'select 1 union all select 2 except distinct select 3 from hidden'],
    ['CROSS JOIN with a condition', 'select 1 from a cross join hidden on true'],
    ['NATURAL JOIN', 'select 1 from a natural join hidden'],
    ['LIMIT with anything but a number or a parameter', 'select 1 limit (select 1 from hidden)'],
    ['UNNEST of several arrays', 'select 1 from unnest([1], array(select 1 from hidden))'],
    ['SELECT WITH', 'select with differential_privacy options (epsilon = 1) a from hidden'],
    ['WHERE inside a function call', 'select count(a where b in (select 1 from hidden))'],
  ])('%s: %s', (name, sql) => {
    const { query, unsupported } = surveyQuery(sql);
    expect(unsupported.map((construct) => construct.name)).toContain(name);
    const paths: string[] = [];
    walk(query, (node) => {
      if (node.kind === 'table_path') paths.push(node.path.map((part) => part.name).join('.'));
    });
    expect(paths).toContain('hidden');
    expect(fault(sql)).toMatchObject({
      fault: 'invalidQuery',
      message: expect.stringContaining('is not supported') as string,
    });
  });
});

describe('pipe operators', () => {
  it.each([
    ['from a', ''],
    ['from a |> where x |> join b using (id)', 'pipe_where pipe_join'],
    [
      'select 1 |> extend 2 as y, |> set x = 1, y = 2, |> drop x, |> rename y as z,',
      'pipe_extend pipe_set pipe_drop pipe_rename',
    ],
    ['from a |> select distinct b, c window w as (order by b),', 'pipe_select'],
    ['from a |> aggregate group by b |> as x', 'pipe_aggregate pipe_as'],
    [
      'from a |> aggregate count(*) as n desc nulls last, group and order by b as c desc, rollup(d, e)',
      'pipe_aggregate',
    ],
    ['from a |> order by b desc |> limit 1 offset 2 |> distinct', 'pipe_order_by pipe_limit pipe_distinct'],
    [
      'from a |> union all (select 1), (from b), |> full outer union all by name (from c)',
      'pipe_set_operation pipe_set_operation',
    ],
    ['from a |> left union all by name on (x) (from c) |> left join c on true', 'pipe_set_operation pipe_join'],
    ['from a |> pivot (sum(x) for y in (1)) as p |> unpivot (v for n in (b, c)) u', 'pipe_pivot pipe_unpivot'],
    [
      'from a |> with b as (select 1), c as (from b), |> cross join c |> window sum(x) over ()',
      'pipe_with pipe_join pipe_extend',
    ],
    ['(select 1) as t |> where t.x', 'pipe_as pipe_where'],
    ['with a as (select 1) from a |> order by 1', 'pipe_order_by'],
  ])('%s', (sql, kinds) => {
    expect(
      parseQuery(sql)
        .pipes.map(({ kind }) => kind)
        .join(' '),
    ).toBe(kinds);
  });

  it('are read wherever a query is', () => {
    const sql = 'select (from a |> limit 1), array(from b), exists(from c) from (from d |> as x) where 1 in (from e)';
    const found: string[] = [];
    walk(parseQuery(sql), (node) => {
      if (node.kind === 'from_query' && node.from.kind === 'table_path') found.push(node.from.path[0]?.name ?? '');
    });
    expect(found.sort().join('')).toBe('abcde');
  });

  it.each([
    ['from a where x', 'where', 'WHERE is not supported after a FROM query: consider the pipe operator |> WHERE.'],
    ['from a group by x', 'group', '|> AGGREGATE'],
    ['from a limit 1', 'limit', '|> LIMIT'],
    ['from a union all select 1', 'union', '|> UNION'],
    ['from a |> group by x', 'group', 'GROUP BY is part of AGGREGATE'],
    ['from a |> aggregate', 'aggregate', 'cannot have both an empty aggregate list and an empty GROUP BY'],
    ['from a |> aggregate group by ()', 'aggregate', 'cannot have both an empty aggregate list'],
    ['from a |> set t.x = 1', 't.', 'by name alone'],
    ['from a |> drop t.x', 't.', 'by name alone'],
    ['from a |> rename t.x as y', 't.', 'by name alone'],
    ['from a |> extend *', '*', '*'],
    ['from a |> join b on true on true', 'on true on true', 'belongs to no JOIN'],
    ['from a |> union all select 1', 'select', 'expected ('],
    ['from a |> left union all (select 1)', 'left', 'needs BY NAME or CORRESPONDING'],
    ['from a |> union all strict by name (select 1)', 'by', 'expected CORRESPONDING'],
    ['from a |> fork (|> limit 1)', 'fork', 'The pipe operator FORK is not supported.'],
    ['from a |> static_describe', 'static_describe', 'The pipe operator STATIC_DESCRIBE is not supported.'],
    ['from a |> nonsense', 'nonsense', 'expected a pipe operator'],
    ['with a as (select 1) |> limit 1', '|>', 'expected SELECT'],
    ['from a |>', '', 'expected a pipe operator'],
  ])('refuses %s', (sql, at, message) => {
    const error = fault(sql);
    expect(error.fault).toBe('invalidQuery');
    expect(error.message).toContain(message);
    if (at !== '') expect(sql.slice(error.span?.start).startsWith(at.split(' ')[0] ?? '')).toBe(true);
  });

  it('are bounded', () => {
    expect(parseQuery(`from a${' |> distinct'.repeat(QUERY_BOUNDS.pipes)}`).pipes).toHaveLength(QUERY_BOUNDS.pipes);
    const many = ' |> distinct'.repeat(QUERY_BOUNDS.pipes / 2);
    expect(fault(`from (from a${many})${many} |> distinct`).message).toBe('A query has at most 200 pipe operators.');
  });
});

describe('parameters', () => {
  it('lists all of them, also those in arguments of table functions', () => {
    const { parameters } = surveyQuery('select @a, @@b.c, ? from f(@d) limit @e');
    expect(parameters.map(({ form, name }) => `${form} ${name}`)).toEqual([
      'named a',
      'system b.c',
      'positional ',
      'named d',
      'named e',
    ]);
  });
});

describe('positions', () => {
  it.each([
    ['select a\nfrom t\nwhere = 1', 3, 7, 'unexpected "=", expected an expression', '='],
    ['select a from', 1, 14, 'ends too early', ''],
    ["select 'é😀', from from t", 1, 19, 'keyword FROM', 'from'],
    ['select f(a b)', 1, 12, 'expected )', 'b'],
  ])('%s', (sql, line, column, words, near) => {
    const { span, message } = fault(sql);
    expect(message).toContain(words);
    expect(lineAndColumn(sql, span?.start ?? -1)).toEqual({ line, column });
    expect(sql.slice(span?.start, span?.end)).toBe(near);
  });
});

describe('bounds', () => {
  it.each([
    ['minus', `select ${'- '.repeat(101)}1`],
    ['NOT', `select ${'not '.repeat(101)}a`],
    ['INTERVAL', `select ${'interval '.repeat(101)}1`],
    ['types', `select cast(a as ${'array<'.repeat(101)}int64${'>'.repeat(101)})`],
    ['subscripts', `select a${'[0]'.repeat(501)}`],
    ['fields', `select f(a)${'.b'.repeat(501)}`],
    ['joins', `select 1 from a${', a'.repeat(501)}`],
    ['nested chains', `select ${'('.repeat(6)}1${`${' + 1'.repeat(99)})`.repeat(6)}`],
    ['WITH entries', `with ${Array.from({ length: 101 }, (_, i) => `a${i} as (select 1)`).join()} select 1`],
    ['WITH entries of subqueries', `select ${'(with a as (select 1) select 1),'.repeat(101)} 1`],
  ])('refuses too many %s with a place', (_name, sql) => {
    expect(fault(sql)).toMatchObject({ fault: 'invalidQuery', span: { start: expect.any(Number) as number } });
  });

  it.each([
    ['parentheses', `select ${'('.repeat(100)}1${')'.repeat(100)}`],
    ['subqueries', `${'select ('.repeat(100)}select 1${')'.repeat(100)}`],
    ['FROM subqueries', `${'select * from ('.repeat(100)}select 1${')'.repeat(100)}`],
    ['joins in parentheses', `select 1 from ${'('.repeat(100)}a${' join b on c)'.repeat(100)}`],
    ['signs', `select ${'- '.repeat(100)}1`],
    ['CASE', `select ${'case when a then '.repeat(100)}1${' end'.repeat(100)}`],
    ['WITH entries', `with ${Array.from({ length: 100 }, (_, i) => `a${i} as (select 1)`).join()} select 1`],
    ['set operations', `select 1${' union all select 1'.repeat(3000)}`],
    ['list items', `select a in (${'1,'.repeat(9900)}1)`],
  ])('takes as many %s as allowed', (_name, sql) => {
    expect(() => parseQuery(sql)).not.toThrow();
  });
});

describe('any text', () => {
  const texts = [...lines('log-queries.jsonl'), ...lines('log-queries-lenient.jsonl')].map(({ sql }) => sql);

  it('is read or refused with a span inside it, whatever is cut out or put in', () => {
    const words = fc.constantFrom(
      ...'( ) , . * + - < > [ ] select from where not in and between case end as with over @ ;'.split(' '),
    );
    const edit = fc.tuple(fc.nat(1000), fc.nat(5), words);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 3 }), (sql, edits) => {
        let text = sql;
        for (const [at, length, word] of edits) text = `${text.slice(0, at)} ${word} ${text.slice(at + length)}`;
        try {
          checkSpans(surveyQuery(text).query, text);
        } catch (error) {
          if (!(error instanceof QueryError)) throw error;
          expect(error.span?.start).toBeGreaterThanOrEqual(0);
          expect(error.span?.end).toBeLessThanOrEqual(text.length);
        }
      }),
      { ...runs(2000) },
    );
  });

  it('has spans that begin and end at tokens and lie within those of their parents', () => {
    for (const sql of texts.slice(0, 70)) checkSpans(parseQuery(sql), sql);
  });
});

/** Every span is that of whole tokens; children lie within their parents, but for parentheses around a lone operand. */
function checkSpans(query: Query, text: string): void {
  const tokens = lex(text);
  const starts = new Set(tokens.map(({ start }) => start));
  const ends = new Set(tokens.map(({ end }) => end));
  walk(query, (node: SyntaxNode) => {
    expect(starts.has(node.span.start)).toBe(true);
    expect(ends.has(node.span.end)).toBe(true);
    forEachChild(node, ({ span }) => {
      expect(span.start).toBeGreaterThanOrEqual(node.span.start);
      expect(span.end).toBeLessThanOrEqual(node.span.end);
    });
  });
}
