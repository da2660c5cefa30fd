import { openEngineOn, overLocalBigQuery } from '../engines/over-local-bigquery';
import { analysisSuite } from './analyse';
import { storedAnalysisSuite } from './stored';

overLocalBigQuery('analyses', (local) => {
  const open = () => openEngineOn(local().host);
  analysisSuite('the local BigQuery', open);
  storedAnalysisSuite('the local BigQuery', open);
});
