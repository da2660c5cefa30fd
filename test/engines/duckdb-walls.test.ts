import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { QueryError, ServiceError } from '../../src/errors';
import { openDatabase, type Database } from '../../src/engines/duckdb/engine/database';
import { prepareCopy } from '../../src/engines/duckdb/engine/statements';
import { Store } from '../../src/engines/duckdb/follow/store';
import { DataFolder, ndjson } from './data-folder';

/** What SQL could do if, against all other walls, it were DuckDB's own. */
describe('The DuckDB behind the engine', () => {
  let folder: DataFolder;
  let database: Database;
  beforeAll(async () => {
    folder = await DataFolder.make({ 'raw_pgbouncer_logs.ndjson': ndjson({ timestamp: '2026-01-01', id: 'a' }) });
    const { dataDir, cacheDir, log } = folder;
    database = await openDatabase({ dataDir, cacheDir, exportsDir: join(cacheDir, 'exports'), log, now: null });
  });
  afterAll(async () => {
    await database.close();
    (await database.instance).closeSync();
    await folder.remove();
  });
  const run = async (sql: string): Promise<unknown> =>
    (await (await (await database.instance).connect()).runAndReadAll(sql)).getRows();

  it('reads its own tables', async () => {
    const tables = database.data.acquire();
    const [part] = tables.find('raw_pgbouncer_logs')!.parts;
    expect(await run(`SELECT id FROM ${part!.relation}`)).toEqual([['a']]);
    tables.release();
  });

  it('writes exports into their folder, and from there to nowhere else', async () => {
    const exports = join(folder.cacheDir, 'exports');
    await mkdir(exports, { recursive: true });
    await run(`COPY (SELECT 1 AS a) TO '${join(exports, 'one.parquet')}' (FORMAT parquet)`);
    expect(await readdir(exports)).toEqual(['one.parquet']);
    for (const path of ['../two.parquet', '../exports-too/two.parquet', 'deep/../../two.parquet']) {
      await expect(run(`COPY (SELECT 1 AS a) TO '${exports}/${path}' (FORMAT parquet)`)).rejects.toThrow(
        /Permission Error/,
      );
    }
    expect(await readdir(folder.cacheDir)).not.toContain('two.parquet');
  });

  it('takes into a file what is one SELECT, and nothing else', async () => {
    const connection = await (await database.instance).connect();
    const path = join(folder.cacheDir, 'exports', 'three.parquet');
    const columns = [{ name: 'a', type: { kind: 'INT64' } }] as const;
    for (const sql of [
      `SELECT 1 AS a) TO '${join(folder.cacheDir, 'exports', 'other.parquet')}' --`,
      'SELECT 1 AS a; SELECT 2 AS a',
      'CREATE TABLE t AS SELECT 1 AS a',
      `COPY (SELECT 1 AS a) TO '${path}'`,
    ]) {
      await expect(prepareCopy(connection, sql, path, columns)).rejects.toThrow();
    }
    const statement = await prepareCopy(connection, 'SELECT 1 AS a', path, columns);
    await statement.run();
    expect(await readdir(dirname(path))).toEqual(['one.parquet', 'three.parquet']);
    connection.closeSync();
  });

  it.each([
    `SELECT * FROM read_csv('/etc/passwd')`,
    `SELECT * FROM read_text('/etc/passwd')`,
    `SELECT * FROM read_blob('/etc/passwd')`,
    `SELECT * FROM read_json('/etc/passwd')`,
    `SELECT * FROM read_parquet('/etc/passwd')`,
    `SELECT * FROM '/etc/passwd'`,
    `SELECT * FROM glob('/etc/*')`,
    `SELECT * FROM read_csv('https://example.com/x.csv')`,
    `COPY (SELECT 1) TO '/tmp/logquay-wall.csv'`,
    `EXPORT DATABASE '/tmp/logquay-wall'`,
    `ATTACH '/tmp/logquay-wall.duckdb' AS w`,
    `INSTALL httpfs`,
    `LOAD httpfs`,
    `SET enable_external_access = true`,
    `SET disabled_filesystems = ''`,
    `SET threads = 64`,
    `SET memory_limit = '100GB'`,
    `SET temp_directory = '/tmp'`,
    `SET TimeZone = 'Asia/Tokyo'`,
    `RESET lock_configuration`,
    `SET allowed_directories = ['/']`,
    `ATTACH '/etc/hostname' AS w (READ_ONLY)`,
    `SELECT * FROM glob('/tmp/*')`,
    `COPY (SELECT 1) TO 'exports/logquay-wall.parquet'`,
  ])('refuses %s', async (sql) => {
    await expect(run(sql)).rejects.toMatchObject({ message: expect.stringMatching(/Error/) as unknown });
  });
});

