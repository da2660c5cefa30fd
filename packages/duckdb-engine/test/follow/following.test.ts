/** A data folder that changes while an engine serves it. */
import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import type { Engine } from '../../src/contract/contract';
import type { DuckDbOptions } from '../../src/engine/options';
import { RowTable } from '../../src/follow/hot-relations';
import { DataFolder, ndjson, rowsOf } from '../data-folder';
import { eventually } from './eventually';

jest.setTimeout(120_000);

const TABLE = 'raw_pgbouncer_logs';
const row = (id: string, second = 0): object => ({
  id,
  timestamp: `2026-09-30T11:00:${String(second % 60).padStart(2, '0')}Z`,
  event_message: `message ${id}`,
});

let folder: DataFolder;
let engine: Engine;
afterEach(() => folder.remove());

async function start(
  files: Readonly<Record<string, string | Buffer>> = {},
  options: Partial<DuckDbOptions> = {},
): Promise<void> {
  folder = await DataFolder.make(files);
  engine = await folder.open(options);
}

const path = (name: string): string => join(folder.dataDir, name);

async function ids(table = TABLE): Promise<string[]> {
  const rows = (await rowsOf(engine, `SELECT id FROM ${table} ORDER BY id`)) as { id: string }[];
  return rows.map(({ id }) => id);
}

/** Waits until the table has these rows; that they stay is seen by `settled`. */
const become = (...expected: string[]): Promise<void> => eventually(async () => expect(await ids()).toEqual(expected));

/** Two looks at the folder later nothing has changed. */
async function settled(...expected: string[]): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(await ids()).toEqual(expected);
  }
}

/** Warnings and errors. */
const named = (): Record<string, unknown>[] =>
  folder.logged.filter(({ level }) => level !== 'info').map(({ facts }) => facts);

