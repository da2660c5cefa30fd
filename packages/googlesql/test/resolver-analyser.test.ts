/**
 * Names and types of results, and refusals, as Google's own analyser gives them: `resolver-cases.jsonl` holds what it
 * answered (emulator/ starts it), one query a line over the tables of `environment.ts`.
 */
import { QueryError } from '../src/errors';
import { jsonLines } from '../../../test/case-files';
import { columnsText, resolve } from './environment';

interface Case {
  readonly sql: string;
  readonly columns?: string;
  readonly valueTable?: boolean;
  /** Refused; which fault is ours to say. */
  readonly fault?: string;
}

const cases = jsonLines<Case>('../packages/googlesql/test/resolver-cases.jsonl');

const outcome = (sql: string): Omit<Case, 'sql'> => {
  try {
    const query = resolve(sql);
    return { columns: columnsText(query), ...(query.valueTable ? { valueTable: true } : {}) };
  } catch (error) {
    if (error instanceof QueryError) return { fault: error.fault };
    throw error;
  }
};

describe('the analyser’s verdict', () => {
  it('has enough cases to mean something', () => {
    expect(cases.length).toBeGreaterThan(1000);
    expect(cases.filter(({ fault }) => fault !== undefined).length).toBeGreaterThan(250);
  });

  it.each(cases.map(({ sql, ...expected }) => [sql, expected] as const))('%s', (sql, expected) => {
    expect(outcome(sql)).toEqual(expected);
  });
});
