import { LqlError } from '../../packages/googlesql/src/lql/lql-error';
import { readLql } from '../../packages/googlesql/src/lql/read';
import { rulesToJson, toSql } from '../../packages/googlesql/src/lql/sql';
import { CASES, type CaseRules, type LqlCase, nowOf, tablesOf } from './case-file';

const options = (c: LqlCase) => ({ tables: tablesOf(c), now: nowOf(c) });

/** Rules are compared without `origin`. */
function withoutOrigin(rules: CaseRules | null): unknown {
  if (rules === null) return null;
  const filters = rules.filters.map((filter) => {
    return { ...filter, modifiers: { ...filter.modifiers, origin: undefined } };
  });
  return { ...rules, filters };
}

/** What of the SQL does not depend on the select list: from the first join on, without the row order. */
function afterColumns(sql: string): string {
  return sql.replace(/^SELECT .*? FROM `/s, 'FROM `').replace(/ ORDER BY t\.`timestamp` DESC$/, '');
}

describe('the rules of each case', () => {
  test.each(CASES.filter((c) => c.error === undefined))('$id $lql', (c) => {
    const reading = readLql(c.lql, options(c));
    const rules = reading.kind === 'blank' ? null : (rulesToJson(reading.rules) as CaseRules);
    expect(withoutOrigin(rules)).toEqual(withoutOrigin(c.rules ?? null));
  });
});

describe('the error code of each case', () => {
  test.each(CASES.filter((c) => c.error !== undefined))('$id $lql', (c) => {
    let thrown: unknown;
    try {
      readLql(c.lql, options(c));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(LqlError);
    expect((thrown as LqlError).code).toBe(c.error?.code);
  });
});

describe('the SQL of each case', () => {
  test.each(CASES.filter((c) => c.sql !== undefined))('$id $lql', (c) => {
    const reading = readLql(c.lql, options(c));
    if (reading.kind === 'blank') throw new Error('blank');
    const { sql } = toSql(reading.rules, { name: reading.table, columns: null });
    expect(afterColumns(sql)).toBe(afterColumns(c.sql ?? ''));
    const chartOrFields = c.rules?.chart !== null || c.rules.select.some(({ wildcard }) => !wildcard);
    // Without selected fields the case file still lists the columns of another implementation.
    const columns = (text: string) => text.slice(0, text.indexOf(' FROM `'));
    const starred = c.rules?.select.some(({ wildcard }) => wildcard) ?? false;
    expect(columns(sql)).toBe(chartOrFields && !starred ? columns(c.sql ?? '') : 'SELECT t.*');
  });
});
