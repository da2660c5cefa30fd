/** Exports as Parquet from the real process, on both engines. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { hashOf } from '../../src/keys/key';
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { inLong, long } from '../scale';
import { until } from '../until';
import { columnsOfParquet, numbersOfParquet, rowsOfLines, rowsOfParquet } from './columnar-files';
import { begin as beginRequest, type Exported, reasonOf, received } from './exported';
import { childrenOf, Stage, type Started } from './started';

jest.setTimeout(180_000);

const PARQUET = 'application/vnd.apache.parquet';
const NDJSON = 'application/x-ndjson';

/** More than a row group of DuckDB's. */
const ROWS = 200_000;

/** More than two pages of BigQuery's, which have 5,000: the local one takes its time with each row. */
const BIGQUERY_ROWS = 12_000;

/** @param rows of the endpoint `numbers` */
const queries = (rows: number) => ({
  types: `/*
id: 55555555-aaaa-4000-8000-000000000011
name: types
export: 1000
*/
SELECT 1 AS n, 9223372036854775807 AS i, -1.5 AS f, NUMERIC '-12345678901234567890.123456789' AS num,
  BIGNUMERIC '0.12345678901234567' AS big, TRUE AS b, 'é "q" \\\\ \\n 🙂 10.1.2.3' AS s, b'\\x00\\xff\\x01' AS bytes,
  DATE '0001-01-01' AS d, TIME '23:59:59.999999' AS t, DATETIME '9999-12-31 23:59:59.999999' AS dt,
  TIMESTAMP '2026-09-30 12:00:00.000001+00' AS ts, JSON '{"a": [1, 2.5, null], "ip": "10.1.2.3"}' AS j,
  STRUCT(
    -9007199254740993 AS a,
    [STRUCT(TIMESTAMP '0001-01-01 00:00:00+00' AS t, b'x' AS y, NUMERIC '1' AS z)] AS list,
    STRUCT('10.1.2.3' AS x) AS inside
  ) AS r,
  [1, 2, 3] AS numbers, ['x', '', 'null'] AS texts, [STRUCT(DATE '2026-01-02' AS d, ['a'] AS e)] AS records
UNION ALL
SELECT 2, -9223372036854775808, CAST('NaN' AS FLOAT64), NUMERIC '0', NULL, FALSE, '', b'', NULL, TIME '00:00:00', NULL,
  TIMESTAMP '9999-12-31 23:59:59.999999+00', NULL, NULL, ARRAY<INT64>[], ARRAY<STRING>[], ARRAY<STRUCT<d DATE, e ARRAY<STRING>>>[]
UNION ALL
SELECT 3, CAST(NULL AS INT64), CAST('-inf' AS FLOAT64), NULL, NULL, NULL, NULL, NULL, DATE '1969-12-31', NULL,
  DATETIME '1969-12-31 23:59:59.5', NULL, JSON 'null',
  STRUCT<a INT64, list ARRAY<STRUCT<t TIMESTAMP, y BYTES, z NUMERIC>>, inside STRUCT<x STRING>>(NULL, [], NULL),
  ARRAY<INT64>[], ARRAY<STRING>[], [STRUCT<d DATE, e ARRAY<STRING>>(NULL, [])]
ORDER BY 1
`,
  numbers: `/*
id: 55555555-aaaa-4000-8000-000000000012
name: numbers
sandbox: true
export: ${String(rows)}
*/
WITH numbers AS (
  SELECT n, CONCAT(REPEAT('x', 60), CAST(n AS STRING)) AS text
  FROM (SELECT 1000 * a + b AS n FROM UNNEST(GENERATE_ARRAY(0, ${String(rows / 1000 - 1)})) AS a, UNNEST(GENERATE_ARRAY(1, 1000)) AS b)
)
SELECT * FROM numbers`,
});

const KEYS = { exporter: { export: true }, masked: { export: true, redact: true, allowSql: true } };

const stage = new Stage();
afterAll(() => stage.end());

function start(
  environment: Readonly<Record<string, string>> = {},
  { folder = stage.folder(), rows = ROWS } = {},
): Started {
  for (const [name, sql] of Object.entries(queries(rows))) writeFileSync(path.join(folder, `queries/${name}.sql`), sql);
  const keys = Object.entries(KEYS).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
  writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys }));
  const own = { KEYS_FILE: path.join(folder, 'keys.json'), CACHE_DIR: path.join(folder, 'cache'), HOST: '127.0.0.1' };
  return stage.start({ ...own, ...environment }, folder);
}

const filesOf = ({ folder }: Started): string[] => {
  const exports = path.join(folder, 'cache/exports');
  return existsSync(exports) ? readdirSync(exports) : [];
};

