/** What the gate costs: a verdict that is new, one that is known, and hostile texts beside ordinary requests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCatalogue } from '../src/endpoints/catalogue';
import { Gate } from '../src/sandbox/gate';
import type { StoredQuery } from '../src/sandbox/stored-query';
import { openDuckDbEngine } from '../src/engines/duckdb/engine/engine';
import { HOSTILE } from './hostile';
import { median, percentile } from './measure';
import { API_KEY, firstAnswer, keysFile, startService, type Service } from './service';

const ROOT = join(__dirname, '../../..');
const FIXTURE = join(ROOT, 'test/fixture');
const silent = { info: (): void => undefined, warn: (): void => undefined, error: (): void => undefined };

const ROUNDS = 7;
const COLD_GOAL = 5;
const KNOWN_GOAL = 0.05;
/** Milliseconds, for the longest stall and for the growth of others' p99. */
const STALL_GOAL = 50;
const SECONDS = 4;
const CLIENTS = 4;

export async function sandbox(print: (line: string) => void): Promise<void> {
  await verdicts(print);
  await hostileTexts(print);
}

async function verdicts(print: (line: string) => void): Promise<void> {
  const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const engine = await openDuckDbEngine({ dataDir: FIXTURE, cacheDir, now: null, log: silent });
  const gate = new Gate(engine);
  try {
    const stored = await logsAll();
    const texts = acceptedExamples();
    const cold: number[] = [];
    const known: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const text of texts) {
        // Another comment makes another text.
        const fresh = `${text}\n-- ${round}`;
        const start = performance.now();
        const accepted = await gate.admit(stored, fresh).then(
          () => true,
          () => false,
        );
        if (!accepted) continue;
        if (round > 0) cold.push(performance.now() - start);
        const again = performance.now();
        await gate.admit(stored, fresh);
        known.push(performance.now() - again);
      }
    }
    const goal = (value: number, limit: number): string => `${value <= limit ? 'within' : 'MISSES'} goal ${limit} ms`;
    print(`${cold.length} verdicts on accepted examples, the engine's wall included`);
    print(
      `  new    median ${median(cold).toFixed(2)} ms, p99 ${percentile(cold, 0.99).toFixed(1)} ms  (${goal(median(cold), COLD_GOAL)})`,
    );
    print(`  known  median ${median(known).toFixed(4)} ms  (${goal(median(known), KNOWN_GOAL)})`);
  } finally {
    await gate.close();
    await engine.close();
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

async function logsAll(): Promise<StoredQuery> {
  const catalogue = await openCatalogue(join(ROOT, 'queries'), { log: silent });
  const endpoint = catalogue.current().find(({ name }) => name === 'logs.all');
  catalogue.close();
  if (endpoint === undefined) throw new Error('No endpoint logs.all.');
  const parameters = endpoint.parameters.map(({ name }) => ({ name, type: 'STRING' as const }));
  return { ...endpoint, parameters };
}

function acceptedExamples(): string[] {
  const cases = JSON.parse(readFileSync(join(ROOT, 'test/cases/sandbox.json'), 'utf8')) as {
    kind: string;
    consumer: string;
  }[];
  return cases.filter(({ kind }) => kind === 'accept').map(({ consumer }) => consumer);
}

async function hostileTexts(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const stallFile = join(folder, 'stall');
  const service = await startService({
    DATA_DIR: FIXTURE,
    CACHE_DIR: join(folder, 'cache'),
    CLOCK: '2026-09-30T12:00:00Z',
    RATE_LIMIT: '0',
    KEYS_FILE: keysFile(folder, Object.keys(HOSTILE).map(keyOf)),
    STALL_FILE: stallFile,
    NODE_OPTIONS: `--require ${join(__dirname, 'event-loop.js')}`,
  });
  const stall = async (): Promise<{ clock: number; own: number | null }> => {
    process.kill(service.pid, 'SIGUSR2');
    await sleep(200);
    return JSON.parse(readFileSync(stallFile, 'utf8')) as { clock: number; own: number | null };
  };
  try {
    await firstAnswer(service, '/api/endpoints/query/logs.all?project=default');
    await ordinary(service, SECONDS);
    await stall();
    const alone = percentile(await ordinary(service, SECONDS), 0.99);
    print(`ordinary requests alone: p99 ${alone.toFixed(1)} ms, longest stall ${(await stall()).clock.toFixed(1)} ms`);
    // Each with a key of its own: a key whose texts have ended processes is not heard for a while, and takes nothing from others.
    for (const name of Object.keys(HOSTILE)) {
      const over = { done: false };
      const attack = attackWith(service, name, over);
      const times = await ordinary(service, SECONDS);
      over.done = true;
      const reasons = await attack;
      const growth = percentile(times, 0.99) - alone;
      const { clock, own } = await stall();
      const verdict = clock <= STALL_GOAL && growth <= STALL_GOAL ? 'within' : 'MISSES';
      print(
        `  ${name.padEnd(44)} stall ${clock.toFixed(0).padStart(4)} ms (own ${(own ?? NaN).toFixed(0).padStart(3)})  p99 ${growth >= 0 ? '+' : ''}${growth.toFixed(0)} ms  (${verdict} goals of ${STALL_GOAL} ms; ${reasons})`,
      );
    }
    const after = await send(service, 'select count(*) as n from edge_logs');
    print(`  after them all a query is answered with ${after}`);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Times of requests from CLIENTS that each send one after the other. */
async function ordinary(service: Service, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const start = performance.now();
      await send(service, 'select id, event_message from edge_logs order by timestamp desc limit 10');
      times.push(performance.now() - start);
      await sleep(5);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

/** Sends texts of HOSTILE from two clients until it is over; what they were answered, and how often. */
async function attackWith(service: Service, name: string, over: { done: boolean }): Promise<string> {
  const text = HOSTILE[name] as (n: number) => string;
  const answers = new Map<string, number>();
  let n = 0;
  const client = async (): Promise<void> => {
    while (!over.done) {
      const answer = await send(service, text(++n), keyOf(name));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all([client(), client()]);
  return [...answers].map(([answer, count]) => `${answer} ${count}x`).join(', ');
}

function keyOf(name: string): string {
  return `hostile-${Object.keys(HOSTILE).indexOf(name)}`;
}

/** The status of the answer, or its reason where it is an error. */
async function send(service: Service, sql: string, key = API_KEY): Promise<string> {
  const response = await fetch(`${service.origin}/api/endpoints/query/logs.all`, {
    method: 'POST',
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ project: 'default', sql }),
  });
  const body = (await response.json()) as { error?: { errors: { reason: string }[] } };
  return body.error?.errors[0]?.reason ?? String(response.status);
}
