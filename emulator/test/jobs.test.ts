import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach } from 'node:test';
import { Harness, rowsOf, type Json, test } from './harness';

const local = new Harness();
const NUMBERS = 'SELECT x FROM UNNEST(GENERATE_ARRAY(1, 10)) AS x ORDER BY x';
const JOBS = '/bigquery/v2/projects/test/jobs';
const QUERIES = '/bigquery/v2/projects/test/queries';

beforeEach(() => local.control({ reset: true }));

function reason(json: Json): unknown {
  return json['error']?.['errors']?.[0]?.['reason'];
}

test('a result in pages: maxResults holds for a page, the token leads to the next', async () => {
  const first = (await local.query(NUMBERS, { maxResults: 4 })).json;
  assert.equal(first['totalRows'], '10');
  assert.deepEqual(rowsOf(first), [['1'], ['2'], ['3'], ['4']]);
  const job = String(first['jobReference']?.['jobId']);
  const second = (await local.send('GET', `${QUERIES}/${job}?maxResults=4&pageToken=${String(first['pageToken'])}`))
    .json;
  assert.deepEqual(rowsOf(second), [['5'], ['6'], ['7'], ['8']]);
  const third = (await local.send('GET', `${QUERIES}/${job}?pageToken=${String(second['pageToken'])}`)).json;
  assert.deepEqual(rowsOf(third), [['9'], ['10']]);
  assert.equal(third['pageToken'], undefined);
  const other = (await local.query(NUMBERS, { maxResults: 1 })).json;
  const foreign = await local.send('GET', `${QUERIES}/${job}?pageToken=${String(other['pageToken'])}`);
  assert.equal(reason(foreign.json), 'invalid');
});

test('no page is larger than 10 MB', async () => {
  const sql = "SELECT x, REPEAT('y', 1000000) AS y FROM UNNEST(GENERATE_ARRAY(1, 12)) AS x ORDER BY x";
  let { json } = await local.query(sql);
  const sizes: number[] = [];
  const seen: unknown[] = [];
  for (;;) {
    sizes.push(JSON.stringify(json).length);
    seen.push(...rowsOf(json).map(([x]) => x));
    if (json['pageToken'] === undefined) break;
    const job = String(json['jobReference']?.['jobId']);
    json = (await local.send('GET', `${QUERIES}/${job}?pageToken=${String(json['pageToken'])}`)).json;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 12 }, (_, i) => String(i + 1)),
  );
  assert.equal(sizes.length, 2);
  assert.ok(
    sizes.every((size) => size < 10.6 * 1024 * 1024),
    String(sizes),
  );
});

test('a query without a job has an id and no job; with more pages to come it has one', async () => {
  const optional = { jobCreationMode: 'JOB_CREATION_OPTIONAL' };
  const small = (await local.query(NUMBERS, optional)).json;
  assert.equal(small['jobReference'], undefined);
  assert.match(String(small['queryId']), /^job_/);
  const paged = (await local.query(NUMBERS, { ...optional, maxResults: 3 })).json;
  assert.equal(paged['jobCreationReason']?.['code'], 'LARGE_RESULTS');
  assert.ok(paged['pageToken']);
});

test('a request id identifies one job', async () => {
  const requestId = randomUUID();
  const first = (await local.query(NUMBERS, { requestId })).json;
  const second = (await local.query(NUMBERS, { requestId })).json;
  assert.equal(second['jobReference']?.['jobId'], first['jobReference']?.['jobId']);
  const long = await local.query(NUMBERS, { requestId: 'x'.repeat(37) });
  assert.equal(reason(long.json), 'invalid');
});

test('an unfinished job is asked again until it is done', async () => {
  await local.control({ faults: [{ kind: 'unfinished', polls: 2 }] });
  const first = (await local.query(NUMBERS, { timeoutMs: 50, jobCreationMode: 'JOB_CREATION_OPTIONAL' })).json;
  assert.equal(first['jobComplete'], false);
  assert.equal(first['rows'], undefined);
  assert.equal(first['jobCreationReason']?.['code'], 'LONG_RUNNING');
  const url = `${QUERIES}/${String(first['jobReference']?.['jobId'])}?timeoutMs=50&location=US`;
  assert.equal((await local.send('GET', url)).json['jobComplete'], false);
  const done = (await local.send('GET', url)).json;
  assert.equal(done['jobComplete'], true);
  assert.equal(rowsOf(done).length, 10);
});

test('cancelling ends a job, and its results are an error from then on', async () => {
  await local.control({ faults: [{ kind: 'unfinished', polls: -1 }] });
  const first = (await local.query(NUMBERS, { timeoutMs: 20 })).json;
  const job = String(first['jobReference']?.['jobId']);
  const wrong = await local.send('POST', `${JOBS}/${job}/cancel?location=EU`);
  assert.equal(wrong.status, 404);
  const cancelled = await local.send('POST', `${JOBS}/${job}/cancel?location=US`);
  assert.equal(cancelled.status, 200);
  const after = await local.send('GET', `${QUERIES}/${job}`);
  assert.equal(after.status, 499);
  assert.equal(reason(after.json), 'stopped');
  const state = (await local.control())['jobs'] as unknown as { id: string; cancelled: boolean; state: string }[];
  assert.deepEqual(
    { ...state.find(({ id }) => id === job) },
    { id: job, state: 'DONE', cancelled: true, error: 'stopped' },
  );
});

