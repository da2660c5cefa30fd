import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { TwoEngines } from './two-engines';

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
