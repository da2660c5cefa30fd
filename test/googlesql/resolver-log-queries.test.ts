/** Queries that log clients send, against the columns that the reference engine answered with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { typeText } from '../../src/googlesql/type-names';
import { columnsText, resolve } from './environment';

interface LogQuery {
  readonly id: string;
  readonly sql: string;
  readonly ordered: boolean;
}

const lines = <T>(name: string): T[] =>
  readFileSync(join(__dirname, '..', 'cases', name), 'utf8')
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line) as T);

const expected = new Map(
  lines<{ id: string; columns: [string, string][] }>('log-queries-expected.jsonl').map(({ id, columns }) => [
    id,
    columns,
  ]),
);

describe('log queries', () => {
  it.each(lines<LogQuery>('log-queries.jsonl').map((query) => [query.id, query] as const))('%s', (id, { sql }) => {
    let unnamed = 0;
    const columns = resolve(sql).output.map(({ name, column }) => [name ?? `f${unnamed++}_`, typeText(column.type)]);
    expect(columns).toEqual(expected.get(id));
  });

  it.each(lines<LogQuery>('log-queries-error.jsonl').map(({ id, sql }) => [id, sql] as const))(
    '%s fails when it runs, not before',
    (_, sql) => {
      expect(resolve(sql).output.length).toBeGreaterThan(0);
    },
  );
});

describe('consumer queries that the sandbox accepts', () => {
  const sandbox = JSON.parse(readFileSync(join(__dirname, '..', 'cases', 'sandbox.json'), 'utf8')) as {
    readonly id: string;
    readonly kind: 'accept' | 'reject';
    readonly consumer: string;
  }[];
  // One case is of a table whose rows have a column `session_user`; the log tables have none.
  const accepted = sandbox.filter(({ id, kind }) => kind === 'accept' && id !== 'acc-column-session-user');

  it.each(accepted.map(({ id, consumer }) => [id, consumer] as const))('%s', (_, sql) => {
    expect(columnsText(resolve(sql))).not.toBe('');
  });
});
