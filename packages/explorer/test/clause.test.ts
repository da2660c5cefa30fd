import { clauseFor, withClause } from '../src/clause';
import { segmentsOf } from '../../googlesql/src/field-path';
import { readLql } from '../../googlesql/src/lql/read';

it.each([
  [['metadata', 'response', 'status_code'], 500, 'm.response.status_code:500'],
  [['metadata', 'level'], 'er"r\\or', 'm.level:"er\\"r\\\\or"'],
  [['id'], 'a b:c~*(..)', 'id:"a b:c~*(..)"'],
  [['metadata', 'ok'], true, 'm.ok:true'],
  [['metadata', 'plan'], null, 'm.plan:NULL'],
  [['metadata', 'big'], 9223372036854775807n, 'm.big:9223372036854775807'],
  [['metadata', 'text'], '500', 'm.text:"500"'],
  [['metadata', 'x-header', 'a b'], 'a', 'm.`x-header`.`a b`:"a"'],
  [['s'], 'a', '`s`:"a"'],
] as const)('%j is %j by a clause that LQL reads as that', (path, value, clause) => {
  expect(clauseFor(path, value)).toBe(clause);
  const reading = readLql(clause, { tables: ['edge_logs'], now: 0n });
  if (reading.kind !== 'rules') throw new Error('It is no clause.');
  expect(reading.rules.filters).toMatchObject([{ operator: '=', negate: false }]);
  expect(segmentsOf(reading.rules.filters[0]!.path)).toEqual(path);
});

it.each([
  [['metadata', 'a`b'], 'a'],
  [[], 'a'],
  [['id'], 1.5],
  [['id'], 'x'.repeat(501)],
  [['id'], 'two\nlines'],
  [['tags'], ['a']],
] as const)('has no clause for %j', (path, value) => {
  expect(clauseFor(path, value)).toBeNull();
});

it('adds a clause once, in place of its opposite', () => {
  expect(withClause('f:edge_logs', 'id:1', false)).toBe('f:edge_logs id:1');
  expect(withClause('f:edge_logs id:1', 'id:1', false)).toBe('f:edge_logs id:1');
  expect(withClause('f:edge_logs id:1 error', 'id:1', true)).toBe('f:edge_logs error -id:1');
  expect(withClause('f:edge_logs id:12', 'id:1', false)).toBe('f:edge_logs id:12 id:1');
  expect(withClause('id:"$& x"', 'id:"$& x"', true)).toBe('-id:"$& x"');
});
