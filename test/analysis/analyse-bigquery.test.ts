import { openEngineOn, overLocalBigQuery } from '../engines/over-local-bigquery';
import { analysisSuite } from './analyse';

overLocalBigQuery('requests', (local) => {
  analysisSuite('the local BigQuery', async () => ({ engine: await openEngineOn(local().host) }));
});
