/** What goes wrong around a data folder: files, folders and disks that cannot be read or written, contents that cannot be rows. */
import {
  appendFile,
  chmod,
  mkdir,
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
import { DuckDBInstance } from '@duckdb/node-api';

import type { Engine } from '../../../src/engines/contract';
import { ExactLines } from '../../../src/engines/duckdb/data/exact-lines';
import type { DuckDbOptions } from '../../../src/engines/duckdb/engine/options';
import { CacheFolder } from '../../../src/engines/duckdb/follow/cache-folder';
import type { Converter } from '../../../src/engines/duckdb/follow/converter';
import { Tail } from '../../../src/engines/duckdb/follow/tail';
import { LocalConverter } from '../../../src/engines/duckdb/follow/local-converter';
import type { SegmentJob, SegmentResult } from '../../../src/engines/duckdb/follow/segment-job';
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
afterEach(() => folder.remove());

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
const cache = (): Promise<CacheFolder> => CacheFolder.of(folder.cacheDir, folder.dataDir);

async function segments(): Promise<string[]> {
  return readdir((await cache()).segmentsOf(TABLE)).catch(() => []);
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

it.each(['in memory', 'by a conversion'])('A table of which nothing can be stored %s is not empty', async (how) => {
  const inserts = jest.spyOn(Tail.prototype, 'insert').mockRejectedValue(new Error('Out of Memory Error'));
  let fails = true;
  const local = new LocalConverter({ memory: '512MB', threads: 1 });
  const convert: Converter['convert'] = (job) =>
    fails ? Promise.reject(new Error('Out of Memory Error')) : local.convert(job);
  await start(
    { [`${TABLE}.ndjson`]: ndjson(row('a')), 'other.ndjson': '' },
    {
      complete: false,
      ...(how === 'in memory' ? {} : { smallFile: 0, converter: () => ({ convert, close: () => local.close() }) }),
    },
  );
  await eventually(() => expect(engine.dataStatus?.()?.degraded).toMatch(/cannot be stored.*Out of Memory/));
  await eventually(() =>
    expect(rowsOf(engine, `SELECT id FROM ${TABLE}`)).rejects.toMatchObject({ reason: 'backendUnavailable' }),
  );
  expect(await rowsOf(engine, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await rowsOf(engine, 'SELECT id FROM raw_postgres_logs')).toEqual([]);
  fails = false;
  inserts.mockRestore();
  await become('a');
  await eventually(() => expect(engine.dataStatus?.()?.degraded).toBeNull());
});

it('Rows that cannot be inserted keep none of other files from being read', async () => {
  const { insert } = Tail.prototype;
  const inserts = jest.spyOn(Tail.prototype, 'insert').mockImplementation(async function (this: Tail, rows) {
    if (rows.some(({ text }) => text.includes('refused'))) throw new Error('Out of Memory Error');
    await insert.call(this, rows);
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

/** Something else has the name that a segment has while it is written from rows in memory. */
async function keepTailsFromBeingWritten(): Promise<void> {
  await mkdir(join((await cache()).segmentsOf(TABLE), 'unfinished.duckdb', 'folder'), { recursive: true });
}

it('Rows in memory are stored without a conversion, and by one where that fails', async () => {
  const converted: number[] = [];
  class Counted extends LocalConverter {
    override async convert(job: SegmentJob): Promise<SegmentResult> {
      const result = await super.convert(job);
      converted.push(result.segment?.rows ?? 0);
      return result;
    }
  }
  const options = { tailBytes: 0, converter: () => new Counted({ memory: '1GB', threads: 1 }) };
  await start({ [`${TABLE}.ndjson`]: ndjson(row('a'), row('b')) }, options);
  await eventually(async () => expect(await segments()).toEqual(['1.duckdb']));
  expect(converted).toEqual([]);
  await keepTailsFromBeingWritten();
  await appendFile(path(`${TABLE}.ndjson`), ndjson(row('c')));
  await eventually(async () => expect(await segments()).toContain('2.duckdb'));
  expect(converted).toEqual([1]);
  expect(degraded()).toBeNull();
  await become('a', 'b', 'c');
  await engine.close();
  engine = await folder.open(options);
  expect(await ids()).toEqual(['a', 'b', 'c']);
  expect(await segments()).toEqual(['1.duckdb', '2.duckdb']);
});

it('Rows in memory that are too many to be stored at once are stored in parts', async () => {
  const enough = 5 * 1024 * 1024;
  let refused = 0;
  /** Has memory for so much. */
  class SmallConverter extends LocalConverter {
    override async convert(job: SegmentJob): Promise<SegmentResult> {
      const sizes = job.ranges.map(async (range) => {
        const end = range.to?.position.offset ?? Math.min(job.most, (await stat(range.path)).size);
        return end - range.from.position.offset;
      });
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      if (bytes <= enough) return super.convert(job);
      refused++;
      throw new Error('Out of Memory Error: failed to allocate');
    }
  }
  const rows = Array.from({ length: 12_000 }, (_, i) => row(`${String(i).padStart(6, '0')}${'x'.repeat(400)}`));
  await start(
    {},
    {
      smallFile: 2 ** 26,
      convertedBytes: enough,
      tailBytes: 0,
      converter: () => new SmallConverter({ memory: '1GB', threads: 1 }),
    },
  );
  await keepTailsFromBeingWritten();
  // The first look at it finds all of it.
  const whole = join(folder.dataDir, '..', 'whole.ndjson');
  await writeFile(whole, ndjson(...rows));
  await rename(whole, path(`${TABLE}.ndjson`));
  await eventually(async () => expect((await segments()).length).toBeGreaterThan(1));
  expect(refused).toBeGreaterThan(1);
  await eventually(() => expect(degraded()).toBeNull());
  const counted = `SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM ${TABLE}`;
  await eventually(async () => expect(await rowsOf(engine, counted)).toEqual([{ n: 12_000, ids: 12_000 }]));
});

it('A start does not wait for segments to be merged', async () => {
  let merges = 0;
  class EndlessMerger extends LocalConverter {
    override convert(job: SegmentJob): Promise<SegmentResult> {
      if (job.merged.length === 0) return super.convert(job);
      merges++;
      return new Promise(() => undefined);
    }
  }
  const options = { ...STORED, converter: () => new EndlessMerger({ memory: '1GB', threads: 1 }) };
  await start({ [`${TABLE}/a.ndjson`]: ndjson(row('a')), [`${TABLE}/b.ndjson`]: ndjson(row('b'), row('c')) }, options);
  await eventually(async () => expect(await segments()).toHaveLength(1));
  // Less than half of what the segment has is served.
  await rm(path(`${TABLE}/b.ndjson`));
  await become('a');
  await eventually(() => expect(merges).toBe(1));
  await engine.close();
  engine = await folder.open(options);
  expect(await ids()).toEqual(['a']);
  await eventually(() => expect(merges).toBe(2));
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
    const { segments: place } = await cache();
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

  it('the service starts all the same', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a')) }, STORED);
    await engine.close();
    const { lock } = await cache();
    await rm(lock);
    await symlink('/nowhere/lock.duckdb', lock);
    await appendFile(path(`${TABLE}.ndjson`), ndjson(row('b')));
    engine = await folder.open();
    await become('a', 'b');
    expect(degraded()).toContain('CACHE_DIR cannot be written');
    await rm(lock);
    await eventually(() => expect(degraded()).toBeNull());
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
    const file = join((await cache()).segmentsOf(TABLE), name);
    await writeFile(file, Buffer.alloc((await stat(file)).size, 1));
    engine = await folder.open(STORED);
    expect(await ids()).toEqual(['a']);
  });

  it('of a damaged manifest are written again', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(row('a')) }, STORED);
    await engine.close();
    await writeFile((await cache()).manifestOf(TABLE), '{"format":');
    engine = await folder.open(STORED);
    expect(await ids()).toEqual(['a']);
    expect(await segments()).toHaveLength(1);
  });
});
