import { engineContract } from './contract';
import { openEngineOn, overLocalBigQuery } from './over-local-bigquery';

const NOON = BigInt(Date.parse('2026-09-30T12:00:00Z')) * 1000n;

overLocalBigQuery('over the local BigQuery', (local) => {
  engineContract('BigQuery', async () => ({ engine: await openEngineOn(local().host) }), NOON);
});
