/** Exports from the real process: results of any length, by HTTP. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { hashOf } from '../../src/keys/key';
import { until } from '../until';
import { begin as beginRequest, type Exported, reasonOf, received } from './exported';
import { childrenOf, Stage, type Started } from './started';

jest.setTimeout(180_000);

/** Some 30 MB of rows in order, 300 bytes each. */
const ROWS = 100_000;

const QUERIES = {
  numbers: `/*
id: 55555555-aaaa-4000-8000-000000000001
name: numbers
sandbox: true
export: ${String(ROWS)}
params:
  project: { type: string, description: Whose rows. }
*/
WITH numbers AS (
  SELECT n, REPEAT('x', 300) AS text, TIMESTAMP_MICROS(n) AS timestamp
  FROM UNNEST(GENERATE_ARRAY(1, ${String(ROWS)})) AS n
  WHERE @project IN ('', 'abc')
)
SELECT * FROM numbers`,
  values: `/*
id: 55555555-aaaa-4000-8000-000000000003
name: values
export: 1000
*/
SELECT n, IF(n = 3, NULL, -n) AS i, [1.5, -1e300, CAST('-inf' AS FLOAT64), CAST('nan' AS FLOAT64), 0.1, 1e15][OFFSET(n)] AS f,
  [NUMERIC '-1.50', 0, 1, NULL, 2, 3][OFFSET(n)] AS num, BIGNUMERIC '-0.000000000000000001' AS big, n = 3 AS b,
  ['', '=1+1', '-1.5e3', 'a,"b"', 'x\\r\\ny', '+1 2'][OFFSET(n)] AS s, ['@a', '\\tb', '-', '\\r', NULL, '-Infinity'][OFFSET(n)] AS formula,
  FROM_BASE64('+A==') AS bytes, DATE '0001-01-01' AS d, TIME '23:59:59.5' AS t, DATETIME '9999-12-31 23:59:59.000001' AS dt,
  TIMESTAMP '1969-12-31 23:59:59.999999+00' AS ts, INTERVAL -1 DAY AS span,
  [JSON '"=a"', JSON 'null', JSON '{"a": [1, "b,"]}', JSON '-1', JSON '""', NULL][OFFSET(n)] AS j,
  IF(n = 2, NULL, STRUCT('é "q"' AS a, [STRUCT(DATE '2026-01-02' AS d)] AS list)) AS r, GENERATE_ARRAY(1, n) AS numbers, ['=1'] AS texts,
  ['\\n=1', '\\x00=1', '＝1', '＋1', '－1', '＠a'][OFFSET(n)] AS other
FROM UNNEST(GENERATE_ARRAY(0, 5)) AS n
ORDER BY n`,
  closed: `/*
id: 55555555-aaaa-4000-8000-000000000002
name: closed
*/
SELECT 1 AS x`,
};

const KEYS = {
  exporter: { export: true },
  second: { export: true },
  pinned: { export: true, pins: { project: 'abc' } },
};

const stage = new Stage();
let service: Started;
let port: number;
let keysFile: string;
let numbersFile: string;

function writeKeys(given: Readonly<Record<string, object>>): void {
  const keys = Object.entries(given).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
  writeFileSync(keysFile, JSON.stringify({ keys }));
}

beforeAll(async () => {
  const folder = stage.folder();
  for (const [name, sql] of Object.entries(QUERIES)) writeFileSync(path.join(folder, `queries/${name}.sql`), sql);
  keysFile = path.join(folder, 'keys.json');
  numbersFile = path.join(folder, 'queries/numbers.sql');
  writeKeys(KEYS);
  service = stage.start({ KEYS_FILE: keysFile }, folder);
  port = await service.port();
});
afterAll(() => stage.end());

/** Begins a request; the body is not read yet. */
async function begin(
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  { endpoint = 'numbers', method = 'GET' } = {},
): Promise<IncomingMessage> {
  const search = new URLSearchParams(query).toString();
  return beginRequest({
    port,
    method,
    path: `/api/endpoints/query/${endpoint}?${search}`,
    headers: { 'X-API-KEY': 'exporter', ...headers },
  });
}

async function get(...args: Parameters<typeof begin>): Promise<Exported> {
  return received(await begin(...args));
}