test('a job ends by its own timeout', async () => {
  await local.control({ faults: [{ kind: 'unfinished', polls: -1 }] });
  const first = (await local.query(NUMBERS, { timeoutMs: 20, jobTimeoutMs: '150' })).json;
  await new Promise((done) => setTimeout(done, 200));
  const after = await local.send('GET', `${QUERIES}/${String(first['jobReference']?.['jobId'])}`);
  assert.equal(reason(after.json), 'stopped');
});

test("the limit of bytes is BigQuery's, with its HTTP status", async () => {
  const sql = 'SELECT id FROM raw_edge_logs LIMIT 1';
  const { json } = await local.query(sql);
  assert.equal(json['totalBytesBilled'], String(10 * 1024 * 1024));
  assert.ok(Number(json['totalBytesProcessed']) > 1000);
  const refused = await local.query(sql, { maximumBytesBilled: '1000' });
  assert.equal(refused.status, 500);
  assert.equal(reason(refused.json), 'bytesBilledLimitExceeded');
  assert.equal((await local.query('SELECT COUNT(*) FROM raw_edge_logs', { maximumBytesBilled: '1' })).status, 200);
});

test('jobs.insert: a job with its statistics, a failed one as a success, a dry run', async () => {
  const insert = (configuration: object, jobReference: object = {}) =>
    local.send('POST', JOBS, { configuration, jobReference });
  const query = { query: 'SELECT id FROM logs.raw_edge_logs ORDER BY id', useLegacySql: false };
  const inserted = await insert({ query, labels: { endpoint: 'logs' } }, { jobId: 'mine-1', location: 'EU' });
  assert.equal(inserted.json['jobReference']?.['jobId'], 'mine-1');
  assert.equal((await insert({ query }, { jobId: 'mine-1' })).status, 409);
  assert.equal((await local.send('GET', `${QUERIES}/mine-1?location=US`)).status, 404);
  const results = (await local.send('GET', `${QUERIES}/mine-1?location=EU&maxResults=5`)).json;
  assert.equal(rowsOf(results).length, 5);
  const job = (await local.send('GET', `${JOBS}/mine-1?location=EU`)).json;
  assert.equal(job['status']?.['state'], 'DONE');
  assert.equal(job['configuration']?.['labels']?.['endpoint'], 'logs');
  assert.equal(job['statistics']?.['query']?.['statementType'], 'SELECT');
  assert.deepEqual(job['statistics']?.['query']?.['referencedTables'], [
    { projectId: 'test', datasetId: 'logs', tableId: 'raw_edge_logs' },
  ]);

  const failed = await insert({ query: { ...query, query: 'SELECT nope' } });
  assert.equal(failed.status, 200);
  const id = String(failed.json['jobReference']?.['jobId']);
  await local.send('GET', `${QUERIES}/${id}`);
  assert.equal((await local.send('GET', `${JOBS}/${id}`)).json['status']?.['errorResult']?.['reason'], 'invalidQuery');

  const dry = await insert({
    query: { ...query, query: 'SELECT id, @a AS a FROM logs.raw_edge_logs WHERE @b > 1.5' },
    dryRun: true,
  });
  const statistics = dry.json['statistics']?.['query'];
  assert.equal(dry.json['jobReference']?.['jobId'], undefined);
  assert.deepEqual(statistics?.['undeclaredQueryParameters'], [
    { name: 'a', parameterType: { type: 'INT64' } },
    { name: 'b', parameterType: { type: 'FLOAT64' } },
  ]);
  assert.deepEqual(statistics?.['schema']?.['fields']?.[0], { name: 'id', type: 'STRING', mode: 'NULLABLE' });
  assert.equal((await insert({ query: { ...query, query: 'SELECT nope' }, dryRun: true })).status, 400);
});

test('a dry run of jobs.query has schema and bytes, no rows and no tables', async () => {
  const { json } = await local.query('SELECT id FROM raw_edge_logs', { dryRun: true });
  assert.equal(json['jobReference']?.['jobId'], undefined);
  assert.deepEqual([json['rows'], json['referencedTables']], [undefined, undefined]);
  assert.ok(Number(json['totalBytesProcessed']) > 1000);
  assert.equal((await local.query('SELECT id FROM nowhere', { dryRun: true })).status, 404);
});

test('statement types, and what is run and what is not', async () => {
  const dry = async (query: string) => {
    const configuration = { dryRun: true, query: { query, useLegacySql: false } };
    return (await local.send('POST', JOBS, { configuration })).json['statistics']?.['query']?.['statementType'];
  };
  assert.equal(await dry('INSERT INTO logs.raw_edge_logs (id, timestamp) VALUES ("a", CURRENT_TIMESTAMP())'), 'INSERT');
  assert.equal(await dry('CREATE TABLE logs.t AS SELECT 1 AS x'), 'CREATE_TABLE_AS_SELECT');
  assert.equal(await dry('SELECT 1; SELECT 2'), 'SCRIPT');
  assert.equal(await dry('SELECT 1;'), 'SELECT');
  assert.equal((await local.query('SELECT 1; SELECT 2')).status, 501);
});

test('labels are checked as BigQuery checks them', async () => {
  assert.equal((await local.query('SELECT 1', { labels: { kind: 'run', 'a-b_1': '' } })).status, 200);
  for (const labels of [{ Kind: 'x' }, { kind: 'Run' }, { kind: 'x'.repeat(64) }, { '1k': 'x' }])
    assert.equal((await local.query('SELECT 1', { labels })).status, 400, JSON.stringify(labels));
});

test('legacy SQL, the default of the API, is refused', async () => {
  const { status } = await local.send('POST', QUERIES, { query: 'SELECT 1' });
  assert.equal(status, 400);
});
