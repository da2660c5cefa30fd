/** RANGE: its literals, its type in a table's schema, what may fail, and what is printed for BigQuery. */

import { rangeValue } from '../src/literals/temporal';
import { printQuery } from '../src/printer';
import { columnsOf, parseRestSchema, RestSchemaError } from '../src/rest-schema';
import { resultColumns } from '../src/descriptions';
import { queryCanFail } from '../src/totality';
import { typeText } from '../src/type-names';
import { resolve } from './environment';

describe('a literal', () => {
  test.each([
    ['DATE', '[2026-1-31, 2026-02-01)', '[2026-01-31, 2026-02-01)'],
    ['DATE', '[unbounded, null)', '[UNBOUNDED, UNBOUNDED)'],
    ['DATETIME', '[2026-01-31, 2026-01-31 00:00:00.5)', '[2026-01-31T00:00:00, 2026-01-31T00:00:00.5)'],
    ['TIMESTAMP', '[1969-12-31 23:00:00+00, 1970-01-01 00:00:01)', '[-3600000000, 1000000)'],
  ] as const)('RANGE<%s> %s', (element, text, value) => {
    expect(rangeValue(element, text)).toBe(value);
  });

  test.each([
    '',
    '[2026-01-31, 2026-01-31)',
    '[2026-02-01, 2026-01-31)',
    '[2026-01-31,2026-02-01)',
    '[2026-01-31,  2026-02-01)',
    '[ 2026-01-31, 2026-02-01)',
    '[2026-01-31, 2026-02-01]',
    '[2026-01-31, )',
    '[2026-01-31, 2026-02-30)',
    '[2026-01-31, 2026-02-01, 2026-02-02)',
  ])('"%s" is no RANGE<DATE>', (text) => {
    expect(rangeValue('DATE', text)).toBeNull();
  });
});

test('the REST schema names the type of the ends', () => {
  const field = { name: 'r', type: 'RANGE', mode: 'REPEATED', rangeElementType: { type: 'DATETIME' } };
  expect(columnsOf(parseRestSchema([field], 't')).map(({ type }) => typeText(type))).toEqual([
    'ARRAY<RANGE<DATETIME>>',
  ]);
  for (const rangeElementType of [undefined, {}, { type: 'TIME' }])
    expect(() => parseRestSchema([{ name: 'r', type: 'RANGE', rangeElementType }], 't')).toThrow(RestSchemaError);
});

test.each([
  ["RANGE(DATE '2026-01-31', DATE '2026-02-01')", false],
  ["RANGE(DATE '2026-01-31', DATE '2026-01-31')", true],
  ["RANGE(DATETIME '2026-01-31 10:20:30.5', DATETIME '2026-01-31 10:20:30.50')", true],
  ["RANGE(DATETIME '2026-01-31 10:20:30', DATETIME '2026-01-31 10:20:30.5')", false],
  ["RANGE(TIMESTAMP '2026-01-31', NULL)", false],
  ['RANGE(NULL, d)', false],
  ['RANGE(d, d)', true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2026-01-31, UNBOUNDED)', d)", false],
  ["RANGE_OVERLAPS(RANGE<DATE> '[2026-01-31, UNBOUNDED)', RANGE(d, NULL))", false],
  ["RANGE_INTERSECT(RANGE<DATE> '[2026-01-31, UNBOUNDED)', RANGE(d, NULL))", true],
  ['GENERATE_RANGE_ARRAY(RANGE(d, NULL), INTERVAL 1 DAY)', true],
  ['RANGE_END(RANGE(d, NULL))', false],
  ['CAST(RANGE(d, NULL) AS STRING)', false],
  ['CAST(CAST(d AS STRING) AS RANGE<DATE>)', true],
])('%s may fail: %s', (expression, may) => {
  expect(queryCanFail(resolve(`SELECT ${expression} AS v FROM UNNEST([DATE '2026-01-31']) AS d`))).toBe(may);
});

test('what is printed for BigQuery is read as the same types', () => {
  const sql = `SELECT RANGE<TIMESTAMP> '[2026-01-31 01:00:00+01, UNBOUNDED)' AS a, CAST(NULL AS ARRAY<RANGE<DATE>>) AS b,
    GENERATE_RANGE_ARRAY(RANGE(DATETIME '2026-01-31', DATETIME '2026-02-01'), INTERVAL 1 HOUR, FALSE) AS c,
    STRUCT(SAFE_CAST('x' AS RANGE<DATETIME>) AS d) AS e`;
  const { sql: printed } = printQuery(resolve(sql));
  expect(printed).toContain("RANGE<TIMESTAMP> '[2026-01-31 00:00:00.000000+00, UNBOUNDED)'");
  expect(resultColumns(resolve(printed))).toEqual(resultColumns(resolve(sql)));
});
