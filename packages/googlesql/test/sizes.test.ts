import { QueryError } from '../src/errors';
import { parseQuery } from '../src/parser';
import { resolveQuery } from '../src/resolver';
import type { TableSchema } from '../src/types';
import { cpuTime } from '../../../test/cpu-time';

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

/** A chain of sixty WITH entries, `c`, each over the one before it, and what reads the last one. */
function chain(entry: string, end: string): string {
  const entries = Array.from(
    { length: 60 },
    (_, i) => `c${i} as (${entry.replaceAll('C', i === 0 ? 'logs' : `c${i - 1}`)})`,
  );
  return `with ${entries.join(', ')} ${end.replaceAll('C', 'c59')}`;
}

describe('what grows twofold with every line', () => {
  test.each([
    ['columns', chain('select a.*, b.* from C a, C b', 'select 1 from C')],
    ['stars', `${'select *, * from ('.repeat(60)}select * from logs${')'.repeat(60)}`],
    ['fields', chain('select struct(t as a, t as b) as s from C t', 'select s from C')],
    ['fields that are only compared', chain('select (t, t) as s from C t', 'select s = s from C')],
    ['rows as structs', chain('select as struct t as x, t as y from C t', 'select 1 from C')],
    ['fields in arrays', chain('select struct([t] as a, [t] as b) as s from C t', 'select s from C')],
  ])('%s: is refused before it fills the memory', (_what, sql) => {
    expect(
      cpuTime(() => {
        expect(fault(sql)).toBe('resourcesExceeded');
      }),
    ).toBeLessThan(2_000);
  });

  test.each([
    ['a query in many steps', chain("select * from C where id > 'a'", 'select * from C')],
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
