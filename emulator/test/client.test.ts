import assert from 'node:assert/strict';
import { BigQuery } from '@google-cloud/bigquery';
import { Harness, test } from './harness';

const local = new Harness();

/** Google's own client, unchanged. Credentials that answer at once keep it from looking for real ones. */
function client(): BigQuery {
  const authClient = {
    getRequestHeaders: () => Promise.resolve({}),
    request: (options: unknown) => Promise.reject(new Error(String(options))),
  };
  return new BigQuery({ projectId: 'test', apiEndpoint: local.origin, authClient: authClient as never });
}

test('query', async () => {
  const [rows] = await client().query({
    query: 'SELECT @a AS a, @t AS t, ARRAY_LENGTH(@l) AS l, COUNT(*) AS n FROM logs.raw_edge_logs',
    params: { a: 'x', t: BigQuery.timestamp('2026-09-30T12:00:00.000Z'), l: [1, 2] },
    types: { a: 'STRING', t: 'TIMESTAMP', l: ['INT64'] },
  });
  const row = (rows as { a: string; t: { value: string }; l: number; n: number }[])[0];
  assert.deepEqual([row?.a, row?.t.value, row?.l, row?.n], ['x', '2026-09-30T12:00:00.000Z', 2, 118]);
});

test('query follows pages', async () => {
  const [rows] = await client().query({ query: 'SELECT x FROM UNNEST(GENERATE_ARRAY(1, 10)) AS x', maxResults: 3 });
  assert.equal(rows.length, 10);
  const [page, next] = await client().query(
    { query: 'SELECT x FROM UNNEST(GENERATE_ARRAY(1, 10)) AS x' },
    { maxResults: 4, autoPaginate: false },
  );
  assert.equal(page.length, 4);
  assert.ok(next);
});

test('createQueryJob, its results, its metadata, its cancellation', async () => {
  const [job] = await client().createQueryJob({
    query: 'SELECT id, metadata FROM logs.raw_edge_logs ORDER BY timestamp DESC LIMIT 7',
    labels: { kind: 'run' },
  });
  const [rows] = await job.getQueryResults();
  assert.equal(rows.length, 7);
  const first = (rows as { metadata: { request: { method: string }[] }[] }[])[0];
  assert.equal(typeof first?.metadata[0]?.request[0]?.method, 'string');
  const [metadata] = await job.getMetadata();
  assert.equal(metadata.status.state, 'DONE');
  assert.equal(metadata.statistics.query.referencedTables[0].tableId, 'raw_edge_logs');
  const [cancelled] = await job.cancel();
  assert.ok(cancelled);
});

test('a dry run', async () => {
  const [job] = await client().createQueryJob({
    query: 'SELECT id FROM logs.raw_edge_logs WHERE id = @id',
    dryRun: true,
  });
  const { query } = job.metadata.statistics;
  assert.equal(query.statementType, 'SELECT');
  assert.ok(Number(query.totalBytesProcessed) > 0);
  assert.deepEqual(query.undeclaredQueryParameters, [{ name: 'id', parameterType: { type: 'STRING' } }]);
});

test('an error, with its reason', async () => {
  await assert.rejects(client().query('SELECT nope'), (error: { code: number; errors: { reason: string }[] }) => {
    assert.deepEqual([error.code, error.errors[0]?.reason], [400, 'invalidQuery']);
    return true;
  });
});

test('data sets, tables, insert, rows', async () => {
  const [dataset] = await client().createDataset('made_by_client');
  const [table] = await dataset.createTable('t', { schema: 'name:STRING, n:INTEGER, at:TIMESTAMP' });
  await table.insert([
    { name: 'a', n: 1, at: BigQuery.timestamp('2026-01-01T00:00:00Z') },
    { name: 'b', n: 2 },
  ]);
  await assert.rejects(table.insert([{ name: 'a', nope: 1 }]), { name: 'PartialFailureError' });
  const [rows] = await table.getRows();
  assert.deepEqual(
    (rows as { n: number }[]).map(({ n }) => n),
    [1, 2],
  );
  const [tables] = await dataset.getTables();
  assert.deepEqual(
    tables.map(({ id }) => id),
    ['t'],
  );
  await table.delete();
  assert.deepEqual(await table.exists(), [false]);
  await dataset.delete({ force: true });
});
