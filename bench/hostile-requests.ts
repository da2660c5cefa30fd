/** What a key with an ordinary query notices of another key's hostile requests, several at once. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE } from './hostile';
import { percentile } from './measure';
import { firstAnswer, residentMiB, type Service, startService } from './service';

const ROOT = join(__dirname, '../../..');
const PATH = '/api/endpoints/query/logs.all';
/** Milliseconds that the other key's p99 may grow by. */
const GOAL = 50;
const SECONDS = 8;

interface Attack {
  readonly atOnce: number;
  readonly body: (n: number) => Record<string, string>;
  readonly headers?: Readonly<Record<string, string>>;
}

const sixteenMegabytes = (n: number): string =>
  `select repeat('mail ana@example.com from 10.20.30.40 or 2001:db8::5, ', 288) as x, i + ${n} as i from unnest(generate_array(1, 1000)) i`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  '120 long texts': { atOnce: 120, body: (n) => ({ sql: HOSTILE['a long filter']?.(n) ?? '' }) },
  '120 chains of CTEs': { atOnce: 120, body: (n) => ({ sql: chained(20, n) }) },
  'four results of 16 MB': { atOnce: 4, body: (n) => ({ sql: sixteenMegabytes(n) }) },
  'four results of 16 MB, redacted': {
    atOnce: 4,
    body: (n) => ({ sql: sixteenMegabytes(n) }),
    headers: { 'LF-ENDPOINT-REDACT-PII': 'true' },
  },
  'four bodies of 20,000 parameters': {
    atOnce: 4,
    body: () => Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a${i}`, ''])),
  },
};

/** Each CTE reads the one before it twice. */
function chained(levels: number, n: number): string {
  const entries = Array.from({ length: levels }, (_, i) =>
    i === 0 ? `a0 as (select ${n} x)` : `a${i} as (select 1 x from a${i - 1} where exists (select 1 from a${i - 1}))`,
  );
  return `with ${entries.join(', ')} select * from a${levels - 1}`;
}

export async function hostileRequests(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const stallFile = join(folder, 'stall');
  const keysFile = join(folder, 'keys.json');
  const [calm = '', hostile = ''] = ['calm', 'hostile'].map((name) => createKey(name, keysFile));
  const service = await startService({
    KEYS_FILE: keysFile,
    DATA_DIR: join(ROOT, 'test/fixture'),
    CACHE_DIR: join(folder, 'cache'),
    CLOCK: '2026-09-30T12:00:00Z',
    RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    STALL_FILE: stallFile,
    NODE_OPTIONS: `--require ${join(__dirname, 'event-loop.js')}`,
  });
  const stall = async (): Promise<number> => {
    process.kill(service.pid, 'SIGUSR2');
    await sleep(200);
    return (JSON.parse(readFileSync(stallFile, 'utf8')) as { own: number | null }).own ?? NaN;
  };
  try {
    await firstAnswer(service, `${PATH}?project=default`);
    await ordinary(service, calm, () => false, SECONDS);
    await stall();
    const alone = percentile(await ordinary(service, calm, () => false, SECONDS), 0.99);
    print(`an ordinary query of another key alone: p99 ${alone.toFixed(1)} ms, own ${(await stall()).toFixed(0)} ms`);
    for (const [name, attack] of Object.entries(ATTACKS)) {
      let over = false;
      const answers = send(service, hostile, attack).finally(() => (over = true));
      const times = await ordinary(service, calm, () => over, SECONDS);
      const growth = percentile(times, 0.99) - alone;
      const verdict = growth <= GOAL ? 'within' : 'MISSES';
      print(
        `  ${name.padEnd(34)} own ${(await stall()).toFixed(0).padStart(4)} ms  p99 ${growth >= 0 ? '+' : ''}${growth.toFixed(0)} ms ` +
          `(${verdict} goal of ${GOAL} ms)  ${residentMiB(service.pid).toFixed(0)} MiB  ${await answers}`,
      );
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function createKey(name: string, file: string): string {
  const cli = join(ROOT, 'dist/cli.js');
  const env = { ...process.env, KEYS_FILE: file };
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  const order = [cli, 'keys', 'create', '--name', name];
  const printed = execFileSync(process.execPath, order, { env, encoding: 'utf8', stdio: [...stdio] });
  return /\S{20,}/.exec(printed)?.[0] ?? '';
}

/** Times of an ordinary query, five a second, until `over` and for so many seconds at the least. */
async function ordinary(service: Service, key: string, over: () => boolean, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const least = performance.now() + seconds * 1000;
  const once = async (): Promise<void> => {
    const start = performance.now();
    const response = await fetch(`${service.origin}${PATH}?project=default`, { headers: { 'X-API-KEY': key } });
    await response.arrayBuffer();
    times.push(performance.now() - start);
  };
  const requested: Promise<void>[] = [];
  while (performance.now() < least && !(over() && times.length > 20)) {
    requested.push(once());
    await sleep(50);
  }
  await Promise.all(requested);
  return times;
}

/** All at once; what they were answered, and how often. */
async function send(service: Service, key: string, { atOnce, body, headers = {} }: Attack): Promise<string> {
  const counts = new Map<string, number>();
  const one = async (n: number): Promise<void> => {
    const response = await fetch(service.origin + PATH, {
      method: 'POST',
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ project: 'default', ...body(n) }),
    });
    await response.arrayBuffer();
    counts.set(String(response.status), (counts.get(String(response.status)) ?? 0) + 1);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => one(n)));
  return [...counts].map(([status, count]) => `${status} ${count}x`).join(', ');
}
