import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BigQuery } from '@google-cloud/bigquery';
import { Harness, test } from './harness';

const local = new Harness();
const UPLOAD = '/upload/bigquery/v2/projects/test/jobs';
const FIELDS = [
  { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
  { name: 'name', type: 'STRING' },
];

type Load = Readonly<Record<string, unknown>>;

const configuration = (table: string, load: Load): object => ({
  configuration: { load: { destinationTable: { projectId: 'test', datasetId: 'logs', tableId: table }, ...load } },
});

interface LoadAnswer {
  readonly status: {
    readonly state: string;
    readonly errorResult?: { readonly reason: string; readonly message: string };
  };
  readonly statistics: { readonly load?: { readonly outputRows: string; readonly badRecords: string } };
  readonly jobReference: { readonly jobId: string };
}

async function upload(table: string, file: string, load: Load): Promise<LoadAnswer> {
  const job = JSON.stringify(configuration(table, load));
  const body = `--x\r\nContent-Type: application/json\r\n\r\n${job}\r\n--x\r\nContent-Type: */*\r\n\r\n${file}\r\n--x--`;
  const response = await fetch(`${local.origin}${UPLOAD}?uploadType=multipart`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/related; boundary="x"' },
    body,
  });
  assert.equal(response.status, 200);
  return (await response.json()) as LoadAnswer;
}

const json = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const JSON_LOAD = { sourceFormat: 'NEWLINE_DELIMITED_JSON', schema: { fields: FIELDS } };

test('JSON lines: appended, or in place of what was there', async () => {
  const first = await upload('a', json([{ id: 1, name: 'one' }, { id: 2 }]), JSON_LOAD);
  assert.deepEqual([first.status.state, first.statistics.load?.outputRows], ['DONE', '2']);
  await upload('a', json([{ id: 3 }]), { ...JSON_LOAD, writeDisposition: 'WRITE_APPEND' });
  assert.deepEqual(await local.rows('SELECT id, name FROM a ORDER BY id'), [
    ['1', 'one'],
    ['2', null],
    ['3', null],
  ]);
  await upload('a', json([{ id: 4 }]), { ...JSON_LOAD, writeDisposition: 'WRITE_TRUNCATE' });
  assert.deepEqual(await local.rows('SELECT id FROM a'), [['4']]);
  const full = await upload('a', json([{ id: 5 }]), { ...JSON_LOAD, writeDisposition: 'WRITE_EMPTY' });
  assert.equal(full.status.errorResult?.reason, 'duplicate');
  const job = await local.send('GET', `/projects/test/jobs/${first.jobReference.jobId}`);
  assert.equal(job.json['configuration']?.['jobType'], 'LOAD');
});

test('a row that does not fit keeps everything out, unless some may', async () => {
  const rows = json([{ id: 1 }, { id: 'x' }, { name: 'no id' }]);
  const refused = await upload('b', rows, JSON_LOAD);
  assert.match(refused.status.errorResult?.message ?? '', /'x' as INT64/);
  assert.equal((await local.send('GET', '/projects/test/datasets/logs/tables/b')).status, 404);
  const lenient = await upload('b', `${rows}not json\n`, { ...JSON_LOAD, maxBadRecords: 3 });
  assert.deepEqual(lenient.statistics.load?.badRecords, '3');
  assert.deepEqual(await local.rows('SELECT id FROM b'), [['1']]);
});

test('CSV: header, quotes, empty cells; names and types guessed', async () => {
  await upload('c', 'id,name\n1,"a, b"\n2,\n', { schema: { fields: FIELDS }, skipLeadingRows: 1 });
  assert.deepEqual(await local.rows('SELECT id, name FROM c ORDER BY id'), [
    ['1', 'a, b'],
    ['2', null],
  ]);
  await upload('d', 'n,at,ok\n1.5,2026-01-01 00:00:00,true\n', { autodetect: true });
  const table = await local.send('GET', '/projects/test/datasets/logs/tables/d');
  const fields = table.json['schema']?.['fields'] as unknown as { name: string; type: string }[];
  assert.deepEqual(
    fields.map(({ name, type }) => `${name} ${type}`),
    ['n FLOAT', 'at TIMESTAMP', 'ok BOOLEAN'],
  );
});

test('a session takes a file in parts, and says how far it is', async () => {
  const start = await fetch(`${local.origin}${UPLOAD}?uploadType=resumable`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(configuration('e', JSON_LOAD)),
  });
  const session = start.headers.get('location') ?? '';
  const file = json([{ id: 1 }, { id: 2 }]);
  const put = (range: string, body: string): Promise<Response> =>
    fetch(session, { method: 'PUT', headers: { 'content-range': range }, body, redirect: 'manual' });
  const part = await put('bytes 0-4/*', file.slice(0, 5));
  assert.deepEqual([part.status, part.headers.get('range')], [308, 'bytes=0-4']);
  assert.equal((await put('bytes */*', '')).status, 308);
  const rest = await put(`bytes 5-${file.length - 1}/${file.length}`, file.slice(5));
  assert.equal(rest.status, 200);
  assert.deepEqual(await local.rows('SELECT id FROM e ORDER BY id'), [['1'], ['2']]);
  assert.equal((await put('bytes 0-0/1', 'x')).status, 404);
});

test('what is not loaded is refused by name', async () => {
  const parquet = await upload('f', 'PAR1', { sourceFormat: 'PARQUET', schema: { fields: FIELDS } });
  assert.equal(parquet.status.errorResult?.reason, 'notImplemented');
  const uri = configuration('f', { sourceUris: ['gs://bucket/file'] });
  assert.equal((await local.send('POST', '/projects/test/jobs', uri)).status, 501);
});

test("Google's Node client loads a file", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'local-bigquery-'));
  const file = join(folder, 'rows.json');
  writeFileSync(file, json([{ id: 7, name: 'seven' }]));
  const token = { getRequestHeaders: () => Promise.resolve({}) };
  try {
    const client = new BigQuery({ projectId: 'test', apiEndpoint: local.origin, authClient: token as never });
    const [job] = await client
      .dataset('logs')
      .table('g')
      .load(file, { schema: { fields: FIELDS } });
    assert.equal(job.status?.state, 'DONE');
    assert.deepEqual(await local.rows('SELECT id, name FROM g'), [['7', 'seven']]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('jobs are listed in pages', async () => {
  for (const sql of ['SELECT 1', 'SELECT 2', 'SELECT 3'])
    await local.send('POST', '/projects/test/jobs', { configuration: { query: { query: sql, useLegacySql: false } } });
  const page = await local.send('GET', '/projects/test/jobs?maxResults=2');
  assert.equal((page.json['jobs'] as unknown as unknown[]).length, 2);
  const next = await local.send(
    'GET',
    `/projects/test/jobs?maxResults=2&pageToken=${String(page.json['nextPageToken'])}`,
  );
  assert.notDeepEqual(next.json['jobs']?.[0]?.['id'], page.json['jobs']?.[0]?.['id']);
});