describe('What is written', () => {
  it('is served as it comes: lines, files, folders', async () => {
    await start();
    expect(await ids()).toEqual([]);
    await writeFile(path(`${TABLE}.ndjson`), ndjson(row('a')));
    await become('a');
    await appendFile(path(`${TABLE}.ndjson`), ndjson(row('b'), row('c')));
    await become('a', 'b', 'c');
    await mkdir(path(`${TABLE}/date=2026-09-30/deep`), { recursive: true });
    await writeFile(path(`${TABLE}/date=2026-09-30/deep/part-0.jsonl`), ndjson(row('d')));
    await become('a', 'b', 'c', 'd');
    await settled('a', 'b', 'c', 'd');
  });

  it('is inserted together where it is in many files, each of which counts by itself', async () => {
    const inserts = jest.spyOn(RowTable.prototype, 'insert');
    const names = Array.from({ length: 40 }, (_, i) => String(i).padStart(2, '0'));
    // Without an id, so that equal rows of several files have to be numbered.
    const equal = { timestamp: '2026-09-30T11:00:00Z', event_message: 'equal' };
    const files = names.map((name) => [`${TABLE}/${name}.ndjson`, `${ndjson(row(name), equal)}none\n`] as const);
    await start(Object.fromEntries(files));
    const found = await ids();
    expect(found).toHaveLength(80);
    expect(new Set(found).size).toBe(80);
    expect(found.filter((id) => id.length === 2)).toEqual(names);
    expect(inserts.mock.calls.length).toBeLessThan(4);
    inserts.mockRestore();
    expect(engine.dataStatus?.()?.tables.find(({ table }) => table === TABLE)).toMatchObject({
      rows: 80,
      files: 40,
      leftOut: { not_json: 40 },
    });
    for (const name of names.slice(0, 10)) await rm(path(`${TABLE}/${name}.ndjson`));
    await eventually(async () => expect(await ids()).toHaveLength(60));
  });

  it('is served while many files that were there before are still read', async () => {
    await start({ [`${TABLE}/a.ndjson`]: ndjson(row('a')) });
    const files = 60;
    const each = 1_000;
    const text = 'x'.repeat(600);
    const backlog = `${folder.dataDir}-backlog`;
    await mkdir(backlog);
    for (let file = 0; file < files; file++) {
      const rows = Array.from({ length: each }, (_, i) => ({ ...row(`${file}-${i}`), event_message: text }));
      await writeFile(join(backlog, `${file}.ndjson`), ndjson(...rows));
    }
    const count = async (where: string): Promise<number> =>
      Number(((await rowsOf(engine, `SELECT COUNT(*) AS n FROM ${TABLE} WHERE ${where}`)) as { n: number }[])[0]?.n);
    // All at once.
    await rename(backlog, path(`${TABLE}/backlog`));
    await eventually(async () => expect(await count('TRUE')).toBeGreaterThan(1));
    await appendFile(path(`${TABLE}/a.ndjson`), ndjson(row('b')));
    await eventually(async () => expect(await count(`id = 'b'`)).toBe(1));
    expect(await count('TRUE')).toBeLessThan(files * each);
    await eventually(async () => expect(await count('TRUE')).toBe(files * each + 2));
  });

  it('waits where its last line has no end yet', async () => {
    await start({ [`${TABLE}.log`]: `${ndjson(row('a'))}{"id":"b","timest` });
    await settled('a');
    await appendFile(path(`${TABLE}.log`), `amp":"2026-09-30T11:00:00Z"}`);
    await settled('a');
    await appendFile(path(`${TABLE}.log`), '\n');
    await become('a', 'b');
    expect(named()).toEqual([]);
  });

  it('is left out, counted and named where it is no row, and nothing else', async () => {
    await start({ [`${TABLE}.ndjson`]: `${ndjson(row('a'))}no row\n{"id":"b"}\n${ndjson(row('c'))}` });
    expect(await ids()).toEqual(['a', 'c']);
    await appendFile(path(`${TABLE}.ndjson`), `[1]\n${ndjson(row('d'))}`);
    await become('a', 'c', 'd');
    expect(folder.skipped).toEqual([
      { file: path(`${TABLE}.ndjson`), line: 2, reason: 'not valid JSON' },
      { file: path(`${TABLE}.ndjson`), line: 3, reason: 'timestamp is required' },
      { file: path(`${TABLE}.ndjson`), line: 5, reason: 'not a JSON object' },
    ]);
    const status = engine.dataStatus?.()?.tables.find(({ table }) => table === TABLE);
    expect(status).toMatchObject({ rows: 3, files: 1, behind: 0, leftOut: { not_json: 2, no_timestamp: 1 } });
  });

  it.each<[string, string, string | (() => Buffer)]>([
    ['JSON lines', 'x.json', ndjson(row('a'), row('b'))],
    ['one array', 'x.json', JSON.stringify([row('a'), row('b')], null, 2)],
    ['gzip', 'x.ndjson.gz', () => gzipSync(ndjson(row('a'), row('b')))],
    [
      'gzip of several members',
      'x.jsonl.gz',
      () => Buffer.concat([gzipSync(ndjson(row('a'))), gzipSync(ndjson(row('b')))]),
    ],
    ['gzip without a last newline', 'x.log.gz', () => gzipSync(ndjson(row('a'), row('b')).trimEnd())],
    ['zstd', 'x.ndjson.zst', () => execFileSync('zstd', ['-c'], { input: ndjson(row('a'), row('b')) })],
    [
      'zstd of several frames',
      'x.ndjson.zst',
      () => Buffer.concat([row('a'), row('b')].map((one) => execFileSync('zstd', ['-c'], { input: ndjson(one) }))),
    ],
    [
      'CSV',
      'x.csv',
      'timestamp,id,event_message\n2026-09-30T11:00:00Z,a,"one, ""two""\nthree"\r\n2026-09-30 11:00:01,b,\n',
    ],
    ['a rotated name', 'x.ndjson.1', ndjson(row('a'), row('b'))],
    ['a dated name', 'x.log-20260929', ndjson(row('a'), row('b'))],
  ])('is read as %s', async (_, name, content) => {
    await start({ [`${TABLE}/${name}`]: typeof content === 'string' ? content : content() });
    expect(await ids()).toEqual(['a', 'b']);
    expect(named()).toEqual([]);
    if (name.endsWith('.csv')) {
      expect(await rowsOf(engine, `SELECT event_message AS m FROM ${TABLE} ORDER BY id`)).toEqual([
        { m: 'one, "two"\nthree' },
        { m: null },
      ]);
    }
  });
});

