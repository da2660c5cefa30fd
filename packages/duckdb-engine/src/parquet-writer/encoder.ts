import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { childEnvironment } from '../concurrency/child-environment';
import { type Clock, SYSTEM_CLOCK } from '../concurrency/clock';
import { ServiceError } from '../contract/service-error';
import { END, fileTooLarge, type Opening, TOO_LARGE } from './opening';

/** MiB of a process's heap: parts of rows that are being read. */
const HEAP = 192;
/** UTF-16 units of what a process complains of. */
const LONGEST_COMPLAINT = 4096;
/** Milliseconds in which a process with rows to read, or behind the last of them, reads or writes something. */
const PATIENCE = 30_000;

/** Resolves when more may come. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void>;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Before work is spent on rows: an image for BigQuery alone may have no DuckDB (docs/deploy.md).
 *
 * @throws ServiceError notImplemented
 */
export function checkParquet(): void {
  try {
    createRequire(__filename).resolve('@duckdb/node-api');
  } catch {
    const hint = 'Ask for application/x-ndjson or text/csv.';
    throw new ServiceError('notImplemented', 'This installation has no DuckDB, which writes Parquet.', { hint });
  }
}

/**
 * Encodes rows as Parquet in a process of its own, which is there as long as the export (docs/decisions/exports.md). It
 * takes rows no faster than it writes them, and writes no faster than they are taken. A process that stalls is ended.
 */
export class Encoder {
  readonly #child: Child;
  /** Settles when everything that was written has been taken. */
  readonly #done: Promise<void>;
  /** Ends the wait of `write`. */
  #resume: (() => void) | null = null;
  #failed = false;
  /** Whether the process has something to do that this one waits for, and whether this one is what it waits for. */
  #awaited = false;
  #taking = false;
  #cancelWatch: (() => void) | null = null;
  #onStall: (error: ServiceError) => void = () => undefined;

  /**
   * @param take takes what it writes; what it throws ends the process
   * @param file the compiled child.ts; default: the one beside this file
   */
  constructor(
    opening: Opening,
    take: TakeBytes,
    private readonly clock: Clock = SYSTEM_CLOCK,
    file = join(__dirname, 'child.js'),
  ) {
    this.#child = spawn(process.execPath, [`--max-old-space-size=${String(HEAP)}`, file], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: childEnvironment(),
    });
    const { stdin } = this.#child;
    // What is sent to a process that has ended: its end says more.
    stdin.on('error', () => undefined);
    stdin.on('drain', () => this.#resume?.());
    // What is stopped, or waits for a disk, may not end when it is killed.
    const stalled = new Promise<never>((_, reject) => (this.#onStall = reject));
    this.#done = Promise.race([this.#forward(take), stalled]);
    this.#done
      .catch(() => {
        this.#failed = true;
        this.kill();
        this.#resume?.();
      })
      .finally(() => this.#cancelWatch?.());
    stdin.write(`${JSON.stringify(opening)}\n`);
  }

  /**
   * Resolves when it takes more.
   *
   * @param lines rows as JSON text, each with a line break behind it
   * @throws ServiceError `resourcesExceeded`, `backendError`; what `take` has thrown
   */
  async write(lines: Uint8Array): Promise<void> {
    const { stdin } = this.#child;
    if (this.#failed) return this.#done;
    if (stdin.write(lines)) return;
    this.#watch({ awaited: true });
    await new Promise<void>((resolve) => (this.#resume = resolve));
    this.#resume = null;
    this.#watch({ awaited: false });
    // Where it was no drain that ended the wait, there is an error.
    if (this.#failed) await this.#done;
  }

  /** All rows have been written: resolves when what they make has been taken. @throws as `write` */
  async end(): Promise<void> {
    this.#child.stdin.end(Buffer.of(END));
    this.#watch({ awaited: true });
    await this.#done;
  }

  /** The process has done something, or has something to do. */
  #watch({
    awaited = this.#awaited,
    taking = this.#taking,
  }: {
    readonly awaited?: boolean;
    readonly taking?: boolean;
  }): void {
    this.#cancelWatch?.();
    this.#cancelWatch = null;
    this.#awaited = awaited;
    this.#taking = taking;
    if (!awaited || taking || this.#failed) return;
    this.#cancelWatch = this.clock.after(PATIENCE, () => this.#onStall(failed(null, 'The process has stalled.')));
  }

  /** Ends the process, of which nothing is left; without effect behind `end`. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #forward(take: TakeBytes): Promise<void> {
    const child = this.#child;
    let complaint = '';
    child.stderr.on('data', (text: Buffer) => {
      if (complaint.length < LONGEST_COMPLAINT) complaint += text.toString();
    });
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', resolve);
      // It could not be started.
      child.once('error', ({ message }) => {
        complaint = message;
        resolve(null);
      });
    });
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
      this.#watch({ taking: true });
      await take(bytes);
      this.#watch({ taking: false });
    }
    const code = await ended;
    if (code !== 0) throw failed(code, complaint);
  }
}

function failed(code: number | null, complaint: string): ServiceError {
  const cause = new Error(complaint);
  if (code === TOO_LARGE) return fileTooLarge();
  return new ServiceError('backendError', 'The export could not be encoded.', {}, { cause });
}
