/** The real process takes what OpenTelemetry's own exporters send, and what drains with one URL do. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { until } from '../until';
import { Stage } from './started';

jest.setTimeout(120_000);

const run = promisify(execFile);
const READER = 'a-key-for-everything';
const SHIPPER = 'key-of-a-shipper';
const TENANT = 'key-of-a-shipper-of-abc';
const SLOW = 'key-of-a-slow-shipper';

const PAGE = readFileSync(path.join(__dirname, '../../docs/data.md'), 'utf8');
/** The first example of a language on the page that has a text. */
function example(language: string, having = ''): string {
  const blocks = [...PAGE.matchAll(/^```(\w+)\n([^]*?)^```/gm)];
  return blocks.find(([, kind, text = '']) => kind === language && text.includes(having))?.[2] ?? '';
}

const stage = new Stage();
let base: string;
beforeAll(async () => {
  const folder = stage.folder();
  const key = (name: string, secret: string, more: object = {}): object => ({
    name,
    hash: createHash('sha256').update(secret).digest('hex'),
    ingest: true,
    ...more,
  });
  const keys = [
    key('shipper', SHIPPER),
    key('tenant', TENANT, { project: 'abc' }),
    key('slow', SLOW, { rateLimit: 0.01 }),
  ];
  mkdirSync(path.join(folder, '.data'));
  writeFileSync(path.join(folder, '.data/keys.json'), JSON.stringify({ keys }));
  writeFileSync(path.join(folder, 'queries/otel.sql'), example('sql', 'otel_logs'));
  writeFileSync(path.join(folder, 'sources.json'), example('json', 'sourceHeader'));
  const collect = { COLLECT: 'on', COLLECT_SOURCES: 'sources.json', COLLECT_MAX_BODY: '100000', DATA_DIR: 'logs' };
  base = await stage.start({ ...collect, API_KEY: READER, KEYS_FILE: '.data/keys.json' }, folder).ready();
});
afterAll(() => stage.end());

