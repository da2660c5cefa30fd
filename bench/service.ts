/** The built service as a process of its own, as an operator starts it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const LOGQUAY = join(ROOT, 'dist/cli.js');

export const API_KEY = 'benchmark-key-that-guards-nothing';

export interface Service {
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts `node dist/cli.js serve` on a free port. Resolves as soon as the process is there, before it listens.
 *
 * @param log where its log goes: a file's descriptor, or this process's own
 * @param command Node, and what it is started by
 */
export async function startService(
  environment: Readonly<Record<string, string>> = {},
  log: number | 'inherit' = 'inherit',
  [command, ...args]: readonly [string, ...string[]] = [process.execPath],
): Promise<Service> {
  const port = await freePort();
  const child = spawn(command, [...args, LOGQUAY, 'serve'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      API_KEY,
      DRAIN_DELAY: '0',
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'ignore', log],
  });
  // However the benchmark ends: a service that nobody stops spoils the figures of the next one.
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  await once(child, 'spawn');
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => stop(child) };
}

/** Writes a file of keys that may send SQL, each of which is its own name. @returns its path */
export function keysFile(folder: string, names: readonly string[]): string {
  const file = join(folder, 'keys.json');
  const keys = names.map((name) => ({
    name,
    hash: createHash('sha256').update(name).digest('hex'),
    allowSql: true,
  }));
  writeFileSync(file, JSON.stringify({ keys }));
  return file;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The port is unknown.');
  return address.port;
}

/** Resident memory of a process in MiB (Linux); NaN: it has ended. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(processFile(pid, 'status'))?.[1] ?? NaN) / 1024;
}

/** Resident memory of a process and those that it started, in MiB (Linux). */
export function residentWithChildren(pid: number): number {
  return processesOf(pid).reduce((sum, one) => sum + (residentMiB(one) || 0), 0);
}

/** A process and those that it started, and they, as long as they are there (Linux). */
export function processesOf(pid: number): number[] {
  const threads = orEmpty(() => readdirSync(`/proc/${String(pid)}/task`), []);
  const children = threads.flatMap((thread) =>
    processFile(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return threads.length === 0 ? [] : [pid, ...children.flatMap(processesOf)];
}

/** A file of a process under /proc (Linux); empty: it has ended. */
export function processFile(pid: number, name: string): string {
  return orEmpty(() => readFileSync(`/proc/${String(pid)}/${name}`, 'latin1'), '');
}

function orEmpty<T>(read: () => T, empty: T): T {
  try {
    return read();
  } catch {
    return empty;
  }
}

/** Polls until the service answers 200; fails after `timeout` milliseconds. */
export async function firstAnswer(service: Service, path: string, timeout = 30_000): Promise<string> {
  const deadline = performance.now() + timeout;
  while (performance.now() < deadline) {
    const response = await fetch(service.origin + path, { headers: { 'X-API-KEY': API_KEY } }).catch(() => null);
    const body = await response?.text();
    if (response?.status === 200 && body !== undefined) return body;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`No answer from ${path} within ${timeout} ms.`);
}
