/** The built service while its data folder is followed: what it serves, and the memory and the CPU time of all its processes. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { API_KEY, processesOf, processFile, residentWithChildren, type Service, startService } from './service';

/** Milliseconds until rows are served at most. */
const PATIENCE = 3_600_000;

/** Milliseconds of CPU time a second below which nothing is being stored or merged, and for how many seconds that must hold. */
const AT_REST = 100;
const REST_SECONDS = 5;

const METRICS_KEY = 'metrics-of-a-benchmark';

/** The service, with the memory and the CPU time of all its processes. */
export class Running {
  peak = 0;
  readonly #watch: NodeJS.Timeout;
  /** CPU time of processes, by their numbers: those that have ended keep theirs. */
  readonly #cpu = new Map<number, number>();
  #n = 0;

  private constructor(
    private readonly service: Service,
    /** Milliseconds until it was ready. */
    readonly ready: number,
  ) {
    this.#watch = setInterval(() => this.#look(), 50);
  }

  static async start(environment: Readonly<Record<string, string>>): Promise<Running> {
    const started = performance.now();
    const service = await startService({ METRICS_KEY, ...environment });
    for (const end = performance.now() + 60_000; performance.now() < end;) {
      const response = await fetch(`${service.origin}/ready`).catch(() => null);
      if (response?.status === 200) break;
      await sleep(20);
    }
    return new Running(service, performance.now() - started);
  }

  stop(): Promise<void> {
    clearInterval(this.#watch);
    return this.service.stop();
  }

  /** Milliseconds of CPU time so far. */
  cpu(): number {
    this.#look();
    return [...this.#cpu.values()].reduce((sum, one) => sum + one, 0);
  }

  /** Waits until rows that are served are stored and merged as well. */
  async untilAtRest(): Promise<void> {
    for (let seconds = 0; seconds < REST_SECONDS;) {
      const before = this.cpu();
      await sleep(1000);
      seconds = this.cpu() - before < AT_REST ? seconds + 1 : 0;
    }
  }

  /** MiB that all processes have in memory. */
  resident(): number {
    return residentWithChildren(this.service.pid);
  }

  #look(): void {
    for (const pid of processesOf(this.service.pid)) {
      const stat = processFile(pid, 'stat');
      const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (rest.length > 21) this.#cpu.set(pid, (Number(rest[11]) + Number(rest[12])) * 10);
    }
    this.peak = Math.max(this.peak, this.resident());
  }

  /** Rows that are served. */
  async count(): Promise<number> {
    const [row] = await this.ask(`select count(*) as n, ${this.#n++} as k from edge_logs`);
    return (row as { n?: number } | undefined)?.n ?? 0;
  }

  /** Waits until a query counts so many rows. */
  async until(rows: number, every: number): Promise<void> {
    await waiting(rows, every, () => this.count());
  }

  /** Waits until the metrics name so many rows, which costs the same however many there are. */
  async untilServed(rows: number, every: number): Promise<void> {
    await waiting(rows, every, async () => {
      const response = await fetch(`${this.service.origin}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } });
      const tables = (await response.text()).matchAll(/^logquay_data_rows\{.*\} (\d+)$/gm);
      return [...tables].reduce((sum, [, one]) => sum + Number(one), 0);
    });
  }

  /** Ordinary queries, one after the other: the newest rows, and counts of an hour. */
  async queries(seconds: number, meanwhile: () => void): Promise<{ times: number[]; failed: number }> {
    const times: number[] = [];
    let failed = 0;
    const timer = setInterval(meanwhile, 100);
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
      const started = performance.now();
      const n = this.#n++;
      const sql =
        n % 2 === 0
          ? `select timestamp, id, event_message, ${n} as k from edge_logs order by timestamp desc limit 100`
          : `select timestamp_trunc(timestamp, minute) as t, count(*) as n, ${n} as k from edge_logs where timestamp > '2026-09-30T11:00:00Z' group by t`;
      await this.ask(sql).catch(() => failed++);
      times.push(performance.now() - started);
      await sleep(20);
    }
    clearInterval(timer);
    return { times, failed };
  }

  async ask(sql: string): Promise<readonly unknown[]> {
    const url = `${this.service.origin}/api/endpoints/query/logs.all?project=default&sql=${encodeURIComponent(sql)}`;
    const response = await fetch(url, { headers: { 'X-API-KEY': API_KEY } });
    const body = (await response.json()) as { result?: unknown[] };
    if (response.status !== 200 || body.result === undefined) throw new Error(`${response.status}`);
    return body.result;
  }
}

async function waiting(rows: number, every: number, served: () => Promise<number>): Promise<void> {
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    if ((await served()) >= rows) return;
    await sleep(every);
  }
  throw new Error(`${rows} rows are not served.`);
}

/** Bytes of a folder's files. */
export function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const found = statSync(join(path, name));
    return found.isFile() ? sum + found.size : sum;
  }, 0);
}
