/** What following a data folder costs: conversion, start, freshness, and load, against DuckDB's own conversion in the same run. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';

import { EDGE } from '../packages/duckdb-engine/src/samples/edge';
import { sampleRows } from '../packages/duckdb-engine/src/samples/sample-table';
import { storedType } from '../packages/duckdb-engine/src/data/field-sql';
import { LOG_SCHEMA } from '../src/engines/log-schema';
import { median, ms, percentile, verdict } from './measure';
import { Running, sizeOf } from './running';

/** Fewer where the machine is busy: `BENCH_ROWS`. Seconds of load: `LIVE_SECONDS`. */
const ROWS = Number(process.env['BENCH_ROWS'] ?? 3_000_000);
const SECONDS = Number(process.env['LIVE_SECONDS'] ?? 60);
const PER_SECOND = 2_000;
const APPENDED = 1_000;
const APPENDS = 20;
/** For the CPU time: rows are stored after some fifteen thousand, and eight such segments are merged: so that both count about as often as they come. */
const MANY_APPENDS = 128;
/** Milliseconds between two looks at the metrics, each of which takes 3 ms of CPU time. */
const LOOK_EVERY = 250;
/** Small files of one table, and as many tables of one small file. */
const SMALL = 200;
const SMALL_ROWS = 100;
const MEMORY = '1GB';
const MIB = 1024 * 1024;
/** The bound of all processes: `DUCKDB_MEMORY_LIMIT`, `CACHE_MEMORY` and 512 MB. */
const BOUND = (1e9 + 64 * MIB + 512e6) / MIB;
/** The instant of the last generated row: 2026-09-30T12:00:00Z. */
const NOW = 1_790_769_600_000_000n;
/** Reused by later runs. */
const SOURCE = join(tmpdir(), `logquay-bench-live-${ROWS}.ndjson`);

const fields = LOG_SCHEMA.get(EDGE.name) ?? [];

