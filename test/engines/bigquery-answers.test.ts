/** The log queries and the stored endpoints on BigQuery, and on DuckDB beside it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BoundParameter, Engine } from '../../src/engines/contract';
import { openDuckDbEngine } from '../../src/engines/duckdb/engine/engine';
import { ServiceError } from '../../src/errors';
import { answersLogQueries } from '../sandbox/answers';
import { Consumer, FIXTURE_END } from '../sandbox/consumer';
import { openEngineOn, overLocalBigQuery } from './over-local-bigquery';
import { silentLog } from './silent-log';

interface Case {
  readonly id: string;
  readonly kind: 'accept' | 'reject';
  readonly consumer: string;
}

const CASES = JSON.parse(readFileSync(join(__dirname, '../cases/sandbox.json'), 'utf8')) as Case[];
/** Accepted by every rule of the sandbox, and then a column that edge_logs has not. */
const NO_SUCH_COLUMN = new Set(['acc-column-session-user']);

overLocalBigQuery('BigQuery answers', (local) => {
  answersLogQueries('the local BigQuery', () => openEngineOn(local().host));

  describe('the stored endpoints', () => {
    let bigQuery: Engine;
    let duckDb: Engine;
    const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-answers-'));
    beforeAll(async () => {
      bigQuery = await openEngineOn(local().host);
      const dataDir = join(__dirname, '../fixture');
      duckDb = await openDuckDbEngine({ dataDir, cacheDir, now: FIXTURE_END, log: silentLog });
    }, 60_000);
    afterAll(async () => {
      await Promise.all([bigQuery.close(), duckDb.close()]);
      rmSync(cacheDir, { recursive: true });
    });

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
      const query = { sql, parameters, maxRows: 1000, hideBytes: false, maxBytesBilled: null, labels: {} };
      const limits = { deadline: performance.now() + 15_000, signal: new AbortController().signal };
      return (await engine.run(query, limits)).rows.map((row) => JSON.parse(row) as unknown);
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
    let consumer: Consumer;
    beforeAll(async () => {
      consumer = await Consumer.over(await openEngineOn(local().host));
    });
    afterAll(() => consumer.close());

    const accepted = CASES.filter(({ kind, id }) => kind === 'accept' && !NO_SUCH_COLUMN.has(id));
    test.each(accepted.map((one) => [one.id, one.consumer] as const))('%s is answered', async (_id, sql) => {
      const { rows } = await consumer.sql(sql);
      for (const row of rows) expect(() => JSON.parse(row) as unknown).not.toThrow();
    });

    const rejected = CASES.filter(({ kind }) => kind === 'reject');
    test.each(rejected.map((one) => [one.id, one.consumer] as const))('%s is refused', async (_id, sql) => {
      const thrown: unknown = await consumer.sql(sql).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(ServiceError);
      expect(['invalidQuery', 'sandboxViolation']).toContain((thrown as ServiceError).reason);
    });
  });
});
