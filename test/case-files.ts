/** The files of cases in `test/`, each of several tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): string => readFileSync(join(__dirname, name), 'utf8');

/** One case a line. @param name from `test/` */
export const jsonLines = <T>(name: string): T[] =>
  read(name)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** The texts of queries, one a line. @param name from `test/cases/` */
export const queriesOf = (name: string): string[] => jsonLines<{ sql: string }>(`cases/${name}`).map(({ sql }) => sql);

/** What the sandbox is judged by: texts of consumers. */
export const SANDBOX_CASES = JSON.parse(read('cases/sandbox.json')) as readonly {
  readonly id: string;
  readonly kind: 'accept' | 'reject';
  readonly consumer: string;
}[];

const of = (kind: string): readonly (readonly [id: string, sql: string])[] =>
  SANDBOX_CASES.filter((one) => one.kind === kind && one.id !== 'acc-column-session-user').map(
    ({ id, consumer }) => [id, consumer] as const,
  );
/** But for one that every rule of the sandbox accepts, of a column that edge_logs has not: BigQuery refuses it too. */
export const ACCEPTED = of('accept');
export const REJECTED = of('reject');
