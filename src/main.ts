/** The process: environment in, signals in, exit code out. */
import type { Service } from './app';
import { readConfig } from './config';
import { openLog } from './log';
import { logForeignLines } from './log/foreign-lines';
import { print } from './log/visible';
import { loadSettingsFile } from './settings-file';

/**
 * Threads of libuv's pool. A DuckDB query occupies one while it runs; with libuv's default, 4, file access and compression
 * would wait for queries. It is read when the pool is first used.
 */
const POOL_THREADS = '12';

/** Lets others write to the standard error again: what is said at last is for people. */
let writeAgain = (): void => undefined;

async function start(): Promise<void> {
  process.env.UV_THREADPOOL_SIZE ??= POOL_THREADS;
  loadSettingsFile();
  const config = readConfig(process.env, process.stdin.isTTY || process.stdout.isTTY);
  const log = openLog(config.logLevel, process.stderr);
  if (!process.stderr.isTTY) writeAgain = logForeignLines(log);
  const endAtOnce = (error: unknown): void => {
    log.fatal({ err: error }, 'an error that nobody caught; the process ends');
    process.exit(1);
  };
  // A full disk, or a reader that has gone, ends a command (cli.ts) and not a service.
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined);
  }
  process.on('uncaughtException', endAtOnce);
  process.on('unhandledRejection', endAtOnce);
  for (const warning of config.warnings) log.warn(warning);

  let service: Service | null = null;
  let ending = false;
  const end = (signal: string): void => {
    if (ending) process.exit(1);
    ending = true;
    log.info({ signal }, 'draining; a second signal ends the process at once');
    void Promise.resolve(service?.drain()).then(() => {
      process.exit(0);
    });
  };
  // Before anything is begun: whoever sees the listener may ask it to end.
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // Both processes load their modules at the same time.
  const engineProcess = config.bigquery === null ? (await import('@logquay/duckdb-engine')).startProcess('data') : null;
  const { Service } = await import('./app.js');
  service = await Service.start(config, log, process.stdout.isTTY, engineProcess);
  const welcome = await service.ready.catch((error: unknown) => {
    // The start was cancelled.
    if (ending) return null;
    throw error;
  });
  if (welcome !== null) print(process.stdout, `${welcome}\n`);
}

/** Runs the service until a signal ends the process; one that cannot start ends it with 1, having said why. */
export async function serve(): Promise<void> {
  try {
    await start();
  } catch (error) {
    writeAgain();
    // The message is for operators; the stack is for debugging.
    const message = error instanceof Error ? error.message : String(error);
    print(process.stderr, `Logquay cannot start.\n${message}\n`);
    if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) print(process.stderr, `${error.stack ?? ''}\n`);
    process.exit(1);
  }
}
