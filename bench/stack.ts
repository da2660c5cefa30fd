/**
 * The whole in a Supabase stack (docs/supabase.md): the service with the settings of the compose file takes in what seven sinks of Vector
 * send while somebody has Studio's pages of logs open. What all of its processes have in memory, then, and with a million events that come at once; and
 * after how long Studio's own libraries show what is wrong with a query.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { parse } from 'yaml';

import { page } from '../test/process/stack/studio';
import { type ControlGroup, createControlGroup } from './control-group';
import { percentile, verdict } from './measure';
import { API_KEY, firstAnswer, processesOf, processFile, type Service, startService } from './service';

const ROOT = join(__dirname, '../../..');
const PUBLIC = 'public-token-of-the-benchmark';

/** Events that come at once, in batches of 1,000; STACK_EVENTS=0 for none. */
const EVENTS = Number(process.env['STACK_EVENTS'] ?? 1_000_000);
/** Seconds of load; STACK_SECONDS for a first look. */
const SECONDS = Number(process.env['STACK_SECONDS'] ?? 120);
/** Events a second of all containers together, and milliseconds between two questions of Studio. */
const RATE = 200;
const EVERY = 1_000;
/** MiB: a tenth of what Logflare is reported to take, as `docker stats` counts it (supabase/supabase#30122). */
const GOAL = 180;

/** What of the compose file is measured. */
interface Compose {
  readonly services: {
    readonly analytics: {
      readonly environment: Readonly<Record<string, string>>;
      readonly healthcheck: { readonly test: readonly ['CMD', 'bash', '-c', string]; readonly interval: `${number}s` };
    };
  };
}

const SOURCES = [
  ['cloudflare.logs.prod', 'supabase-kong'],
  ['gotrue.logs.prod', 'supabase-auth'],
  ['postgREST.logs.prod', 'supabase-rest'],
  ['realtime.logs.prod', 'supabase-realtime'],
  ['storage.logs.prod.2', 'supabase-storage'],
  ['deno-relay-logs', 'supabase-edge-functions'],
  ['postgres.logs', 'supabase-db'],
] as const;

