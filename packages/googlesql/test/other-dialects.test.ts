/** Functions of other dialects are called what GoogleSQL calls them; it has none of these names itself. */
import { QueryError } from '../src/errors';
import { findFunction } from '../src/functions/catalogue';
import { otherDialectHint } from '../src/functions/other-dialects';
import { parseQuery } from '../src/parser';
import { resolve } from './environment';

function faultOf(sql: string): QueryError | null {
  try {
    resolve(sql);
    return null;
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}

it.each(['now', 'TO_CHAR', 'datediff', 'group_concat', 'split_part'])(
  '%s has a form in GoogleSQL that parses',
  (name) => {
    expect(findFunction(name)).toBeUndefined();
    const form = /^In GoogleSQL: (.*?)(?:, or .*)?\.$/.exec(otherDialectHint(name) ?? '')?.[1];
    expect(() => parseQuery(`select ${form}`)).not.toThrow();
  },
);

it('has none for other names', () => {
  expect(otherDialectHint('upper')).toBeUndefined();
  expect(otherDialectHint('constructor')).toBeUndefined();
});

it.each([
  ['select extract(epoch from ts) from types_t', 'UNIX_SECONDS(x)'],
  ['select extract(dow from ts) from types_t', 'EXTRACT(DAYOFWEEK FROM x)'],
  ['select timestamp_diff(day, ts, ts) from types_t', 'TIMESTAMP_DIFF(later, earlier, DAY)'],
  ['select timestamp_trunc(hour, ts) from types_t', 'TIMESTAMP_TRUNC(x, HOUR)'],
  ["select timestamp_trunc('hour', ts) from types_t", 'TIMESTAMP_TRUNC(x, HOUR)'],
  ['select ts from types_t limit 5, 10', 'LIMIT 10 OFFSET 5'],
  ['select ts from types_t offset 5 limit 10', 'LIMIT 10 OFFSET 5'],
  ['select ts from types_t limit all', 'no LIMIT'],
  ['select top 5 ts from types_t', 'LIMIT 10'],
  ["select position('a' in s) from types_t", 'STRPOS(text, part)'],
  ['select substring(s from 1 for 2) from types_t', 'SUBSTR(x, 1, 2)'],
  ["select trim(leading 'a' from s) from types_t", "LTRIM(x, 'a')"],
  ['select cast(s as text) from types_t', 'STRING'],
  ['select cast(s as varchar(10)) from types_t', 'STRING'],
  ['select s from types_t where s = null', 'x IS NULL'],
  ['select s from types_t where s != null', 'x IS NOT NULL'],
])('%s has a hint', (sql, form) => {
  expect(faultOf(sql)?.details.hint).toContain(form);
});

it.each([
  ['select s from types_t where', 'an expression'],
  ['select day from types_t', 'Unrecognized name: day.'],
  ['select timestamp_diff(day, ts) from types_t', ''],
  ['select cast(s as nothing) from types_t', 'Type not found: nothing.'],
  ['select (s from types_t', ''],
])('%s has none', (sql, message) => {
  const fault = faultOf(sql);
  expect(fault?.message).toContain(message);
  expect(fault?.details.hint).toBeUndefined();
});
