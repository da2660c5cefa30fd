import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../src/contract/service-error';
import { openDatabase, type Database } from '../src/engine/database';
import { prepareCopy } from '../src/engine/statements';
import { Store } from '../src/follow/store';
import { DataFolder, ndjson } from './data-folder';
import { queryOf, within } from './queries';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';

/** What SQL could do if, against all other walls, it were DuckDB's own: of a database that may open segments and write exports. */
describe('The DuckDB behind a data folder', () => {
  const SECRET = 'secret-beside-the-segments';
  let folder: DataFolder;
  let database: Database;
  let cache: string;
  let store: string;
  /** A file beside the segments, and one in DATA_DIR. */
  let files: readonly string[];
  let exportsDir: string;
  beforeAll(async () => {
    const name = 'raw_pgbouncer_logs.ndjson';
    folder = await DataFolder.make({ [name]: ndjson({ timestamp: '2026-01-01', id: SECRET }) });
    const { dataDir, cacheDir, log } = folder;
    exportsDir = join(cacheDir, 'exports');
    database = await openDatabase({
      declared: LOG_SCHEMA,
      dataDir,
      cacheDir,
      exportsDir,
      log,
      now: null,
      smallFile: 0,
    });
    await mkdir(exportsDir, { recursive: true });
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

  it('reads its own rows, which are stored', async () => {
    const tables = database.data.acquire();
    const relation = tables.find('raw_pgbouncer_logs')?.parts[0]?.relation;
    expect(relation).toMatch(/^"segment /);
    expect(await outcome(`SELECT id FROM ${relation}`)).toBe(`[["${SECRET}"]]`);
    tables.release();
  });

  it('writes exports into their folder, and from there to nowhere else', async () => {
    const copy = (path: string): Promise<string> => outcome(`COPY (SELECT 1 AS a) TO '${path}' (FORMAT parquet)`);
    await copy(join(exportsDir, 'one.parquet'));
    expect(await readdir(exportsDir)).toEqual(['one.parquet']);
    for (const path of ['../two.parquet', '../exports-too/two.parquet', 'deep/../../two.parquet'])
      expect(await copy(`${exportsDir}/${path}`)).toContain('Permission Error');
    expect(await readdir(folder.cacheDir)).not.toContain('two.parquet');
  });

  it('takes into a file what is one SELECT, and nothing else', async () => {
    const connection = await (await database.instance).connect();
    const path = join(exportsDir, 'three.parquet');
    const columns = [{ name: 'a', type: { kind: 'INT64' } }] as const;
    for (const sql of [
      `SELECT 1 AS a) TO '${join(exportsDir, 'other.parquet')}' --`,
      'SELECT 1 AS a; SELECT 2 AS a',
      'CREATE TABLE t AS SELECT 1 AS a',
      `COPY (SELECT 1 AS a) TO '${path}'`,
    ]) {
      await expect(prepareCopy(connection, sql, path, columns)).rejects.toThrow();
    }
    const statement = await prepareCopy(connection, 'SELECT 1 AS a', path, columns);
    await statement.run();
    expect(await readdir(exportsDir)).toEqual(['one.parquet', 'three.parquet']);
    connection.closeSync();
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
    const target = quote(join(cache, 'written'));
    const statements = [
      ...files.flatMap((file) =>
        [
          'SELECT * FROM FILE',
          'SELECT * FROM read_text([FILE])',
          'SELECT * FROM glob(FOLDER)',
          'COPY (SELECT 1) TO FILE',
          'CREATE TEMP TABLE stolen AS SELECT * FROM read_csv(FILE)',
          'ATTACH FILE AS stolen',
          'IMPORT DATABASE FOLDER',
          'LOAD FILE',
          'INSTALL x FROM FOLDER',
        ].map((sql) => sql.replace('FILE', quote(file)).replace('FOLDER', quote(dirname(file)))),
      ),
      ...[
        'COPY (SELECT 1) TO TARGET',
        'COPY (SELECT 1 AS a) TO TARGET (FORMAT parquet, PARTITION_BY a)',
        'EXPORT DATABASE TARGET',
        'ATTACH TARGET AS written',
        `CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')`,
        'CALL enable_profiling(save_location = TARGET)',
        'PRAGMA profiling_output = TARGET',
        'SET profiling_output = TARGET',
        'SET temp_directory = TARGET',
        'SET home_directory = TARGET',
        'SET secret_directory = TARGET',
        'SET extension_directory = TARGET',
        'SET log_query_path = TARGET',
        'SET allowed_paths = [TARGET]',
      ].map((sql) => sql.replace('TARGET', target)),
    ];
    for (const sql of statements)
      expect({ sql, found: (await outcome(sql)).includes(SECRET) }).toEqual({ sql, found: false });
    expect(await readdir(cache, { recursive: true })).toEqual(before);
  });

  it.each([
    ...['csv', 'text', 'blob', 'json', 'parquet'].map((format) => `SELECT * FROM read_${format}('/etc/passwd')`),
    `SELECT * FROM '/etc/passwd'`,
    `SELECT * FROM glob('/etc/*')`,
    `SELECT * FROM glob('/tmp/*')`,
    `SELECT * FROM read_csv('https://example.com/x.csv')`,
    `COPY (SELECT 1) TO '/tmp/logquay-wall.csv'`,
    `COPY (SELECT 1) TO 'exports/logquay-wall.parquet'`,
    `EXPORT DATABASE '/tmp/logquay-wall'`,
    `ATTACH '/tmp/logquay-wall.duckdb' AS w`,
    `ATTACH '/etc/hostname' AS w (READ_ONLY)`,
    'INSTALL httpfs',
    'LOAD httpfs',
    'SET enable_external_access = true',
    `SET disabled_filesystems = ''`,
    'SET threads = 64',
    `SET memory_limit = '100GB'`,
    `SET TimeZone = 'Asia/Tokyo'`,
    'RESET lock_configuration',
    `SET allowed_directories = ['/']`,
  ])('refuses %s', async (sql) => {
    expect(await outcome(sql)).toMatch(/Error/);
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
  const query = queryOf;
  const limits = () => within(50_000);
  const HEAVY =
    'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 30000)) a, UNNEST(GENERATE_ARRAY(1, 30000)) b, UNNEST(GENERATE_ARRAY(1, 30000)) c WHERE a + b + c = 7';

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
    const abandon = new AbortController();
    const holder = engine.run(query(HEAVY), { ...limits(), signal: abandon.signal }).catch((e: unknown) => e);
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
    const running = engine.run(query(HEAVY), limits()).catch((e: unknown) => e);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await engine.close();
    expect(await running).toMatchObject({ name: 'AbortError' });
    await expect(engine.run(query('SELECT 1 AS a'), limits())).rejects.toMatchObject({ name: 'AbortError' });
  });
});