const UNNESTED = `edge_logs as t cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

/** Of a page: its list, its chart, its count. */
const COUNT = 'select count(*) as n from edge_logs';
const PAGE = [
  `select id, t.timestamp, event_message, request.method, request.path, response.status_code from ${UNNESTED} order by timestamp desc limit 100`,
  `select timestamp_trunc(t.timestamp, minute) as timestamp, countif(response.status_code >= 500) as errors, count(t.timestamp) as count
    from ${UNNESTED} group by timestamp order by timestamp desc`,
  'select count(*) as count from edge_logs',
  'select id, timestamp, event_message from postgres_logs order by timestamp desc limit 100',
  'select id, timestamp, event_message from auth_logs order by timestamp desc limit 100',
];

/** Milliseconds within which a page of Studio has the text of an error. */
const SHOWN_WITHIN = 100;
/** Queries of each kind that fail. */
const FAILING = 25;

/** Each is another text, as that of somebody who mends a query: refused for its syntax, its names, its tables, and by its rows. */
const failing = (n: number): readonly string[] => [
  `select nope${String(n)} from edge_logs`,
  `select id from edge_logs where ${String(n)} =`,
  `select id from other_table${String(n)}`,
  `select cast('x${String(n)}' as int64) as n from edge_logs`,
];

interface Load {
  /** MiB of all processes, looked at twice a second. */
  readonly looks: readonly Memory[];
  /** MiB of each process at the end. */
  readonly each: readonly number[];
  /** Milliseconds of Studio's questions. */
  readonly times: readonly number[];
}

interface Memory {
  /** MiB of all processes, with what they share counted once, and their part of what they share with others. */
  readonly shares: number;
  /** MiB as `docker stats` counts them; null: there may be no control group. */
  readonly container: number | null;
}

let sent = 0;
let batches = 0;

async function send(service: Service, count: number): Promise<void> {
  const [source, appname] = SOURCES[batches++ % SOURCES.length] ?? SOURCES[0];
  const timestamp = new Date().toISOString();
  const events = Array.from({ length: count }, () => ({
    appname,
    event_message: `172.18.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /rest/v1/items?id=eq.${String(sent++)} HTTP/1.1" 200 12 "http://localhost:3000/" "Mozilla/5.0 (X11; Linux x86_64)"`,
    metadata: {
      level: 'info',
      request: { method: null, path: null },
      response: { status_code: 200 },
      project: 'default',
    },
    project: 'default',
    timestamp,
  }));
  const response = await fetch(`${service.origin}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`A batch is answered ${String(response.status)}.`);
}

/** @returns milliseconds */
async function ask(service: Service, sql: string, minutes: number): Promise<number> {
  const query = new URLSearchParams({
    project: 'default',
    sql,
    iso_timestamp_start: new Date(Date.now() - minutes * 60_000).toISOString(),
  }).toString();
  const started = performance.now();
  const response = await fetch(`${service.origin}/api/endpoints/query/logs.all?${query}`, {
    headers: { 'X-API-KEY': API_KEY },
  });
  const body = await response.text();
  if (response.status !== 200 || body.startsWith('{"error')) throw new Error(`${sql}: ${body.slice(0, 200)}`);
  return performance.now() - started;
}

/** MiB of each process of the service, with what they share in parts (Linux). */
function memories(pid: number): number[] {
  return processesOf(pid).map((one) => {
    const text = processFile(one, 'smaps_rollup');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  });
}

function memory(pid: number, group: ControlGroup | null): Memory {
  return { shares: memories(pid).reduce((sum, one) => sum + one, 0), container: group?.used() ?? null };
}

function reportMemory(looks: readonly Memory[]): string {
  const line = (values: readonly number[]): string =>
    `median ${percentile(values, 0.5).toFixed(0)} MiB, most ${Math.max(...values).toFixed(0)} MiB`;
  const counted = containers(looks);
  const ofProcesses = line(looks.map(({ shares }) => shares));
  return counted.length === 0 ? `memory: ${ofProcesses}` : `memory: ${line(counted)} (by shares: ${ofProcesses})`;
}

function containers(looks: readonly Memory[]): number[] {
  return looks.flatMap(({ container }) => (container === null ? [] : [container]));
}

/** The stack's load for some seconds. @returns memory and times as they were */
async function load(service: Service, seconds: number, group: ControlGroup | null): Promise<Load> {
  const end = performance.now() + seconds * 1000;
  const [looks, times]: [Memory[], number[]] = [[], []];
  const sinks = async (): Promise<void> => {
    while (performance.now() < end) {
      await send(service, Math.round(RATE / SOURCES.length));
      await sleep(1000 / SOURCES.length);
    }
  };
  const studio = async (): Promise<void> => {
    for (let n = 0; performance.now() < end; n++) {
      times.push(await ask(service, PAGE[n % PAGE.length] ?? '', 60));
      await sleep(EVERY);
    }
  };
  const look = async (): Promise<void> => {
    while (performance.now() < end) {
      looks.push(memory(service.pid, group));
      await sleep(500);
    }
  };
  await Promise.all([sinks(), studio(), look()]);
  return { looks, times, each: memories(service.pid) };
}

/** The container's own check, a process beside the service's. @returns what ends it */
function checkHealth(
  service: Service,
  group: ControlGroup | null,
  { environment, healthcheck }: Compose['services']['analytics'],
): () => void {
  const script = healthcheck.test[3].replaceAll('$$', '$').replace('/4000 ', `/${new URL(service.origin).port} `);
  const enter = group === null ? '' : `${group.enter} && `;
  const env = { PATH: process.env['PATH'], ...environment };
  const checking = setInterval(
    () => spawn('bash', ['-c', enter + script], { env, stdio: 'ignore' }),
    parseInt(healthcheck.interval) * 1000,
  );
  return () => {
    clearInterval(checking);
  };
}

/** What a page of Studio has of queries that fail, through openapi-fetch and query-core. @returns milliseconds until it has each text */
async function shown(service: Service, from: number, pause = 0): Promise<number[]> {
  const times: number[] = [];
  for (let n = from; n < from + FAILING; n++) {
    for (const sql of failing(n)) {
      const { shown: text, requests, ms } = await page(service.origin, API_KEY, sql);
      if (text === null || requests !== 1) throw new Error(`${sql}: no text after ${String(requests)} requests`);
      times.push(ms);
      await sleep(pause);
    }
  }
  return times;
}

function reportShown(name: string, times: readonly number[]): string {
  const [usual, late, most] = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)];
  return (
    `${name.padEnd(36)} text on Studio's page: median ${usual.toFixed(0)} ms, p99 ${late.toFixed(0)} ms, most ${most.toFixed(0)} ms  ` +
    verdict(late <= SHOWN_WITHIN, `p99 ${String(SHOWN_WITHIN)} ms`)
  );
}

