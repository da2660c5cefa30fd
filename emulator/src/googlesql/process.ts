import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

/**
 * The engine is an executable inside the npm package, whatever its name says. It runs under a watching subshell that holds
 * the other end of its standard input: when this process ends in any way, SIGKILL included, the pipe closes and the engine
 * is killed with it. A line on the pipe ends the watcher without a kill (the engine is gone already, and its number may
 * belong to somebody else by then).
 */
const WATCHED =
  'exec 3<&0; (if read -r gone <&3; then exit 0; fi; kill -9 $$) & exec "$0" localhost "$1" 3<&- </dev/null';

/** Where the package keeps its binaries and protocol files; null where it is not installed. */
export function engineFolder(): string | null {
  try {
    return join(dirname(require.resolve('@fivetrandevelopers/zetasql/package.json')), 'lib', 'zetasql');
  } catch {
    return null;
  }
}

function executable(folder: string): string {
  const name = `remote_server${process.arch.startsWith('arm') ? '_arm' : ''}${process.platform === 'darwin' ? '' : '.so'}`;
  const path = join(folder, name);
  if (!['linux', 'darwin'].includes(process.platform) || !existsSync(path))
    throw new Error(`The GoogleSQL engine has no binary for ${process.platform} ${process.arch}`);
  return path;
}

/** Asks the system for a free loopback port. Somebody may take it before the engine does: the caller tries again. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** One running engine process. */
export class EngineProcess {
  private gone = false;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    /** Resolves when the process is gone. */
    readonly ended: Promise<void>,
  ) {
    void ended.then(() => {
      this.gone = true;
    });
  }

  /** True until the process has ended. */
  get alive(): boolean {
    return !this.gone;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  static async start(): Promise<EngineProcess> {
    const folder = engineFolder();
    if (folder === null) throw new Error('The local BigQuery is not installed: npm ci --prefix emulator');
    const port = await freePort();
    const child = spawn('/bin/sh', ['-c', WATCHED, executable(folder), String(port)], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = new Promise<void>((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
    child.stdin?.on('error', () => undefined);
    void ended.then(() => child.stdin?.end('gone\n'));
    // Neither the process nor its pipe keeps a finished program from ending.
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.();
    return new EngineProcess(child, port, ended);
  }

  /** Ends the engine and resolves when it is gone. */
  async stop(): Promise<void> {
    // Waited for from here on: the event loop may have nothing else left.
    this.child.ref();
    if (this.alive) this.child.kill('SIGKILL');
    await this.ended;
  }
}
