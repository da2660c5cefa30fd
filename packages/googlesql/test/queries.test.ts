import fc from 'fast-check';
import { lineAndColumn, QueryError } from '../src/errors';
import { forEachChild, walk, type SyntaxNode } from '../src/tree-walk';
import { QUERY_BOUNDS } from '../src/bounds';
import { lex } from '../src/lexer';
import { parseQuery, surveyQuery } from '../src/parser';
import type { Query } from '../src/tree';
import { ACCEPTED, queriesOf } from '../../../test/case-files';
import { runs } from '../../../test/scale';

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
  it('reads every query that the sandbox accepts', () => {
    expect(ACCEPTED.length).toBeGreaterThan(40);
    for (const [, sql] of ACCEPTED) expect(surveyQuery(sql).unsupported).toEqual([]);
  });

  it('refuses what only the lenient reading takes', () => {
    for (const sql of queriesOf('log-queries-lenient.jsonl')) expect(fault(sql).fault).toBe('invalidQuery');
  });
});

describe('clauses', () => {
  it.each(
    [
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
    ].map((from) => `select 1 from ${from}`),
  )('refuses %s', (sql) => {
    expect(fault(sql).fault).toBe('invalidQuery');
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
      expect(parseQuery(`select ${word}, a as ${word}, b ${word} from ${word} ${word}`).body).toMatchObject({
        items: [{}, {}, {}],
      });
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
    ['arguments beside *', 'select count(*, (select 1 from hidden))'],
    ['an alias of an argument', 'select f((select 1 from hidden) as a, b)'],
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
    [
      'from a |> left union all (select 1)',
      'left',
      'LEFT before UNION without BY NAME or CORRESPONDING is not supported',
    ],
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
  const texts = ['log-queries.jsonl', 'log-queries-lenient.jsonl'].flatMap(queriesOf);

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
