/**
 * What one machine carries: a week of function logs, as many as `BENCH_ROWS` says, in one Parquet file for each hour. How long the first
 * conversion and a start after it take, what an hour's queries cost at that size, and what the processes have in memory. Only by its name:
 * 100,000,000 rows take 20 GB of the folder for temporary files, and half an hour of two cores.
 */
import { appendFileSync, existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';

import { FUNCTION } from '../packages/duckdb-engine/src/samples/functions';
import { sampleRows } from '../packages/duckdb-engine/src/samples/sample-table';
import { LOG_SCHEMA } from '../src/engines/log-schema';
import { median, ms, percentile, verdict } from './measure';
import { Running, sizeOf } from './running';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 100_000_000);
const HOURS = 7 * 24;
const EACH = Math.ceil(ROWS / HOURS);
const MEMORY = '2GB';
const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 8, 24);
/** Of a query. */
const ROUNDS = 9;
const APPENDED = 1_000;
const APPENDS = 10;
/** Reused by later runs. */
const DATA = join(tmpdir(), `logquay-bench-sizing-${ROWS}`);

const at = (hour: number): string => new Date(BEGIN + hour * HOUR).toISOString();

/** Queries that a log page asks, of one hour; `k` makes each another. */
const QUERIES: readonly (readonly [string, (hour: number, k: number) => string])[] = [
  [
    'the newest 100 rows',
    (_, k) =>
      `select timestamp, id, event_message, metadata, ${k} as k from function_logs order by timestamp desc limit 100`,
  ],
  [
    'an hour: counts by minute and level',
    (hour, k) =>
      `select timestamp_trunc(t.timestamp, minute) as minute, m.level, count(*) as n, ${k} as k from function_logs t
        cross join unnest(t.metadata) m where t.timestamp >= '${at(hour)}' and t.timestamp < '${at(hour + 1)}' group by minute, level`,
  ],
  [
    'an hour: the newest 100 rows with a word',
    (hour, k) =>
      `select timestamp, id, event_message, ${k} as k from function_logs where timestamp >= '${at(hour)}'
        and timestamp < '${at(hour + 1)}' and regexp_contains(event_message, 'payload is not') order by timestamp desc limit 100`,
  ],
  [
    'the whole week: counts by day',
    (_, k) => `select timestamp_trunc(timestamp, day) as day, count(*) as n, ${k} as k from function_logs group by day`,
  ],
];