function report(name: string, { looks, times, each }: Load): string {
  const last = each.map((one) => one.toFixed(0)).join(' + ');
  return `${name.padEnd(36)} ${reportMemory(looks)}, last ${last}; questions: median ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;
}

/** Much that comes at once, and the load after it. */
async function burst(service: Service, group: ControlGroup | null, print: (line: string) => void): Promise<void> {
  const looks: Memory[] = [];
  const looking = setInterval(() => looks.push(memory(service.pid, group)), 500);
  for (let i = 0; i < EVENTS; i += 1_000) await send(service, 1_000);
  await sleep(10_000);
  clearInterval(looking);
  print(`${`while ${String(EVENTS)} events come`.padEnd(36)} ${reportMemory(looks)}`);
  print(report(`the load, ${String(EVENTS)} events`, await load(service, SECONDS, group)));
}

export async function stack(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-stack-'));
  mkdirSync(join(folder, 'logs'));
  const { analytics } = (parse(readFileSync(join(ROOT, 'docker-compose.supabase.yml'), 'utf8')) as Compose).services;
  const environment = Object.entries(analytics.environment).filter(([name]) => name !== 'PORT');
  const group = createControlGroup(folder);
  const service = await startService(
    {
      ...Object.fromEntries(environment),
      DATA_DIR: join(folder, 'logs'),
      CACHE_DIR: join(folder, 'cache'),
      LOGFLARE_SINGLE_TENANT: 'true',
      LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
    },
    'inherit',
    group?.command,
  );
  const endHealthChecks = checkHealth(service, group, analytics);
  try {
    await firstAnswer(service, '/ready', 60_000);
    print(`${'started, nobody asks'.padEnd(36)} ${reportMemory([memory(service.pid, group)])}`);
    await send(service, 1);
    // Some fail by a row that there is. The first ones start the process that plans.
    while ((await page(service.origin, API_KEY, COUNT)).rows[0]?.n === 0) await sleep(100);
    await shown(service, 0);
    print(reportShown('failing queries, nothing else', await shown(service, FAILING)));
    const first = await load(service, SECONDS, group);
    print(report('the load, an empty folder', first));
    const second = await load(service, SECONDS, group);
    print(report('the load, no new query', second));
    // After a minute of the same pages, as by default, the process that plans has ended.
    const { ms } = await page(service.origin, API_KEY, "select cast('first' as int64) as n from edge_logs");
    print(`${'the first new text after the load'.padEnd(36)} text on Studio's page after ${ms.toFixed(0)} ms`);
    const [meanwhile, mending] = await Promise.all([shown(service, 2 * FAILING, 100), load(service, FAILING, group)]);
    print(reportShown('failing queries under the load', meanwhile));
    print(report('the load, ten new queries a second', mending));
    if (EVENTS > 0) await burst(service, group, print);
    for (const [name, { looks }] of [
      ['most in the load, an empty folder', first],
      ['most in the load, no new query', second],
    ] as const) {
      const most = Math.max(...(group === null ? looks.map(({ shares }) => shares) : containers(looks)));
      print(`${name.padEnd(36)} ${most.toFixed(0)} MiB  ${verdict(most <= GOAL, `${String(GOAL)} MiB`)}`);
    }
  } finally {
    endHealthChecks();
    await service.stop();
    group?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
