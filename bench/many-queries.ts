/** A service with 3,000 stored queries, no two of them the same: its start, its memory, and what looking for changes costs. */
import { mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { firstAnswer, residentMiB, type Service, startService } from './service';

const FILES = 3_000;
const GOALS = { readySeconds: 3, memoryMiB: 200, pollingPercent: 2 };
/** Seconds; POLLING_SECONDS says otherwise for a first look. */
const POLLED = Number(process.env['POLLING_SECONDS'] ?? 60);
/** Seconds that the engine may take to resolve all of them in the background. */
const LONGEST_RESOLVING = 600;

/** What the log says when the last of them is resolved. */
const RESOLVED = 'every stored query is resolved';

export async function manyQueries(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const queries = join(folder, 'queries');
  mkdirSync(queries);
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  const own = readFileSync(join(__dirname, '../../../queries/logs.all.sql'), 'utf8');
  for (let n = 0; n < FILES; n++) writeFileSync(join(queries, `logs.n${n}.sql`), another(own, n));
  const start = performance.now();
  const settings = { QUERIES_DIR: queries, CACHE_DIR: join(folder, 'cache'), LOG_LEVEL: 'info' };
  const service = await startService(settings, log);
  try {
    await firstAnswer(service, '/ready', 120_000);
    const seconds = (performance.now() - start) / 1000;
    const cpu = cpuSeconds(service);
    print(
      verdict(`${FILES} stored queries: ready after`, seconds, 's', GOALS.readySeconds, `, ${cpu.toFixed(1)} s of CPU`),
    );
    print(verdict('resident memory when ready', residentMiB(service.pid), 'MiB', GOALS.memoryMiB));
    await firstAnswer(service, '/api/endpoints/query/logs.n7?project=default');
    for (let waited = 0; !readFileSync(logFile, 'utf8').includes(RESOLVED); waited++) {
      if (waited > LONGEST_RESOLVING) throw new Error(`Not resolved within ${LONGEST_RESOLVING} s.`);
      await sleep(1_000);
    }
    print(`each resolved by the engine, in the background, after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    print(verdict('resident memory when each is resolved', residentMiB(service.pid), 'MiB', GOALS.memoryMiB));
    const [from, before] = [performance.now(), cpuSeconds(service)];
    await sleep(POLLED * 1000);
    const percent = ((cpuSeconds(service) - before) / (performance.now() - from)) * 100_000;
    print(verdict(`looking for changes over ${POLLED} s`, percent, '% of a core', GOALS.pollingPercent));
  } finally {
    await service.stop();
    closeSync(log);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `logs.all` with another id, name, comment, limit, and other columns in some of its CTEs. */
function another(own: string, n: number): string {
  let cte = 0;
  return own
    .replace(/^id: .*$/m, `id: 00000000-0000-4000-8000-${String(n).padStart(12, '0')}`)
    .replace(/^name: .*$/m, `name: logs.n${n}`)
    .replace('-- Why', `-- ${n}: why`)
    .replace(/t\.event_message, t\.metadata$/gm, (columns) =>
      ((n >> (cte++ % 12)) & 1) === 1 ? `${columns}, ${n} AS n${n % 7}` : columns,
    )
    .replace('LIMIT 100', `LIMIT ${(n % 1000) + 1}`);
}

function verdict(name: string, value: number, unit: string, goal: number, more = ''): string {
  const outcome = value <= goal ? 'within' : 'MISSES';
  return `${name.padEnd(44)} ${value.toFixed(1)} ${unit}${more}  (${outcome} goal ${goal} ${unit})`;
}

/** CPU seconds of the process itself, without the engine's (Linux, whose clock has 100 ticks a second). */
function cpuSeconds({ pid }: Service): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
