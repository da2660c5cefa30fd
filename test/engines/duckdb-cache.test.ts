/** What is stored of a data folder in CACHE_DIR, and starts from it. */
import { mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Store } from '../../src/engines/duckdb/follow/store';
import { DataFolder, ndjson, rowsOf } from './data-folder';
import { schemaOf } from './fields';
import { eventually } from './follow/eventually';

jest.setTimeout(240_000);

const SCHEMA = schemaOf({ raw_x: 'timestamp TIMESTAMP!, n INTEGER, text STRING' });
/** Too many bytes to be kept in memory. */
const ROWS = 9_000;
const row = (n: number): object => ({ timestamp: '2026-09-30T11:00:00Z', n, text: String(n).padStart(1000, 'x') });
const LARGE = ndjson(...Array.from({ length: ROWS }, (_, n) => row(n)));
const SUM = 'SELECT COUNT(*) AS c, SUM(n) AS n FROM raw_x';
const ALL = { c: ROWS, n: (ROWS * (ROWS - 1)) / 2 };

describe('Stored rows', () => {
  let folder: DataFolder;
  beforeEach(async () => {
    folder = await DataFolder.make({ 'schema.json': SCHEMA, 'raw_x.ndjson': LARGE });
  });
  afterEach(() => folder.remove());

  const tableFolder = async (): Promise<string> =>
    (await Store.of(folder.cacheDir, folder.dataDir, folder.log)).filesOf('raw_x');
  const segments = async (): Promise<string[]> =>
    (await readdir(await tableFolder())).filter((name) => name.endsWith('.duckdb'));
  /** Conversions since the last call. */
  const conversions = (): number => folder.logged.splice(0).filter(({ message }) => message === 'Rows stored').length;
  async function restarted(): Promise<unknown> {
    const engine = await folder.open();
    const rows = await rowsOf(engine, SUM);
    await engine.close();
    return rows[0];
  }

  it('are not converted again', async () => {
    expect(await restarted()).toEqual(ALL);
    expect(conversions()).toBe(1);
    expect(await restarted()).toEqual(ALL);
    expect(conversions()).toBe(0);
    expect(await segments()).toHaveLength(1);
  });

  it.each<[string, (dataDir: string) => Promise<void>, { c: number; n: number }, number]>([
    [
      'a longer file',
      (dir) => writeFile(join(dir, 'raw_x.ndjson'), LARGE + ndjson(row(1))),
      { c: ROWS + 1, n: ALL.n + 1 },
      0,
    ],
    ['a file touched later', (dir) => utimes(join(dir, 'raw_x.ndjson'), 1e9, 1e9), ALL, 0],
    ['another file', (dir) => writeFile(join(dir, 'raw_x.ndjson'), ndjson(row(7))), { c: 1, n: 7 }, 0],
    ['another schema', (dir) => writeFile(join(dir, 'schema.json'), SCHEMA.replace('INTEGER', 'FLOAT')), ALL, 1],
  ])('serve on after %s', async (_what, change, expected, converted) => {
    await restarted();
    conversions();
    await change(folder.dataDir);
    expect(await restarted()).toEqual(expected);
    expect(conversions()).toBe(converted);
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['other bytes', (path) => writeFile(path, 'not a database')],
    ['nothing', (path) => writeFile(path, '')],
    ['its first half', async (path) => writeFile(path, (await readFile(path)).subarray(0, 200_000))],
  ])('are converted again where a segment holds %s', async (_what, damage) => {
    await restarted();
    const [name = ''] = await segments();
    await damage(join(await tableFolder(), name));
    conversions();
    expect(await restarted()).toEqual(ALL);
    expect(conversions()).toBe(1);
    expect(await segments()).toHaveLength(1);
  });

  it('have one holder; another that does not wait has a temporary folder', async () => {
    const [holder, other] = [await folder.open(), await folder.open()];
    for (const engine of [holder, other]) expect(await rowsOf(engine, SUM)).toEqual([ALL]);
    expect(conversions()).toBe(2);
    const temporary = async (): Promise<string[]> =>
      (await readdir(folder.cacheDir)).filter((name) => name.startsWith('tmp-'));
    expect(await temporary()).toHaveLength(1);
    await other.close();
    expect(await temporary()).toEqual([]);
    expect(await rowsOf(holder, SUM)).toEqual([ALL]);
  });

  it('have one holder; a service that waits takes over from where that has ended', async () => {
    const holder = await folder.open();
    const said: (string | null)[] = [];
    const waiting = folder.open({ complete: false, onStatus: ({ degraded }) => void said.push(degraded) });
    await eventually(() => expect(said[0]).toMatch(/Another process has CACHE_DIR/));
    await folder.write({ 'raw_x/more.ndjson': LARGE });
    await eventually(async () => expect(await rowsOf(holder, SUM)).toEqual([{ c: 2 * ROWS, n: 2 * ALL.n }]));
    conversions();
    await holder.close();
    const engine = await waiting;
    expect(await rowsOf(engine, SUM)).toEqual([{ c: 2 * ROWS, n: 2 * ALL.n }]);
    expect(engine.dataStatus?.()?.degraded).toBeNull();
    expect(conversions()).toBe(0);
  });

  it('are named by folder and schema, not by what is in it or where it is stored: replicas share results', async () => {
    const engine = await folder.open();
    const { target } = engine;
    await folder.write({ 'raw_x/more.ndjson': ndjson(row(1)) });
    await eventually(async () => expect(await rowsOf(engine, SUM)).toEqual([{ c: ROWS + 1, n: ALL.n + 1 }]));
    expect(engine.target).toBe(target);
    expect((await folder.open({ now: 5n })).target).not.toBe(target);
    expect((await folder.open({ cacheDir: `${folder.cacheDir}-of-another-replica` })).target).toBe(target);
  });

  it('are not those of another folder under the same path', async () => {
    const { target } = await folder.open();
    await rename(folder.dataDir, `${folder.dataDir}-before`);
    await mkdir(folder.dataDir);
    await folder.write({ 'schema.json': SCHEMA, 'raw_x.ndjson': ndjson(row(40)) });
    expect((await folder.open({ cacheDir: `${folder.cacheDir}-of-another` })).target).not.toBe(target);
  });

  it('leave nothing of an abandoned start behind', async () => {
    await restarted();
    const { files } = await Store.of(folder.cacheDir, folder.dataDir, folder.log);
    await mkdir(join(files, '..', 'building'));
    await writeFile(join(await tableFolder(), '99.duckdb'), 'no record names it');
    expect(await restarted()).toEqual(ALL);
    expect(await readdir(join(files, '..'))).toEqual(['store']);
    expect(await segments()).toHaveLength(1);
  });

  it('of an earlier version are recognised, and built anew with a word in the log', async () => {
    const { files } = await Store.of(folder.cacheDir, folder.dataDir, folder.log);
    const path = join(files, '..');
    for (const name of ['manifests', 'segments/raw_x']) await mkdir(join(path, name), { recursive: true });
    await writeFile(join(path, 'manifests', 'raw_x.json'), '{"format":4}');
    for (const name of ['lock.duckdb', 'arrivals.ndjson', 'segments/raw_x/1.duckdb'])
      await writeFile(join(path, name), '');
    expect(await restarted()).toEqual(ALL);
    expect(await readdir(path)).toEqual(['store']);
    expect(folder.logged.map(({ message }) => message)).toContain(
      'CACHE_DIR is of an earlier version: all rows are read again',
    );
  });
});

