import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { QueryError } from '../../packages/googlesql/src/errors';
import { surveyQuery } from '../../packages/googlesql/src/parser';
import { originalSpan, rewriteLeniently } from '../../packages/googlesql/src/consumer/lenient';
import { runs } from '../scale';

function rewritten(sql: string): string | undefined {
  return rewriteLeniently(`select ${sql}`)?.text.slice('select '.length);
}

describe('x::t', () => {
  it.each([
    ['a::text', 'CAST(a AS STRING)'],
    ['a.b.c :: INT', 'CAST(a.b.c AS INT64)'],
    ['`a b`.c::varchar', 'CAST(`a b`.c AS STRING)'],
    ["'x'::timestamptz", "CAST('x' AS TIMESTAMP)"],
    ["date '2024-01-01'::text", "CAST(date '2024-01-01' AS STRING)"],
    ['1.5::double precision + 1', 'CAST(1.5 AS FLOAT64) + 1'],
    ['-1::text', '-CAST(1 AS STRING)'],
    ['a || b::text || c', 'a || CAST(b AS STRING) || c'],
    ['a::text::int8', 'CAST(CAST(a AS STRING) AS INT64)'],
    ['f(a, b)::bool', 'CAST(f(a, b) AS BOOL)'],
    ['safe.f(a)::bool', 'CAST(safe.f(a) AS BOOL)'],
    ['if(a, b, c)::real', 'CAST(if(a, b, c) AS FLOAT64)'],
    ['f(a::int)::text', 'CAST(f(CAST(a AS INT64)) AS STRING)'],
    ['(a + b)::decimal', 'CAST((a + b) AS NUMERIC)'],
    ['(select 1)::text', 'CAST((select 1) AS STRING)'],
    ['a[0].b[offset(1)]::jsonb', 'CAST(a[0].b[offset(1)] AS JSON)'],
    ['f(a)[0].b::text', 'CAST(f(a)[0].b AS STRING)'],
    ['[1, 2]::text', 'CAST([1, 2] AS STRING)'],
    ['array<int64>[1]::text', 'CAST(array<int64>[1] AS STRING)'],
    ['struct<x int64>(1).x::text', 'CAST(struct<x int64>(1).x AS STRING)'],
    ['case when a then b end::text', 'CAST(case when a then b end AS STRING)'],
    ['count(*) over (order by a)::text', 'CAST(count(*) over (order by a) AS STRING)'],
    ['row_number() over w::text', 'CAST(row_number() over w AS STRING)'],
    ['@p::int', 'CAST(@p AS INT64)'],
    ['null::date', 'CAST(null AS DATE)'],
    ['a in (1)::int', 'a in CAST((1) AS INT64)'],
  ])('%s', (sql, expected) => {
    expect(rewritten(sql)).toBe(expected);
  });

  it.each([
    ['STRING', 'text varchar char string'],
    ['INT64', 'int int2 int4 int8 integer smallint bigint int64'],
    ['FLOAT64', 'float float4 float8 real float64'],
    ['BOOL', 'bool boolean'],
    ['NUMERIC', 'decimal numeric'],
    ['TIMESTAMP', 'timestamptz timestamp'],
    ['JSON', 'json jsonb'],
    ['DATETIME', 'datetime'],
  ])('to %s from %s', (type, names) => {
    for (const name of names.split(' ')) expect(rewritten(`a::${name.toUpperCase()}`)).toBe(`CAST(a AS ${type})`);
  });

  it.each(['uuid', '1', '', 'select', '`text`', 'array<int64>'])('refuses the type %s where it stands', (type) => {
    const sent = String.raw`select '\d', a::${type}`;
    expect(() => rewriteLeniently(sent)).toThrow(
      expect.objectContaining({
        fault: 'invalidQuery',
        span: { start: 16, end: 16 + (type === 'array<int64>' ? 5 : type.length) },
      }) as QueryError,
    );
  });
});

describe('literals', () => {
  it.each([
    [`'O''Brien'`, String.raw`'O\'Brien'`],
    [`'''a'' b'`, String.raw`'\'a\' b'`],
    [`''''`, String.raw`'\''`],
    [String.raw`'\d\.\w'`, String.raw`'\\d\\.\\w'`],
    [String.raw`"\d ""`, String.raw`"\\d ""`],
    [String.raw`'''it''s \d'''`, String.raw`'''it''s \\d'''`],
    [String.raw`'\8 \18 \101 \n \\d \' \x41'`, String.raw`'\\8 \\18 \101 \n \\d \' \x41'`],
    [String.raw`'it''s \(x\)', 'y'`, String.raw`'it\'s \\(x\\)', 'y'`],
    [String.raw`'😀\d'`, String.raw`'😀\\d'`],
  ])('%s', (sql, expected) => {
    const text = rewritten(sql);
    expect(text ?? null).toBe(sql === String.raw`"\d ""` ? null : expected);
  });

  it('leaves comments, names, raw literals and good literals alone', () => {
    for (const sql of [String.raw`-- '\d'`, String.raw`a /* '\d' */`, String.raw`r'\d'`, `''`, `'' || ''`, `"a""b"`]) {
      expect(rewritten(`${sql}\n`)).toBeUndefined();
    }
  });
});

it('reads all the lenient sample queries', () => {
  const lines = readFileSync('test/cases/log-queries-lenient.jsonl', 'utf8').trim().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const { sql } = JSON.parse(line) as { sql: string };
    const { text } = rewriteLeniently(sql) ?? { text: '' };
    expect(surveyQuery(text).unsupported).toEqual([]);
    expect(rewriteLeniently(text)).toBeNull();
  }
});

it('maps places back to the text that was sent', () => {
  const sent = String.raw`select 'it''s \d' as a, b.c::text as d, e`;
  const reading = rewriteLeniently(sent);
  if (reading === null) throw new Error('not rewritten');
  const { text, passes } = reading;
  const back = (words: string): string => {
    const start = text.indexOf(words);
    const span = originalSpan(passes, { start, end: start + words.length });
    return sent.slice(span.start, span.end);
  };
  expect(text).toBe(String.raw`select 'it\'s \\d' as a, CAST(b.c AS STRING) as d, e`);
  expect(back('b.c')).toBe('b.c');
  expect(back('as d')).toBe('as d');
  expect(back(', e')).toBe(', e');
  expect(back('CAST(b.c AS STRING)')).toBe('b.c::text');
  expect(back('STRING')).toBe('::text');
  expect(back(String.raw`'it\'s \\d'`)).toBe(String.raw`'it''s \d'`);
  expect(originalSpan(passes, { start: text.length, end: text.length })).toEqual({
    start: sent.length,
    end: sent.length,
  });
});

it('never fails but with a QueryError inside the text', () => {
  const pieces = [
    "'",
    "''",
    '\\',
    '"',
    'd',
    ' ',
    '::',
    'text',
    '(',
    ')',
    '[',
    ']',
    'a',
    '.',
    '1',
    'case',
    'end',
    'over',
    '>',
    '--',
    '\n',
    '`',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
      const sent = parts.join('');
      try {
        const reading = rewriteLeniently(sent);
        if (reading === null) return;
        expect(reading.text).not.toBe(sent);
        const whole = originalSpan(reading.passes, { start: 0, end: reading.text.length });
        expect(whole).toEqual({ start: 0, end: sent.length });
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        expect(error.span?.end).toBeLessThanOrEqual(sent.length);
      }
    }),
    { ...runs(3000) },
  );
});