function post(
  to: string,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string>,
  key = SHIPPER,
): Promise<Response> {
  return fetch(base + to, { method: 'POST', body, headers: { 'X-API-KEY': key, ...headers } });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const PROTOBUF = { 'Content-Type': 'application/x-protobuf' };
const jsonOf = (value: unknown): string => JSON.stringify(value);

async function rows(endpoint: string, parameters: Record<string, string>): Promise<Record<string, unknown>[]> {
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(`${base}/api/endpoints/query/${endpoint}?${query}`, {
    headers: { 'X-API-KEY': READER },
  });
  const answer = (await response.json()) as { result: Record<string, unknown>[] };
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return answer.result;
}

const count = async (endpoint: string, table: string, project: string, where = 'TRUE'): Promise<unknown> =>
  (await rows(endpoint, { project, sql: `SELECT COUNT(*) AS n FROM ${table} WHERE ${where}` }))[0]?.['n'];

/** What `exporters.js` and `exporter.py` send under a name, as stored. */
async function expectSent(name: string, attributes: string): Promise<void> {
  await until(async () => (await count('otel', 'logs', 'abc', `service_name = '${name}'`)) === 2);
  const sql = `SELECT *, INT64(log_attributes['http.response.status_code']) AS code, TO_JSON_STRING(log_attributes) AS text FROM logs WHERE service_name = '${name}' ORDER BY timestamp`;
  const [first, second] = await rows('otel', { project: 'abc', sql });
  expect(first).toMatchObject({
    timestamp: 1_795_341_600_123_456,
    observed_timestamp: expect.any(Number),
    project: 'abc',
    trace_id: '5b8efff798038103d269b633813fc60c',
    span_id: 'eee19b7ec3c1b174',
    severity_text: 'Error',
    severity_number: 17,
    body: 'payment failed',
    scope_name: 'scope',
    event_name: 'payment.failed',
    code: 502,
  });
  expect(first).toMatchObject({
    resource_attributes: { 'service.name': name, 'tenant.id': 'abc' },
    log_attributes: { ratio: 0.25, tags: ['a', 'b'], raw: '/w==' },
    text: expect.stringContaining(attributes),
  });
  // A bare word, and a path into JSON by names that have dots themselves.
  const lql = `service_name:"${name}" payment log_attributes.http.response.status_code:>=500`;
  expect(await rows('otel', { project: 'abc', lql })).toHaveLength(1);
  expect(second).toMatchObject({ severity_text: 'INFO', body: '{"cart":{"items":[1,"two",null]}}', trace_id: null });
}

it('stores what the exporters for Node send, in JSON and protobuf, with gzip and without', async () => {
  const { stdout } = await run(process.execPath, [
    path.join(__dirname, 'otlp/exporters.js'),
    `${base}/v1/logs`,
    SHIPPER,
  ]);
  expect(stdout).toBe('');
  for (const name of ['json', 'json-gzip', 'protobuf', 'protobuf-gzip']) await expectSent(name, '"empty":null');
});

// Where the exporter for Python is there (PyPI: opentelemetry-exporter-otlp-proto-http): OTEL_PYTHON names a Python that has it.
const { OTEL_PYTHON } = process.env;
if (OTEL_PYTHON === undefined) {
  process.stderr.write('OTEL_PYTHON is not set: what the OTLP exporter for Python sends is skipped.\n');
} else {
  it('stores what the exporter for Python sends', async () => {
    const { stdout } = await run(OTEL_PYTHON, [path.join(__dirname, 'otlp/exporter.py'), `${base}/v1/logs`, SHIPPER]);
    expect(stdout.trim()).toBe('done');
    for (const name of ['python', 'python-gzip']) {
      await expectSent(name, '"most":9223372036854775807,"least":-9223372036854775808');
    }
  });
}

it('answers as OTLP says: in the encoding of the request, with a Status for every error', async () => {
  const empty = await post('/v1/logs', new Uint8Array(), PROTOBUF);
  expect([empty.status, empty.headers.get('content-type'), await empty.text()]).toEqual([
    200,
    PROTOBUF['Content-Type'],
    '',
  ]);
  const record = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'x' } }] }] }] };
  const stored = await post('/v1/logs', jsonOf(record), JSON_TYPE);
  expect([stored.status, stored.headers.get('content-type'), await stored.json()]).toEqual([
    200,
    'application/json',
    {},
  ]);

  const bad = await post('/v1/logs', new Uint8Array([0x0a, 0xff]), PROTOBUF);
  const status = Buffer.from(await bad.arrayBuffer());
  expect([bad.status, bad.headers.get('content-type')]).toEqual([400, PROTOBUF['Content-Type']]);
  // Code 3, INVALID_ARGUMENT, and the message.
  expect([...status.subarray(0, 4)]).toEqual([0x08, 3, 0x12, status.length - 4]);
  expect(status.subarray(4).toString()).toBe('The body is no ExportLogsServiceRequest of OTLP.');
  const place = await post('/v1/logs', jsonOf({ resourceLogs: [{ scopeLogs: 7 }] }), JSON_TYPE);
  expect([place.status, await place.json()]).toEqual([
    400,
    { code: 3, message: expect.stringContaining('resourceLogs[0].scopeLogs must be a list') },
  ]);
  for (const [answer, code, expected] of [
    [post('/v1/logs', '{}', { 'Content-Type': 'text/plain' }), 3, 415],
    [post('/v1/logs', '{}', { ...JSON_TYPE, 'Content-Encoding': 'br' }), 3, 415],
    [post('/v1/logs', Buffer.alloc(100_001, 0x20), JSON_TYPE), 3, 413],
    [post('/v1/logs', '{}', JSON_TYPE, READER), 7, 403],
    [post('/v1/logs', '{}', JSON_TYPE, 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJhIn0.'), 16, 401],
    [post('/v1/logs', '{}', JSON_TYPE, ''), 16, 401],
  ] as const) {
    const { status: http, ...response } = await answer.then(async (one) => ({
      status: one.status,
      body: await one.json(),
    }));
    expect([http, response.body]).toEqual([expected, { code, message: expect.any(String) }]);
  }
  await post('/v1/logs', '{}', JSON_TYPE, SLOW);
  const limited = await post('/v1/logs', '{}', JSON_TYPE, SLOW);
  expect([limited.status, Number(limited.headers.get('retry-after')), await limited.json()]).toEqual([
    429,
    expect.any(Number),
    { code: 8, message: expect.any(String) },
  ]);
  expect((await fetch(`${base}/v1/logs`, { headers: { 'X-API-KEY': SHIPPER } })).status).toBe(405);
});

