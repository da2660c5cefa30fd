/** Three million generated edge rows: for the engine as a data folder, for hand-written SQL as DuckDB itself stores them. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api';
import type { Engine } from '../packages/duckdb-engine/src/contract/contract';
import { openDuckDbEngine } from '../packages/duckdb-engine/src/engine/engine';
import { LOG_SCHEMA } from '../src/engines/log-schema';
import { EDGE } from '../packages/duckdb-engine/src/samples/edge';
import { sampleRows } from '../packages/duckdb-engine/src/samples/sample-table';

/** Fewer where the machine is busy: `BENCH_ROWS`. */
const ROWS = Number(process.env['BENCH_ROWS'] ?? 3_000_000);
/** The instant of the last rows, and the clock: 2026-09-30T12:00:00Z. */
const NOW = 1_790_769_600_000_000n;
const RESOURCES = { memory: '4GB', threads: 2 };
/** Reused by later runs: generating and converting the rows takes minutes. */
const FOLDER = join(tmpdir(), `logquay-bench-${ROWS}-2`);
const DATA = join(FOLDER, 'data');
const CACHE = join(FOLDER, 'cache');
const COPY = join(FOLDER, 'by-hand.duckdb');

const silent = { info: (): void => undefined, warn: (): void => undefined, error: (): void => undefined };

export interface BothSides {
  readonly engine: Engine;
  /** Runs hand-written DuckDB SQL over `edge` and reads every row's first column. */
  readonly byHand: (sql: string, values?: DuckDBValue[]) => Promise<unknown[]>;
  close(): Promise<void>;
}

export async function openBothSides(print: (line: string) => void): Promise<BothSides> {
  await makeRows(print);
  const started = performance.now();
  const engine = await openDuckDbEngine({
    declared: LOG_SCHEMA,
    dataDir: DATA,
    cacheDir: CACHE,
    now: NOW,
    log: silent,
    ...RESOURCES,
  });
  print(`${ROWS} edge rows opened in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await copyByHand();
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(RESOURCES.threads),
    max_memory: RESOURCES.memory,
  });
  const connection = await instance.connect();
  await connection.run(`ATTACH '${COPY}' AS copy (READ_ONLY)`);
  await connection.run('CREATE VIEW edge AS SELECT * FROM copy.rows');
  return {
    engine,
    byHand: (sql, values) => firstColumn(connection, sql, values),
    async close() {
      connection.closeSync();
      instance.closeSync();
      await engine.close();
    },
  };
}

async function firstColumn(connection: DuckDBConnection, sql: string, values?: DuckDBValue[]): Promise<unknown[]> {
  const reader = await connection.runAndReadAll(sql, values);
  return reader.getColumns()[0] ?? [];
}

async function makeRows(print: (line: string) => void): Promise<void> {
  const file = join(DATA, 'raw_edge_logs.parquet');
  if (existsSync(file)) return;
  print(`generating ${ROWS} edge rows in ${FOLDER} (once)`);
  mkdirSync(DATA, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', max_memory: '8GB' });
  const connection = await instance.connect();
  const fields = LOG_SCHEMA.get(EDGE.name) ?? [];
  const rows = sampleRows({ ...EDGE, rows: ROWS }, fields, `make_timestamp(${NOW})`);
  await connection.run(`COPY (${rows}) TO '${file}.part' (FORMAT parquet)`);
  renameSync(`${file}.part`, file);
  connection.closeSync();
  instance.closeSync();
}

/** The same rows as DuckDB stores them by itself: nested lists, sorted by time. */
async function copyByHand(): Promise<void> {
  if (existsSync(COPY)) return;
  const instance = await DuckDBInstance.create(`${COPY}.part`, { threads: '2', max_memory: '8GB' });
  const connection = await instance.connect();
  await connection.run(
    `CREATE TABLE rows AS SELECT * FROM read_parquet('${join(DATA, 'raw_edge_logs.parquet')}') ORDER BY timestamp`,
  );
  connection.closeSync();
  instance.closeSync();
  renameSync(`${COPY}.part`, COPY);
}
