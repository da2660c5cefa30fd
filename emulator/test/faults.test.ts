import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { Harness, rowsOf, test } from './harness';

const local = new Harness();
const PATH = '/bigquery/v2/projects/test/queries';
const REQUEST = { query: 'SELECT 1 AS x, 2 AS y', useLegacySql: false };

beforeEach(() => local.control({ reset: true }));

const strike = (fault: Record<string, unknown>) => local.control({ faults: [fault] });
const raw = () => fetch(local.origin + PATH, { method: 'POST', body: JSON.stringify(REQUEST) });

test('errors by status and reason, as often as asked, then none', async () => {
  for (const [status, reason] of [
    [429, 'rateLimitExceeded'],
    [503, 'backendError'],
    [403, 'quotaExceeded'],
    [401, 'authError'],
    [500, 'bytesBilledLimitExceeded'],
  ] as const) {
    await strike({ kind: 'error', status, reason, times: 2, retryAfter: 3 });
    for (let i = 0; i < 2; i++) {
      const response = await raw();
      assert.equal(response.status, status);
      assert.equal(response.headers.get('retry-after'), '3');
      const body = (await response.json()) as { error: { code: number; errors: { reason: string }[] } };
      assert.deepEqual([body.error.code, body.error.errors[0]?.reason], [status, reason]);
    }
    assert.equal((await raw()).status, 200);
  }
});

test('answers that are no answer of the API', async () => {
  await strike({ kind: 'html', status: 502 });
  const html = await raw();
  assert.deepEqual([html.status, html.headers.get('content-type')], [502, 'text/html']);
  await strike({ kind: 'empty', status: 503 });
  assert.equal(await (await raw()).text(), '');
  await strike({ kind: 'brokenJson' });
  const broken = await raw();
  assert.equal(broken.status, 200);
  await assert.rejects(broken.json());
});

test('connections that break, before, within and instead of the answer', async () => {
  await strike({ kind: 'reset' });
  await assert.rejects(raw());
  assert.equal((await local.control())['jobs']?.length, 0);
  await strike({ kind: 'resetBody' });
  await assert.rejects(raw().then((response) => response.text()));
  await strike({ kind: 'lost' });
  await assert.rejects(raw());
  assert.equal((await local.control())['jobs']?.length, 2);
});

test('hanging and slow answers', async () => {
  await strike({ kind: 'hang' });
  await assert.rejects(local.send('POST', PATH, REQUEST, AbortSignal.timeout(150)), /abort|timeout/i);
  let seen = (await local.control())['requests']?.[0];
  for (let i = 0; i < 50 && (seen?.['aborted'] as unknown) !== true; i++)
    seen = (await local.control())['requests']?.[0];
  assert.deepEqual([seen?.['aborted'], seen?.['status']], [true, null]);
  for (const kind of ['slow', 'slowBody']) {
    await strike({ kind, delayMs: 200 });
    const start = performance.now();
    assert.equal((await local.query('SELECT 1')).status, 200);
    assert.ok(performance.now() - start >= 195, kind);
  }
});

test('the second page alone', async () => {
  await strike({ kind: 'error', status: 503, on: 'page' });
  const { json } = await local.query('SELECT x FROM UNNEST([1, 2, 3]) AS x', { maxResults: 1 });
  const job = String(json['jobReference']?.['jobId']);
  const next = `${PATH}/${job}?pageToken=${String(json['pageToken'])}`;
  assert.equal((await local.send('GET', `${PATH}/${job}`)).status, 200);
  assert.equal((await local.send('GET', next)).status, 503);
  assert.equal((await local.send('GET', next)).status, 200);
});

test('a schema that does not fit its rows', async () => {
  const types = async (message: string) => {
    await strike({ kind: 'malformedSchema', message });
    const { json } = await local.query('SELECT 1 AS x, 2 AS y');
    const fields = json['schema']?.['fields'] as unknown as { name: string; type: string }[] | null | undefined;
    return fields === undefined
      ? 'none'
      : fields === null
        ? 'null'
        : fields.map(({ name, type }) => `${name} ${type}`).join();
  };
  assert.equal(await types('missing'), 'none');
  assert.equal(await types('null fields'), 'null');
  assert.equal(await types('unknown type'), 'x TENSOR,y TENSOR');
  assert.equal(await types('too many fields'), 'x INTEGER,y INTEGER,extra STRING');
  assert.equal(await types('too few fields'), 'y INTEGER');
});

