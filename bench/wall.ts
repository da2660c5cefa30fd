/**
 * What one key's requests do to those of others (docs/decisions/engine-process.md): a key asks five times a second for the
 * newest logs, first in calm, then while another key sends what is hostile. Each case has a service of its own.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { percentile } from './measure';
import { firstAnswer, keysFile, residentMiB, type Service, startService } from './service';

/** Of the ordinary key, in calm and in each case; WALL_SAMPLES and WALL_CASES are for a first look. */
const SAMPLES = Number(process.env['WALL_SAMPLES'] ?? 1_000);
/** How many of the cases are measured. */
const MEASURED = Number(process.env['WALL_CASES'] ?? Infinity);
/** Milliseconds between two of its requests. */
const EVERY = 200;
const CALM = 'calm';
/** Milliseconds over calm that the others' p99 may rise. */
const GOAL = 250;

const RUN = '/api/endpoints/query/logs.all';

interface Answer {
  readonly status: number;
  readonly ms: number;
}

/** Sends a request as the hostile key. */
type Send = (parameters: Readonly<Record<string, string>>) => Promise<Answer>;

interface Case {
  readonly name: string;
  /** Requests that are under way at any time. */
  readonly atOnce: number;
  /** @param n makes each another request */
  readonly request: (n: number) => Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  {
    name: '16 slow queries of one key',
    atOnce: 16,
    request: (n) => ({
      sql: `select count(*) as n, ${String(n)} as k from edge_logs a, edge_logs b, edge_logs c where a.event_message < b.event_message and b.id < c.id`,
    }),
  },
  {
    name: 'four that have the process ended for its memory',
    atOnce: 4,
    request: (n) => ({
      sql: `select max(array_length(generate_array(1, 200000 + length(id) - ${String(n)}))) as n from edge_logs`,
    }),
  },
  {
    name: 'texts that take long to plan',
    atOnce: 4,
    request: (n) => ({
      sql: `select ${Array.from({ length: 300 }, (_, i) => `(select max(a.id) from auth_logs a join edge_logs b using (id) where a.id > '${String(i)}') as c${String(i)}`).join(', ')}, ${String(n)} as k`,
    }),
  },
];

export async function wall(print: (line: string) => void): Promise<void> {
  const calm = await measure(null);
  print(line(CALM, calm));
  for (const one of CASES.slice(0, MEASURED)) {
    const measured = await measure(one);
    const rise = measured.p99 - calm.p99;
    print(`${line(one.name, measured)}  ${rise <= GOAL ? 'within' : 'MISSES'} goal of ${String(GOAL)} ms over calm`);
  }
}

interface Measured {
  readonly p50: number;
  readonly p99: number;
  /** What the ordinary key was answered other than 200: empty where nothing failed. */
  readonly failed: string;
  /** Probes of /ready that were not answered 200 within a second. */
  readonly notReady: number;
  readonly probes: number;
  /** Most MiB of all processes. */
  readonly memory: number;
  readonly hostile: string;
}

function line(name: string, { p50, p99, failed, notReady, probes, memory, hostile }: Measured): string {
  const others = `p50 ${p50.toFixed(0)} ms  p99 ${p99.toFixed(0)} ms  failed ${failed === '' ? '0' : failed} of ${String(SAMPLES)}`;
  return `  ${name.padEnd(52)} ${others}  not ready ${String(notReady)} of ${String(probes)}  at most ${memory.toFixed(0)} MiB  ${hostile}`;
}

/** @param one null: calm */
async function measure(one: Case | null): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-wall-'));
  const service = await startService({
    CACHE_DIR: join(folder, 'cache'),
    KEYS_FILE: keysFile(folder, ['ordinary', 'hostile']),
    RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    QUERY_TIMEOUT: '10',
  });
  const agent = new http.Agent({ keepAlive: true });
  const ask = (as: string, parameters: Readonly<Record<string, string>>): Promise<Answer> =>
    get(agent, `${service.origin}${RUN}?${String(new URLSearchParams({ project: 'default', ...parameters }))}`, as);
  const end = new AbortController();
  try {
    await firstAnswer(service, `${RUN}?project=default`);
    for (let i = 0; i < 20; i++) await ask('ordinary', another(-i));
    const statuses = new Map<number, number>();
    if (one !== null) attackers(one, (parameters) => ask('hostile', parameters), statuses, end.signal);
    const watch = watchService(service, agent, end.signal);
    const answers: Answer[] = [];
    const asking: Promise<unknown>[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      asking.push(ask('ordinary', another(i)).then((answer) => answers.push(answer)));
      await sleep(EVERY);
    }
    await Promise.all(asking);
    end.abort();
    const watched = await watch;

    const times = answers.map(({ ms }) => ms);
    return {
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      failed: failuresOf(answers),
      hostile: [...statuses].map(([status, count]) => `${String(count)}x${String(status)}`).join(' '),
      ...watched,
    };
  } finally {
    end.abort();
    agent.destroy();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function failuresOf(answers: readonly Answer[]): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) if (status !== 200) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${String(count)}x${String(status)}`).join(' ');
}

/** A request that nothing kept answers. */
function another(n: number): Readonly<Record<string, string>> {
  return { iso_timestamp_start: new Date(1_577_836_800_000 + n).toISOString() };
}

function attackers({ atOnce, request }: Case, send: Send, statuses: Map<number, number>, signal: AbortSignal): unknown {
  let n = 0;
  return Array.from({ length: atOnce }, async () => {
    while (!signal.aborted) {
      const { status } = await send(request(n++));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // What is refused at once is not sent as fast as it is refused.
      await sleep(20);
    }
  });
}

/** Probes and memory, until the signal. */
async function watchService(
  service: Service,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Pick<Measured, 'notReady' | 'probes' | 'memory'>> {
  let [notReady, probes, memory] = [0, 0, 0];
  while (!signal.aborted) {
    const { status, ms } = await get(agent, `${service.origin}/ready`, 'ordinary');
    probes++;
    if (status !== 200 || ms > 1_000) notReady++;
    for (let i = 0; i < 20 && !signal.aborted; i++) {
      memory = Math.max(memory, processesOf(service.pid).reduce((sum, pid) => sum + residentMiB(pid), 0) || 0);
      await sleep(50);
    }
  }
  return { notReady, probes, memory };
}

/** A process and those that it started (Linux). */
function processesOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${String(pid)}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${String(pid)}/task/${thread}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean),
    );
    return [pid, ...children.map(Number)];
  } catch {
    return [];
  }
}

function get(agent: http.Agent, url: string, as: string): Promise<Answer> {
  const start = performance.now();
  return new Promise((resolve) => {
    const done = (status: number): void => resolve({ status, ms: performance.now() - start });
    http
      .get(url, { agent, headers: { 'X-API-KEY': as } }, (response) => {
        response.resume();
        response.on('end', () => done(response.statusCode ?? 0));
        response.on('error', () => done(0));
      })
      .on('error', () => done(0));
  });
}
