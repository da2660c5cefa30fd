import { QueryError } from '../../src/errors';
import { checkStatement, lex } from '../../src/googlesql';

function judge(text: string): string {
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
    expect(judge(`-- x\n${word}`)).toBe('sandboxViolation');
    expect(judge(`${word} (nonsense`)).toBe('sandboxViolation');
    expect(judge(`\`${word}\` x`)).toBe('invalidQuery');
  }
});

it.each([
  ['select 1', 'query'],
  ['  /* x */ With a as (select 1) select 1', 'query'],
  ['(select 1)', 'query'],
  ['select 1;', 'query'],
  ['select 1; -- x\n', 'query'],
  ['select 1; select 2', 'sandboxViolation'],
  ["select 1; drop 'open", 'sandboxViolation'],
  ['select 1;;', 'sandboxViolation'],
  ['', 'invalidQuery'],
  [' \n-- x', 'invalidQuery'],
  [';', 'invalidQuery'],
  [' ; /* x */', 'invalidQuery'],
  ['explain select 1', 'invalidQuery'],
  ['show tables', 'invalidQuery'],
  ['describe t', 'invalidQuery'],
  ['values (1)', 'invalidQuery'],
  ['from t', 'invalidQuery'],
  ['selekt 1', 'invalidQuery'],
  ['explain select 1; drop table t', 'invalidQuery'],
  ['1', 'invalidQuery'],
])('judges %j: %s', (text, expected) => {
  expect(judge(text)).toBe(expected);
});
