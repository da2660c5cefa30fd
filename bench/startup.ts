/** Time from the start of the process to the first row, and memory at rest, on sample logs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, ms, verdict } from './measure';
import { firstAnswer, residentMiB, startService } from './service';

const STARTS = 5;
const FIRST_ROW_GOAL = 3_000;
const MEMORY_GOAL = 150;

export async function startup(print: (line: string) => void): Promise<void> {
  const times: number[] = [];
  const memory: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const cache = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
    const start = performance.now();
    const service = await startService({ CACHE_DIR: cache });
    try {
      const body = await firstAnswer(service, '/api/endpoints/query/logs.all?project=default');
      times.push(performance.now() - start);
      if (!body.startsWith('{"result":[{')) throw new Error(`No rows: ${body.slice(0, 200)}`);
      await sleep(5_000);
      memory.push(residentMiB(service.pid));
    } finally {
      await service.stop();
      rmSync(cache, { recursive: true, force: true });
    }
  }
  const [row, resident] = [median(times), median(memory)];
  print(
    `start to first row, cold cache, ${STARTS} starts: median ${ms(row)} ${verdict(row <= FIRST_ROW_GOAL, `${String(FIRST_ROW_GOAL)} ms`)}`,
  );
  print(
    `resident memory 5 s after the first row: median ${resident.toFixed(0)} MiB ${verdict(resident <= MEMORY_GOAL, `${String(MEMORY_GOAL)} MiB`)}`,
  );
}
