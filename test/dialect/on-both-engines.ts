import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { type Order, TwoEngines } from './two-engines';
import { opened } from '../opened';
import { oneOf } from '../scale';

/** Describes tests over the embedded engine and a local BigQuery with the same tables, to which they write nothing. */
export function onBothEngines(name: string, tests: (engines: () => TwoEngines) => void): void {
  overLocalBigQuery(name, (local) => {
    tests(opened(() => TwoEngines.open(local().host)));
  });
}

/** A long table is tried in part: `LONG=1` tries all of it. */
export const sampled = <T>(queries: readonly T[]): readonly T[] => (queries.length > 40 ? oneOf(4, queries) : queries);

/** Tests that both engines answer each query alike. */
export function alikeOnBoth(
  name: string,
  queries: readonly string[],
  order: (sql: string) => Order = () => 'ordered',
): void {
  onBothEngines(name, (engines) => {
    test.each(sampled(queries))('%s', async (sql) => {
      expect(await engines().difference(sql, order(sql))).toBeNull();
    });
  });
}
