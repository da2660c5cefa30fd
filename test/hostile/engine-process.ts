/** An embedded engine in a process of its own, which answers each query with what it took. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryError, ServiceError } from '../../src/errors';
import { openDuckDbEngine } from '../../src/engines/duckdb/engine/engine';
import type { Measurement, Order } from './engine-child';
import { silentLog } from '../engines/silent-log';
import { watchEventLoop } from './event-loop-block.js';

const [dataDir = '', cacheDir = '', memory = '', threads = ''] = process.argv.slice(2);

function allThreads(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** Bytes resident at most since `forgetPeak`. */
function peak(): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

function forgetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}

async function serve(): Promise<void> {
  const engine = await openDuckDbEngine({
    dataDir,
    cacheDir,
    now: 1_800_000_000_000_000n,
    log: silentLog,
    memory,
    threads: Number(threads),
    // Whatever still holds the one connection is seen.
    connections: 1,
  });
  const limits = (ms: number) => ({ deadline: performance.now() + ms, signal: new AbortController().signal });

  const longestBlock = watchEventLoop();
  const measure = async ({ sql, deadlineMs }: Order): Promise<Measurement> => {
    forgetPeak();
    longestBlock();
    const [cpu, started] = [process.cpuUsage(), performance.now()];
    const query = { sql, parameters: [], maxRows: 10, hideBytes: false, maxBytesBilled: null, labels: {} };
    const outcome = await engine.run(query, limits(deadlineMs)).then(
      ({ rows }) => `answered ${rows.length}`,
      (error: unknown) =>
        error instanceof QueryError
          ? `${error.fault}: ${error.message}`
          : error instanceof ServiceError
            ? `${error.reason}: ${error.message}`
            : `fault: ${String(error)}`,
    );
    const [answered, until] = [process.cpuUsage(), performance.now()];
    // Waits for the connection, which is free when the query really has ended; a ping has one of its own.
    const nextFails = await engine.run({ ...query, sql: 'SELECT 1 AS n' }, limits(60_000)).then(
      () => null,
      (error: unknown) => String(error),
    );
    return {
      outcome,
      nextFails,
      cpuMs: allThreads(cpu),
      wallMs: until - started,
      lateCpuMs: allThreads(answered),
      lateMs: performance.now() - until,
      longestBlockMs: longestBlock(),
      peakBytes: peak(),
      restingBytes: process.memoryUsage.rss(),
    };
  };

  // The first query loads and compiles much that the others find there.
  for (let i = 0; i < 3; i++) await measure({ sql: 'SELECT COUNT(*) AS n FROM t', deadlineMs: 5_000 });
  process.on('message', (order: Order) => {
    void measure(order).then(async (measurement) => {
      // What was freed goes back to the system before the next query is measured.
      await sleep(1);
      process.send?.(measurement);
    });
  });
  process.send?.('ready');
}

void serve();