describe('Rotation', () => {
  const FILE = `${TABLE}.ndjson`;
  const lines = ndjson(row('a'), row('b'));

  it('by rename keeps each row once', async () => {
    await start({ [FILE]: lines });
    await rename(path(FILE), path(`${FILE}.1`));
    await writeFile(path(FILE), ndjson(row('c')));
    await become('a', 'b', 'c');
    await appendFile(path(`${FILE}.1`), ndjson(row('late')));
    await become('a', 'b', 'c', 'late');
    await settled('a', 'b', 'c', 'late');
  });

  it('by copy and truncation keeps each row once', async () => {
    await start({ [FILE]: lines });
    await copyFile(path(FILE), path(`${FILE}.1`));
    await settled('a', 'b');
    await truncate(path(FILE));
    await settled('a', 'b');
    await appendFile(path(FILE), ndjson(row('c')));
    await become('a', 'b', 'c');
    await settled('a', 'b', 'c');
  });

  it('with compression keeps each row once, also while the archive is written', async () => {
    await start({ [FILE]: lines });
    await rename(path(FILE), path(`${FILE}.1`));
    await writeFile(path(FILE), ndjson(row('c')));
    await become('a', 'b', 'c');
    const archive = gzipSync(lines);
    await writeFile(path(`${FILE}.1.gz`), archive.subarray(0, 12));
    await settled('a', 'b', 'c');
    await writeFile(path(`${FILE}.1.gz`), archive);
    await settled('a', 'b', 'c');
    await rm(path(`${FILE}.1`));
    await settled('a', 'b', 'c');
    await engine.close();
    engine = await folder.open();
    expect(await ids()).toEqual(['a', 'b', 'c']);
  });

  it('that is undone beside the archive keeps each row once', async () => {
    await start({ [`${FILE}.1.gz`]: gzipSync(lines), [FILE]: ndjson(row('c')) });
    expect(await ids()).toEqual(['a', 'b', 'c']);
    await writeFile(path(`${FILE}.1`), lines);
    await settled('a', 'b', 'c');
    await rm(path(`${FILE}.1.gz`));
    await settled('a', 'b', 'c');
    await engine.close();
    engine = await folder.open();
    expect(await ids()).toEqual(['a', 'b', 'c']);
  });

  it('of two families does not mix them', async () => {
    await start({ [`${TABLE}/x.ndjson`]: lines, [`${TABLE}/y.ndjson.gz`]: gzipSync(lines) });
    expect(await ids()).toEqual(['a', 'a', 'b', 'b']);
  });
});

describe('A file', () => {
  const FILE = `${TABLE}.ndjson`;

  it('that is truncated has the rows that it has then', async () => {
    await start({ [FILE]: ndjson(row('a'), row('b')) });
    await writeFile(path(FILE), ndjson(row('c')));
    await become('c');
    await settled('c');
  });

  it('that is replaced in place by a longer one has the rows of that', async () => {
    await start({ [FILE]: ndjson(row('a'), row('b')) });
    await writeFile(path(FILE), ndjson(row('c'), row('d'), row('e')));
    await become('c', 'd', 'e');
  });

  it('that is replaced by rename has the rows of the new one', async () => {
    await start({ [FILE]: ndjson(row('a'), row('b')) });
    await writeFile(path('.new'), ndjson(row('c'), row('d'), row('e')));
    await rename(path('.new'), path(FILE));
    await become('c', 'd', 'e');
  });

  it('that is deleted takes its rows along, and brings them back', async () => {
    await start({ [FILE]: ndjson(row('a')), [`${TABLE}/x.ndjson`]: ndjson(row('b')) });
    const content = await readFile(path(FILE));
    await rm(path(FILE));
    await become('b');
    await writeFile(path(FILE), content);
    await become('a', 'b');
  });

  it('in a linked folder is followed, and a circle of links ends', async () => {
    await start({ 'other/notes.txt': 'nothing' });
    const elsewhere = join(folder.dataDir, '..', 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'x.ndjson'), ndjson(row('a')));
    await symlink(elsewhere, path(TABLE));
    await symlink(elsewhere, join(elsewhere, 'circle'));
    await become('a');
    await appendFile(join(elsewhere, 'x.ndjson'), ndjson(row('b')));
    await become('a', 'b');
  });
});

