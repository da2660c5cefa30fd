/** Queries as clients send them, over the stored endpoint and through the gate: DuckDB answers what BigQuery answers. */
import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { openEngineOn, overLocalBigQuery } from '../engines/over-local-bigquery';
import { sameValue } from '../../packages/duckdb-engine/test/same-value';
import { Consumer } from '../sandbox/consumer';
import { CLIENT_QUERIES, REFUSED } from './client-queries';
import { oneOf } from '../scale';

const PERIODS = {
  'three days': { iso_timestamp_start: '2026-09-27T12:00:00.000Z', iso_timestamp_end: '2026-09-30T12:00:00.000Z' },
  'up to now': { iso_timestamp_start: '', iso_timestamp_end: '' },
  'one hour of another project': { project: 'other', iso_timestamp_start: '2026-09-30T11:00:00Z' },
};

overLocalBigQuery('queries as clients send them', (local) => {
  let bigQuery: Consumer;
  let duckDb: Consumer;
  beforeAll(async () => {
    bigQuery = await Consumer.over(await openEngineOn(local().host));
    duckDb = await Consumer.over(await openFixture());
  }, 60_000);
  afterAll(() => Promise.all([bigQuery.close(), duckDb.close()]));

  describe.each(Object.entries(PERIODS))('of %s', (_name, period) => {
    const values = { project: 'default', ...period };
    test.each(oneOf(3, CLIENT_QUERIES).map((query) => [query.about, query] as const))(
      '%s',
      async (_about, { sql, order }) => {
        const expected = await answer(bigQuery, sql, values);
        const actual = await answer(duckDb, sql, values);
        expect(actual.columns).toEqual(expected.columns);
        const [ours, theirs] =
          order === 'any order' ? [actual.rows.sort(), expected.rows.sort()] : [actual.rows, expected.rows];
        if (ours.length === theirs.length && ours.every((row, i) => same(row, theirs[i]))) return;
        expect(ours).toEqual(theirs);
      },
    );
  });

  test('they find rows', async () => {
    let without = 0;
    for (const { sql } of CLIENT_QUERIES) if ((await duckDb.sql(sql)).rows.length === 0) without++;
    expect(without).toBe(1);
  });

  test.each(REFUSED.map((query) => [query.about, query.sql] as const))('both refuse %s', async (_about, sql) => {
    const reasons = [];
    for (const consumer of [bigQuery, duckDb]) {
      reasons.push(
        await consumer.sql(sql).then(
          () => 'answered',
          (error: unknown) => (error as { reason?: unknown }).reason,
        ),
      );
    }
    expect(reasons[1]).toBe(reasons[0]);
    expect(['invalidQuery', 'unknownField']).toContain(reasons[0]);
  });
});

async function answer(consumer: Consumer, sql: string, values: Readonly<Record<string, string>>) {
  const { columns, rows } = await consumer.sql(sql, values);
  return { columns, rows: [...rows] };
}

/** Rows are texts: keys in their order, integers to the last digit; but the last digit of a double may differ. */
function same(actual: string, expected: string | undefined): boolean {
  return expected !== undefined && (actual === expected || sameValue(JSON.parse(actual), JSON.parse(expected)));
}
