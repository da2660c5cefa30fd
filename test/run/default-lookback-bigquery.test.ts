import { openEngineOn, overLocalBigQuery } from '../engines/over-local-bigquery';
import { defaultLookbackSuite } from './default-lookback';

overLocalBigQuery('starts', (local) => {
  defaultLookbackSuite('the local BigQuery', async () => ({ engine: await openEngineOn(local().host) }));
});