describe('What cannot be read', () => {
  it.each<[string, string, string | Buffer, RegExp]>([
    ['a cut archive', 'y.ndjson.gz', gzipSync(ndjson(row('z'))).subarray(0, 20), /unfinished gzip/],
    ['an empty archive', 'y.ndjson.gz', '', /empty archive/],
    ['no archive', 'y.ndjson.gz', 'plain', /not a whole gzip/],
    ['no zstd', 'y.ndjson.zst', 'plain text, and more of it', /not a whole zstd/],
    ['half a Parquet file', 'y.parquet', 'PAR1 and then', /not a whole Parquet/],
    ['an unknown format', 'y.xml', 'text', /ending that is read/],
  ])('is set aside and named, and the others are served: %s', async (_, name, content, reason) => {
    await start({ [`${TABLE}/x.ndjson`]: ndjson(row('a')), [`${TABLE}/${name}`]: content });
    expect(await ids()).toEqual(['a']);
    await eventually(async () =>
      expect(named()).toContainEqual({ file: expect.stringContaining(name), reason: expect.stringMatching(reason) }),
    );
    await appendFile(path(`${TABLE}/x.ndjson`), ndjson(row('b')));
    await become('a', 'b');
    if (name.endsWith('.gz')) {
      await writeFile(path(`${TABLE}/${name}`), gzipSync(ndjson(row('z'))));
      await become('a', 'b', 'z');
    }
  });

  it('a link to nothing, a name with a space, a table named twice: nothing stops the start', async () => {
    folder = await DataFolder.make({
      'my logs.ndjson': ndjson(row('x')),
      [`${TABLE}.ndjson`]: ndjson(row('a')),
      [`${TABLE}.2026-09-29.ndjson`]: ndjson(row('b')),
      [`${TABLE}.ndjson.gz`]: gzipSync(ndjson(row('c'))),
      [`${TABLE}/with a space.ndjson`]: ndjson(row('d')),
    });
    await symlink('/nowhere', path('raw_auth_logs.ndjson'));
    engine = await folder.open();
    expect(await ids()).toEqual(['a', 'b', 'c', 'd']);
    expect(named()).toEqual(
      expect.arrayContaining([
        { file: 'my logs.ndjson', reason: expect.stringContaining('no name of a table') },
        { file: 'raw_auth_logs.ndjson', reason: expect.stringContaining('a link to nothing') },
      ]),
    );
  });
});

describe('A row without an id', () => {
  const bare = { timestamp: '2026-09-30T11:00:00Z', event_message: 'x' };

  it('has one of its own, the same after a restart, rotation and compression', async () => {
    await start({ [`${TABLE}.ndjson`]: ndjson(bare, bare, { ...bare, event_message: 'y' }) });
    await appendFile(path(`${TABLE}.ndjson`), ndjson(bare));
    await eventually(async () => expect(await ids()).toHaveLength(4));
    const before = await ids();
    expect(new Set(before).size).toBe(4);
    await writeFile(path(`${TABLE}.ndjson.1.gz`), gzipSync(await readFile(path(`${TABLE}.ndjson`))));
    await rm(path(`${TABLE}.ndjson`));
    await eventually(async () => expect(await ids()).toEqual(before));
    await engine.close();
    engine = await folder.open();
    expect(await ids()).toEqual(before);
  });
});

