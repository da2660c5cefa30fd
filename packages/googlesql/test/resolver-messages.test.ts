/**
 * Errors of meaning in BigQuery's words: `resolver-messages.jsonl` holds what Google's own analyser said (emulator/ starts it), one
 * query a line over the tables of `environment.ts`. Its suggestions are ours to make, as `hint`.
 */
import { QueryError } from '../src/errors';
import { jsonLines } from '../../../test/case-files';
import { resolve } from './environment';

const cases = jsonLines<{ readonly sql: string; readonly message: string }>(
  '../packages/googlesql/test/resolver-messages.jsonl',
);

it('has enough cases to mean something', () => expect(cases.length).toBeGreaterThan(500));

it.each(cases.map(({ sql, message }) => [sql, message] as const))('%s', (sql, message) => {
  try {
    resolve(sql);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    expect(error.message).toBe(`${message}.`);
    return;
  }
  throw new Error('resolved');
});