test('a job that fails as it ends', async () => {
  const ends = {
    backendError: 'jobBackendError',
    rateLimitExceeded: 'jobRateLimitExceeded',
    invalidQuery: 'invalidQuery',
  };
  for (const [reason, answered] of Object.entries(ends)) {
    await strike({ kind: 'jobError', reason, message: 'Try again' });
    const { status, json } = await local.query('SELECT 1');
    assert.deepEqual([status, json['error']?.['errors']?.[0]?.['reason']], [400, answered]);
    const jobs = (await local.send('GET', '/projects/test/jobs')).json['jobs'];
    assert.equal(jobs?.[0]?.['status']?.['errorResult']?.['reason'], reason);
  }
});

test('skip lets requests pass, and each operation has its own faults', async () => {
  await strike({ kind: 'error', status: 503, on: 'cancel' });
  await strike({ kind: 'error', status: 503, on: 'query', skip: 1 });
  assert.equal((await raw()).status, 200);
  assert.equal((await raw()).status, 503);
  assert.equal((await local.control())['faults']?.length, 1);
});

test('what was seen: labels, limits, ids; credentials never', async () => {
  const headers = { authorization: 'Bearer secret-token' };
  const body = JSON.stringify({ ...REQUEST, labels: { kind: 'run' }, maximumBytesBilled: '99', requestId: 'r-1' });
  await fetch(local.origin + PATH, { method: 'POST', headers, body });
  const state = await local.control();
  assert.deepEqual(state['counters'], { query: 1 });
  const seen = state['requests']?.[0];
  assert.deepEqual(
    [seen?.['operation'], seen?.['authorized'], seen?.['body']?.['labels'], seen?.['body']?.['maximumBytesBilled']],
    ['query', true, { kind: 'run' }, '99'],
  );
  assert.ok(!JSON.stringify(state).includes('secret-token'));
});

test('an unknown fault is refused', async () => {
  const { status } = await local.send('POST', '/_control', { faults: [{ kind: 'gremlin' }] });
  assert.equal(status, 400);
});

test("goccy's shape", async () => {
  await local.control({ shape: 'goccy' });
  const at = "TIMESTAMP '2026-09-30 12:00:00'";
  const sql = `SELECT ${at} AS t, STRUCT(${at} AS t) AS r, [STRUCT(${at} AS t)] AS l, [${at}] AS a`;
  const { json } = await local.query(sql, {
    maximumBytesBilled: '1',
    maxResults: 1,
    jobCreationMode: 'JOB_CREATION_OPTIONAL',
  });
  assert.deepEqual(rowsOf(json)[0], [
    '1790769600000000',
    { f: [{ v: '2026-09-30T12:00:00Z' }] },
    [{ v: { f: [{ v: '2026-09-30 12:00:00+00' }] } }],
    [{ v: '1790769600000000' }],
  ]);
  assert.ok(json['jobReference']);
  assert.deepEqual([json['totalBytesProcessed'], json['queryId']], [undefined, undefined]);
  const all = (await local.query('SELECT id FROM raw_edge_logs', { maxResults: 3 })).json;
  assert.deepEqual([rowsOf(all).length, all['pageToken']], [118, undefined]);
  const failed = await local.query('SELECT nope');
  assert.deepEqual([failed.status, failed.json['error']?.['errors']?.[0]?.['reason']], [400, 'jobInternalError']);
  assert.equal(failed.json['error']?.['errors']?.[0]?.['domain'], undefined);
  const configuration = { dryRun: true, query: { query: 'SELECT id FROM logs.raw_edge_logs', useLegacySql: false } };
  const dry = (await local.send('POST', '/projects/test/jobs', { configuration })).json;
  assert.deepEqual(dry['statistics']?.['query'], { statementType: 'SELECT' });
});

test('the shape that answers a failed query with 200, and the default data set ignored', async () => {
  await local.control({ shape: 'ok-errors', ignoreDefaultDataset: true });
  const { status, json } = await local.query('SELECT nope');
  assert.equal(status, 200);
  assert.deepEqual(
    [json['jobComplete'], json['schema'], json['rows'], json['totalRows']],
    [true, { fields: [] }, [], '0'],
  );
  assert.equal(json['errors']?.[0]?.['reason'], 'invalidQuery');
  assert.equal((await local.query('SELECT 1 FROM raw_edge_logs')).json['errors']?.[0]?.['reason'], 'invalid');
  assert.deepEqual(await local.rows('SELECT COUNT(*) FROM logs.raw_edge_logs'), [['118']]);
});
