import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { childEnvironment } from '../../concurrency/child-environment';
import { ServiceError } from '../../errors';
import { END, type Opening, TOO_LARGE } from './opening';

/** MiB of a process's heap: parts of rows that are being read. */
const HEAP = 192;
/** UTF-16 units of what a process complains of. */
const LONGEST_COMPLAINT = 4096;

/** Resolves when more may come. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void>;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Encodes rows as Parquet or Arrow in a process of its own, which is there as long as the export (docs/decisions/exports.md). It
 * takes rows no faster than it writes them, and writes no faster than they are taken.
 */
export class Encoder {
  readonly #child: Child;
  /** Settles when everything that was written has been taken. */
  readonly #done: Promise<void>;
  /** Ends the wait of `write`. */
  #resume: (() => void) | null = null;
  #failed = false;

  /** @param take takes what it writes; what it throws ends the process */
  constructor(opening: Opening, take: TakeBytes) {
    this.#child = spawn(process.execPath, [`--max-old-space-size=${String(HEAP)}`, join(__dirname, 'child.js')], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: childEnvironment(),
    });
    const { stdin } = this.#child;
    // What is sent to a process that has ended: its end says more.
    stdin.on('error', () => undefined);
    stdin.on('drain', () => this.#resume?.());
    this.#done = this.#forward(take);
    this.#done.catch(() => {
      this.#failed = true;
      this.kill();
      this.#resume?.();
    });
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
    await new Promise<void>((resolve) => (this.#resume = resolve));
    this.#resume = null;
    // Where it was no drain that ended the wait, there is an error.
    if (this.#failed) await this.#done;
  }

  /** All rows have been written: resolves when what they make has been taken. @throws as `write` */
  async end(): Promise<void> {
    this.#child.stdin.end(Buffer.of(END));
    await this.#done;
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
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) await take(bytes);
    const code = await ended;
    if (code !== 0) throw failed(code, complaint);
  }
}

function failed(code: number | null, complaint: string): ServiceError {
  const cause = new Error(complaint);
  if (code === TOO_LARGE) {
    const message = 'The file of the export is larger than the service allows.';
    return new ServiceError(
      'resourcesExceeded',
      message,
      { hint: 'Export a shorter time range at a time.' },
      { cause },
    );
  }
  return new ServiceError('backendError', 'The export could not be encoded.', {}, { cause });
}
