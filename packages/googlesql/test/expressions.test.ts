import { QueryError } from '../src/errors';
import { brackets, expression } from './brackets';

describe('precedence and association', () => {
  it.each([
    ['a or b and c', '(a or (b and c))'],
    ['not a and b', '((not a) and b)'],
    ['not a = b', '(not (a = b))'],
    ['not not a', '(not (not a))'],
    ['a = b and c != d', '((a = b) and (c != d))'],
    ['a <> b', '(a != b)'],
    ['a | b ^ c & d << e + f * g', '(a | (b ^ (c & (d << (e + (f * g))))))'],
    ['a - b - c', '((a - b) - c)'],
    ['a + b || c * d', '(a + (b || (c * d)))'],
    ['a << b >> c', '((a << b) >> c)'],
    ['-a.b[0] * ~c', '((- a.b[0]) * (~ c))'],
    ['- - 1', '(- (- 1))'],
    ['a = -b', '(a = (- b))'],
    ['a || b = c', '((a || b) = c)'],
    ['a like b || c', '(a like (b || c))'],
    ['a not like b', '(a not like b)'],
    ['a between b + 1 and c and d', '(between(a, (b + 1), c) and d)'],
    ['a not in (1, 2) and b', '(in_list(a, 1, 2) and b)'],
    ['a in unnest(b)', 'in_unnest(a, b)'],
    ['a in (select 1)', 'in_subquery(a, query)'],
    ['a in ((select 1))', 'in_subquery(a, query)'],
    ['a in ((select 1), 2)', 'in_list(a, scalar_subquery(query), 2)'],
    ['a is not null and b is true', '((a is not null) and (b is true))'],
    ['a is distinct from not b', '(a is distinct from (not b))'],
    ['a in (1) is not distinct from b', '(in_list(a, 1) is not distinct from b)'],
    ['(a = b) = c', '((a = b) = c)'],
    ['a in (1).b[0] + 1', '(in_list(a, 1)->b[0] + 1)'],
    ['a is null || b', '((a is null) || b)'],
    ['a in (1) + b * c = d', '((in_list(a, 1) + (b * c)) = d)'],
    ['a is true - 1 is null || b || c', '(((((a is true) - 1) is null) || b) || c)'],
    ['a < b >> c', '(a < (b >> c))'],
  ])('%s', (sql, expected) => {
    expect(brackets(expression(sql))).toBe(expected);
  });

  it.each([
    'a = b = c',
    'a < b < c',
    'a is null is null',
    'a in (1) = b',
    'a = b in (1)',
    'a between 1 and 2 between 3 and 4',
    'a between b = c and d',
    'a between not b and c',
    'a between 1 or 2 and 3',
    'a = not b',
    '- not a',
    'a is distinct from b is null',
    'a is not in (1)',
    'a not null',
    'a % b',
    'a == b',
    'a in ()',
    'a in b',
    "a like 'b' escape 'c'",
  ])('refuses %s', (sql) => {
    expect(() => expression(sql)).toThrow(QueryError);
  });

  it('builds long chains of AND, OR and || balanced, in their order', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `a${i}`);
    expect(brackets(expression(names.join(' or '))).replace(/[()]/g, '')).toBe(names.join(' or '));
    expect(brackets(expression(names.join(' || '))).replace(/[()]/g, '')).toBe(names.join(' || '));
    expect(() => expression(names.join(' and '))).not.toThrow();
    expect(() => expression(names.join(' + '))).toThrow('at most 500 levels');
  });
});

describe('operands', () => {
  it.each([
    ['a.b.c', 'a.b.c'],
    ['a.select.1', 'a.select.1'],
    ['(a).b.c', 'a->b->c'],
    ['f(x).y[offset(0)].z', 'f(x)->y[offset 0]->z'],
    ['a[safe_ordinal(1)][b]', 'a[safe_ordinal 1][b]'],
    ['safe.parse_timestamp(a, b)', 'safe.parse_timestamp(a, b)'],
    ['if(a, left(b, 1), right(c, 2))', 'if(a, left(b, 1), right(c, 2))'],
    ['current_date', 'current_date()'],
    ['current_timestamp()', 'current_timestamp()'],
    ['current_date.x', 'current_date()->x'],
    ['`current_date`', 'current_date'],
    ['date', 'date'],
    ['timestamp(date)', 'timestamp(date)'],
    ['safe_cast', 'safe_cast'],
    ['@a', '@a'],
    ['@`a b`', '@a b'],
    ['@select', '@select'],
    ['(1, 2)', 'struct(1, 2)'],
    ['((select 1))', 'scalar_subquery(query)'],
    ['((select 1) + 1)', '(scalar_subquery(query) + 1)'],
    ['((select 1) union all (select 2))', 'scalar_subquery(query)'],
    ['((select 1) not in (2))', 'in_list(scalar_subquery(query), 2)'],
    ['array(select 1)', 'array_subquery(query)'],
    ['exists ((select 1))', 'exists(query)'],
    ['[a, b]', 'array(a, b)'],
    ['case a when b then c else d end.x', 'case(a, b, c, d)->x'],
    ['interval a + b day', 'interval((a + b))'],
    ['extract(week(monday) from a at time zone b)', 'extract(a, b)'],
    ['cast(a as string format b at time zone c)', 'cast(a, b, c)'],
    ['f(a ignore nulls having max b order by c limit 1) over (partition by d)', 'f(a, b, c, 1, d)'],
  ])('%s', (sql, expected) => {
    expect(brackets(expression(sql))).toBe(expected);
  });

  it('gives spans that include parentheses where an operator spans them', () => {
    const text = '(a) + (b) * (c)';
    const sum = expression(text);
    expect(sum).toMatchObject({ span: { start: 7, end: 7 + text.length }, operatorSpan: { start: 11, end: 12 } });
    expect(sum.kind === 'binary' ? sum.right.span : null).toEqual({ start: 13, end: 22 });
  });

  it.each([
    "'a' 'b'",
    '(f)(x)',
    'f(1)(2)',
    'current_date()()',
    'f(select 1)',
    'f(a,)',
    'f(a as b)',
    'a.(b)',
    '{a: 1}',
    'new a(1)',
    'left',
    'if',
    'case end',
    'case a end',
    'interval 1',
    'struct(1 b)',
    'array(1)',
    'exists(1)',
    'cast(a, int64)',
    'cast(select 1 as int64)',
    'a[]',
    '()',
    '[1,]',
    'f(a order by b ignore nulls)',
    'a over ()',
    '1.5.5',
    '@1',
  ])('refuses %s', (sql) => {
    expect(() => expression(sql)).toThrow(QueryError);
  });
});
