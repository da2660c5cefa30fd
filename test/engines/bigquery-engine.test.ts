import { engineContract } from './contract';
import { openEngineOn, overOwnLocalBigQuery } from './over-local-bigquery';

const NOON = BigInt(Date.parse('2026-09-30T12:00:00Z')) * 1000n;

// One of its own: queries that have run into their deadlines go on in Google's engine for minutes.
overOwnLocalBigQuery('over the local BigQuery', (local) => {
  engineContract('BigQuery', async () => ({ engine: await openEngineOn(local().host) }), NOON);
});