describe('A table that nobody has declared', () => {
  it('takes fields as they appear, and NULL for what does not fit', async () => {
    await start({ 'orders.ndjson': ndjson({ id: 1, total: 1, customer: { name: 'Ada' } }, { id: 2, total: 1.5 }) });
    await appendFile(
      path('orders.ndjson'),
      ndjson({ id: 3, total: 'much', vip: true, customer: { name: 'Bo', age: 7 } }),
    );
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT id, total, vip, customer FROM orders ORDER BY id')).toEqual([
        { id: 1, total: 1, vip: null, customer: { name: 'Ada', age: null } },
        { id: 2, total: 1.5, vip: null, customer: null },
        { id: 3, total: null, vip: true, customer: { name: 'Bo', age: 7 } },
      ]),
    );
    expect(engine.dataStatus?.()?.tables.find(({ table }) => table === 'orders')).toMatchObject({
      declared: false,
      nulledValues: 1,
    });
  });

  it('has one column for names that differ in case alone', async () => {
    const rows = [
      { n: 1, level: 'a' },
      { n: 2, Level: 'b', O: { x: 1 } },
      { n: 3, LEVEL: 'c', level: 'd', o: { X: 2 } },
    ];
    await start({ 'cased.ndjson': ndjson(...rows) });
    await appendFile(path('cased.ndjson'), ndjson({ N: 4, LEVEL: 'e', o: { X: 3 } }));
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT n, level, o FROM cased ORDER BY n')).toEqual([
        { n: 1, level: 'a', o: null },
        { n: 2, level: 'b', o: { x: 1 } },
        { n: 3, level: 'd', o: { x: 2 } },
        { n: 4, level: 'e', o: { x: 3 } },
      ]),
    );
  });
});

describe('A table that nobody has declared, of many fields', () => {
  const fields = (from: number, count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${from + i}`, 'x']));

  it.each([
    ['in one row', {}, [{ id: 'a', ...fields(0, 100_000) }]],
    ['in one row, stored', { smallFile: 0 }, [{ id: 'a', ...fields(0, 6_000) }]],
    ['in a record', {}, [{ id: 'a', r: [{ s: fields(0, 6_000) }] }]],
    ['in many rows', {}, Array.from({ length: 30 }, (_, i) => ({ id: 'a', ...fields(50 * i, 50) }))],
  ])('has the first 1,000 and keeps others in _rest: %s', async (_how, options, rows) => {
    await start({ 'many.ndjson': ndjson(...rows), [`${TABLE}.ndjson`]: ndjson(row('b')) }, options);
    const [{ _rest, ...first } = {}] = (await rowsOf(engine, 'SELECT * FROM many LIMIT 1')) as Record<
      string,
      unknown
    >[];
    const countOf = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 0
        : Object.values(Array.isArray(value) ? Object(value[0]) : value).reduce<number>(
            (n, v) => n + 1 + countOf(v),
            0,
          );
    expect(countOf(first)).toBe(1_000);
    expect(JSON.stringify(_rest).length).toBeLessThanOrEqual(64 * 1024);
    expect(folder.logged.find(({ message }) => message.startsWith('Fields left out'))?.facts).toMatchObject({
      table: 'many',
      fields: expect.arrayContaining([expect.stringMatching(/^(?:r\.s\.)?f99\d$/)]),
    });
    expect(engine.dataStatus?.()?.tables.find(({ table }) => table === 'many')?.ignoredFields).toBeGreaterThan(400);
    expect(await ids()).toEqual(['b']);
  });

  it('has one type for integers of 64 bits, whenever they come', async () => {
    await start({ 'ids.ndjson': ndjson({ n: 2, id: 95 }) + '{"n":3,"id":9007199254740993}\n' });
    expect(await rowsOf(engine, 'SELECT CAST(MAX(id) AS STRING) AS newest, MIN(id) AS oldest FROM ids')).toEqual([
      { newest: '9007199254740993', oldest: 95 },
    ]);
  });
});

describe('A table that declares no timestamp', () => {
  const fields = [
    { name: 'id', type: 'STRING' },
    { name: 'n', type: 'INTEGER' },
  ];
  const schema = JSON.stringify({ plain: { fields } });

  it('is stored with ids for rows that have none, equal rows with different ones', async () => {
    folder = await DataFolder.make({
      'schema.json': schema,
      'plain.ndjson': ndjson({ id: 'a', n: 1 }, { n: 2 }, { n: 2 }),
    });
    engine = await folder.open({ smallFile: 0 });
    const before = await ids('plain');
    expect(new Set(before).size).toBe(3);
    expect(before).toContain('a');
    await appendFile(path('plain.ndjson'), ndjson({ n: 2 }));
    await eventually(async () => expect(await ids('plain')).toHaveLength(4));
    const after = await ids('plain');
    expect(new Set(after).size).toBe(4);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(named()).toEqual([]);
  });
});
