/** The built service as a process of its own, under a watchdog, for requests that try to stop it. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hashOf } from '../../src/keys/key';
import { DATA_DIR, Stage } from '../process/started';
import { CLIENT_ENDPOINT, CLIENT_KEYS } from './clients';

export const API_KEY = 'hostile-suite-key-that-guards-nothing';

/** One request, and what it tries. */
export interface HostileRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  /** Flat: names and values, so that one may be sent twice. */
  readonly headers: readonly string[];
  readonly body: string | null;
}

/** What a request was answered, and what it cost. */
export interface Measured {
  readonly status: number;
  /** Of an error. */
  readonly reason: string | null;
  readonly milliseconds: number;
  /** Processor time of the main thread in its longest turn, in milliseconds. */
  readonly blocked: number;
}

/** What the service is given: MiB for DuckDB and the cache, seconds for a query. */
export interface Limits {
  readonly duckdb: number;
  readonly cache: number;
  readonly timeout: number;
}

/** Milliseconds after an answer in which work that it left behind still counts. */
const AFTERWARDS = 30;

/** Milliseconds between two looks at the memory, and how many of them go by between two at which processes there are. */
const SAMPLE_EVERY = 25;
const LOOKS_FOR_PROCESSES = 10;

/** A running service. */
export class Target {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sampling: NodeJS.Timeout;
  #samples = 0;
  #family: readonly number[] = [];
  #peakMemory = 0;

  private constructor(
    private readonly stage: Stage,
    readonly limits: Limits,
    readonly port: number,
    private readonly pid: number,
    private readonly socket: string,
  ) {
    this.#sampling = setInterval(() => this.#measureMemory(), SAMPLE_EVERY);
  }

  static async start(limits: Limits): Promise<Target> {
    const stage = new Stage();
    const folder = stage.folder();
    const dataDir = path.join(folder, 'data');
    cpSync(DATA_DIR, dataDir, { recursive: true });
    writeFileSync(path.join(folder, 'queries/hostile.rows.sql'), CLIENT_ENDPOINT);
    const keys = Object.entries(CLIENT_KEYS).map(([name, more]) => ({
      name,
      hash: hashOf(name).toString('hex'),
      ...more,
    }));
    writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys }));
    writeFileSync(path.join(folder, 'sources.json'), JSON.stringify({ wide: 'wide_rows' }));
    const socket = path.join(folder, 'watchdog');
    const started = stage.start(
      {
        API_KEY,
        KEYS_FILE: path.join(folder, 'keys.json'),
        DATA_DIR: dataDir,
        COLLECT: 'on',
        COLLECT_SOURCES: path.join(folder, 'sources.json'),
        CLOCK: '2026-09-30T12:00:00Z',
        LOG_LEVEL: 'info',
        QUERY_TIMEOUT: String(limits.timeout),
        DUCKDB_MEMORY_LIMIT: `${limits.duckdb}MB`,
        CACHE_MEMORY: String(limits.cache * 1024 * 1024),
        WATCHDOG_SOCKET: socket,
        NODE_OPTIONS: `--require ${path.join(__dirname, 'watchdog.js')}`,
      },
      folder,
    );
    await started.logged(/"msg":"ready"/);
    const [, port] = await started.logged(/"port":(\d+)/);
    return new Target(stage, limits, Number(port), started.child.pid ?? 0, socket);
  }

  /** Sends one request while nothing else is asked. */
  async measure(hostile: HostileRequest): Promise<Measured> {
    await this.blocked();
    const began = performance.now();
    const { status, text } = await this.send(hostile);
    const milliseconds = performance.now() - began;
    await sleep(AFTERWARDS);
    return { status, reason: reasonOf(status, text), milliseconds, blocked: await this.blocked() };
  }

  /** Sends a request; a connection that breaks off is status 0. */
  send({ method, path: target, headers, body }: HostileRequest): Promise<{ status: number; text: string }> {
    return new Promise((resolve) => {
      const sent = request({
        port: this.port,
        host: '127.0.0.1',
        method,
        path: target,
        agent: this.#agent,
        headers: [
          'Host',
          'localhost',
          ...headers,
          ...(body === null ? [] : ['Content-Length', String(Buffer.byteLength(body))]),
        ],
      });
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        response.on('error', () => resolve({ status: 0, text: '' }));
      });
      sent.on('error', () => resolve({ status: 0, text: '' }));
      sent.end(body ?? undefined);
    });
  }

  /** The longest turn since it was last asked for. */
  blocked(): Promise<number> {
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(this.socket);
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('end', () => resolve(Number(text)));
      socket.on('error', reject);
    });
  }

  /** Of the same instant, MiB of each process. */
  peakByProcess = '';

  /** The most memory that all processes of the service have had resident at the same time, in MiB. */
  get peakMemory(): number {
    return this.#peakMemory;
  }

  #measureMemory(): void {
    // Looking for new processes reads all of /proc.
    if (this.#samples++ % LOOKS_FOR_PROCESSES === 0) this.#family = this.processes();
    const each = this.#family.map((pid) => [titleOf(pid), Math.round(resident(pid))] as const);
    const sum = each.reduce((all, [, own]) => all + own, 0);
    if (sum <= this.#peakMemory) return;
    this.#peakMemory = sum;
    this.peakByProcess = each.map(([title, own]) => `${title} ${String(own)}`).join(', ');
  }

  /** The service's process and those that it has started. */
  processes(): number[] {
    const parents = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
      const pid = Number(entry);
      if (Number.isInteger(pid)) parents.set(pid, parentOf(pid));
    }
    const family = [this.pid];
    for (const member of family) {
      for (const [pid, parent] of parents) if (parent === member) family.push(pid);
    }
    return family;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sampling);
    this.#agent.destroy();
    await this.stage.end();
  }
}

function reasonOf(status: number, text: string): string | null {
  if (status < 400) return null;
  try {
    return (JSON.parse(text) as { error: { errors: { reason: string }[] } }).error.errors[0]?.reason ?? null;
  } catch {
    return null;
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0.*/s, '').replace(/^.*\//, '');
  } catch {
    return 'ended';
  }
}

/** MiB; 0 for a process that has ended. */
function resident(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