/** The same, of a database that may open segments, as it goes on attaching them. */
describe('The DuckDB behind a data folder', () => {
  const SECRET = 'secret-beside-the-segments';
  let folder: DataFolder;
  let database: Database;
  let cache: string;
  let store: string;
  /** A file beside the segments, and one in DATA_DIR. */
  let files: readonly string[];
  beforeAll(async () => {
    const name = 'raw_pgbouncer_logs.ndjson';
    folder = await DataFolder.make({ [name]: ndjson({ timestamp: '2026-01-01', id: SECRET }) });
    const { dataDir, cacheDir, log } = folder;
    database = await openDatabase({ dataDir, cacheDir, log, now: null, smallFile: 0 });
    store = (await Store.of(cacheDir, dataDir, log)).files;
    cache = dirname(store);
    const beside = join(cache, 'beside.csv');
    await writeFile(beside, `${SECRET}\n`);
    await symlink(beside, join(cache, 'link.csv'));
    const around = join(store, '..', 'beside.csv');
    files = [beside, `${store}/../beside.csv`, around, join(cache, 'link.csv'), join(dataDir, name)];
  });
  afterAll(async () => {
    await database.close();
    (await database.instance).closeSync();
    await folder.remove();
  });
  /** What a statement gives, with everything that it may have written; the error's text where it fails. */
  async function outcome(sql: string): Promise<string> {
    const connection = await (await database.instance).connect();
    try {
      return JSON.stringify((await connection.runAndReadAll(sql)).getRowsJson());
    } catch (error) {
      return String(error);
    } finally {
      connection.closeSync();
    }
  }
  const quote = (text: string): string => `'${text}'`;

  it('stores the rows', async () => {
    const tables = database.data.acquire();
    expect(tables.find('raw_pgbouncer_logs')?.parts[0]?.relation).toMatch(/^"segment /);
    tables.release();
  });

  it('has no function that reads a file beside the segments', async () => {
    const functions = await outcome(
      `SELECT DISTINCT function_name, function_type, len(parameters) AS n FROM duckdb_functions()
       WHERE function_type IN ('table', 'table_macro', 'pragma', 'scalar') AND internal AND len(parameters) BETWEEN 1 AND 3
         AND list_contains(parameter_types, 'VARCHAR') AND regexp_matches(function_name, '^[a-z_0-9]+$')`,
    );
    const found = JSON.parse(functions) as [string, string, string][];
    expect(found.length).toBeGreaterThan(100);
    for (const [name, type, count] of found) {
      for (const file of type === 'scalar' ? files.slice(0, 1) : files) {
        const call = `${name}(${Array.from({ length: Number(count) }, () => quote(file)).join(', ')})`;
        const sql =
          type === 'pragma' ? `PRAGMA ${call}` : `SELECT * FROM ${type === 'scalar' ? `(SELECT ${call})` : call}`;
        expect({ sql, outcome: await outcome(sql) }).not.toMatchObject({ outcome: expect.stringContaining(SECRET) });
      }
    }
  });

  it('has no statement that reads or writes one', async () => {
    const before = await readdir(cache, { recursive: true });
    const target = join(cache, 'written');
    const statements = [
      ...files.flatMap((file) => [
        `SELECT * FROM ${quote(file)}`,
        `SELECT * FROM read_text([${quote(file)}])`,
        `SELECT * FROM glob(${quote(`${dirname(file)}/*`)})`,
        `COPY (SELECT 1) TO ${quote(file)}`,
        `CREATE TEMP TABLE stolen AS SELECT * FROM read_csv(${quote(file)})`,
        `ATTACH ${quote(file)} AS stolen`,
        `IMPORT DATABASE ${quote(dirname(file))}`,
        `LOAD ${quote(file)}`,
        `INSTALL x FROM ${quote(dirname(file))}`,
      ]),
      `COPY (SELECT 1) TO ${quote(target)}`,
      `COPY (SELECT 1 AS a) TO ${quote(target)} (FORMAT parquet, PARTITION_BY a)`,
      `EXPORT DATABASE ${quote(target)}`,
      `ATTACH ${quote(target)} AS written`,
      `CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')`,
      `CALL enable_profiling(save_location = ${quote(target)})`,
      `PRAGMA enable_profiling = 'json'`,
      `PRAGMA profiling_output = ${quote(target)}`,
      `SET profiling_output = ${quote(target)}`,
      `SET temp_directory = ${quote(target)}`,
      `SET home_directory = ${quote(target)}`,
      `SET secret_directory = ${quote(target)}`,
      `SET extension_directory = ${quote(target)}`,
      `SET log_query_path = ${quote(target)}`,
      `SET allowed_directories = ['/']`,
      `SET allowed_paths = [${quote(target)}]`,
      'SET enable_external_access = true',
    ];
    for (const sql of statements) {
      const found = await outcome(sql);
      expect({ sql, found }).toMatchObject({ found: expect.not.stringContaining(SECRET) });
    }
    expect(await readdir(cache, { recursive: true })).toEqual(before);
  });

  it('lets what would get through every other wall read the store, which is what it may read anyway', async () => {
    expect(await outcome(`SELECT file FROM glob(${quote(`${cache}/**`)})`)).toContain('Permission Error');
    const files = JSON.parse(await outcome(`SELECT file FROM glob(${quote(`${store}/**`)})`)) as [string][];
    expect(files.length).toBeGreaterThan(1);
    for (const [file] of files)
      expect(file).toMatch(/\/store\/(?:hot\.duckdb(?:\.wal)?|raw_pgbouncer_logs\/\d+\.duckdb)$/);
  });
});

describe('Resources', () => {
  let folder: DataFolder;
  afterEach(() => folder.remove());
  const query = (sql: string) => ({
    sql,
    parameters: [],
    maxRows: 10_000,
    hideBytes: false,
    maxBytesBilled: null,
    labels: {},
  });
  const limits = () => ({ deadline: performance.now() + 50_000, signal: new AbortController().signal });

  it('a response beyond the bound is resourcesExceeded, and the engine goes on', async () => {
    folder = await DataFolder.make();
    const engine = await folder.open({ maxResultBytes: 1024 * 1024 });
    const wide = `SELECT REPEAT('x', 2000) AS x FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n`;
    await expect(engine.run(query(wide), limits())).rejects.toMatchObject({ reason: 'resourcesExceeded' });
    const fits = await engine.run(query(wide.replace('1000))', '500))')), limits());
    expect(fits.rows).toHaveLength(500);
  });

  it('a query beyond the memory is resourcesExceeded, and the engine goes on', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      timestamp: '2026-01-01',
      id: String(i).padStart(100, 'x'),
    }));
    folder = await DataFolder.make({ 'raw_pgbouncer_logs.ndjson': ndjson(...rows) });
    await folder.open();
    const engine = await folder.open({ memory: '40MB' });
    const sorted = `SELECT ARRAY_AGG(STRUCT(a.id AS x, b.id AS y)) AS all_of_them FROM raw_pgbouncer_logs a CROSS JOIN raw_pgbouncer_logs b`;
    const error: unknown = await engine.run(query(sorted), limits()).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ reason: 'resourcesExceeded' });
    expect((await engine.run(query('SELECT COUNT(*) AS n FROM raw_pgbouncer_logs'), limits())).rows).toEqual([
      '{"n":20000}',
    ]);
  });

  it('who waits for a connection has the own deadline and the own signal', async () => {
    folder = await DataFolder.make();
    const engine = await folder.open({ connections: 1 });
    const heavy =
      'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 30000)) a, UNNEST(GENERATE_ARRAY(1, 30000)) b, UNNEST(GENERATE_ARRAY(1, 30000)) c WHERE a + b + c = 7';
    const abandon = new AbortController();
    const holder = engine.run(query(heavy), { ...limits(), signal: abandon.signal }).catch((e: unknown) => e);
    const hasty = engine.run(query('SELECT 1 AS a'), { ...limits(), deadline: performance.now() + 100 });
    await expect(hasty).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    const leaver = new AbortController();
    const left = engine.run(query('SELECT 2 AS a'), { ...limits(), signal: leaver.signal });
    leaver.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    const unlimited = engine.run(query('SELECT 3 AS a'), limits());
    abandon.abort();
    expect(await holder).toMatchObject({ name: 'AbortError' });
    expect((await unlimited).rows).toEqual(['{"a":3}']);
  });

  it('closing ends what runs', async () => {
    folder = await DataFolder.make();
    const engine = await folder.open();
    const heavy =
      'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 30000)) a, UNNEST(GENERATE_ARRAY(1, 30000)) b, UNNEST(GENERATE_ARRAY(1, 30000)) c WHERE a + b + c = 7';
    const running = engine.run(query(heavy), limits()).catch((e: unknown) => e);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await engine.close();
    expect(await running).toMatchObject({ name: 'AbortError' });
    await expect(engine.run(query('SELECT 1 AS a'), limits())).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('a translation is made once for a text', async () => {
    folder = await DataFolder.make();
    const engine = await folder.open();
    // Far more work to read than to run.
    const long = `SELECT ${Array.from({ length: 400 }, (_, i) => `${i} + LENGTH('x') AS c${i}`).join(', ')}`;
    const time = async (): Promise<number> => {
      const started = performance.now();
      await engine.describe(long, [], limits());
      return performance.now() - started;
    };
    const first = await time();
    const later = Math.min(await time(), await time(), await time());
    expect(later).toBeLessThan(first / 2);
    await expect(engine.describe('SELECT FROM', [], limits())).rejects.toBeInstanceOf(QueryError);
  });
});
