/**
 * Measures what calls of our own scalar functions take of the thread that runs them. In a process of its own: the heap of a Jest worker
 * is large, and collecting it is work of that same thread.
 */
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { setUp } from '../src/engine/set-up';

export interface MeasuredCall {
  /** An expression over `i`. */
  readonly call: string;
  readonly rows: number;
}

export interface CallCost {
  /** CPU of the thread. */
  readonly ms: number;
  /** How much more of the processor the same work takes now than in calm. */
  readonly pace: number;
}

/** Milliseconds of CPU that this thread has used: DuckDB has others. */
function ownTime(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Of 12 MiB, 15 ms in calm. */
function pace(): number {
  const bytes = new Uint8Array(12 * 1024 * 1024);
  const before = ownTime();
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) sum = (sum * 31 + bytes[i]!) | 0;
  if (sum !== 0) throw new Error('Zeros add up to something.');
  return Math.max(1, (ownTime() - before) / 15);
}

async function serve(): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await setUp(connection);
  const measure = async ({ call, rows }: MeasuredCall): Promise<CallCost> => {
    await connection.run(`CREATE OR REPLACE TEMP TABLE given AS SELECT i FROM range(${rows}) AS t(i)`);
    const before = ownTime();
    await connection.run(`SELECT count(${call}) FROM given`);
    return { ms: ownTime() - before, pace: pace() };
  };
  process.on('message', (call: MeasuredCall) => {
    void measure(call).then((cost) => process.send?.(cost));
  });
  process.send?.('ready');
}

void serve();