describe('A start fault', () => {
  let folder: DataFolder;
  afterEach(() => folder.remove());

  it.each<[schema: string, message: RegExp]>([
    ['{', /schema\.json: is not valid JSON/],
    ['[]', /schema\.json: must be an object/],
    ['{"t":{"fields":[{"name":"a","type":"INT"}]}}', /t\.a: "type" must be one of/],
    ['{"t":{"fields":[{"name":"a","type":"STRING","mode":"MANY"}]}}', /t\.a: "mode"/],
    ['{"t":[{"name":"a","type":"STRING"},{"name":"A","type":"STRING"}]}', /A is given twice/],
    ['{"t":[{"name":"a","type":"RECORD","fields":[]}]}', /t\.a: "fields"/],
  ])('a schema of %s', async (schema, message) => {
    folder = await DataFolder.make({ 'schema.json': schema });
    const fault = { name: 'DataFault', message: expect.stringMatching(message) as unknown };
    await expect(folder.open()).rejects.toMatchObject(fault);
  });

  it('a folder that is not there', async () => {
    folder = await DataFolder.make();
    await expect(folder.open({ dataDir: join(folder.dataDir, 'nowhere') })).rejects.toThrow(
      /DATA_DIR .*nowhere.*ENOENT/,
    );
  });

  it('a cache folder that cannot be made', async () => {
    folder = await DataFolder.make({ 'a-file': '' });
    await expect(folder.open({ cacheDir: join(folder.dataDir, 'a-file', 'cache') })).rejects.toThrow(/CACHE_DIR/);
  });
});

describe('Tables without data', () => {
  let folder: DataFolder;
  afterEach(() => folder.remove());

  it('know the fields of the log schema, and of schema.json', async () => {
    folder = await DataFolder.make({
      'schema.json':
        '{"other":{"fields":[{"name":"a","type":"RECORD","mode":"REPEATED","fields":[{"name":"b","type":"DATE"}]}]}}',
      'raw_postgres_logs.ndjson': '\n\n',
    });
    const engine = await folder.open();
    for (const sql of [
      'SELECT m.function_id, m.level FROM raw_function_logs CROSS JOIN UNNEST(metadata) AS m',
      'SELECT r.cf[SAFE_OFFSET(0)].botManagement FROM raw_edge_logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r',
      'SELECT p.error_severity FROM raw_postgres_logs, UNNEST(metadata) AS m, UNNEST(m.parsed) AS p',
      'SELECT x.b FROM other, UNNEST(a) AS x',
    ]) {
      expect(await rowsOf(engine, sql)).toEqual([]);
    }
  });
});
