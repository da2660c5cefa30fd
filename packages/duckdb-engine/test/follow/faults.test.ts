/** What goes wrong around a data folder: files, folders and disks that cannot be read or written, contents that cannot be rows. */
import {
  appendFile,
  chmod,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import type { Engine } from '../../src/contract/contract';
import { ExactLines } from '../../src/data/exact-lines';
import type { DuckDbOptions } from '../../src/engine/options';
import { faultKind } from '../../src/follow/folder-faults';
import { LiveFolder } from '../../src/follow/live-folder';
import { LiveTable } from '../../src/follow/live-table';
import { RowTable } from '../../src/follow/hot-relations';
import { SegmentFile } from '../../src/follow/segment-file';
import { Store } from '../../src/follow/store';
import { DataFolder, ndjson, rowsOf } from '../data-folder';
import { eventually } from './eventually';
import { asOrdinaryUser } from './ordinary-user';

jest.setTimeout(240_000);

const TABLE = 'raw_pgbouncer_logs';
const row = (id: string): object => ({ id, timestamp: '2026-09-30T11:00:00Z', event_message: id });
/** Everything is stored at once. */
const STORED: Partial<DuckDbOptions> = { smallFile: 0, tailBytes: 0 };

let folder: DataFolder;
let engine: Engine;
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.remove();
});

async function start(
  files: Readonly<Record<string, string | Buffer>>,
  options?: Partial<DuckDbOptions>,
): Promise<void> {
  folder = await DataFolder.make(files);
  engine = await folder.open(options);
}

const path = (name: string): string => join(folder.dataDir, name);

async function ids(): Promise<string[]> {
  const rows = (await rowsOf(engine, `SELECT id FROM ${TABLE} ORDER BY id`)) as { id: string }[];
  return rows.map(({ id }) => id);
}

const become = (...expected: string[]): Promise<void> => eventually(async () => expect(await ids()).toEqual(expected));

/** Some looks at the folder later nothing has changed. */
async function settled(...expected: string[]): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(await ids()).toEqual(expected);
  }
}

const degraded = (): string | null => engine.dataStatus?.()?.degraded ?? null;
const status = () => engine.dataStatus?.()?.tables.find(({ table }) => table === TABLE);
const store = (): Promise<Store> => Store.of(folder.cacheDir, folder.dataDir, folder.log);

async function segments(): Promise<string[]> {
  return readdir((await store()).filesOf(TABLE)).catch(() => []);
}

async function parquet(name: string, ...names: readonly string[]): Promise<Buffer> {
  const file = join(folder.dataDir, '..', name);
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const rows = names.map((id) => `('${id}', TIMESTAMP '2026-09-30 11:00:00')`).join(', ');
  await connection.run(`COPY (SELECT * FROM (VALUES ${rows}) AS t(id, timestamp)) TO '${file}' (FORMAT parquet)`);
  instance.closeSync();
  return readFile(file);
}