/** The processes that encode exports. */
const encodersOf = (service: Started): number[] =>
  childrenOf(service.child.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').includes('logquay export');
    } catch {
      return false;
    }
  });

/** The files of exports that a process has open. */
function openExportsOf(pid: number | undefined): string[] {
  const folder = `/proc/${String(pid)}/fd`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`)];
      } catch {
        return [];
      }
    })
    .filter((name) => name.includes('cache/exports'));
}

const NAMELESS: unknown = expect.stringMatching(/\.parquet \(deleted\)$/);

async function begin(
  service: Started,
  accept: string,
  query: Readonly<Record<string, string>> = {},
  { endpoint = 'numbers', ...headers }: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const search = new URLSearchParams({ export: 'true', ...query }).toString();
  return beginRequest({
    port: await service.port(),
    path: `/api/endpoints/query/${endpoint}?${search}`,
    headers: { 'X-API-KEY': 'exporter', Accept: accept, ...headers },
  });
}

async function get(...args: Parameters<typeof begin>): Promise<Exported> {
  return received(await begin(...args));
}

/** Exports of the endpoint `types`, each begun once: several tests read them. */
class Types {
  readonly #begun = new Map<string, Promise<Exported>>();

  constructor(private readonly service: () => Started) {}

  get(accept: string, key = 'exporter'): Promise<Exported> {
    const name = `${accept} ${key}`;
    const exported = this.#begun.get(name) ?? get(this.service(), accept, {}, { endpoint: 'types', 'X-API-KEY': key });
    this.#begun.set(name, exported);
    return exported;
  }
}

/** @param rows of `numbers`, a long result */
function answers(service: () => Started, types: Types, rows: number): void {
  it.each([
    ['as they are', 'exporter'],
    ['redacted', 'masked'],
  ])('have the rows of NDJSON with their types, %s', async (_what, key) => {
    const rows = rowsOfLines((await types.get(NDJSON, key)).body.toString());
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows).includes('10.1.2.3')).toBe(key === 'exporter');
    const parquet = await types.get(PARQUET, key);
    expect([parquet.status, parquet.complete]).toEqual([200, true]);
    expect(parquet.headers).toMatchObject({
      'content-type': PARQUET,
      'cache-control': 'private, no-store',
      'content-disposition': expect.stringMatching(/^attachment; filename="types-\d{8}T\d{6}Z\.parquet"$/) as unknown,
    });
    expect(await rowsOfParquet(parquet.body, service().folder, ['j'])).toEqual(rows);
    // Times have a type of their own, in whatever form text has them.
    const iso = await get(service(), PARQUET, { timestamps: 'iso' }, { endpoint: 'types', 'X-API-KEY': key });
    expect(await rowsOfParquet(iso.body, service().folder, ['j'])).toEqual(rows);
  });

  it('have all rows of a long result in their order, and none where there are none', async () => {
    const sql = `SELECT n, text FROM numbers WHERE n <= ${String(rows)} ORDER BY n`;
    const wanted = BigInt64Array.from({ length: rows }, (_, i) => BigInt(i + 1));
    const { folder } = service();
    const { body: parquet } = await get(service(), PARQUET, { sql });
    expect(isDeepStrictEqual(await numbersOfParquet(parquet, folder), wanted)).toBe(true);
    const none = { sql: 'SELECT n, text FROM numbers WHERE n < 0' };
    expect(await rowsOfParquet((await get(service(), PARQUET, none)).body, folder)).toEqual([]);
    expect([filesOf(service()), encodersOf(service())]).toEqual([[], []]);
  });
}

describe('exports as Parquet, on the embedded engine', () => {
  let service: Started;
  beforeAll(async () => {
    service = start();
    await service.port();
  });

  const types = new Types(() => service);
  answers(() => service, types, ROWS);

  it.each(['masked', ...inLong(['exporter'])])('break the connection where the query fails midway: %s', async (key) => {
    const sql = `SELECT n, REPEAT(text, 10) AS text, DIV(1, ${String(ROWS - 10)} - n) AS v FROM numbers`;
    const exported = await get(service, PARQUET, { sql }, { 'X-Request-Id': `broken-${key}`, 'X-API-KEY': key });
    expect([exported.status, exported.complete]).toEqual([200, false]);
    await service.logged(new RegExp(`"id":"broken-${key}".*"reason":"invalidQuery"`));
    await until(() => encodersOf(service).length === 0);
    expect(filesOf(service)).toEqual([]);
  });

  it('are there for exports alone', async () => {
    const exported = await get(service, PARQUET, { export: 'false' });
    expect([exported.status, reasonOf(exported)]).toEqual([406, 'notAcceptable']);
    const other = await get(service, `${PARQUET}, application/json;q=0.5`, {
      export: 'false',
      sql: 'SELECT 1 AS x FROM numbers LIMIT 1',
    });
    expect([other.status, other.body.toString()]).toEqual([200, '{"result":[{"x":1}]}']);
  });

  it('end with a client that leaves, and wait for one that is slow, with a file that has no name', async () => {
    const sql = 'SELECT n, REPEAT(text, 10) AS text FROM numbers';
    const response = await begin(service, PARQUET, { sql }, { 'X-Request-Id': 'left', 'X-API-KEY': 'masked' });
    const [encoder] = encodersOf(service);
    expect(openExportsOf(encoder)).toEqual(Array(2).fill(NAMELESS));
    expect(filesOf(service)).toEqual([]);
    response.destroy();
    await service.logged(/"id":"left".*"status":499/);
    await until(() => encodersOf(service).length === 0);
    expect((await get(service, PARQUET, { sql: 'SELECT n FROM numbers WHERE n = 1' })).status).toBe(200);
  });

  it('are written as Parquet by the engine itself where nothing is redacted, into a file that has no name either', async () => {
    const sql = 'SELECT n, REPEAT(TO_HEX(SHA256(text)), 10) AS text FROM numbers';
    const response = await begin(service, PARQUET, { sql }, { 'X-Request-Id': 'left-it' });
    expect([encodersOf(service), filesOf(service)]).toEqual([[], []]);
    expect(openExportsOf(service.child.pid)).toEqual([NAMELESS]);
    response.destroy();
    await service.logged(/"id":"left-it".*"status":499/);
    await until(() => [service.child.pid, ...childrenOf(service.child.pid)].flatMap(openExportsOf).length === 0);
    expect(filesOf(service)).toEqual([]);
  });

  it('have the same columns whether the engine writes them or their process', async () => {
    const columns = await Promise.all(
      ['exporter', 'masked'].map(async (key) => {
        const { body } = await types.get(PARQUET, key);
        return columnsOfParquet(body, service.folder);
      }),
    );
    expect(columns[0]).toEqual(columns[1]);
    expect(columns[0]!.length).toBeGreaterThan(17);
  });

  it('fail where their process is killed, without an end to the answer', async () => {
    const sql = 'SELECT n, REPEAT(text, 10) AS text FROM numbers';
    const response = await begin(service, PARQUET, { sql }, { 'X-Request-Id': 'killed', 'X-API-KEY': 'masked' });
    const closed = new Promise((resolve) => response.once('close', resolve));
    for (const pid of encodersOf(service)) process.kill(pid, 'SIGKILL');
    response.resume();
    await closed;
    expect(response.complete).toBe(false);
    await service.logged(/"id":"killed".*"reason":"backendError"/);
  });

  long('are begun by no service that is asked for none, and leave nothing where it is killed', async () => {
    const folder = stage.folder();
    const left = path.join(folder, 'cache/exports/left.parquet');
    mkdirSync(path.dirname(left), { recursive: true });
    writeFileSync(left, 'PAR1');
    const killed = start({}, { folder });
    const sql = 'SELECT n, REPEAT(text, 10) AS text FROM numbers';
    await killed.port();
    expect([filesOf(killed), encodersOf(killed)]).toEqual([[], []]);
    await begin(killed, PARQUET, { sql }, { 'X-API-KEY': 'masked' });
    const [encoder = 0] = encodersOf(killed);
    expect(encoder).toBeGreaterThan(0);
    killed.signal('SIGKILL');
    await killed.exit;
    await until(() => !existsSync(`/proc/${String(encoder)}`) || statOf(encoder) === 'Z');
    expect(filesOf(killed)).toEqual([]);
  });

  long('come to their end after SIGTERM', async () => {
    const ending = start();
    const response = await begin(ending, PARQUET);
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    ending.signal('SIGTERM');
    await new Promise((resolve) => response.once('close', resolve));
    expect(response.complete).toBe(true);
    expect(await numbersOfParquet(Buffer.concat(chunks), ending.folder)).toHaveLength(ROWS);
    expect(await ending.exit).toBe(0);
  });
});

overLocalBigQuery('exports as Parquet, on BigQuery', (local) => {
  let service: Started;
  beforeAll(async () => {
    service = start({ BIGQUERY_EMULATOR_HOST: local().host }, { rows: BIGQUERY_ROWS });
    await service.port();
  });
  answers(() => service, new Types(() => service), BIGQUERY_ROWS);
});

/** The state of a process, as Linux tells; empty: it is gone. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/stat`, 'latin1').split(') ')[1]?.[0] ?? '';
  } catch {
    return '';
  }
}
