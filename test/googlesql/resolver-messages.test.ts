/**
 * Errors of meaning in BigQuery's words: `resolver-messages.jsonl` holds what Google's own analyser said (emulator/ starts it), one
 * query a line over the tables of `environment.ts`. Its suggestions are ours to make, as `hint`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueryError } from '../../src/errors';
import { resolve } from './environment';

const cases = readFileSync(join(__dirname, 'resolver-messages.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly sql: string; readonly message: string });

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
