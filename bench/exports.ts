/** Exports by the built service against a bare DuckDB that copies the same query into a file, and the memory that they take. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { DuckDBInstance } from '@duckdb/node-api';

import { median, time } from './measure';
import { API_KEY, firstAnswer, residentWithChildren, startService } from './service';
import { MemoryOverTime } from './memory-over-time';

const ROUNDS = Number(process.env['EXPORT_ROUNDS'] ?? 3);
const ROWS = Number(process.env['EXPORT_ROWS'] ?? 1_000_000);
/** A part of the forms' names; empty: all of them. */
const FORM = process.env['EXPORT_FORM'] ?? '';
/** What the engine may take, blocks of tables that it has read among it; its default is more than a small table has. */
const MEMORY = process.env['EXPORT_MEMORY'] ?? '1GB';
/** The query as JSON and CSV have it. */
const AS_TEXT = 'id, epoch_us(timestamp) AS timestamp, event_message, status, path';

/** `goal`: rows a second of ours to those of the copy. */
const FORMS = [
  { accept: 'application/x-ndjson', copy: 'FORMAT json', columns: AS_TEXT, goal: 0.5 },
  { accept: 'text/csv', copy: 'FORMAT csv, HEADER', columns: AS_TEXT, goal: 0.5 },
  { accept: 'application/vnd.apache.parquet', copy: 'FORMAT parquet', columns: '*', goal: 0.7 },
] as const;

const ENDPOINT = `/*
id: 6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c21
name: bench.export
max_rows: 1
export: 1000000000
*/
SELECT id, timestamp, event_message, status, path FROM raw_rows
`;

const COUNT = `/*
id: 6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c23
name: bench.count
*/
SELECT COUNT(*) AS n FROM raw_rows
`;

const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'event_message', type: 'STRING' },
  { name: 'status', type: 'INTEGER' },
  { name: 'path', type: 'STRING' },
];

/** A row as a request to a service is logged. */
const MAKE = `SELECT md5(n::VARCHAR) AS id, TIMESTAMPTZ '2026-09-30 00:00:00+00' + to_milliseconds(n) AS timestamp,
  'GET | 200 | 203.0.113.' || (n % 256) || ' | ' || md5((n * 7)::VARCHAR) || ' | /rest/v1/items?id=eq.' || n AS event_message,
  200 + n % 5 AS status, '/rest/v1/items/' || (n % 1000) AS path FROM range(${String(ROWS)}) t(n)`;

export async function exportBenchmark(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const [data, queries, copied] = ['data', 'queries', 'copied'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [data, queries]) mkdirSync(one);
  writeFileSync(join(queries, 'export.sql'), ENDPOINT);
  writeFileSync(join(queries, 'count.sql'), COUNT);
  writeFileSync(join(data, 'schema.json'), JSON.stringify({ raw_rows: { fields: FIELDS } }));
  // Stored, as ours is: `duckdb -c "COPY ..."` finds its rows in a file. In memory they are not compressed, which a copy is faster with.
  const stored = process.env['EXPORT_BASELINE'] !== 'memory';
  const bare = await DuckDBInstance.create(stored ? join(folder, 'bare.duckdb') : ':memory:', { threads: '2' });
  const connection = await bare.connect();
  await connection.run(`CREATE TABLE rows AS ${MAKE}`);
  await connection.run('CHECKPOINT');
  await connection.run(`COPY rows TO '${join(data, 'raw_rows.parquet')}' (FORMAT parquet)`);
  const settings = {
    QUERIES_DIR: queries,
    DATA_DIR: data,
    CACHE_DIR: join(folder, 'cache'),
    RATE_LIMIT: '0',
    CACHE_MEMORY: '0',
  };
  const service = await startService({ ...settings, QUERY_TIMEOUT: '180', DUCKDB_MEMORY_LIMIT: MEMORY });
  try {
    const url = '/api/endpoints/query/bench.export';
    // It answers before it has read all rows.
    const whole = JSON.stringify({ result: [{ n: ROWS }] });
    while ((await firstAnswer(service, '/api/endpoints/query/bench.count', 300_000)) !== whole) await sleep(200);
    const idle = residentWithChildren(service.pid);
    print(`  ${String(ROWS)} rows; ${idle.toFixed(0)} MiB resident before, in all processes`);
    for (const { accept, copy, columns, goal } of FORMS.filter(({ accept }) => accept.includes(FORM))) {
      const target = join(folder, 'exported');
      let memory = new MemoryOverTime(service.pid);
      const headers = ['-H', `X-API-KEY: ${API_KEY}`, '-H', `Accept: ${accept}`];
      const ours = (): Promise<unknown> =>
        promisify(execFile)('curl', ['-sSf', '-o', target, ...headers, `${service.origin}${url}?export=true`]);
      const theirs = (): Promise<unknown> =>
        connection.run(`COPY (SELECT ${columns} FROM rows) TO '${copied}' (${copy})`);
      const times: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        memory.end();
        memory = new MemoryOverTime(service.pid);
        times[0].push(await time(ours));
        memory.end();
        times[1].push(await time(theirs));
      }
      const [us, them] = [median(times[0]), median(times[1])];
      const ratio = them / us;
      const perSecond = (ms: number): string => `${((ROWS / ms) * 1000).toFixed(0)}/s`;
      const bytes = (statSync(target).size / 1024 / 1024).toFixed(0);
      print(
        `  ${accept.padEnd(35)} ${perSecond(us)}, COPY ${perSecond(them)}: ${ratio.toFixed(2)} ` +
          `(${goal === null ? 'no goal' : `${ratio >= goal ? 'within' : 'MISSES'} goal ${String(goal)}`}); ` +
          `${bytes} MiB, at most ${memory.most.toFixed(0)} MiB resident`,
      );
      for (const line of memory.lines()) print(`    ${line}`);
    }
  } finally {
    await service.stop();
    connection.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}