describe.each<[string, Partial<DuckDbOptions>]>([
  ['rows in memory', {}],
  ['rows that are stored at once', STORED],
])('With %s', (_, options) => {
  it('a file that cannot be read keeps its rows, and the others go on', async () => {
    folder = await DataFolder.make({
      [`${TABLE}/x.ndjson`]: ndjson(row('a')),
      [`${TABLE}/y.ndjson`]: ndjson(row('b')),
    });
    await asOrdinaryUser(join(folder.dataDir, '..'), async () => {
      engine = await folder.open(options);
      await become('a', 'b');
      await appendFile(path(`${TABLE}/x.ndjson`), ndjson(row('c')));
      await chmod(path(`${TABLE}/x.ndjson`), 0);
      await appendFile(path(`${TABLE}/y.ndjson`), ndjson(row('d')));
      await eventually(async () => expect(await ids()).toEqual(expect.arrayContaining(['a', 'b', 'd'])));
      expect(degraded()).toBeNull();
      await appendFile(path(`${TABLE}/y.ndjson`), ndjson(row('e')));
      await eventually(async () => expect(await ids()).toEqual(expect.arrayContaining(['a', 'b', 'd', 'e'])));
      await chmod(path(`${TABLE}/x.ndjson`), 0o644);
      await become('a', 'b', 'c', 'd', 'e');
      await engine.close();
    });
  });

  it('a folder that cannot be read keeps its rows', async () => {
    folder = await DataFolder.make({
      [`${TABLE}/deep/x.ndjson`]: ndjson(row('a')),
      [`${TABLE}/y.ndjson`]: ndjson(row('b')),
    });
    await asOrdinaryUser(join(folder.dataDir, '..'), async () => {
      engine = await folder.open(options);
      await become('a', 'b');
      for (const mode of [0o000, 0o444]) {
        await chmod(path(`${TABLE}/deep`), mode);
        await eventually(() => expect(degraded()).toContain(`${TABLE}/deep`));
        await appendFile(path(`${TABLE}/y.ndjson`), ndjson(row(`c${mode}`)));
        await eventually(async () => expect(await ids()).toContain(`c${mode}`));
        expect(await ids()).toContain('a');
        await chmod(path(`${TABLE}/deep`), 0o755);
        await eventually(() => expect(degraded()).toBeNull());
      }
      await engine.close();
    });
  });

  it('the data folder itself may be away for a while', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a')) }, options);
    const away = join(folder.dataDir, '..', 'away');
    await rename(folder.dataDir, away);
    await eventually(() => expect(degraded()).toContain('DATA_DIR cannot be read'));
    await settled('a');
    await appendFile(join(away, `${TABLE}.ndjson`), ndjson(row('b')));
    await rename(away, folder.dataDir);
    await become('a', 'b');
    await eventually(() => expect(degraded()).toBeNull());
  });

  it('what is replaced in place by something longer has the rows of that', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a'), row('b')) }, options);
    await writeFile(path(`${TABLE}.ndjson`), ndjson(row('c'), row('d'), row('e'), row('f')));
    await become('c', 'd', 'e', 'f');
    await settled('c', 'd', 'e', 'f');
  });

  it('a line without its end in an old file is served, and taken back where it goes on', async () => {
    folder = await DataFolder.make({ [`${TABLE}.ndjson`]: `${ndjson(row('a'))}{"id":"b","timestamp":"2026-09-30"}` });
    await utimes(path(`${TABLE}.ndjson`), 1e9, 1e9);
    engine = await folder.open(options);
    await become('a', 'b');
    await appendFile(path(`${TABLE}.ndjson`), `\n{"id":"c","timest`);
    await utimes(path(`${TABLE}.ndjson`), 1e9, 1e9);
    await eventually(() => expect(status()?.leftOut).toMatchObject({ not_json: 1 }));
    await appendFile(path(`${TABLE}.ndjson`), `amp":"2026-09-30"}\n${ndjson(row('d'))}`);
    await become('a', 'b', 'c', 'd');
    await settled('a', 'b', 'c', 'd');
  });

  it('a hole that truncation leaves under a writer is passed over', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a'), row('b')) }, options);
    const { size } = await stat(path(`${TABLE}.ndjson`));
    await truncate(path(`${TABLE}.ndjson`), 0);
    await truncate(path(`${TABLE}.ndjson`), size);
    await appendFile(path(`${TABLE}.ndjson`), ndjson(row('c')));
    await become('c');
    expect(folder.skipped).toEqual([]);
  });

  it('a line that is far too long holds up nothing', async () => {
    await start({ [`${TABLE}.ndjson`]: `${ndjson(row('a'))}${'x'.repeat(20 * 1024 * 1024)}` }, options);
    await become('a');
    await appendFile(path(`${TABLE}.ndjson`), `${ndjson(row('inside'))}${ndjson(row('b'))}`);
    await become('a', 'b');
    expect(folder.skipped).toEqual([{ file: path(`${TABLE}.ndjson`), line: 2, reason: 'the line is too long' }]);
  });

  it('clocks that step forth and back leave each row there once', async () => {
    await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')), [`${TABLE}/y.ndjson`]: ndjson(row('b')) }, options);
    const expected = ['a', 'b'];
    for (const [i, seconds] of [4e9, 0, 1e9, 4e9].entries()) {
      const file = path(`${TABLE}/${i % 2 === 0 ? 'x' : 'y'}.ndjson`);
      await appendFile(file, ndjson(row(`c${i}`)));
      await utimes(file, seconds, seconds);
      expected.push(`c${i}`);
      await become(...expected);
    }
    await settled(...expected);
    expect(status()).toMatchObject({ behind: 0, faults: 0 });
    await engine.close();
    engine = await folder.open(options);
    expect(await ids()).toEqual(expected);
  });

  it('stray quotes in CSV, and stray brackets in an array, hold up nothing', async () => {
    await start(
      {
        [`${TABLE}/x.csv`]:
          'id,timestamp,event_message\na,2026-09-30,5" disk\nb,2026-09-30,"say ""x""\nand"\nc,2026-09-30,x"\n',
        [`${TABLE}/y.json`]: `[${JSON.stringify(row('d'))}}, ${JSON.stringify(row('e'))}]]`,
      },
      options,
    );
    await become('a', 'b', 'c', 'd', 'e');
  });

  it('half a Parquet file is read when it is whole', async () => {
    await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')) }, options);
    const content = await parquet('whole.parquet', 'b', 'c');
    for (const part of [0.1, 0.5, 0.9]) {
      await writeFile(path(`${TABLE}/y.parquet`), content.subarray(0, content.length * part));
      await eventually(() => expect(status()?.faults).toBe(1));
    }
    await writeFile(path(`${TABLE}/y.parquet`), content);
    await become('a', 'b', 'c');
    await settled('a', 'b', 'c');
    await writeFile(path(`${TABLE}/y.parquet`), await parquet('other.parquet', 'd'));
    await become('a', 'd');
    expect(status()).toMatchObject({ faults: 0, rows: 2 });
    // Read after another, one that is broken takes no rows of that along.
    await engine.close();
    await writeFile(path(`${TABLE}/broken.parquet`), content.subarray(0, content.length / 2));
    await utimes(path(`${TABLE}/broken.parquet`), 1e9, 1e9);
    await writeFile(path(`${TABLE}/new.parquet`), await parquet('new.parquet', 'e'));
    engine = await folder.open(options);
    await become('a', 'd', 'e');
    expect(status()).toMatchObject({ faults: 1, rows: 3 });
  });

  it('a link to nothing is followed when there is something', async () => {
    await start({}, options);
    const target = join(folder.dataDir, '..', 'target.ndjson');
    await symlink(target, path(`${TABLE}.ndjson`));
    await settled();
    await writeFile(target, ndjson(row('a')));
    await become('a');
    await rm(target);
    await become();
  });
});

