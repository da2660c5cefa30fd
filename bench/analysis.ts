/** What an editor waits for: analyses of the open corpus over HTTP, of texts that the service has not seen before, and of those that it has. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, ms, percentile, time } from './measure';
import { API_KEY, firstAnswer, startService } from './service';

const ROOT = join(__dirname, '../../..');
const CASES = join(ROOT, 'test/cases');
const ROUNDS = 5;
/** Milliseconds. */
const GOAL = 5;

export async function analysis(print: (line: string) => void): Promise<void> {
  const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const service = await startService({
    DATA_DIR: join(ROOT, 'test/fixture'),
    CACHE_DIR: cacheDir,
    CLOCK: '2026-09-30T12:00:00Z',
    RATE_LIMIT: '0',
  });
  try {
    await firstAnswer(service, '/ready');
    const ask = async (text: string): Promise<void> => {
      const response = await fetch(`${service.origin}/api/endpoints/analyze/logs.all`, {
        method: 'POST',
        headers: { 'X-API-KEY': API_KEY, 'Content-Type': 'application/json' },
        body: JSON.stringify({ project: 'default', sql: text }),
      });
      const { result } = (await response.json()) as { result?: { columns: unknown; errors: unknown[] } };
      if (result === undefined || (result.columns === null) === (result.errors.length === 0))
        throw new Error(`${String(response.status)} for ${text}`);
    };
    const texts = corpus();
    const [fresh, again]: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const text of texts) {
        // Another comment makes another text. The first round warms up.
        const own = `${text}\n-- ${String(round)}`;
        const [first, second] = [await time(() => ask(own)), await time(() => ask(own))];
        if (round === 0) continue;
        fresh.push(first);
        again.push(second);
      }
    }
    print(`${String(texts.length)} queries of the open corpus, ${String(ROUNDS)} rounds, one after the other`);
    for (const [name, times] of [
      ['new', fresh],
      ['seen before', again],
    ] as const) {
      const verdict = median(times) <= GOAL ? 'within' : 'MISSES';
      const spread = `median ${ms(median(times))}, p99 ${ms(percentile(times, 0.99))}`;
      print(`  ${name.padEnd(12)} ${spread}  (${verdict} goal ${String(GOAL)} ms at the median)`);
    }
  } finally {
    await service.stop();
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

function corpus(): string[] {
  return ['log-queries.jsonl', 'log-queries-lenient.jsonl'].flatMap((file) =>
    readFileSync(join(CASES, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { sql: string }).sql),
  );
}
