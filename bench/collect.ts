/**
 * The collector: events of a gateway in batches, as Vector sends them, while another key reads. Events for each second of processor time of
 * the service's process, which is what one core takes, against a bare process that parses, prints, appends and flushes the same batches.
 */
import { open } from 'node:fs/promises';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { percentile, verdict } from './measure';
import { API_KEY, firstAnswer, residentWithChildren, startService } from './service';

const PUBLIC = 'public-token-of-the-benchmark';
const EVENTS = 1_000;
const SENDERS = 4;
const SECONDS = 15;
/** Batches that are not counted: threads start, and code is compiled. */
const WARM_UP = 40;
const READ_EVERY = 200;
const GOAL = 20_000;
const TICKS_PER_SECOND = 100;

const RUN = `/api/endpoints/query/logs.all?${new URLSearchParams({
  project: 'default',
  sql: 'SELECT COUNT(*) AS n FROM edge_logs',
}).toString()}`;

let sent = 0;

/** A batch like those of the stack's Kong, about 600 bytes an event. */
function batch(): Buffer {
  const time = new Date().toISOString();
  const events = Array.from({ length: EVENTS }, () => {
    const path = `/rest/v1/items?id=eq.${String(sent++)}`;
    const agent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
    return {
      appname: 'supabase-kong',
      event_message: `172.18.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 12 "http://localhost:3000/" "${agent}"`,
      metadata: {
        request: {
          headers: { cf_connecting_ip: '172.18.0.1', referer: 'http://localhost:3000/', user_agent: agent },
          method: null,
          path: null,
          protocol: null,
        },
        response: { status_code: 200 },
      },
      project: 'default',
      timestamp: time,
    };
  });
  return Buffer.from(JSON.stringify(events));
}

/** Processor time of a process and its threads so far, in seconds (Linux). */
function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Events a second of processor time. */
async function bare(folder: string): Promise<number> {
  const batches = Array.from({ length: 20 }, batch);
  const file = await open(join(folder, 'bare.ndjson'), 'a');
  const before = process.cpuUsage();
  for (const body of batches) {
    const events = JSON.parse(body.toString()) as object[];
    await file.writeFile(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await file.datasync();
  }
  const { user, system } = process.cpuUsage(before);
  await file.close();
  return (batches.length * EVENTS) / ((user + system) / 1e6);
}

export async function collect(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-collect-'));
  mkdirSync(join(folder, 'logs'));
  const service = await startService({
    COLLECT: 'on',
    DATA_DIR: join(folder, 'logs'),
    CACHE_DIR: join(folder, 'cache'),
    LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
    RATE_LIMIT: '0',
  });
  try {
    await firstAnswer(service, RUN, 120_000);
    const read = async (): Promise<number> => {
      const started = performance.now();
      const response = await fetch(service.origin + RUN, { headers: { 'X-API-KEY': API_KEY } });
      await response.text();
      if (response.status !== 200) throw new Error(`A read is answered ${String(response.status)}.`);
      return performance.now() - started;
    };
    const calm: number[] = [];
    for (let i = 0; i < 25; i++) calm.push(await read());
    const store = async (): Promise<number> => {
      const body = batch();
      const started = performance.now();
      const response = await fetch(`${service.origin}/api/logs?source_name=cloudflare.logs.prod`, {
        method: 'POST',
        headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
        body,
      });
      await response.text();
      if (response.status !== 200) throw new Error(`A batch is answered ${String(response.status)}.`);
      return performance.now() - started;
    };
    for (let i = 0; i < WARM_UP; i += SENDERS) await Promise.all(Array.from({ length: SENDERS }, store));
    const end = performance.now() + SECONDS * 1000;
    const busy: number[] = [];
    const stored: number[] = [];
    const send = async (): Promise<void> => {
      while (performance.now() < end) stored.push(await store());
    };
    const reader = async (): Promise<void> => {
      while (performance.now() < end) {
        busy.push(await read());
        await sleep(READ_EVERY);
      }
    };
    const before = processorTime(service.pid);
    const started = performance.now();
    await Promise.all([...Array.from({ length: SENDERS }, send), reader()]);
    const seconds = (performance.now() - started) / 1000;
    const spent = processorTime(service.pid) - before;
    const events = stored.length * EVENTS;
    const perCore = events / spent;
    const baseline = await bare(folder);
    print(
      `events a second of one core                  ${perCore.toFixed(0)}  baseline, a bare process that appends and flushes: ` +
        `${baseline.toFixed(0)}  ${(perCore / baseline).toFixed(2)}x  ${verdict(perCore >= GOAL, String(GOAL))}`,
    );
    print(`events a second on this machine              ${(events / seconds).toFixed(0)}`);
    print(`a batch of ${String(EVENTS)}: median, p99                ${timesOf(stored)}`);
    print(`reads calm: median, p99                      ${timesOf(calm)}`);
    print(`reads meanwhile: median, p99                 ${timesOf(busy)}`);
    print(`resident, all processes                      ${residentWithChildren(service.pid).toFixed(0)} MiB`);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function timesOf(milliseconds: readonly number[]): string {
  return `${percentile(milliseconds, 0.5).toFixed(0)} ms, ${percentile(milliseconds, 0.99).toFixed(0)} ms`;
}