it('Rows that DuckDB refuses although they looked exact are read closely', async () => {
  const looks = jest.spyOn(ExactLines.prototype, 'has').mockReturnValue(true);
  await start({ [`${TABLE}.ndjson`]: `${ndjson(row('a'))}none\n${ndjson(row('b'))}` });
  await become('a', 'b');
  expect(looks).toHaveBeenCalledTimes(3);
  looks.mockRestore();
  expect(status()).toMatchObject({ leftOut: { not_json: 1 }, faults: 0 });
});

it.each([
  ['into the hot file', {}],
  ['into a sealed one', { smallFile: 0 }],
])('A table of which nothing can be stored %s is not empty', async (_, options) => {
  const fault = new Error('Out of Memory Error');
  jest.spyOn(RowTable.prototype, 'insert').mockRejectedValue(fault);
  jest.spyOn(SegmentFile.prototype, 'add').mockRejectedValue(fault);
  const files = { [`${TABLE}.ndjson`]: ndjson(row('a')), 'other.ndjson': '', 'free.ndjson': ndjson({ n: 1 }) };
  await start(files, { complete: false, ...options });
  await eventually(() => expect(engine.dataStatus?.()?.degraded).toMatch(/cannot be stored.*Out of Memory/));
  await eventually(() =>
    expect(rowsOf(engine, `SELECT id FROM ${TABLE}`)).rejects.toMatchObject({ reason: 'backendUnavailable' }),
  );
  // Nobody knows its fields yet.
  const unread = { reason: 'backendUnavailable', details: { retryAfter: 5 } };
  await expect(rowsOf(engine, 'SELECT n FROM (SELECT n FROM free)')).rejects.toMatchObject(unread);
  expect(await rowsOf(engine, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await rowsOf(engine, 'SELECT id FROM raw_postgres_logs')).toEqual([]);
  await expect(rowsOf(engine, 'SELECT n FROM other')).rejects.toMatchObject({ fault: 'invalidQuery' });
  jest.restoreAllMocks();
  await become('a');
  await eventually(async () => expect(await rowsOf(engine, 'SELECT n FROM free')).toEqual([{ n: 1 }]));
  await eventually(() => expect(engine.dataStatus?.()?.degraded).toBeNull());
});

it('Rows that cannot be inserted keep none of other files from being read', async () => {
  const { insert } = RowTable.prototype;
  const inserts = jest.spyOn(RowTable.prototype, 'insert').mockImplementation(async function (
    this: RowTable,
    rows,
    arrived,
  ) {
    if (rows.some(({ text }) => text.includes('refused'))) throw new Error('Out of Memory Error');
    await insert.call(this, rows, arrived);
  });
  await start({
    [`${TABLE}/a.ndjson`]: ndjson(row('a'), row('b')),
    [`${TABLE}/b.ndjson`]: ndjson(row('refused')),
    [`${TABLE}/c.ndjson`]: ndjson(row('c')),
  });
  await become('a', 'b', 'c');
  expect(status()).toMatchObject({ faults: 1, rows: 3 });
  inserts.mockRestore();
  await become('a', 'b', 'c', 'refused');
  expect(status()).toMatchObject({ faults: 0, rows: 4 });
});

it('A line that is far too long is left out where the rows around it are stored', async () => {
  const content = `${ndjson(row('a'))}${'x'.repeat(17 * 1024 * 1024)}\n${ndjson(row('b'))}`;
  await start({ [`${TABLE}.ndjson`]: content }, { smallFile: 2 ** 26, tailBytes: 0 });
  await become('a', 'b');
  await eventually(async () => expect(await segments()).toHaveLength(1));
  await settled('a', 'b');
  expect(await segments()).toHaveLength(1);
});

it('A line that is longer than what is stored at once is stored, and what follows it', async () => {
  const long = { ...row('b'), event_message: 'x'.repeat(2 * 1024 * 1024) };
  const content = ndjson(row('a'), long, row('c'));
  await start({ [`${TABLE}.ndjson`]: content }, { ...STORED, convertedBytes: 1024 * 1024 });
  await become('a', 'b', 'c');
});

it('Rows for which there is too little memory are sorted in pieces', async () => {
  const { add } = SegmentFile.prototype;
  const pieces: string[] = [];
  const adds = jest.spyOn(SegmentFile.prototype, 'add').mockImplementation(async function (this: SegmentFile, from) {
    pieces.push(from);
    if (!from.includes('rowid')) throw new Error('Out of Memory Error: failed to allocate');
    await add.call(this, from);
  });
  const rows = Array.from({ length: 5_000 }, (_, i) => row(`${String(i).padStart(6, '0')}${'x'.repeat(400)}`));
  await start({ [`${TABLE}.ndjson`]: ndjson(...rows) }, { smallFile: 2 ** 26, tailBytes: 0 });
  await eventually(async () => expect(await segments()).toEqual(['1.duckdb']));
  expect(pieces.length).toBeGreaterThan(3);
  adds.mockRestore();
  await eventually(() => expect(degraded()).toBeNull());
  const counted = `SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM ${TABLE}`;
  expect(await rowsOf(engine, counted)).toEqual([{ n: 5_000, ids: 5_000 }]);
});

it('A schema.json that changes is named, and counts from the next start on', async () => {
  const schema = (type: string): string =>
    JSON.stringify({
      plain: {
        fields: [
          { name: 'id', type: 'STRING' },
          { name: 'n', type },
        ],
      },
    });
  await start({ 'schema.json': schema('INTEGER'), 'plain.ndjson': ndjson({ id: 'a', n: 1 }) });
  const rows = (): Promise<unknown[]> => rowsOf(engine, 'SELECT n FROM plain');
  await writeFile(path('schema.json'), schema('STRING'));
  await eventually(() => expect(degraded()).toContain('schema.json has changed'));
  expect(await rows()).toEqual([{ n: 1 }]);
  await writeFile(path('schema.json'), schema('INTEGER'));
  await eventually(() => expect(degraded()).toBeNull());
  await writeFile(path('schema.json'), schema('STRING'));
  await writeFile(path('plain.ndjson'), ndjson({ id: 'a', n: '1' }));
  await engine.close();
  engine = await folder.open();
  expect(degraded()).toBeNull();
  expect(await rows()).toEqual([{ n: '1' }]);
});

describe('Where CACHE_DIR cannot be written', () => {
  it('rows are served, and stored later', async () => {
    await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')) }, STORED);
    await eventually(async () => expect(await segments()).toHaveLength(1));
    const place = (await store()).filesOf(TABLE);
    await rename(place, `${place}-away`);
    await writeFile(place, 'no folder');
    await appendFile(path(`${TABLE}/x.ndjson`), ndjson(row('b')));
    await eventually(() => expect(degraded()).toContain('cannot be stored in CACHE_DIR'));
    expect(await ids()).toContain('a');
    await rm(place);
    await rename(`${place}-away`, place);
    await become('a', 'b');
    await eventually(() => expect(degraded()).toBeNull());
    await engine.close();
    engine = await folder.open(STORED);
    expect(await ids()).toEqual(['a', 'b']);
  });
});

it('A checkpoint that comes at the wrong moment leaves everything as it is', async () => {
  const starts = jest.spyOn(LiveFolder.prototype, 'start');
  const { run } = DuckDBConnection.prototype;
  const refusals: unknown[] = [];
  let over = Promise.resolve();
  jest.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
    this: DuckDBConnection,
    sql,
    ...rest
  ) {
    if (sql !== 'CHECKPOINT hot') return run.call(this, sql, ...rest);
    // Something else is being written, and is for a while.
    const [, other] = starts.mock.calls.at(-1)!;
    await run.call(other, 'BEGIN TRANSACTION');
    await run.call(other, 'CREATE TABLE hot.other (n INTEGER)');
    over = sleep(1_500)
      .then(() => run.call(other, 'ROLLBACK'))
      .then(() => undefined);
    return run.call(this, sql).catch((error: unknown) => {
      refusals.push(error);
      throw error;
    });
  });
  await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')) }, { tailBytes: 0 });
  const isLong = jest.spyOn(Store.prototype, 'isLong').mockResolvedValue(true);
  await eventually(() => expect(refusals).toHaveLength(1));
  isLong.mockRestore();
  await over;
  await settled('a');
  expect(degraded()).toBeNull();
  await appendFile(path(`${TABLE}/x.ndjson`), ndjson(row('b')));
  await become('a', 'b');
  await engine.close();
  jest.restoreAllMocks();
  folder.logged.splice(0);
  engine = await folder.open();
  expect(await ids()).toEqual(['a', 'b']);
  expect(folder.logged.map(({ message }) => message)).toEqual(['Table ready']);
});

