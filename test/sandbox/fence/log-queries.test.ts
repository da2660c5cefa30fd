/** The sample queries of log users, fenced, have the answers that they have as they were sent. */
import { ACCEPTED } from '../../case-files';
import { openEngineOn, overLocalBigQuery, overOwnLocalBigQuery } from '../../engines/over-local-bigquery';
import { answersLogQueries } from '../answers';
import { Consumer } from '../consumer';
import { oneOf } from '../../scale';

overLocalBigQuery('fenced', (local) => {
  answersLogQueries('the local BigQuery, with pins', () => openEngineOn(local().host), {
    fenced: true,
    part: 2,
  });

  describe('what the sandbox accepts', () => {
    let sent: Consumer;
    let fenced: Consumer;
    beforeAll(async () => {
      sent = await Consumer.over(await openEngineOn(local().host));
      fenced = await Consumer.over(await openEngineOn(local().host), { fenced: true });
    });
    afterAll(() => Promise.all([sent.close(), fenced.close()]));

    test.each(oneOf(4, ACCEPTED))('%s', async (_id, text) => {
      const [got, want] = await Promise.all([fenced.sql(text), sent.sql(text)]);
      expect(got.columns).toEqual(want.columns);
      expect(got.rows.length).toBe(want.rows.length);
      expect(got.bytesProcessed).toBe(want.bytesProcessed);
      if (!/limit|rand\(|uuid|any_value|array_agg/i.test(text))
        expect([...got.rows].sort()).toEqual([...want.rows].sort());
    });

    test('over groups whose keys may fail', async () => {
      const values = { project: 'default', interval: 'hourly' };
      const text = 'select timestamp, total_rest_requests from chart_counts order by timestamp';
      const [got, want] = await Promise.all([
        fenced.sql(text, values, 'usage.api-counts'),
        sent.sql(text, values, 'usage.api-counts'),
      ]);
      expect(got.rows.length).toBeGreaterThan(0);
      expect(got.rows).toEqual(want.rows);
    });
  });
});

overOwnLocalBigQuery(
  'evaluated before filters',
  (local) => {
    for (const [name, fenced] of [
      ['the local BigQuery, --eager', false],
      ['the local BigQuery, --eager, with pins', true],
    ] as const)
      answersLogQueries(name, () => openEngineOn(local().host), { fenced, part: 4 });
  },
  ['--eager'],
);
