/** The log queries and the stored endpoints on BigQuery, and on DuckDB beside it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundParameter, Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { ServiceError } from '../../packages/duckdb-engine/src/contract/service-error';
import { answersLogQueries } from '../sandbox/answers';
import { ACCEPTED, REJECTED } from '../case-files';
import { Consumer } from '../sandbox/consumer';
import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { openEngineOn, overLocalBigQuery } from './over-local-bigquery';
import { textsOf } from '../../packages/duckdb-engine/test/queries';
import { opened } from '../opened';
import { oneOf } from '../scale';

overLocalBigQuery('BigQuery answers', (local) => {
  answersLogQueries('the local BigQuery', () => openEngineOn(local().host), { part: 2 });

  describe('the stored endpoints', () => {
    let bigQuery: Engine;
    let duckDb: Engine;
    beforeAll(async () => {
      bigQuery = await openEngineOn(local().host);
      duckDb = await openFixture();
    }, 60_000);
    afterAll(() => Promise.all([bigQuery.close(), duckDb.close()]));

    const rowsOf = async (
      engine: Engine,
      file: string,
      values: Readonly<Record<string, string>>,
    ): Promise<unknown[]> => {
      const sql = readFileSync(join(__dirname, '../../queries', file), 'utf8');
      const parameters = Object.entries(values).map(([name, value]): BoundParameter => ({
        name,
        type: 'STRING',
        value,
      }));
      return (await textsOf(engine, sql, { parameters })).map((row) => JSON.parse(row) as unknown);
    };

    test.each([
      ['default', '', '', 78],
      ['other', '', '', 16],
      ['nobody', '', '', 0],
      ['default', '2026-09-30T11:00:00.000000Z', '', 36],
      ['default', '', '2026-09-30T11:00:00.000000Z', 42],
      ['default', '2026-09-30T11:00:00.000000Z', '2026-09-30T11:30:00.000000Z', 24],
    ])('logs.all of %s from %j to %j, row for row as on DuckDB', async (project, start, end, count) => {
      const values = { project, iso_timestamp_start: start, iso_timestamp_end: end };
      const rows = await rowsOf(bigQuery, 'logs.all.sql', values);
      expect(rows).toEqual(await rowsOf(duckDb, 'logs.all.sql', values));
      expect(rows).toHaveLength(count);
    });

    test.each(['goccy', 'ok-errors'])('the same from a service in the shape %s', async (shape) => {
      const values = { project: 'default', iso_timestamp_start: '', iso_timestamp_end: '' };
      const expected = await rowsOf(duckDb, 'logs.all.sql', values);
      await local().control({ shape });
      try {
        expect(await rowsOf(bigQuery, 'logs.all.sql', values)).toEqual(expected);
      } finally {
        await local().control({ reset: true });
      }
    });

    test.each(['minutely', 'hourly', 'daily', '1hr', '1day', '7day'])(
      'usage.api-counts %s, row for row as on DuckDB',
      async (interval) => {
        for (const project of ['default', 'api\\.example\\.com', 'no such']) {
          const rows = await rowsOf(bigQuery, 'usage.api-counts.sql', { interval, project });
          expect(rows).toEqual(await rowsOf(duckDb, 'usage.api-counts.sql', { interval, project }));
          if (project === 'default') expect(rows.length).toBeGreaterThan(0);
        }
      },
    );
  });

  test("consumer queries on a service in the shape of goccy's emulator, walls and all", async () => {
    await local().control({ shape: 'goccy' });
    const consumer = await Consumer.over(await openEngineOn(local().host));
    try {
      const { rows } = await consumer.sql(`
        select array_agg(struct(id, timestamp) order by timestamp desc limit 1) as newest, struct(max(timestamp) as t) as last
        from edge_logs`);
      expect(rows).toEqual([
        '{"newest":[{"id":"d33b51e4-2141-4899-8680-3e9433c4ace2","timestamp":1790769600000000}],' +
          '"last":{"t":1790769600000000}}',
      ]);
      await expect(consumer.sql('select id from raw_edge_logs')).rejects.toMatchObject({ reason: 'sandboxViolation' });
      await expect(consumer.sql('select 1 / 0')).rejects.toMatchObject({ message: 'Division by zero' });
    } finally {
      await consumer.close();
      await local().control({ reset: true });
    }
  });

  describe('the judged examples of the sandbox, every wall up', () => {
    const consumer = opened(async () => Consumer.over(await openEngineOn(local().host)));

    test.each(oneOf(3, ACCEPTED))('%s is answered', async (_id, sql) => {
      const { rows } = await consumer().sql(sql);
      for (const row of rows) expect(() => JSON.parse(row) as unknown).not.toThrow();
    });

    test.each(oneOf(6, REJECTED))('%s is refused', async (_id, sql) => {
      const thrown: unknown = await consumer()
        .sql(sql)
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(ServiceError);
      expect(['invalidQuery', 'sandboxViolation']).toContain((thrown as ServiceError).reason);
    });
  });
});