describe('A service that ends', () => {
  it('takes away first what nobody reads any more', async () => {
    const { run, closeSync } = DuckDBConnection.prototype;
    const closed = new WeakSet<DuckDBConnection>();
    const endings: Promise<void>[] = [];
    const late: string[] = [];
    await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')) }, { complete: false, ...STORED });
    await eventually(async () => expect(await segments()).toHaveLength(1));
    jest.spyOn(DuckDBConnection.prototype, 'closeSync').mockImplementation(function (this: DuckDBConnection) {
      closed.add(this);
      closeSync.call(this);
    });
    jest.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (this: DuckDBConnection, ...given) {
      if (!/^(?:DETACH|DROP)/.test(given[0])) return run.call(this, ...given);
      if (endings.length === 0) endings.push(engine.close());
      await sleep(500);
      // DuckDB does not survive it.
      if (closed.has(this)) late.push(given[0]);
      return run.call(this, ...given);
    });
    await rm(path(`${TABLE}/x.ndjson`));
    await eventually(() => expect(endings).toHaveLength(1));
    await Promise.all(endings);
    await sleep(700);
    expect(late).toEqual([]);
  });

  it('stores what has been written, or leaves it to the next one, and complains of neither', async () => {
    const { seal } = LiveTable.prototype;
    const endings: Promise<void>[] = [];
    await start({}, { complete: false, ...STORED });
    const seals = jest.spyOn(LiveTable.prototype, 'seal').mockImplementation(async function (this: LiveTable, sealed) {
      if (endings.length === 0) endings.push(engine.close());
      await sleep(500);
      return seal.call(this, sealed);
    });
    await writeFile(path(`${TABLE}.ndjson`), ndjson(row('a')));
    await eventually(() => expect(endings).toHaveLength(1));
    await Promise.all(endings);
    await sleep(700);
    seals.mockRestore();
    const faults = folder.logged.filter(({ level }) => level === 'error');
    expect(faults).toEqual([]);
    engine = await folder.open(STORED);
    await become('a');
    expect(folder.logged.filter(({ message }) => message === 'Rows stored')).toHaveLength(1);
  });
});

