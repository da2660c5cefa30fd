/** Runs hostile queries in a child process and tells which of them are beyond what a query may take. */
import { EngineChild, type Measurement } from './engine-child';
import type { HostileQuery } from './sql-functions';
import { makeFolder } from './data';

export interface MeasuredQuery extends HostileQuery {
  readonly measured: Measurement;
  readonly faults: readonly string[];
}

const MIB = 1024 * 1024;
/** As `DUCKDB_MEMORY_LIMIT`: small, so that little shows. */
const MEMORY = 256;
const THREADS = 2;
/** What the process may take beside DuckDB's own memory, itself included. */
const BESIDE = 512;
/** Milliseconds of CPU after the interrupt (docs/decisions/bounded-functions.md), of all threads. */
const LATE = 200 * THREADS;
/** Milliseconds of CPU in one iteration of the event loop (docs/decisions/bounded-work.md). */
const BLOCK = 50;
/** Beyond it a process is replaced before the next query. */
const RESTING = 420;
/** Milliseconds until the interrupt: soon, to meet what cannot be interrupted; later, for what grows. */
export const DEADLINES = { soon: 100, later: 350 };

/** What is wrong with a measurement, `patience` being how much longer than in calm the CPU may take. */
function faultsOf(m: Measurement, patience: number): string[] {
  const faults: string[] = [];
  const late = LATE * patience;
  if (m.nextFails !== null) faults.push(`no query is answered after it (${m.outcome}): ${m.nextFails}`);
  if (m.lateCpuMs > late) faults.push(`${Math.round(m.lateCpuMs)} ms of CPU after the interrupt`);
  if (m.peakBytes > (MEMORY + BESIDE) * MIB) faults.push(`${Math.round(m.peakBytes / MIB)} MiB resident`);
  if (m.longestBlockMs > BLOCK * patience)
    faults.push(`${Math.round(m.longestBlockMs)} ms in one iteration of the event loop`);
  if (m.outcome.startsWith('fault')) faults.push(m.outcome);
  if (/engine failed/.test(m.outcome)) faults.push(m.outcome);
  return faults;
}

/** @param each called with every query once it has been measured */
export async function runHostile(
  queries: Iterable<HostileQuery>,
  { patience, each = () => undefined }: { readonly patience: number; readonly each?: (result: MeasuredQuery) => void },
): Promise<MeasuredQuery[]> {
  const folder = makeFolder();
  const child = new EngineChild({ ...folder, memory: `${MEMORY}MiB`, threads: THREADS });
  const all: MeasuredQuery[] = [];
  try {
    for (const query of queries) {
      let deadlineMs = DEADLINES.soon;
      let measured = await child.measure({ sql: query.sql, deadlineMs });
      // What ran into the deadline may only have begun.
      if (measured.outcome.startsWith('deadline') && faultsOf(measured, patience).length === 0) {
        deadlineMs = DEADLINES.later;
        measured = await child.measure({ sql: query.sql, deadlineMs });
      }
      // On a busy machine the same work takes more CPU, never less: what is too much is too much each time.
      for (let again = 2; again > 0 && measured.lateCpuMs > LATE * patience; again--) {
        const { lateCpuMs } = await child.measure({ sql: query.sql, deadlineMs });
        measured = { ...measured, lateCpuMs: Math.min(measured.lateCpuMs, lateCpuMs) };
      }
      // What earlier queries left in the allocators is not this one's: what is too large alone counts.
      if (measured.peakBytes > (MEMORY + BESIDE) * MIB) {
        await child.stop();
        measured = await child.measure({ sql: query.sql, deadlineMs: DEADLINES.later });
      }
      // Nor is what the event loop's thread has just collected of them.
      if (measured.longestBlockMs > BLOCK * patience) {
        const again = await child.measure({ sql: query.sql, deadlineMs: DEADLINES.later });
        measured = { ...measured, longestBlockMs: Math.min(measured.longestBlockMs, again.longestBlockMs) };
      }
      const result = { ...query, measured, faults: faultsOf(measured, patience) };
      all.push(result);
      if (measured.restingBytes > RESTING * MIB) await child.stop();
      each(result);
    }
  } finally {
    await child.stop();
    folder.remove();
  }
  return all;
}
