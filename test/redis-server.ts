import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installed = spawnSync('redis-server', ['--version']).status === 0;

/**
 * `describe` for tests that need a real Redis. Without `redis-server` on the machine they are skipped, and said to be; in
 * CI that is a failure instead.
 */
export const describeWithRedis: jest.Describe = installed ? describe : missing();

function missing(): jest.Describe {
  if (process.env.CI) throw new Error('redis-server is not installed, and these tests are not for skipping in CI.');
  process.stderr.write('redis-server is not installed: tests that need it are skipped.\n');
  return describe.skip;
}

export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** It accepts connections and answers nothing, until it is thawed. */
  freeze(): void;
  thaw(): void;
  /** Ends it, if it has not ended, and resolves when it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis that keeps nothing on disk, on a free port of the loopback or the one given.
 *
 * @param settings as on the command line: `['--maxmemory', '8mb']`
 */
export async function startRedis(
  settings: readonly string[] = [],
  { port, sentinel }: { port?: number; sentinel?: string } = {},
): Promise<RedisServer> {
  for (let tries = 0; ; tries++) {
    try {
      return await startOn(port ?? (await freePort()), settings, sentinel);
    } catch (error) {
      // Somebody else was faster to take the port.
      if (port !== undefined || tries === 5) throw error;
    }
  }
}

async function startOn(port: number, settings: readonly string[], sentinel: string | undefined): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-redis-'));
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'];
  const args =
    sentinel === undefined
      ? [...own, '--save', '', '--appendonly', 'no', ...settings]
      : [sentinel, '--sentinel', ...own];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  let said = '';
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said += chunk.toString();
      if (/Ready to accept connections|Sentinel ID is/.test(said)) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    void ended.then(() => reject(new Error(`redis-server did not start: ${said}`)));
  });
  const kill = async (): Promise<void> => {
    process.removeListener('exit', end);
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    freeze: () => {
      child.kill('SIGSTOP');
      while (!isStopped(child.pid));
    },
    thaw: () => void child.kill('SIGCONT'),
    stop: kill,
  };
}

/** Signals take effect a little later; where that cannot be seen, it counts as done. */
function isStopped(pid: number | undefined): boolean {
  const status = `/proc/${String(pid)}/stat`;
  return !existsSync(status) || /^\d+ \(.*\) [TZX] /.test(readFileSync(status, 'latin1'));
}

/** A port of the loopback that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
