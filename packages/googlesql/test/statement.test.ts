import { QueryError } from '../src/errors';
import { lex } from '../src/lexer';
import { parseQuery } from '../src/parser';
import { checkStatement } from '../src/statement';

function faultOf(text: string): string {
  try {
    checkStatement(lex(text));
    return 'query';
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    expect(error.span).not.toBeNull();
    return error.fault;
  }
}

it.each([
  'alter analyze assert begin call clone commit create declare delete drop execute export grant if import insert load loop',
  'MERGE RAISE RENAME REPEAT REVOKE ROLLBACK SET TRUNCATE UNDROP UPDATE WHILE',
])('refuses other statements by their first word', (words) => {
  for (const word of words.split(' ')) {
    expect(faultOf(`-- x\n${word}`)).toBe('sandboxViolation');
    expect(faultOf(`${word} (nonsense`)).toBe('sandboxViolation');
    expect(faultOf(`\`${word}\` x`)).toBe('invalidQuery');
  }
});

it.each([
  ['select 1', 'query'],
  ['  /* x */ With a as (select 1) select 1', 'query'],
  ['(select 1)', 'query'],
  ['select 1;', 'query'],
  ['select 1; -- x\n', 'query'],
  ['', 'invalidQuery'],
  [' \n-- x', 'invalidQuery'],
  [';', 'invalidQuery'],
  [' ; /* x */', 'invalidQuery'],
  ['explain select 1', 'invalidQuery'],
  ['show tables', 'invalidQuery'],
  ['describe t', 'invalidQuery'],
  ['values (1)', 'invalidQuery'],
  ['selekt 1', 'invalidQuery'],
  ['explain select 1; drop table t', 'invalidQuery'],
  ['1', 'invalidQuery'],
])('judges %j: %s', (text, expected) => {
  expect(faultOf(text)).toBe(expected);
});

it.each([
  ['select 1; select 2', 'sandboxViolation', 10],
  ["select 1; drop 'open", 'sandboxViolation', 10],
  ['select 1;;', 'sandboxViolation', 9],
  ['; select 1', 'sandboxViolation', 2],
  ['select 1 from; drop table t', 'invalidQuery', 13],
  ['select 1 fro m x; drop table t', 'invalidQuery', 13],
  ["select 'open; drop table t", 'invalidQuery', 7],
  ['select (1; drop table t', 'invalidQuery', 9],
])('takes %j for %s: a second statement counts where the first is a query', (text, fault, start) => {
  expect(() => parseQuery(text)).toThrow(expect.objectContaining({ fault, span: expect.objectContaining({ start }) }));
});
