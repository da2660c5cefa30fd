import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataFolder, ndjson, rowsOf } from './data-folder';

const SCHEMA = JSON.stringify({
  raw_x: {
    fields: [
      { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
      { name: 'n', type: 'INTEGER' },
    ],
  },
});
const row = (n: number): object => ({ timestamp: '2026-09-30T11:00:00Z', n });
const SUM = 'SELECT SUM(n) AS n FROM raw_x';

describe('Converted tables', () => {
  let folder: DataFolder;
  beforeEach(async () => {
    folder = await DataFolder.make({ 'schema.json': SCHEMA, 'raw_x.ndjson': ndjson(row(1), row(2)) });
  });
  afterEach(() => folder.remove());

  const files = (): Promise<string[]> => readdir(folder.cacheDir);
  /** Of each start since the last call: whether the table was converted anew. */
  const conversions = (): boolean[] =>
    folder.logged
      .splice(0)
      .filter(({ message }) => message.startsWith('Table ready'))
      .map(({ facts }) => facts['convertedIn'] !== null);

  it('are made once', async () => {
    expect(await folder.rows(SUM)).toEqual([{ n: 3 }]);
    expect(await folder.rows(SUM)).toEqual([{ n: 3 }]);
    expect(conversions()).toEqual([true, false]);
    expect(await files()).toHaveLength(1);
  });

  it.each<[string, (dataDir: string) => Promise<void>]>([
    ['a longer file', (dir) => writeFile(join(dir, 'raw_x.ndjson'), ndjson(row(1), row(2), row(0)))],
    ['a file touched later', (dir) => utimes(join(dir, 'raw_x.ndjson'), 1e9, 1e9)],
    ['another schema', (dir) => writeFile(join(dir, 'schema.json'), SCHEMA.replace('INTEGER', 'FLOAT'))],
  ])('are converted again for %s, and the old one goes', async (_what, change) => {
    const before = await folder.open();
    await change(folder.dataDir);
    const after = await folder.open();
    expect(await rowsOf(after, SUM)).toEqual([{ n: 3 }]);
    expect(after.target).not.toBe(before.target);
    expect(conversions()).toEqual([true, true]);
    expect(await files()).toHaveLength(1);
    // Who had the old one open reads on.
    expect(await rowsOf(before, SUM)).toEqual([{ n: 3 }]);
  });

  it('name the same data by the same target', async () => {
    expect((await folder.open()).target).toBe((await folder.open()).target);
    expect((await folder.open({ now: 5n })).target).not.toBe((await folder.open()).target);
    expect((await folder.open({ now: 5n })).target).toBe((await folder.open({ now: 5n })).target);
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['other bytes', (path) => writeFile(path, 'not a database')],
    ['nothing', (path) => writeFile(path, '')],
    [
      'its first half',
      async (path) => writeFile(path, (await readFile(path)).subarray(0, (await stat(path)).size / 2)),
    ],
    [
      'one bit turned',
      async (path) => {
        const bytes = await readFile(path);
        bytes[bytes.length - 100]! ^= 1;
        await writeFile(path, bytes);
      },
    ],
  ])('are converted again where a file holds %s', async (_what, damage) => {
    await folder.rows(SUM);
    await damage(join(folder.cacheDir, (await files())[0]!));
    expect(await folder.rows(SUM)).toEqual([{ n: 3 }]);
    expect(conversions()).toEqual([true, true]);
  });

  it('are made safely by several starts at once', async () => {
    await folder.write({ 'raw_x.ndjson': ndjson(...Array.from({ length: 5_000 }, (_, n) => row(n))) });
    const engines = await Promise.all([folder.open(), folder.open(), folder.open()]);
    for (const engine of engines) expect(await rowsOf(engine, SUM)).toEqual([{ n: 12_497_500 }]);
    expect((await files()).filter((name) => name.startsWith('building-'))).toEqual([]);
  });

  it('are left to another process that has just made the same, and go when they are old', async () => {
    await folder.rows(SUM);
    const [converted = ''] = await files();
    const content = Buffer.concat([await readFile(join(folder.cacheDir, converted)), Buffer.alloc(1)]);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const twin = converted.replace(/[0-9a-f]{16}\.duckdb$/, `${hash}.duckdb`);
    await writeFile(join(folder.cacheDir, twin), content);
    expect(await folder.rows(SUM)).toEqual([{ n: 3 }]);
    expect((await files()).sort()).toEqual([converted, twin].sort());
    for (const name of [converted, twin]) await utimes(join(folder.cacheDir, name), 1e9, 1e9);
    expect(await folder.rows(SUM)).toEqual([{ n: 3 }]);
    expect(await files()).toHaveLength(1);
  });

  it('of another data folder in the same cache are left alone', async () => {
    const other = await DataFolder.make({ 'schema.json': SCHEMA, 'raw_x.ndjson': ndjson(row(40)) });
    await folder.rows(SUM);
    const engine = await other.open({ cacheDir: folder.cacheDir });
    expect(await rowsOf(engine, SUM)).toEqual([{ n: 40 }]);
    expect(await files()).toHaveLength(2);
    await other.remove();
  });

  it('leave nothing of an abandoned start behind', async () => {
    const abandoned = join(folder.cacheDir, 'building-dead');
    await mkdir(abandoned, { recursive: true });
    await utimes(abandoned, 1e9, 1e9);
    await folder.rows(SUM);
    expect(await files()).toEqual([expect.stringMatching(/^raw_x\..*\.duckdb$/)]);
  });

  it('write nothing into the data folder', async () => {
    const before = await readdir(folder.dataDir);
    await chmod(folder.dataDir, 0o555);
    await folder.rows(SUM);
    await chmod(folder.dataDir, 0o755);
    expect(await readdir(folder.dataDir)).toEqual(before);
  });
});

describe('A start fault', () => {
  let folder: DataFolder;
  afterEach(() => folder.remove());

  it.each<[string, Record<string, string>, RegExp]>([
    ['two files for one table', { 'raw_x.ndjson': '', 'raw_x.ndjson.gz': '' }, /raw_x has two sources/],
    ['a file and a folder for one table', { 'raw_x.parquet': '', 'raw_x/a.ndjson': '' }, /raw_x has two sources/],
    ['a file whose name is no table name', { 'my logs.ndjson': '' }, /my logs\.ndjson: a table's name/],
    ['a schema that is not JSON', { 'schema.json': '{' }, /schema\.json: is not valid JSON/],
    ['a schema that is a list', { 'schema.json': '[]' }, /schema\.json: must be an object/],
    [
      'an unknown type',
      { 'schema.json': '{"t":{"fields":[{"name":"a","type":"INT"}]}}' },
      /t\.a: "type" must be one of/,
    ],
    [
      'an unknown mode',
      { 'schema.json': '{"t":{"fields":[{"name":"a","type":"STRING","mode":"MANY"}]}}' },
      /t\.a: "mode"/,
    ],
    [
      'a field given twice',
      { 'schema.json': '{"t":[{"name":"a","type":"STRING"},{"name":"A","type":"STRING"}]}' },
      /A is given twice/,
    ],
    [
      'a record without fields',
      { 'schema.json': '{"t":[{"name":"a","type":"RECORD","fields":[]}]}' },
      /t\.a: "fields"/,
    ],
    ['rows without a schema that none can be made of', { 'other.ndjson': '' }, /other in schema\.json/],
    ['a file that is no gzip', { 'raw_edge_logs.ndjson.gz': 'plain' }, /raw_edge_logs\.ndjson\.gz: cannot be read/],
    ['a file that is no Parquet', { 'raw_edge_logs.parquet': 'plain' }, /raw_edge_logs\.parquet: cannot be read/],
  ])('%s', async (_what, content, message) => {
    folder = await DataFolder.make(content);
    await expect(folder.open()).rejects.toMatchObject({
      name: 'DataFault',
      message: expect.stringMatching(message) as unknown,
    });
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