export async function live(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-live-'));
  try {
    await makeRows(print);
    const bytes = statSync(SOURCE).size;
    print(`${ROWS} edge rows, ${(bytes / MIB).toFixed(0)} MiB of NDJSON, DUCKDB_MEMORY_LIMIT ${MEMORY}`);
    const byHand = await inChild(folder);
    const data = join(folder, 'data');
    mkdirSync(data);
    linkSync(SOURCE, join(data, `${EDGE.name}.ndjson`));
    const environment = {
      DATA_DIR: data,
      CACHE_DIR: join(folder, 'cache'),
      DUCKDB_MEMORY_LIMIT: MEMORY,
      RATE_LIMIT: '0',
    };

    const first = await Running.start(environment);
    const converting = performance.now();
    await first.untilServed(ROWS, 200);
    const took = performance.now() - converting;
    const served = first.cpu();
    // Merges of the segments are a part of what the conversion costs.
    await first.untilAtRest();
    const used = first.cpu();
    await first.stop();
    const ratio = used / byHand.cpu;
    print(
      `first conversion: ${ms(took)}, CPU ${ms(served)}, ${ms(used)} with merges; DuckDB's own ${ms(byHand.wall)}, CPU ${ms(byHand.cpu)}: CPU ${ratio.toFixed(2)}x ${verdict(ratio <= 1.5, '1.5x')}`,
    );
    print(mostMemory(first.peak));
    const stored = sizeOf(join(folder, 'cache'));
    const share = stored / bytes;
    print(
      `CACHE_DIR: ${(stored / MIB).toFixed(0)} MiB, ${share.toFixed(2)} of the NDJSON ${verdict(share <= 0.5, '0.5')}`,
    );

    const again = await Running.start(environment);
    print(
      `start with everything converted: ${ms(again.ready)} to ready ${readyVerdict(again.ready)}; all rows there: ${(await again.count()) === ROWS}`,
    );
    await again.untilAtRest();
    await appended(again, join(data, EDGE.name), bytes, print);
    await loaded(again, join(data, EDGE.name), print);
    await again.stop();
    await small(folder, print);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeRows(print: (line: string) => void): Promise<void> {
  if (existsSync(SOURCE)) return;
  print(`generating ${ROWS} edge rows in ${SOURCE} (once)`);
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', max_memory: '4GB' });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  const rows = sampleRows({ ...EDGE, rows: ROWS }, fields, `make_timestamp(${NOW})`);
  await connection.run(
    `COPY (SELECT * REPLACE ('default' AS project) FROM (${rows})) TO '${SOURCE}.part' (FORMAT json)`,
  );
  instance.closeSync();
  renameSync(`${SOURCE}.part`, SOURCE);
}

/** DuckDB's own conversion, in a process of its own: milliseconds. */
async function inChild(folder: string): Promise<{ wall: number; cpu: number }> {
  const child = fork(__filename, [join(folder, 'by-hand.duckdb')]);
  const [measured] = (await once(child, 'message')) as [{ wall: number; cpu: number }];
  return measured;
}

async function convertByHand(path: string): Promise<{ wall: number; cpu: number }> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  const instance = await DuckDBInstance.create(path, { threads: '2', max_memory: MEMORY });
  const connection = await instance.connect();
  const columns = fields.map((field) => `${field.name}: '${storedType(field)}'`).join(', ');
  await connection.run(
    `CREATE TABLE rows AS SELECT * FROM read_ndjson('${SOURCE}', columns = {${columns}}, maximum_object_size = 16777216) ORDER BY timestamp`,
  );
  await connection.run('CHECKPOINT');
  instance.closeSync();
  const { user, system } = process.cpuUsage(before);
  return { wall: performance.now() - started, cpu: (user + system) / 1000 };
}

/** Lines that were generated, with new ids and times. */
class Lines {
  readonly #templates: string[];
  #next = 0;

  constructor() {
    const start = Buffer.alloc(8 * MIB);
    const file = openSync(SOURCE, 'r');
    const { length } = start.subarray(0, readSync(file, start));
    closeSync(file);
    this.#templates = start.toString('utf8', 0, length).split('\n').slice(0, -1);
  }

  take(count: number): string {
    return Array.from({ length: count }, () => {
      const n = this.#next++;
      const row = JSON.parse(this.#templates[n % this.#templates.length]!) as Record<string, unknown>;
      return `${JSON.stringify({ ...row, id: `live-${n}`, timestamp: new Date(Number(NOW / 1000n) + n).toISOString() })}\n`;
    }).join('');
  }
}

let lines: Lines | null = null;
const newLines = (count: number): string => (lines ??= new Lines()).take(count);

async function appended(service: Running, folder: string, size: number, print: (line: string) => void): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const own = join(folder, 'appended.ndjson');
  let rows = await service.count();
  const append = async (served: (rows: number) => Promise<void>): Promise<number> => {
    const text = newLines(APPENDED);
    const started = performance.now();
    appendFileSync(own, text);
    rows += APPENDED;
    await served(rows);
    const took = performance.now() - started;
    await sleep(200);
    return took;
  };
  const times: number[] = [];
  for (let i = 0; i < APPENDS; i++) times.push(await append((all) => service.until(all, 20)));
  // Counting rows by queries costs more than taking them in.
  const cpu = service.cpu();
  for (let i = 0; i < MANY_APPENDS; i++) await append((all) => service.untilServed(all, LOOK_EVERY));
  const each = (service.cpu() - cpu) / MANY_APPENDS;
  await service.untilAtRest();
  const idle = service.cpu();
  await sleep(10_000);
  const perSecond = (service.cpu() - idle) / 10;
  const middle = median(times);
  print(
    `${APPENDED} appended rows: written to served ${ms(middle)} median, ${ms(percentile(times, 0.99))} p99 ${verdict(middle <= 1000, '1000 ms')}`,
  );
  print(
    `CPU for each: ${ms(each)} ${verdict(each <= 200, '200 ms')}; at rest ${ms(perSecond)} a second; over ${(size / MIB).toFixed(0)} MiB`,
  );
}

async function loaded(service: Running, folder: string, print: (line: string) => void): Promise<void> {
  const calm = await service.queries(Math.min(SECONDS, 30), () => undefined);
  service.peak = 0;
  const before = await service.count();
  let written = 0;
  const started = performance.now();
  const busy = await service.queries(SECONDS, () => {
    const due = Math.floor(((performance.now() - started) / 1000) * PER_SECOND) - written;
    if (due <= 0) return;
    appendFileSync(join(folder, 'loaded.ndjson'), newLines(due));
    written += due;
  });
  await service.until(before + written, 100);
  const [p99, calmP99] = [percentile(busy.times, 0.99), percentile(calm.times, 0.99)];
  print(
    `${PER_SECOND} rows a second for ${SECONDS} s (${written} rows): ${busy.failed} of ${busy.times.length} queries failed ${verdict(busy.failed === 0, '0')}`,
  );
  print(
    `their p50 ${ms(median(busy.times))}, calm ${ms(median(calm.times))}; p99 ${ms(p99)}, calm ${ms(calmP99)}: ${(p99 / calmP99).toFixed(2)}x ${verdict(p99 <= 2 * calmP99, '2x')}`,
  );
  print(mostMemory(service.peak));
}

/** Rows that are too few to be stored are read by every start. */
async function small(folder: string, print: (line: string) => void): Promise<void> {
  const rows = newLines(SMALL_ROWS);
  for (const [what, nameOf] of [
    [`${SMALL} files of ${SMALL_ROWS} rows`, (i: number) => join(EDGE.name, `${i}.ndjson`)],
    [`${SMALL} tables of ${SMALL_ROWS} rows, undeclared`, (i: number) => `table_${i}.ndjson`],
  ] as const) {
    const data = mkdtempSync(join(folder, 'small-'));
    mkdirSync(join(data, EDGE.name));
    for (let i = 0; i < SMALL; i++) writeFileSync(join(data, nameOf(i)), rows);
    const service = await Running.start({
      DATA_DIR: data,
      CACHE_DIR: join(data, '.cache'),
      DUCKDB_MEMORY_LIMIT: MEMORY,
    });
    print(`start with ${what}: ${ms(service.ready)} to ready ${readyVerdict(service.ready)}`);
    await service.stop();
  }
}

function readyVerdict(milliseconds: number): string {
  return verdict(milliseconds <= 3000, '3000 ms');
}

function mostMemory(mib: number): string {
  return `most memory of all processes meanwhile: ${mib.toFixed(0)} MiB ${verdict(mib <= BOUND, `${BOUND.toFixed(0)} MiB`)}`;
}

const [, script, path] = process.argv;
if (script === __filename && path !== undefined) {
  void convertByHand(path).then((measured) => process.send?.(measured));
}
