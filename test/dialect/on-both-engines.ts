import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { type Order, TwoEngines } from './two-engines';

/** Describes tests over the embedded engine and a local BigQuery with the same tables, to which they write nothing. */
export function onBothEngines(name: string, tests: (engines: () => TwoEngines) => void): void {
  overLocalBigQuery(name, (local) => {
    let engines: TwoEngines;
    beforeAll(async () => {
      engines = await TwoEngines.open(local().host);
    }, 60_000);
    afterAll(() => engines.close());
    tests(() => engines);
  });
}

/** Tests that both engines answer each query alike. */
export function alikeOnBoth(
  name: string,
  queries: readonly string[],
  order: (sql: string) => Order = () => 'ordered',
): void {
  onBothEngines(name, (engines) => {
    test.each(queries)('%s', async (sql) => {
      expect(await engines().difference(sql, order(sql))).toBeNull();
    });
  });
}
