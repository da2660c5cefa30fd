import { ServiceError } from '../../src/errors';
import { QueryError } from '../../packages/googlesql/src/errors';
import fc from 'fast-check';
import { LEVELS, rolesOf } from '@logquay/googlesql/types';
import { isoText } from '../../packages/googlesql/src/time/calendar';
import { runs } from '../scale';
import { openLql } from '../../src/run/lql-text';
import type { NamedType, SqlType } from '../../packages/googlesql/src/types';
import { DEFAULT_NOW } from './case-file';

function sqlOf(text: string, columns: Record<string, SqlType> | null, name = 'logs'): string | undefined {
  const typed = columns && Object.entries(columns).map(([column, type]) => ({ name: column, type }));
  return openLql(text, { tables: [name], now: DEFAULT_NOW })?.translate(typed).sql;
}

function refusal(
  text: string,
  tables: readonly string[] = ['edge_logs'],
  columns: readonly NamedType[] | null = null,
): ServiceError {
  try {
    openLql(text, { tables, now: DEFAULT_NOW })?.translate(columns);
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
    expect(sqlOf('x:a', { x: STRING, Timestamp: TIMESTAMP })).toMatch(/ ORDER BY t\.`Timestamp` DESC$/);
    expect(sqlOf('x:a', { x: STRING })).toBe("SELECT t.* FROM `logs` AS t WHERE t.`x` = 'a'");
    expect(sqlOf('s:x', { x: STRING, timestamp: { kind: 'ARRAY', element: STRING } })).toBe(
      'SELECT t.`x` FROM `logs` AS t',
    );
    expect(sqlOf('s:x', null)).toMatch(/DESC$/);
  });

  test('a field keeps its name, wherever it is found', () => {
    expect(sqlOf('s:x s:Y', { Y: STRING, _rest: { kind: 'JSON' } })).toMatch(/\) AS `x`, t\.`Y` FROM/);
  });

  test('a DATETIME column is compared with DATETIME and truncated as one', () => {
    const columns = { timestamp: DATETIME };
    expect(sqlOf('t:2024-03-17T10:00:00.5+02:00', columns)).toContain("= DATETIME '2024-03-17 08:00:00.500000'");
    expect(sqlOf('c:count(*)', columns)).toContain('DATETIME_TRUNC(t.`timestamp`, MINUTE)');
    expect(sqlOf('t:2024-03-17', { timestamp: TIMESTAMP })).toContain("= TIMESTAMP '2024-03-17 00:00:00+00:00'");
  });

  test('a number is compared with moments in its unit, as its instant would be', () => {
    const scales = { s: 1_000_000n, ms: 1_000n, us: 1n } as const;
    const holds: Record<string, (a: bigint, b: bigint) => boolean> = {
      '': (a, b) => a === b,
      '>': (a, b) => a > b,
      '>=': (a, b) => a >= b,
      '<': (a, b) => a < b,
      '<=': (a, b) => a <= b,
    };
    const near = fc.bigInt(-3_000_000n, 3_000_000n);
    const at = fc.constantFrom(-62_000_000_000_000n, 0n, 1_710_683_222_000_000n);
    fc.assert(
      fc.property(
        fc.constantFrom('s', 'ms', 'us'),
        fc.constantFrom(...Object.keys(holds)),
        at,
        near,
        near,
        (unit, sign, start, a, b) => {
          const moment = start + a;
          const value = (start + b) / scales[unit];
          const roles = rolesOf([{ name: 'ts', type: { kind: 'INT64' } }], {
            time: { path: ['ts'], unit },
          });
          const written = isoText(moment).replace(/Z$/, '');
          const translation = openLql(`t:${sign}${written}`, { tables: ['logs'], now: 0n })?.translate(
            [{ name: 'ts', type: { kind: 'INT64' } }],
            roles,
          );
          const [, test = ''] = /WHERE t\.`ts` (.*) ORDER BY t\.`ts` DESC$/.exec(translation?.sql ?? '') ?? [];
          const [, operator = '', first = '', last] = /^(\S+) (-?\d+)(?: AND (-?\d+))?$/.exec(test) ?? [];
          const found =
            operator === 'BETWEEN'
              ? value >= BigInt(first) && value <= BigInt(last ?? first)
              : holds[operator.replace(/^=$/, '')]?.(value, BigInt(first));
          expect({ test, value, found }).toEqual({
            test,
            value,
            found: holds[sign]?.(value * scales[unit], moment),
          });
        },
      ),
      runs(4000),
    );
  });

  test('the alias of the table gives way to a result column of its name, which ORDER BY would take instead', () => {
    expect(sqlOf('s:id@t', null)).toBe('SELECT t1.`id` AS `t` FROM `logs` AS t1 ORDER BY t1.`timestamp` DESC');
    expect(sqlOf('s:T s:id@t1', null)).toMatch(/^SELECT t2\.`T`, t2\.`id` AS `t1` FROM `logs` AS t2 /);
    expect(sqlOf('', { t: STRING })).toBeUndefined();
    expect(sqlOf('x', { t: STRING, timestamp: TIMESTAMP })).toMatch(/^SELECT t1\.\* /);
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

describe('types', () => {
  const list = (element: SqlType): SqlType => ({ kind: 'ARRAY', element });
  const columns: Record<string, SqlType> = {
    text: STRING,
    number: { kind: 'INT64' },
    float: { kind: 'FLOAT64' },
    flag: { kind: 'BOOL' },
    at: TIMESTAMP,
    json: { kind: 'JSON' },
    numbers: list({ kind: 'INT64' }),
    texts: list(STRING),
    metadata: list({
      kind: 'STRUCT',
      fields: [
        { name: 'status', type: { kind: 'INT64' } },
        { name: 'level', type: STRING },
        { name: 'request', type: list({ kind: 'STRUCT', fields: [{ name: 'path', type: STRING }] }) },
      ],
    }),
  };
  const typed = Object.entries(columns).map(([name, type]) => ({ name, type }));
  const refused = (lql: string): ServiceError => refusal(lql, ['logs'], typed);

  test.each([
    ['m.status:"401"', 'm.status:401'],
    ['m.status:>"401"', 'm.status:>401'],
    ['m.Status:~"^5"', 'm.Status:500..599'],
    ['m.status:2xx', 'm.status:200..299'],
    ['m.status:abc', 'm.status:500'],
    ['-m.status:true', 'm.status:500'],
    ['m.status:@>5', 'm.status:5'],
    ['number:~x', 'number:500'],
    ['text:500', 'text:"500"'],
    ['text:>=1.5', 'text:>="1.5"'],
    ['text:true', 'text:"true"'],
    ['text:1..3', 'text:>="1" text:<="3"'],
    ['text:@>"a\\"b"', 'text:"a\\"b"'],
    ['text:@>~"^a"', 'text:~"^a"'],
    ['flag:1', 'flag:true'],
    ['flag:"false"', 'flag:false'],
    ['at:5', 'at:>=2024-03-17'],
    ['at:~x', 'at:>=2024-03-17'],
    ['numbers:5', 'numbers:@>5'],
    ['numbers:>5', 'numbers:@>5'],
    ['numbers:@>"5"', 'numbers:@>5'],
    ['numbers:@>~"^5"', 'numbers:@>500'],
    ['texts:a', 'texts:@>"a"'],
    ['texts:~"^a"', 'texts:@>~"^a"'],
    ['texts:@>5', 'texts:@>"5"'],
    ['m.request:x', 'm.request.path'],
    ['metadata:x', 'metadata.status'],
    ['c:avg(text)', 'c:countd(text)'],
    ['c:sum(m.request)', 'c:sum(m.request.path)'],
    ['c:max(numbers)', 'c:count(numbers)'],
  ])('%s is refused with the form that works', (lql, works) => {
    const { reason, details } = refused(lql);
    expect([reason, details.code, details.hint]).toEqual([
      'invalidLql',
      'type_mismatch',
      expect.stringContaining(works),
    ]);
    if (!works.startsWith('m.request.') && works !== 'metadata.status' && lql !== 'c:sum(m.request)')
      expect(sqlOf(works, columns)).toBeDefined();
  });

  test.each([
    'm.status:401',
    'm.status:200..299',
    'm.status:>1.5',
    'float:1',
    'text:a',
    'text:~x',
    'flag:true',
    'at:>2024-03-17',
    'numbers:@>5',
    'texts:@>~x',
    'm.level:error..alert',
    'm.request.path:"/a"',
    'numbers:NULL',
    '-m.status:NULL',
    'json:NULL',
    'json:x',
    'json.a.b:~x',
    'json.a.b:5',
    'c:avg(json.a)',
    'nosuch:5',
    'm.nosuch:5',
    'c:count(numbers)',
    'c:avg(float)',
    'c:max(text)',
    'c:countd(m.level)',
    'm.request:NULL',
  ])('%s is not', (lql) => {
    expect(sqlOf(lql, columns)).toBeDefined();
  });

  test.each(['m.level:error..fatal', 'm.level:warn..error', 'm.level:a..b', 'm.x:error..fatal'])(
    '%s is refused with the levels',
    (lql) => {
      const { reason, details } = refused(lql);
      expect([reason, details.allowed]).toEqual(['invalidLql', LEVELS]);
      expect(details.hint).toContain(LEVELS.join(', '));
    },
  );
});
