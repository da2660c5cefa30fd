import { readLql } from '../../packages/googlesql/src/lql/read';
import type { Rules, Select } from '../../packages/googlesql/src/lql/rules';
import { toSql } from '../../packages/googlesql/src/lql/sql';
import { oneOf } from '../scale';
import { CASES, type LqlCase, nowOf, tablesOf } from './case-file';

/** A row as the service answers it: a TIMESTAMP as microseconds. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs SQL over CTE tables of the given names, each with the rows of test/cases/lql-fixture.json. Rejects where the
 * engine refuses the query or fails while it runs.
 */
export type Run = (sql: string, tables: readonly string[]) => Promise<readonly Row[]>;

const ID: Select = {
  path: 'id',
  alias: null,
  wildcard: false,
  span: { start: 0, end: 0 },
  pathSpan: { start: 0, end: 0 },
};

/**
 * Every case that parses, on an engine: the rows it selects, what it returns, the order, and that the engine refuses
 * what it must. One of `part` cases is run.
 */
export function testRowsOver(engine: string, run: Run, part = 1): void {
  const accepted = CASES.filter((c) => c.error === undefined);
  const parsed = oneOf(part, accepted).flatMap((c) => {
    const reading = readLql(c.lql, { tables: tablesOf(c), now: nowOf(c) });
    if (reading.kind === 'blank') return [];
    const table = { name: reading.table, columns: null };
    const sql = (rules: Rules) => toSql(rules, table).sql;
    const tables = [reading.table];
    return [{ id: c.id, lql: c.lql, case: c, rules: reading.rules, sql, tables }];
  });

  describe(`rows of the LQL cases on ${engine}`, () => {
    test.each(parsed.filter((p) => p.case.engineError !== undefined))('$id $lql is refused', async (p) => {
      await expect(run(p.sql(p.rules), p.tables)).rejects.toThrow();
    });

    test.each(parsed.filter((p) => p.case.expectIds !== undefined))('$id $lql selects its rows', async (p) => {
      // The ids leave the selection out: a LEFT JOIN of its own would repeat them.
      const rows = await run(p.sql({ ...p.rules, select: [ID] }), p.tables);
      expect(rows.map((row) => row['id']).sort()).toEqual(p.case.expectIds);
    });

    test.each(parsed.filter((p) => p.case.expectRows !== undefined))('$id $lql returns its rows', async (p) => {
      const rows = await run(p.sql(p.rules), p.tables);
      const expected = (p.case.expectRows ?? []).map(inService);
      if (p.rules.chart !== null) expect(rows).toEqual(expected);
      else expect(sorted(rows)).toEqual(sorted(expected));
    });

    test.each(parsed.filter(isStarred))('$id $lql returns every column, newest first', async (p) => {
      const rows = await run(p.sql(p.rules), p.tables);
      expect(rows.length).toBe(p.case.expectIds?.length);
      for (const row of rows) expect(Object.keys(row)).toEqual(['timestamp', 'id', 'event_message', 'metadata']);
      const times = rows.map((row) => Number(row['timestamp']));
      expect(times).toEqual([...times].sort((a, b) => b - a));
    });
  });
}

function isStarred({ case: c, rules }: { case: LqlCase; rules: Rules }): boolean {
  if (c.expectIds === undefined || rules.chart !== null) return false;
  return rules.select.length === 0 || rules.select.some(({ wildcard }) => wildcard);
}

/** The case file writes timestamps as ISO text, and integers now and then as text. */
function inService(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (name === 'timestamp' && typeof value === 'string') return [name, Date.parse(value) * 1000];
      return [name, name === 'status' ? Number(value) : value];
    }),
  );
}

function sorted(rows: readonly Row[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
}