it('takes a drain with one URL: the source of all events in a header, or of each in a member', async () => {
  const send = async (events: unknown, headers: Record<string, string>): Promise<unknown> => {
    const response = await post('/api/logs', jsonOf(events), { ...JSON_TYPE, ...headers });
    return [response.status, await response.json()];
  };
  const message = 'drained';
  const event = (source: string): object => ({ message, log: { source } });
  expect(await send([{ message }], { 'X-Log-Source': 'EDGE' })).toEqual([200, { message: 'Logged!' }]);
  const events = [event('edge'), event('gotrue.logs.prod'), event('none')];
  expect(await send(events, {})).toEqual([200, { message: 'Logged!', refused: 1 }]);
  expect(await send([event('none')], {})).toMatchObject([404, {}]);
  expect(await send([event('edge')], { 'X-Log-Source': 'none' })).toMatchObject([404, {}]);
  expect(await send([event('edge')], { 'X-Log-Source': '' })).toMatchObject([400, {}]);
  const stored = (table: string): Promise<unknown> =>
    count('logs.all', table, 'default', `event_message = '${message}'`);
  await until(async () => (await stored('edge_logs')) === 2 && (await stored('auth_logs')) === 1);
  const script = example('sh', '"log":').replace('http://127.0.0.1:4000', base);
  const { stdout } = await run('sh', ['-c', script], { env: { PATH: process.env['PATH'], INGEST_KEY: SHIPPER } });
  expect(JSON.parse(stdout)).toEqual({ message: 'Logged!' });
});

it('lets a key with a project write rows of no other, into any table', async () => {
  const victim = 'victim';
  const metadata = { project: victim, Project: victim, project_ref: victim, Project_Ref: victim };
  const request = { path: '/rest/v1/x', host: victim, url: `http://${victim}/rest/v1/x` };
  const event = { project: victim, PROJECT: victim, Project: victim, project_ref: victim, Metadata: metadata };
  const hostile = [
    { ...event, message: 'm', metadata: { ...metadata, request: [request, request] } },
    { ...event, message: `1.1.1.1 - - [x] "GET http://${victim}/rest/v1/x HTTP/1.1" 200 1`, metadata: [metadata] },
    { ...event, metadata: [{}, metadata] },
    // The two texts that once closed a record and opened another.
    { ...event, metadata: { a: '\u0000number:1}]', project: victim, z: '\u0000number:[{' } },
  ];
  const names = [
    'cloudflare.logs.prod',
    'postgres.logs',
    'deno-relay-logs',
    'deno-subhosting-events',
    'gotrue.logs.prod',
  ];
  for (const name of [
    ...names,
    'realtime.logs.prod',
    'storage.logs.prod.2',
    'postgREST.logs.prod',
    'pgbouncer.logs.prod',
  ]) {
    const response = await post(`/api/logs?source_name=${name}`, jsonOf(hostile), JSON_TYPE, TENANT);
    expect([name, response.status]).toEqual([name, 200]);
  }
  const attributes = ['tenant.id', 'project'].map((key) => ({ key, value: { stringValue: victim } }));
  const logRecords = [{ attributes, body: { stringValue: 'of a tenant' } }];
  const resourceLogs = [{ resource: { attributes }, scopeLogs: [{ logRecords }] }];
  expect((await post('/v1/logs', jsonOf({ resourceLogs }), JSON_TYPE, TENANT)).status).toBe(200);

  const tables = [...LOG_SCHEMA.keys()].map((table) => table.replace('raw_', ''));
  for (const table of tables) {
    await until(async () => (await count('logs.all', table, 'abc')) === hostile.length);
    expect([table, await count('logs.all', table, victim)]).toEqual([table, 0]);
  }
  const counted = await rows('usage.api-counts', { interval: '1hr', project: victim });
  expect(counted).toEqual([]);
  const where = `body = 'of a tenant' AND STRING(resource_attributes['tenant.id']) = 'abc'`;
  await until(async () => (await count('otel', 'logs', 'abc', where)) === 1);
  expect(await count('otel', 'logs', victim)).toBe(0);
});