export async function sizing(print: (line: string) => void): Promise<void> {
  const bytes = await makeFiles(print);
  const folder = mkdtempSync(join(tmpdir(), 'logquay-sizing-'));
  const data = join(folder, 'data');
  const cache = join(folder, 'cache');
  let service: Running | null = null;
  try {
    mkdirSync(join(data, FUNCTION.name), { recursive: true });
    for (const name of readdirSync(DATA)) linkSync(join(DATA, name), join(data, FUNCTION.name, name));
    print(
      `${HOURS * EACH} function logs in ${HOURS} Parquet files, ${mib(sizeOf(DATA))}; as NDJSON ${bytes.toFixed(0)} bytes each, ${mib(HOURS * EACH * bytes)}; DUCKDB_MEMORY_LIMIT ${MEMORY}`,
    );
    const environment = { DATA_DIR: data, CACHE_DIR: cache, DUCKDB_MEMORY_LIMIT: MEMORY, RATE_LIMIT: '0' };
    service = await Running.start(environment);
    const started = performance.now();
    await service.untilServed(HOURS * EACH, 1000);
    const cpu = service.cpu();
    print(
      `first conversion: ${seconds(performance.now() - started)}, CPU ${seconds(cpu)}: ${((HOURS * EACH) / (cpu / 1000)).toFixed(0)} rows a second of one core`,
    );
    print(`most memory of all processes meanwhile: ${service.peak.toFixed(0)} MiB`);
    print(`CACHE_DIR: ${mib(sizeOf(cache))}, ${(sizeOf(cache) / (HOURS * EACH)).toFixed(0)} bytes a row`);
    await service.stop();

    service = await Running.start(environment);
    print(
      `start with everything converted: ${ms(service.ready)} to ready ${verdict(service.ready <= 3000, '3000 ms')}`,
    );
    await sleep(5_000);
    print(`memory of all processes then: ${service.resident().toFixed(0)} MiB`);
    for (const [name, query] of QUERIES) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        await service.ask(query((HOURS - 1 - round * 19 + HOURS) % HOURS, round));
        times.push(performance.now() - start);
      }
      print(`${name}: ${ms(median(times))} median, ${ms(percentile(times, 1))} at most`);
    }
    print(`most memory of all processes meanwhile: ${service.peak.toFixed(0)} MiB`);
    await append(service, join(data, FUNCTION.name, 'appended.ndjson'), print);
  } finally {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files of an hour each: the same messages, with ids and times of their own. @returns bytes of a row as NDJSON */
async function makeFiles(print: (line: string) => void): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', max_memory: '4GB' });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  if (!existsSync(DATA)) {
    print(`generating ${HOURS * EACH} function logs in ${DATA} (once)`);
    const rows = sampleRows({ ...FUNCTION, rows: EACH }, LOG_SCHEMA.get(FUNCTION.name) ?? [], `make_timestamp(0)`);
    await connection.run(`CREATE TABLE one AS SELECT row_number() OVER () - 1 AS i, * FROM (${rows})`);
    rmSync(`${DATA}.part`, { recursive: true, force: true });
    mkdirSync(`${DATA}.part`);
    for (let hour = 0; hour < HOURS; hour++) {
      const time = `make_timestamp(${(BEGIN + hour * HOUR) * 1000} + i * ${HOUR * 1000} // ${EACH})`;
      const id = `CAST(CAST(md5(concat(${hour}, ' ', i)) AS UUID) AS VARCHAR)`;
      const name = at(hour).slice(0, 13);
      await connection.run(
        `COPY (SELECT * EXCLUDE (i) REPLACE (${time} AS timestamp, ${id} AS id) FROM one) TO '${DATA}.part/${name}.parquet' (FORMAT parquet)`,
      );
    }
    renameSync(`${DATA}.part`, DATA);
  }
  const [name = ''] = readdirSync(DATA);
  const reader = await connection.runAndReadAll(
    `SELECT avg(strlen(CAST(to_json(r) AS VARCHAR)) + 1) FROM (FROM '${join(DATA, name)}' LIMIT 10000) AS r`,
  );
  connection.closeSync();
  instance.closeSync();
  return Number(reader.getRows()[0]?.[0]);
}

/** Lines of the hour after the last one. */
async function append(service: Running, file: string, print: (line: string) => void): Promise<void> {
  const times: number[] = [];
  const before = service.cpu();
  for (let batch = 0; batch < APPENDS; batch++) {
    const lines = Array.from({ length: APPENDED }, (_, i) =>
      JSON.stringify({
        timestamp: new Date(BEGIN + HOURS * HOUR + batch * APPENDED + i).toISOString(),
        id: `appended-${batch}-${i}`,
        event_message: 'Hello from Functions!\n',
        metadata: [{ event_type: 'Log', level: 'info', project_ref: 'default' }],
      }),
    );
    const started = performance.now();
    appendFileSync(file, `${lines.join('\n')}\n`);
    await service.untilServed(HOURS * EACH + (batch + 1) * APPENDED, 20);
    times.push(performance.now() - started);
    await sleep(200);
  }
  const cpu = (service.cpu() - before) / APPENDS;
  print(
    `${APPENDED} appended rows: written to served ${ms(median(times))} median ${verdict(median(times) <= 1000, '1000 ms')}, CPU ${ms(cpu)} each ${verdict(cpu <= 200, '200 ms')}`,
  );
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(0)} s`;
}
