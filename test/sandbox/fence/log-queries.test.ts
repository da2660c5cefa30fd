/** The sample queries of log users, fenced, have the answers that they have as they were sent. */
import { openEngineOn, overLocalBigQuery } from '../../engines/over-local-bigquery';
import { answersLogQueries } from '../answers';

overLocalBigQuery('fenced', (local) => {
  answersLogQueries('the local BigQuery, with pins', () => openEngineOn(local().host), { fenced: true });
});
