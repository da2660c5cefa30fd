/** An unknown column that is a field of a record: the hint says how to reach it. */
import { QueryError } from '../src/errors';
import { resolve } from './environment';

const hintOf = (sql: string): string | undefined => {
  try {
    resolve(sql);
  } catch (error) {
    if (error instanceof QueryError) return error.details.hint;
    throw error;
  }
  throw new Error(`resolved: ${sql}`);
};

it.each([
  [
    'status_code',
    'status_code is in metadata.response: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r and write r.status_code.',
  ],
  ['METHOD', 'method is in metadata.request: '],
  ['contry', 'AS r CROSS JOIN UNNEST(r.cf) AS c and write c.country.'],
])('%s', (name, hint) => {
  expect(hintOf(`select ${name} from edge_logs`)).toContain(hint);
});

it('writes the alias of a table before its column, and says nothing of what is nowhere', () => {
  expect(hintOf('select t.status_code from edge_logs as t')).toContain('CROSS JOIN UNNEST(t.metadata) AS m ');
  expect(hintOf('select quantity from edge_logs')).toBeUndefined();
});
