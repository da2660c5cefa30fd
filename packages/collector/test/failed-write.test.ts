/** What a write that failed has left in a daily file: a disk that was full in the middle of a row. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { DayFiles } from '../src/day-files';
import { Journal } from '../src/journal';
import { Manifest } from '../src/manifest';
import { Retention } from '../src/retention';
import { Writer } from '../src/writer';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;
const TABLE = 'raw_edge_logs';

const folder = mkdtempSync(path.join(tmpdir(), 'logquay-failed-write-'));
const open: { close: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const one of open) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

const batch = (digest: string, rows: readonly string[]): { digest: string; lines: Buffer } => ({
  digest,
  lines: Buffer.from(rows.map((row) => `{"event_message":"${row}"}\n`).join('')),
});

const LATER = batch('later', ['first', 'second', 'third']);
const ROW = LATER.lines.indexOf('\n') + 1;

interface Stage {
  readonly writer: Writer;
  readonly file: string;
  readonly retention: Retention;
  /** The next day, on which retention looks at the file of this one. */
  readonly advance: () => void;
  readonly warned: unknown[];
}

/** A folder in which a batch could not be written: the kernel says that the disk is full. */
async function failed(name: string): Promise<Stage> {
  const dataDir = path.join(folder, name);
  mkdirSync(dataDir);
  let now = NOON;
  const clock = (): number => now;
  const manifest = await Manifest.open(path.join(dataDir, 'files.json'));
  const journal = await Journal.open(path.join(dataDir, 'journal.ndjson'), () => Promise.resolve(null), clock);
  const files = new DayFiles(dataDir, manifest, clock);
  open.push(files, journal);
  const writer = new Writer(dataDir, files, journal);
  const warned: unknown[] = [];
  const retention = new Retention({
    dataDir,
    manifest,
    days: 7,
    log: { info: () => undefined, warn: (...words: unknown[]) => void warned.push(words) },
    closeBefore: (day) => writer.between(() => files.closeBefore(day)),
    settleAppends: () => writer.settle(),
    now: clock,
  });
  await writer.write(TABLE, batch('before', ['before']));
  const file = path.join(dataDir, TABLE, '2026-11-22.ndjson');
  rmSync(file);
  symlinkSync('/dev/full', file);
  await expect(writer.write(TABLE, LATER)).rejects.toMatchObject({ code: 'ENOSPC' });
  rmSync(file);
  return { writer, file, retention, advance: () => (now += DAY), warned };
}

it('writes what comes in the instant in which the last write ends', async () => {
  const { writer, file } = await failed('instant');
  for (const row of ['a', 'b', 'c', 'd']) expect(await writer.write(TABLE, batch(row, [row]))).toBe(true);
  await writer.between(() => Promise.resolve());
  await writer.settle();
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(5);
});

it('is cut off before the file is compressed, and the batch goes on behind it when it comes again', async () => {
  const { writer, file, retention, advance } = await failed('compressed');
  writeFileSync(file, LATER.lines.subarray(0, ROW + 5));
  advance();
  await retention.run(new AbortController().signal);
  expect(gunzipSync(readFileSync(`${file}.gz`))).toEqual(LATER.lines.subarray(0, ROW));
  // The ten minutes for which the batch is known begin when that was found out.
  expect(await writer.write(TABLE, LATER)).toBe(true);
  expect(readFileSync(file.replace('-22', '-23'))).toEqual(LATER.lines.subarray(ROW));
});

it('is stored again whole where somebody has deleted the file, to make room', async () => {
  const { writer, file } = await failed('deleted');
  expect(await writer.write(TABLE, LATER)).toBe(true);
  expect(readFileSync(file)).toEqual(LATER.lines);
});

it('keeps the file from being compressed as long as it cannot be cut off, and none from being deleted', async () => {
  const { file, retention, advance, warned } = await failed('unsettled');
  mkdirSync(file);
  advance();
  await retention.run(new AbortController().signal);
  expect(warned).toEqual([[expect.objectContaining({ file: `${TABLE}/2026-11-22.ndjson` }), expect.any(String)]]);
  rmSync(file, { recursive: true });
  writeFileSync(file, LATER.lines.subarray(0, ROW));
  for (let i = 0; i < 8; i++) advance();
  await retention.run(new AbortController().signal);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});
