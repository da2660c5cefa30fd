/**
 * Five minutes with everything on, the service on one core: mixed requests, rows that are appended, live tails, exports, while Redis
 * goes away and comes back and the catalogue changes.
 */
import { appendFileSync, closeSync, cpSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { percentile } from './measure';
import { MemoryOverTime } from './memory-over-time';
import { pinApart } from './cores';
import { type Redis, startRedis } from './redis';
import { API_KEY, firstAnswer, residentWithChildren, type Service, startService } from './service';
import { soakData, SoakLive } from './soak-live';

/** Seconds, and requests in each; SOAK_SECONDS and SOAK_RATE say otherwise for a first look, or where the machine is busy. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 300);
const PER_SECOND = Number(process.env['SOAK_RATE'] ?? 500);
/** Seconds in which the load grows to its height: the compilers' turn. */
const RAMP = 10;
const REDIS_AWAY_EVERY = 60_000;
const REDIS_AWAY = 3000;
const RELOAD_EVERY = 45_000;
const WARMED_UP = 60;
/** Growth of resident memory after the first minute that still counts as flat. */
const FLAT = 1.15;

const RUN = '/api/endpoints/query';
const USAGE = `${RUN}/usage.api-counts?project=default&interval=`;

interface Kind {
  readonly name: string;
  /** Of a hundred requests. */
  readonly share: number;
  readonly path: (n: number) => string;
  readonly headers?: (etags: ReadonlyMap<string, string>, path: string) => Record<string, string>;
}

const INTERVALS = ['hourly', 'daily', '1day', '7day'];
const CONSUMER = [
  (n: number) => `select count(*) as n, ${n} as k from edge_logs`,
  (n: number) => `select id, event_message from postgres_logs order by timestamp desc limit ${(n % 50) + 1}`,
  (n: number) =>
    `select timestamp_trunc(timestamp, hour) as t, count(*) as n from auth_logs group by t order by t limit ${(n % 20) + 1}`,
  (n: number) =>
    `select r.method, count(*) as n from edge_logs cross join unnest(metadata) m cross join unnest(m.request) r where r.path != '/${n}' group by r.method`,
];

const KINDS: readonly Kind[] = [
  { name: 'hit', share: 45, path: (n) => `${USAGE}${INTERVALS[n % INTERVALS.length]}` },
  {
    name: 'not modified',
    share: 45,
    path: (n) => `${USAGE}${INTERVALS[n % INTERVALS.length]}`,
    headers: (etags, path) => {
      const etag = etags.get(path);
      return etag === undefined ? {} : { 'If-None-Match': etag };
    },
  },
  { name: 'logs.all, 5 min', share: 8, path: fiveMinutes },
  {
    name: 'consumer SQL',
    share: 2,
    path: (n) => `${fiveMinutes(n)}&sql=${encodeURIComponent(CONSUMER[n % CONSUMER.length]?.(n) ?? '')}`,
  },
];

/** A window of five minutes of the last day, another for each n. */
function fiveMinutes(n: number): string {
  const end = Date.now() - ((n * 61_000) % 86_400_000) - 60_000;
  const [from, to] = [end - 300_000, end].map((time) => new Date(time).toISOString());
  return `${RUN}/logs.all?project=default&iso_timestamp_start=${from}&iso_timestamp_end=${to}`;
}

export async function soak(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const queries = join(folder, 'queries');
  cpSync(join(__dirname, '../../../queries'), queries, { recursive: true });
  const data = await soakData(join(folder, 'data'), queries);
  const log = openSync(join(folder, 'log'), 'w');
  const redis = await startRedis();
  const settings = {
    QUERIES_DIR: queries,
    DATA_DIR: data.folder,
    CACHE_DIR: join(folder, 'cache'),
    REDIS_URL: redis.url,
    RATE_LIMIT: '0',
    LOG_LEVEL: 'info',
    // For one core (docs/operations.md, Sizing): more at once only take it from each other, and from hits.
    DUCKDB_THREADS: '1',
    MAX_RUNNING: '3',
    MAX_RUNNING_PER_KEY: '3',
  };
  const service = await startService(settings, log);
  try {
    await firstAnswer(service, KINDS[2]?.path(1) ?? '', 120_000);
    print(pinApart(service.pid) ? '  the service on a core of its own' : '  the service shares its core');
    await new Soak(service, redis, queries, new SoakLive(service.origin, data)).run(print);
  } finally {
    await service.stop();
    closeSync(log);
    rmSync(folder, { recursive: true, force: true });
  }
}

class Soak {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  readonly #etags = new Map<string, string>();
  readonly #times = new Map<string, number[]>(KINDS.map(({ name }) => [name, []]));
  readonly #failures = new Map<string, number>();
  /** Requests that had to be turned away: the core had no more to give, and says so. */
  #turnedAway = 0;
  readonly #memory: { readonly second: number; readonly mib: number }[] = [];
  readonly #byProcess: MemoryOverTime;
  #sent = 0;
  #inFlight = 0;
  #mostInFlight = 0;
  #redisWentAway = 0;
  #reloads = 0;

  constructor(
    private readonly service: Service,
    private redis: Redis,
    private readonly queries: string,
    private readonly live: SoakLive,
  ) {
    this.#byProcess = new MemoryOverTime(service.pid);
  }

  async run(print: (line: string) => void): Promise<void> {
    const start = performance.now();
    const over = new AbortController();
    const beside = [
      this.#disturbRedis(over.signal),
      this.#disturbCatalogue(over.signal),
      this.#watch(start, over.signal),
      this.live.run(over.signal),
    ];
    for (let sent = 0, passed = 0; passed < SECONDS; passed = (performance.now() - start) / 1000) {
      for (const due = dueAfter(passed); sent < due; sent++) void this.#send(kindOf(sent), sent);
      await sleep(2);
    }
    while (this.#inFlight > 0) await sleep(10);
    const seconds = (performance.now() - start) / 1000;
    over.abort();
    this.#byProcess.end();
    await Promise.all(beside);
    this.#agent.destroy();
    await this.redis.stop();
    this.#report(print, seconds);
  }

  #report(print: (line: string) => void, seconds: number): void {
    print(
      `  ${this.#sent} requests in ${seconds.toFixed(0)} s (${(this.#sent / seconds).toFixed(0)}/s), at most ${this.#mostInFlight} at once; ` +
        `Redis went away ${this.#redisWentAway} times, the catalogue changed ${this.#reloads} times`,
    );
    for (const [name, times] of this.#times) {
      const [half, most, worst] = [0.5, 0.99, 1].map((part) => percentile(times, part).toFixed(1));
      print(
        `  ${name.padEnd(16)} ${String(times.length).padStart(7)}  p50 ${half} ms  p99 ${most} ms  longest ${worst} ms`,
      );
    }
    const failures = [...this.#failures].map(([what, count]) => `${what} ${count}x`).join(', ');
    const part = ((100 * this.#turnedAway) / this.#sent).toFixed(1);
    print(`  turned away with 429, the queue being full: ${this.#turnedAway} (${part} %)`);
    print(
      `  failed otherwise: ${failures === '' ? 'none' : failures} (${failures === '' ? 'within' : 'MISSES'} goal of none)`,
    );
    for (const line of this.live.lines()) print(line);
    const first = this.#memory.find(({ second }) => second >= Math.min(WARMED_UP, SECONDS / 5))?.mib ?? NaN;
    const most = Math.max(...this.#memory.filter(({ second }) => second >= WARMED_UP).map(({ mib }) => mib), first);
    const last = this.#memory.at(-1)?.mib ?? NaN;
    print(
      `  resident in all processes ${first.toFixed(0)} MiB after the first minute, at most ${most.toFixed(0)} then, ${last.toFixed(0)} at the end ` +
        `(${last <= first * FLAT ? 'within' : 'MISSES'} goal of flat, ${FLAT}x)`,
    );
    for (const line of this.#byProcess.lines()) print(`  ${line}`);
  }

  #send(kind: Kind, n: number): Promise<void> {
    const path = kind.path(n);
    const headers = { 'X-API-KEY': API_KEY, 'Accept-Encoding': 'gzip', ...kind.headers?.(this.#etags, path) };
    this.#sent++;
    this.#mostInFlight = Math.max(this.#mostInFlight, ++this.#inFlight);
    const start = performance.now();
    return new Promise((resolve) => {
      const end = (failure: string | null): void => {
        this.#inFlight--;
        if (failure === null) this.#times.get(kind.name)?.push(performance.now() - start);
        else this.#failures.set(failure, (this.#failures.get(failure) ?? 0) + 1);
        resolve();
      };
      const request = http.get(this.service.origin + path, { agent: this.#agent, headers }, (response) => {
        const { statusCode = 0, headers: answered } = response;
        if (statusCode === 429) this.#turnedAway++;
        if (kind.name === 'hit' && answered.etag !== undefined) this.#etags.set(path, answered.etag);
        response.resume();
        response.on('end', () => end([200, 304, 429].includes(statusCode) ? null : `${kind.name}: ${statusCode}`));
        response.on('error', (error) => end(`${kind.name}: ${error.message}`));
      });
      request.on('error', (error) => end(`${kind.name}: ${error.message}`));
    });
  }

  /** Kills Redis, and starts it on the same port after a while. */
  async #disturbRedis(signal: AbortSignal): Promise<void> {
    const port = Number(new URL(this.redis.url).port);
    while (await pause(REDIS_AWAY_EVERY, signal)) {
      await this.redis.stop();
      this.#redisWentAway++;
      await sleep(REDIS_AWAY);
      this.redis = await startRedis(port);
    }
  }

  /** Changes one file after the other, so that nothing kept for it before counts any more. */
  async #disturbCatalogue(signal: AbortSignal): Promise<void> {
    while (await pause(RELOAD_EVERY, signal)) {
      const file = ['logs.all.sql', 'usage.api-counts.sql'][this.#reloads++ % 2] ?? '';
      appendFileSync(join(this.queries, file), `-- ${this.#reloads}\n`);
    }
  }

  async #watch(start: number, signal: AbortSignal): Promise<void> {
    do this.#memory.push({ second: (performance.now() - start) / 1000, mib: residentWithChildren(this.service.pid) });
    while (await pause(1000, signal));
  }
}

/** Requests that are due by then: as many per second as it says, after a start in which they grow more. */
function dueAfter(seconds: number): number {
  return PER_SECOND * (seconds < RAMP ? seconds ** 2 / (2 * RAMP) : seconds - RAMP / 2);
}

/** A sequence of the kinds, by their shares: evenly mixed, and the same in each soak. */
function kindOf(n: number): Kind {
  let place = (n * 37) % 100;
  for (const kind of KINDS) {
    if (place < kind.share) return kind;
    place -= kind.share;
  }
  throw new Error('The shares are of a hundred.');
}

/** false: it was ended. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
