import { surveyQuery } from '../../packages/googlesql/src/parser';
import { compose, tablesOfStoredQuery } from '../../src/sandbox/compose';
import type { StoredQuery } from '../../src/sandbox/stored-query';

const SQL = `/* head */
WITH a AS (SELECT @p AS x /* , */),
  -- between
  b AS (SELECT x FROM A, (SELECT 1 AS one)),
  c AS (SELECT x FROM (WITH a AS (SELECT 2 AS x) SELECT x FROM a)),
  d AS (SELECT @q AS x)
SELECT x FROM \`B\` -- end`;

const STORED: StoredQuery = {
  id: 'id',
  revision: 'revision',
  sql: SQL,
  query: surveyQuery(SQL).query,
  cteTables: ['a', 'b', 'c', 'd'],
  parameters: [],
};

describe('composition', () => {
  test('brings along what a CTE reads, as it is written, and nothing else', () => {
    const { sql, reached, parameters, consumer } = compose(STORED, 'select 1 from b -- why', ['b']);
    expect(sql).toBe(
      'WITH a AS (SELECT @p AS x /* , */),\nb AS (SELECT x FROM A, (SELECT 1 AS one))\n(\nselect 1 from b -- why\n)',
    );
    expect(reached).toEqual(['a', 'b']);
    expect([...parameters]).toEqual(['p']);
    expect(sql.slice(consumer.start, consumer.end)).toBe('select 1 from b -- why');
  });

  test('leaves out a CTE that an inner WITH hides', () => {
    expect(compose(STORED, 'select 1 from c', ['c']).reached).toEqual(['c']);
  });

  test('needs no WITH for a query that reads no table', () => {
    expect(compose(STORED, 'select 1', []).sql).toBe('(\nselect 1\n)');
  });

  test('makes a text that parses', () => {
    expect(() => surveyQuery(compose(STORED, 'with z as (select * from d) select * from z', ['d']).sql)).not.toThrow();
  });

  test('knows what the stored query itself reaches', () => {
    expect(tablesOfStoredQuery(STORED)).toEqual(['a', 'b']);
  });

  test('has nothing to bring along from a stored query without a WITH', () => {
    const bare = { ...STORED, query: surveyQuery('SELECT 1 AS one').query, cteTables: [] };
    expect(tablesOfStoredQuery(bare)).toEqual([]);
    expect(compose(bare, 'select 1', []).sql).toBe('(\nselect 1\n)');
  });
});
