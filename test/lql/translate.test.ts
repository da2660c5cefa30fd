import { QueryError, ServiceError } from '../../src/errors';
import type { SqlType } from '../../src/googlesql/types';
import { openLql } from '../../src/lql';
import { DEFAULT_NOW } from './case-file';

function sqlOf(text: string, columns: Record<string, SqlType> | null, name = 'logs'): string | undefined {
  const typed = columns && Object.entries(columns).map(([column, type]) => ({ name: column, type }));
  return openLql(text, { tables: [name], now: DEFAULT_NOW })?.translate(typed).sql;
}

function refusal(text: string, tables: readonly string[] = ['edge_logs']): ServiceError {
  try {
    openLql(text, { tables, now: DEFAULT_NOW })?.translate(null);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('no error');
}

const TIMESTAMP: SqlType = { kind: 'TIMESTAMP' };
const DATETIME: SqlType = { kind: 'DATETIME' };
const STRING: SqlType = { kind: 'STRING' };

describe('what the table is known to have', () => {
  test('rows are newest first where there is a timestamp to order by', () => {
    expect(sqlOf('x:1', { x: STRING, Timestamp: TIMESTAMP })).toMatch(/ ORDER BY t\.`timestamp` DESC$/);
    expect(sqlOf('x:1', { x: STRING })).toBe('SELECT t.* FROM `logs` AS t WHERE t.`x` = 1');
    expect(sqlOf('s:x', { x: STRING, timestamp: { kind: 'ARRAY', element: STRING } })).toBe(
      'SELECT t.`x` FROM `logs` AS t',
    );
    expect(sqlOf('s:x', null)).toMatch(/DESC$/);
  });

  test('a DATETIME column is compared with DATETIME and truncated as one', () => {
    const columns = { timestamp: DATETIME };
    expect(sqlOf('t:2024-03-17T10:00:00.5+02:00', columns)).toContain("= DATETIME '2024-03-17 08:00:00.500000'");
    expect(sqlOf('c:count(*)', columns)).toContain('DATETIME_TRUNC(t.`timestamp`, MINUTE)');
    expect(sqlOf('t:2024-03-17', { timestamp: TIMESTAMP })).toContain("= TIMESTAMP '2024-03-17 00:00:00+00:00'");
  });

  test('the alias of the table gives way to a result column of its name, which ORDER BY would take instead', () => {
    expect(sqlOf('s:id@t', null)).toBe('SELECT t1.`id` AS `t` FROM `logs` AS t1 ORDER BY t1.`timestamp` DESC');
    expect(sqlOf('s:T s:id@t1', null)).toMatch(/^SELECT t2\.`T`, t2\.`id` AS `t1` FROM `logs` AS t2 /);
    expect(sqlOf('', { t: STRING })).toBeUndefined();
    expect(sqlOf('x', { t: STRING, timestamp: TIMESTAMP })).toMatch(/^SELECT t1\.\* /);
  });

  test('a table name of any spelling is quoted', () => {
    expect(sqlOf('x', {}, 'a`b\\c')).toContain('FROM `a\\`b\\\\c` AS t');
  });
});

describe('joins', () => {
  test('a prefix is one chain, in whatever case it is written', () => {
    const sql = sqlOf('a.b.x:1 A.b.y:2 a.z:3', {});
    expect(sql).toContain('JOIN UNNEST(t.`a`) AS u1 ON TRUE INNER JOIN UNNEST(u1.`b`) AS u2 ON TRUE WHERE');
  });

  test('what only a selection uses is joined LEFT, what a filter or chart uses INNER', () => {
    const sql = sqlOf('s:a.x s:b.x b.y:1', {});
    expect(sql).toContain('INNER JOIN UNNEST(t.`b`) AS u1 ON TRUE LEFT JOIN UNNEST(t.`a`) AS u2 ON TRUE');
    expect(sqlOf('s:a.x c:max(b.y)', {})).not.toContain('LEFT');
  });
});

describe('errors', () => {
  test('carry the place in code points, the words, a hint and what is allowed', () => {
    expect(refusal('🚀 ok\n\tm.x:a,b c').details).toEqual({
      code: 'bad_value',
      line: 2,
      column: 6,
      near: 'a,b',
      hint: 'There are no lists; one of several values is a pattern, path:~"^(a|b)$".',
    });
    expect(refusal('f:nosuch', ['a', 'b']).details).toMatchObject({
      code: 'unknown_table',
      line: 1,
      column: 1,
      near: 'f:nosuch',
      allowed: ['a', 'b'],
    });
    expect(refusal('x', ['a', 'b'])).toMatchObject({
      reason: 'invalidLql',
      details: { code: 'table_required', line: 1, column: 1, allowed: ['a', 'b'] },
    });
    expect(refusal('-  ').details).toMatchObject({ code: 'dangling_negation', near: '-', column: 1 });
    expect(refusal('s:id c:avg(*)').details).toMatchObject({ code: 'bad_chart', near: '*', column: 12 });
    expect(refusal('t:>2024-03-17T14:30:00 02:00').details.hint).toContain('%2B');
  });

  test('a long word is cut in near and in the message', () => {
    const error = refusal(`m.x:${'🚀'.repeat(10_000)}`);
    expect(Array.from(error.details.near ?? '').length).toBe(81);
    expect(error.message.length).toBeLessThan(200);
  });

  test('a fault in the SQL is reported at its place in the LQL text', () => {
    const text = 'x\n  -m.nosuch.y:~"a" s:other@o t:today m.bad.y:5';
    const translation = openLql(text, { tables: ['edge_logs'], now: DEFAULT_NOW })?.translate(null);
    const at = (words: string) => {
      const start = translation?.sql.indexOf(words) ?? -1;
      expect(start).toBeGreaterThanOrEqual(0);
      const error = new QueryError('unknownField', 'no such field', { start, end: start + words.length });
      return translation?.locate(error).details;
    };
    expect(at('`nosuch`')).toEqual({ line: 2, column: 4, near: 'm.nosuch.y' });
    expect(at('`y`')).toEqual({ line: 2, column: 4, near: 'm.nosuch.y' });
    expect(at("'a'")).toEqual({ line: 2, column: 3, near: '-m.nosuch.y:~"a"' });
    expect(at('`other`')).toEqual({ line: 2, column: 22, near: 'other' });
    expect(at('BETWEEN')).toEqual({ line: 2, column: 30, near: 't:today' });
    expect(at('`bad`')).toEqual({ line: 2, column: 38, near: 'm.bad.y' });
    expect(at('STRPOS')).toEqual({ line: 1, column: 1, near: 'x' });
    expect(at('ORDER BY')).toEqual({});
    const nowhere = new QueryError('invalidQuery', 'too much', null, { hint: 'less' });
    expect(translation?.locate(nowhere)).toMatchObject({ reason: 'invalidQuery', details: { hint: 'less' } });
  });
});