describe('Segments', () => {
  it('are merged, each row once', async () => {
    await start({ [`${TABLE}/0.ndjson`]: ndjson(row('r0')) }, STORED);
    const all = ['r0'];
    for (let i = 1; i <= 10; i++) {
      await writeFile(path(`${TABLE}/${i}.ndjson`), ndjson(row(`r${i}`)));
      all.push(`r${i}`);
      await become(...all.sort());
    }
    await eventually(async () => expect((await segments()).length).toBeLessThan(8));
    expect(await ids()).toEqual(all);
  });

  it('go with the files of their rows, and are written anew where most rows are gone', async () => {
    await start(
      {
        [`${TABLE}/x.ndjson`]: ndjson(row('a')),
        [`${TABLE}/y.ndjson`]: ndjson(row('b'), row('c')),
        [`${TABLE}/z.ndjson`]: ndjson(row('d')),
      },
      STORED,
    );
    const before = await segments();
    expect(before).toHaveLength(1);
    await rm(path(`${TABLE}/y.ndjson`));
    await become('a', 'd');
    await rm(path(`${TABLE}/x.ndjson`));
    await become('d');
    await eventually(async () => expect(await segments()).not.toEqual(before));
    expect(await ids()).toEqual(['d']);
    await rm(path(`${TABLE}/z.ndjson`));
    await become();
    await eventually(async () => expect(await segments()).toEqual([]));
  });

  it('that hold other bytes of the same length are written again', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a')) }, STORED);
    await engine.close();
    const [name = ''] = await segments();
    const file = join((await store()).filesOf(TABLE), name);
    await writeFile(file, Buffer.alloc((await stat(file)).size, 1));
    engine = await folder.open(STORED);
    expect(await ids()).toEqual(['a']);
  });

  it.each<[string, (hot: string) => Promise<void>]>([
    ['is damaged', (hot) => writeFile(hot, Buffer.alloc(20_000, 1))],
    ['is gone', (hot) => rm(hot)],
  ])('are written again where the hot file %s', async (_, damage) => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a')) }, STORED);
    await engine.close();
    const hot = join((await store()).files, 'hot.duckdb');
    for (const file of [hot, `${hot}.wal`]) await rm(file, { force: true });
    await damage(hot).catch(() => undefined);
    engine = await folder.open(STORED);
    expect(await ids()).toEqual(['a']);
    expect(await segments()).toHaveLength(1);
  });
});

it('A mistake in the code is named by its place, without what it says', async () => {
  folder = await DataFolder.make({});
  const mistake = new TypeError('a value of a row\n    at a value');
  expect(faultKind(mistake)).toMatch(/^TypeError at (?!a value).*faults\.test/);
  expect(faultKind(new Error('a value of a row'))).toBe('unknown');
});
