import { openEngineOn, overLocalBigQuery } from '../engines/over-local-bigquery';
import { storedAnalysisSuite } from './stored';

overLocalBigQuery('stored queries', (local) => {
  storedAnalysisSuite('the local BigQuery', async () => ({ engine: await openEngineOn(local().host) }));
});
