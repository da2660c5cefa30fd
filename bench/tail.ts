/**
 * Live tails of the built service: when a row is seen that is appended, with one listener and with many, the memory that they take, and
 * whether one that is cut off again and again gets every row once.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { median, percentile } from './measure';
import { API_KEY, firstAnswer, residentWithChildren, startService } from './service';

const LISTENERS = 100;
const ROUNDS = Number(process.env['TAIL_ROUNDS'] ?? 20);
/** Rows that are appended for one who reconnects, how many of them at once, and after how many at most the connection is cut. */
const FOLLOWED = Number(process.env['TAIL_ROWS'] ?? 1_000_000);
const BATCH = 5_000;
const CUT_AFTER = 60_000;
/** Milliseconds without a row after which the rest is no longer waited for. */
const PATIENCE = 120_000;
/** Rows that are appended at once. */
const ROWS = 10;
const MEMORY_GOAL = 150;
const LATENCY_GOAL = 1_500;

const ENDPOINT = `/*
id: 6f2b0f5e-7c0a-4a53-9f43-0d5d5b6d7c22
name: bench.tail
*/
SELECT id, timestamp, event_message FROM raw_edge_logs
`;
const PATH = '/api/endpoints/tail/bench.tail';

/** Rows that have come, and when a row of an id came. */
class Listener {
  rows = 0;
  readonly seen = new Map<string, number>();

  constructor(readonly response: http.IncomingMessage) {
    response.setEncoding('utf8');
    let rest = '';
    response.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue;
        this.rows++;
        const { id } = JSON.parse(line.slice('data: '.length)) as { id: string };
        this.seen.set(id, performance.now());
      }
    });
  }
}

export async function tailBenchmark(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const [data, queries] = [join(folder, 'data'), join(folder, 'queries')];
  for (const one of [data, queries]) mkdirSync(one);
  writeFileSync(join(queries, 'tail.sql'), ENDPOINT);
  const settings = { QUERIES_DIR: queries, DATA_DIR: data, CACHE_DIR: join(folder, 'cache'), RATE_LIMIT: '0' };
  const service = await startService({ ...settings });
  const listeners: Listener[] = [];
  try {
    await firstAnswer(service, '/api/endpoints/query/bench.tail');
    const file = join(data, 'raw_edge_logs.ndjson');
    let written = 0;
    /** Milliseconds until each listener has seen the last of some rows. */
    const round = async (): Promise<number[]> => {
      const ids = Array.from({ length: ROWS }, () => `row-${String(written++)}`);
      const timestamp = new Date().toISOString();
      const lines = ids.map((id) => JSON.stringify({ id, timestamp, event_message: 'GET | 200 | /rest/v1/items' }));
      const began = performance.now();
      appendFileSync(file, `${lines.join('\n')}\n`);
      const last = ids.at(-1)!;
      while (listeners.some(({ seen }) => !seen.has(last))) await sleep(2);
      return listeners.map(({ seen }) => seen.get(last)! - began);
    };
    listeners.push(await listen(service.origin));
    await round();
    const before = residentWithChildren(service.pid);
    const alone: number[] = [];
    for (let i = 0; i < ROUNDS; i++) alone.push(...(await round()));
    print(latencyOf('1 listener', alone));
    while (listeners.length < LISTENERS) listeners.push(await listen(service.origin));
    const many: number[] = [];
    for (let i = 0; i < ROUNDS; i++) many.push(...(await round()));
    print(latencyOf(`${String(LISTENERS)} listeners`, many));
    const more = residentWithChildren(service.pid) - before;
    const verdict = more <= MEMORY_GOAL ? 'within' : 'MISSES';
    print(`  ${more.toFixed(0)} MiB more in all processes (${verdict} goal ${String(MEMORY_GOAL)} MiB)`);
    for (const { response } of listeners.splice(0)) response.destroy();
    print(await followedOverCuts(service.origin, file));
  } finally {
    for (const { response } of listeners) response.destroy();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function latencyOf(who: string, times: readonly number[]): string {
  const middle = median(times);
  const verdict = middle <= LATENCY_GOAL ? 'within' : 'MISSES';
  const [half, high] = [middle.toFixed(0), percentile(times, 0.99).toFixed(0)];
  return `  ${who.padEnd(18)} written to seen: median ${half} ms, p99 ${high} ms (${verdict} goal ${String(LATENCY_GOAL)} ms)`;
}

function listen(origin: string): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const options = { headers: { 'X-API-KEY': API_KEY }, agent: false };
    const request = http.get(`${origin}${PATH}`, options, (response) => {
      if (response.statusCode === 200) resolve(new Listener(response));
      else reject(new Error(`A live tail was answered ${String(response.statusCode)}.`));
    });
    request.on('error', reject);
  });
}

/** Appends rows, and follows them by connections that are cut at places that say nothing of events. */
async function followedOverCuts(origin: string, file: string): Promise<string> {
  const times = new Uint8Array(FOLLOWED);
  let [seen, last, connections] = [0, '', 0];
  let cutAt = 0;
  await new Promise<void>((resolve, reject) => {
    const connect = (): void => {
      connections++;
      const place: Record<string, string> = last === '' ? {} : { 'Last-Event-ID': last };
      const options = { headers: { 'X-API-KEY': API_KEY, ...place }, agent: false };
      const request = http.get(`${origin}${PATH}`, options, (response) => {
        if (response.statusCode !== 200) {
          reject(new Error(`A live tail was answered ${String(response.statusCode)}.`));
          return;
        }
        if (last === '' && seen === 0) resolve();
        response.setEncoding('utf8');
        let rest = '';
        response.on('data', (text: string) => {
          const events = (rest + text).split('\n\n');
          rest = events.pop() ?? '';
          for (const event of events) {
            const [, id] = /^id: ?(.*)$/m.exec(event) ?? [];
            const [, row] = /^data: ?(\{"id":.*)$/m.exec(event) ?? [];
            if (row === undefined) continue;
            const [, number] = /^\{"id":"followed-(\d+)"/.exec(row) ?? [];
            if (number !== undefined) {
              if (times[Number(number)]!++ === 0) seen++;
            }
            if (id !== undefined) last = id;
            if (last !== '' && seen < FOLLOWED && seen >= cutAt) {
              cutAt = seen + Math.ceil(Math.random() * CUT_AFTER);
              response.destroy();
              return;
            }
          }
        });
        response.once('close', () => {
          if (seen < FOLLOWED) connect();
        });
      });
      request.on('error', reject);
    };
    cutAt = Math.ceil(Math.random() * CUT_AFTER);
    connect();
  });
  const timestamp = new Date().toISOString();
  for (let from = 0; from < FOLLOWED; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, FOLLOWED - from) }, (_, i) =>
      JSON.stringify({ id: `followed-${String(from + i)}`, timestamp, event_message: 'GET | 200 | /rest/v1/items' }),
    );
    appendFileSync(file, `${rows.join('\n')}\n`);
    await sleep(20);
  }
  for (let before = -1; before !== seen && seen < FOLLOWED;) {
    before = seen;
    for (let waited = 0; waited < PATIENCE && before === seen; waited += 1_000) await sleep(1_000);
  }
  // What would come twice comes soon.
  await sleep(2_000);
  const [lost, doubled] = [times.filter((n) => n === 0).length, times.filter((n) => n > 1).length];
  const verdict = lost + doubled === 0 ? 'within' : 'MISSES';
  return `  ${String(FOLLOWED)} rows over ${String(connections)} connections: ${String(lost)} lost, ${String(doubled)} doubled (${verdict} goal 0)`;
}
