/** Segments that are written from rows in memory: those that count, each once, the last first. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { Tail } from '../../../src/engines/duckdb/follow/tail';
import { TailWriter } from '../../../src/engines/duckdb/follow/tail-writer';
import { quoteText } from '../../../src/engines/duckdb/sql';
import type { RestField } from '../../../src/googlesql/rest-schema';

const field = (name: string, type: RestField['type'], mode: RestField['mode'] = 'NULLABLE', fields: RestField[] = []) =>
  ({ name, type, mode, fields }) satisfies RestField;
const FIELDS = [
  field('timestamp', 'TIMESTAMP'),
  field('id', 'STRING'),
  field('metadata', 'RECORD', 'REPEATED', [field('status', 'INT64')]),
];
const ROWS = 300;
const execFileAsync = promisify(execFile);
const TYPESCRIPT = join(__dirname, '../../typescript.js');
/** A process of its own: the signal that comes with a full disk here ends those of Jest. */
const FULL_DISK = join(__dirname, 'full-disk.ts');
const FULL_DISK_ROWS = 5_000;

let instance: DuckDBInstance;
let connection: DuckDBConnection;
let writer: TailWriter;
let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'logquay-tail-writer-'));
  file = join(folder, 'table', 'unfinished.duckdb');
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  connection = await instance.connect();
  await connection.run(`SET GLOBAL allowed_directories = [${quoteText(`${folder}/`)}]`);
  await connection.run('SET GLOBAL enable_external_access = false');
  await connection.run('SET GLOBAL lock_configuration = true');
  writer = new TailWriter(await instance.connect());
});
afterEach(async () => {
  await writer.close();
  instance.closeSync();
  rmSync(folder, { recursive: true, force: true });
});

/** Rows of two sources in turns; every 150th has a list of two. */
async function tailOf(name: string, count: number): Promise<Tail> {
  const tail = await Tail.create(connection, name, FIELDS);
  const rows = Array.from({ length: count }, (_, i) => {
    const status = { status: i };
    const timestamp = new Date(1_790_000_000_000 + ((i * 7) % count)).toISOString().slice(0, -1);
    const row = { timestamp, id: `${name}-${i}`, metadata: i % 150 === 0 ? [status, status] : [status] };
    return { text: JSON.stringify(row), source: 1 + (i % 2) };
  });
  await tail.insert(rows);
  return tail;
}

async function read(query: string): Promise<unknown[][]> {
  const reading = await DuckDBInstance.create(':memory:');
  const own = await reading.connect();
  await own.run(`ATTACH ${quoteText(file)} AS segment (READ_ONLY)`);
  const rows = (await own.runAndReadAll(query)).getRows();
  reading.closeSync();
  return rows;
}

it('has the rows of all tails, the last first, and lists of one as their element', async () => {
  const [a, b] = [await tailOf('a', ROWS), await tailOf('b', ROWS)];
  const sealed = [a, b].map(({ relation }) => ({ relation, dropped: [] }));
  const written = await writer.write(sealed, FIELDS, file);
  expect(written).toMatchObject({ rows: 2 * ROWS, odd: 4, sources: { 1: ROWS, 2: ROWS }, single: ['metadata'] });
  const times = await read('SELECT epoch_us(timestamp) FROM segment.rows');
  expect(times).toEqual([...times].sort(([x], [y]) => Number(y) - Number(x)));
  const ids = 'SELECT count(DISTINCT id), sum(metadata.status) FROM segment.rows';
  const sum = ((ROWS - 1) * ROWS) / 2;
  expect((await read(ids)).map((row) => row.map(Number))).toEqual([[2 * ROWS - 4, 2 * (sum - 150)]]);
  expect(await read('SELECT id, len(metadata) FROM segment.odd ORDER BY id')).toEqual(
    ['a-0', 'a-150', 'b-0', 'b-150'].map((id) => [id, 2n]),
  );
  expect(
    (await connection.runAndReadAll(`SELECT database_name FROM duckdb_databases() WHERE path <> ''`)).getRows(),
  ).toEqual([]);
});

it('has no rows of sources that are gone', async () => {
  const { relation } = await tailOf('gone', ROWS);
  const written = await writer.write([{ relation, dropped: [2] }], FIELDS, file);
  expect(written).toMatchObject({ rows: ROWS / 2, sources: { 1: ROWS / 2 } });
});

it('leaves no file where no row counts', async () => {
  const { relation } = await tailOf('none', ROWS);
  expect(await writer.write([{ relation, dropped: [1, 2] }], FIELDS, file)).toBeNull();
  expect(existsSync(file)).toBe(false);
});

it('writes the next one after one that failed, of which nothing is left', async () => {
  const { relation } = await tailOf('whole', ROWS);
  await expect(writer.write([{ relation: '"no such tail"', dropped: [] }], FIELDS, file)).rejects.toThrow(
    'no such tail',
  );
  expect(existsSync(file)).toBe(false);
  expect(await writer.write([{ relation, dropped: [] }], FIELDS, file)).toMatchObject({ rows: ROWS });
});

it.each([
  ['with the first byte', 0],
  ['while the rows are written', 16 * 1024],
])('leaves the rows where they are when the disk is full %s, and stores them when there is room', async (_, room) => {
  const { stdout } = await execFileAsync(process.execPath, ['-r', TYPESCRIPT, FULL_DISK, file, String(room)]);
  expect(JSON.parse(stdout)).toEqual({
    failure: expect.stringMatching(/Could not write|Cannot open file/) as string,
    left: false,
    there: FULL_DISK_ROWS,
    stored: FULL_DISK_ROWS,
  });
});

it('ends what is under way when it is closed', async () => {
  const { relation } = await tailOf('long', ROWS);
  const endless = `(FROM memory.main.${relation} JOIN range(100000) ON true)`;
  await connection.run(`CREATE VIEW endless AS SELECT timestamp, id, metadata, "logquay:source" FROM ${endless}`);
  const writing = writer.write([{ relation: 'endless', dropped: [] }], FIELDS, file);
  const failed = expect(writing).rejects.toThrow(/interrupt/i);
  await writer.close();
  await failed;
  expect(writer.isClosed).toBe(true);
  expect(existsSync(file)).toBe(false);
});