const linesOf = ({ body }: Exported): string[] => body.toString().split('\n').slice(0, -1);
const CSV = { Accept: 'text/csv' };

it('sends every row as NDJSON, and their number last', async () => {
  const exported = await get({ export: 'true' });
  expect([exported.status, exported.complete]).toEqual([200, true]);
  expect(exported.headers).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'private, no-store',
    'cache-status': 'logquay; fwd=bypass',
    'content-disposition': expect.stringMatching(/^attachment; filename="numbers-\d{8}T\d{6}Z\.ndjson"$/) as unknown,
    'transfer-encoding': 'chunked',
  });
  const lines = linesOf(exported);
  expect(lines.pop()).toBe(`{"$rows":${String(ROWS)}}`);
  expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
    Array.from({ length: ROWS }, (_, i) => i + 1),
  );
});

it('sends CSV with its header, compressed where that is accepted', async () => {
  const sql = 'SELECT n, IF(n = 2, NULL, "=1+1, a") AS text FROM numbers ORDER BY n';
  const plain = await get({ export: 'true', sql }, CSV);
  expect(plain.headers['content-disposition']).toMatch(/\.csv"$/);
  const lines = plain.body.toString().split('\r\n');
  expect(lines.slice(0, 4)).toEqual(['n,text', `1,"'=1+1, a"`, '2,', `3,"'=1+1, a"`]);
  expect(lines).toHaveLength(ROWS + 2);
  const packed = await get({ export: 'true', sql }, { ...CSV, 'Accept-Encoding': 'gzip' });
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
});

it.each(['micros', 'iso'])(
  'has in CSV and NDJSON just what an answer has, of every type, with timestamps as %s',
  async (timestamps) => {
    const values = { endpoint: 'values' };
    const whole = await get({ timestamps }, CSV, values);
    expect(whole.body.toString().split('\r\n')[1]).toMatch(
      /^0,0,1\.5,-1\.5,-0\.000000000000000001,false,"",'@a,'\+A==,/,
    );
    expect(whole.body.toString()).toMatch(/"'\n=1"\r\n[^]*'\0=1\r\n[^]*'＝1\r\n[^]*'＋1\r\n[^]*'－1\r\n[^]*'＠a\r\n$/);
    expect((await get({ timestamps, export: 'true' }, CSV, values)).body.toString()).toBe(whole.body.toString());
    const lines = await get({ timestamps }, { Accept: 'application/x-ndjson' }, values);
    expect((await get({ timestamps, export: 'true' }, {}, values)).body.toString()).toBe(
      `${lines.body.toString()}{"$rows":6}\n`,
    );
  },
);

it('takes LQL, and writes timestamps as ISO 8601 where that is asked for, exported or not', async () => {
  const query = { lql: 's:timestamp f:numbers n:7', timestamps: 'iso' };
  const wanted = '{"timestamp":"1970-01-01T00:00:00.000007Z"}';
  expect(linesOf(await get({ ...query, export: 'true' }))).toEqual([wanted, '{"$rows":1}']);
  expect(linesOf(await get(query, { Accept: 'application/x-ndjson' }))).toEqual([wanted]);
  expect((await get(query, CSV)).body.toString()).toBe('timestamp\r\n1970-01-01T00:00:00.000007Z\r\n');
  const wrong = await get({ ...query, timestamps: 'seconds' });
  expect([wrong.status, reasonOf(wrong)]).toEqual([400, 'invalidParameter']);
});

it.each([
  ['an endpoint that allows none', {}, {}, 'closed', [403, 'accessDenied']],
  ['JSON, which has to be there as a whole', { Accept: 'application/json' }, {}, 'numbers', [406, 'notAcceptable']],
  ['an invalid switch', {}, { export: 'yes' }, 'numbers', [400, 'invalidParameter']],
  ['a query with an unknown field', {}, { sql: 'SELECT nosuch FROM numbers' }, 'numbers', [400, 'unknownField']],
  [
    'a failure before the first row',
    {},
    { sql: 'SELECT DIV(1, 1 - n) AS v FROM numbers' },
    'numbers',
    [400, 'invalidQuery'],
  ],
])('refuses as any request: %s', async (_what, headers, more, endpoint, wanted) => {
  const refused = await get({ export: 'true', ...more }, headers, { endpoint });
  expect([refused.status, reasonOf(refused)]).toEqual(wanted);
});

it('breaks the connection midway where the query fails', async () => {
  const sql = 'SELECT n, text, DIV(1, 95000 - n) AS v FROM numbers';
  for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) {
    const exported = await get({ export: 'true', sql }, { 'X-Request-Id': 'broken', ...headers });
    expect([exported.status, exported.complete]).toEqual([200, false]);
    await service.logged(/"id":"broken".*"reason":"invalidQuery"/);
  }
});

it('has a key with pins see a failure before any row', async () => {
  const sql = 'SELECT n, text, DIV(1, 95000 - n) AS v FROM numbers';
  const exported = await get({ export: 'true', sql }, { 'X-API-KEY': 'pinned' });
  expect([exported.status, reasonOf(exported)]).toEqual([400, 'invalidQuery']);
});

it('gives a key with pins its rows sorted where the query fixes no order', async () => {
  const sql = 'SELECT n FROM numbers WHERE n <= 30';
  const lines = linesOf(await get({ export: 'true', sql }, { 'X-API-KEY': 'pinned' })).slice(0, -1);
  expect(lines).toEqual([...lines].sort());
  expect(lines).toHaveLength(30);
});

it('answers HEAD with the headers alone', async () => {
  const exported = await get({ export: 'true', sql: 'SELECT 1 AS x FROM numbers LIMIT 1' }, {}, { method: 'HEAD' });
  expect([exported.status, exported.body.length]).toEqual([200, 0]);
  expect(exported.headers['content-disposition']).toMatch(/\.ndjson"$/);
});

it('ends the query of a client that leaves, whose slot the next export has', async () => {
  const response = await begin({ export: 'true' }, { 'X-Request-Id': 'left' });
  response.destroy();
  await service.logged(/"id":"left".*"status":499/);
  expect((await get({ export: 'true', sql: 'SELECT n FROM numbers WHERE n = 1' })).status).toBe(200);
});

it('has one export of a key at a time, and answers its other requests meanwhile', async () => {
  const slow = await begin({ export: 'true' }, { 'X-Request-Id': 'slow' });
  let second = false;
  const waiting = get({ export: 'true', sql: 'SELECT n FROM numbers WHERE n = 1' }).then(() => (second = true));
  const other = { sql: 'SELECT COUNT(*) AS n FROM numbers' };
  expect((await get(other)).status).toBe(200);
  expect((await get({ ...other, export: 'true' }, { 'X-API-KEY': 'pinned' })).status).toBe(200);
  expect(second).toBe(false);
  slow.destroy();
  await waiting;
});

it('breaks off what the engine was sending when its process dies, and goes on with a new one', async () => {
  const response = await begin({ export: 'true' });
  const closed = new Promise((resolve) => response.once('close', resolve));
  for (const pid of childrenOf(service.child.pid)) process.kill(pid, 'SIGKILL');
  response.resume();
  await closed;
  expect(response.complete).toBe(false);
  await until(async () => (await get({ sql: 'SELECT 1 AS x FROM numbers LIMIT 1' })).status === 200);
});

it('ends when its endpoint redacts from now on, unless its rows are redacted', async () => {
  const masked = await begin({ export: 'true' }, { 'LF-ENDPOINT-REDACT-PII': 'true' });
  const sql = QUERIES.numbers.replace('sandbox: true', 'sandbox: true\nredact_pii: true');
  const other = await begin({ export: 'true' }, { 'X-API-KEY': 'second', 'X-Request-Id': 'unmasked' });
  writeFileSync(numbersFile, sql);
  await service.logged(/"id":"unmasked".*"reason":"accessDenied","status":403/);
  expect((await received(other)).complete).toBe(false);
  expect((await received(masked)).complete).toBe(true);
  writeFileSync(numbersFile, QUERIES.numbers);
});

it('ends when its key is revoked', async () => {
  const response = await begin({ export: 'true' }, { 'X-Request-Id': 'ended' });
  writeKeys({ pinned: KEYS.pinned });
  await service.logged(/"id":"ended".*"reason":"unauthenticated","status":401/);
  expect((await received(response)).complete).toBe(false);
});
