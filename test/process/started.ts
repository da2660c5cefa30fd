import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = path.join(__dirname, '../..');

export const DATA_DIR = path.join(ROOT, 'test/fixture');

/** The processes that a process has started, by what Linux tells. */
export function childrenOf(pid = 0): number[] {
  return readdirSync(`/proc/${String(pid)}/task`).flatMap((task) =>
    readFileSync(`/proc/${String(pid)}/task/${task}/children`, 'utf8')
      .split(' ')
      .map((child) => child.trim())
      .filter((child) => child !== '')
      .map(Number),
  );
}

/** A process of the service in a folder of its own, as `npm start` runs it. `npm test` has built it before. */
export class Started {
  out = '';
  err = '';
  readonly exit: Promise<number | null>;
  readonly child: ChildProcess;

  /**
   * @param environment beside a free port, no drain delay, no limit of requests per second and the fixture's tables
   * @param under a command that runs the one behind it in its own place: `setpriv`, `sh -c 'exec "$@"'`
   */
  constructor(
    readonly folder: string,
    environment: Readonly<Record<string, string>> = {},
    under: readonly string[] = [],
  ) {
    const { PATH = '' } = process.env;
    const env = { PATH, PORT: '0', DRAIN_DELAY: '0', RATE_LIMIT: '0', DATA_DIR, ...environment };
    const [command, ...rest] = [...under, process.execPath, path.join(ROOT, 'dist/cli.js'), 'serve'] as const;
    this.child = spawn(command, rest, { cwd: folder, env });
    this.child.stdout?.on('data', (data) => (this.out += String(data)));
    this.child.stderr?.on('data', (data) => (this.err += String(data)));
    this.exit = new Promise((resolve) => this.child.on('close', resolve));
  }

  /** Waits for a line of the log. @throws Error when it does not come */
  async logged(pattern: RegExp, within = 55_000): Promise<RegExpExecArray> {
    const end = performance.now() + within;
    for (;;) {
      const match = pattern.exec(this.err);
      if (match !== null) return match;
      if (performance.now() > end || this.child.exitCode !== null) {
        throw new Error(`${String(pattern)} does not come:\n${this.err}`);
      }
      await sleep(10);
    }
  }

  /** Where it listens, which is before it is ready. */
  async base(): Promise<string> {
    const [, port] = await this.logged(/"port":(\d+)/);
    return `http://127.0.0.1:${port ?? ''}`;
  }

  /** Where it listens once it answers requests: what it prints then, whatever it logs. */
  async port(): Promise<number> {
    for (;;) {
      const port = /answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(this.out)?.[1];
      if (port !== undefined) return Number(port);
      if (this.child.exitCode !== null) throw new Error(`It has ended:\n${this.err}`);
      await sleep(10);
    }
  }

  /** Resolves when it answers requests. */
  async ready(): Promise<string> {
    await this.logged(/"msg":"ready"/);
    while (!this.out.includes('curl')) await sleep(10);
    return this.base();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** Processes and folders of one test file; `end` leaves nothing behind. */
export class Stage {
  readonly #started: Started[] = [];
  readonly #folders: string[] = [];

  /** A new folder that holds the stored queries of the repository. */
  folder(): string {
    const folder = mkdtempSync(path.join(tmpdir(), 'logquay-'));
    this.#folders.push(folder);
    cpSync(path.join(ROOT, 'queries'), path.join(folder, 'queries'), { recursive: true });
    return folder;
  }

  start(
    environment: Readonly<Record<string, string>> = {},
    folder = this.folder(),
    under: readonly string[] = [],
  ): Started {
    const started = new Started(folder, environment, under);
    this.#started.push(started);
    return started;
  }

  async end(): Promise<void> {
    for (const { child } of this.#started) if (child.exitCode === null) child.kill('SIGKILL');
    await Promise.all(this.#started.map(({ exit }) => exit));
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}
