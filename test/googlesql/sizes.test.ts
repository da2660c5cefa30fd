import { QueryError } from '../../src/errors';
import { parseQuery } from '../../src/googlesql/parser';
import { resolveQuery } from '../../src/googlesql/resolver';
import type { TableSchema } from '../../src/googlesql/types';
import { cpuTime } from '../cpu-time';

const LOGS: TableSchema = {
  name: 'logs',
  columns: ['id', 'a', 'b', 'c'].map((name) => ({ name, type: { kind: 'STRING' } })),
};

function fault(sql: string): string | null {
  try {
    const environment = { findTable: () => LOGS, parameters: new Map() };
    resolveQuery(parseQuery(sql), sql, environment);
    return null;
  } catch (error) {
    if (error instanceof QueryError) return error.fault;
    throw error;
  }
}

/** A chain of WITH entries, each over the one before it. */
function chain(length: number, entry: (before: string) => string, end: (last: string) => string): string {
  const entries = Array.from({ length }, (_, i) => `c${i} as (${entry(i === 0 ? 'logs' : `c${i - 1}`)})`);
  return `with ${entries.join(', ')} ${end(`c${length - 1}`)}`;
}

describe('what grows twofold with every line', () => {
  test.each([
    [
      'columns',
      chain(
        60,
        (c) => `select a.*, b.* from ${c} a, ${c} b`,
        (c) => `select 1 from ${c}`,
      ),
    ],
    ['stars', `${'select *, * from ('.repeat(60)}select * from logs${')'.repeat(60)}`],
    [
      'fields',
      chain(
        60,
        (c) => `select struct(t as a, t as b) as s from ${c} t`,
        (c) => `select s from ${c}`,
      ),
    ],
    [
      'fields that are only compared',
      chain(
        60,
        (c) => `select (t, t) as s from ${c} t`,
        (c) => `select s = s from ${c}`,
      ),
    ],
    [
      'rows as structs',
      chain(
        60,
        (c) => `select as struct t as x, t as y from ${c} t`,
        (c) => `select 1 from ${c}`,
      ),
    ],
    [
      'fields in arrays',
      chain(
        60,
        (c) => `select struct([t] as a, [t] as b) as s from ${c} t`,
        (c) => `select s from ${c}`,
      ),
    ],
  ])('%s: is refused before it fills the memory', (_what, sql) => {
    expect(
      cpuTime(() => {
        expect(fault(sql)).toBe('resourcesExceeded');
      }),
    ).toBeLessThan(2_000);
  });

  test.each([
    [
      'a query in many steps',
      chain(
        60,
        (c) => `select * from ${c} where id > 'a'`,
        (c) => `select * from ${c}`,
      ),
    ],
    [
      'many joins',
      `select l0.id from logs l0 ${Array.from({ length: 60 }, (_, i) => `join logs l${i + 1} using (id)`).join(' ')}`,
    ],
    [
      'rows as JSON',
      `select ${Array.from({ length: 60 }, (_, i) => `to_json_string(l) as j${i}`).join(', ')} from logs l`,
    ],
  ])('%s is not part of it', (_what, sql) => {
    expect(fault(sql)).toBeNull();
  });
});
