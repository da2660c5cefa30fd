import { writeSync } from 'node:fs';

import { systemCode } from '@logquay/duckdb-engine/files';

/** Characters that are written together, and how long a line waits for others at most, in milliseconds. */
const BATCH = 4096;
const LONGEST_WAIT = 100;

/** Milliseconds that the end of the process may wait for a slow reader of the log, and between two tries. */
const LAST_WAIT = 200;
const TRY_AGAIN = 5;

const LINE_FEED = 0x0a;

/** What a descriptor that does not block says when its reader is slow: nothing is lost yet. */
const NOT_YET = new Set(['EAGAIN', 'EWOULDBLOCK', 'EBUSY']);

export interface LineWriterOptions {
  /** Characters of lines that may wait; what comes on top of that is dropped. */
  readonly mostWaiting: number;
  /** Writes what the descriptor takes now: for tests. @returns bytes written */
  readonly writeSync?: (bytes: Buffer) => number;
}

/**
 * Lines for a file descriptor, written in batches. A line that cannot be written, be the disk full or its reader gone, is dropped
 * and counted, and one that comes later is tried anew. Pipes and sockets do not block: Node has set the process's own so.
 *
 * pino's own destination (sonic-boom 4) is no choice: its `flushSync`, which it calls at the end of the process and on fatal
 * lines, tries again for ever when a disk is full.
 */
export class LineWriter {
  #waiting: string[] = [];
  /** Characters in `#waiting`. */
  #length = 0;
  /** What of the last batch is not written yet. */
  #batch = Buffer.alloc(0);
  /** Whether the last line that was written has no end: the rest of it was dropped. */
  #torn = false;
  #dropped = 0;
  #fault: string | null = null;
  #onFault: (fault: string | null) => void = () => undefined;
  readonly #mostWaiting: number;
  readonly #writeSync: (bytes: Buffer) => number;
  readonly #timer = setInterval(() => this.#flush(), LONGEST_WAIT).unref();
  readonly #atExit = (): void => this.flushSync();

  constructor(fd: number, { mostWaiting, writeSync: write = (bytes) => writeSync(fd, bytes) }: LineWriterOptions) {
    this.#mostWaiting = mostWaiting;
    this.#writeSync = write;
    process.on('exit', this.#atExit);
  }

  /** Lines that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Called with the system's code when lines begin to be lost, and with null when they are written again. */
  onFault(listener: (fault: string | null) => void): void {
    this.#onFault = listener;
    if (this.#fault !== null) listener(this.#fault);
  }

  /** @param line ends in a line feed */
  write(line: string): void {
    if (this.#length + line.length > this.#mostWaiting) {
      this.#lose(1, 'EAGAIN');
      return;
    }
    this.#waiting.push(line);
    this.#length += line.length;
    if (this.#length >= BATCH) this.#flush();
  }

  /** Writes what can be written now. What a reader does not take within a moment is dropped. */
  flushSync(): void {
    const until = performance.now() + LAST_WAIT;
    for (let code = this.#flush(); code !== null; code = this.#flush()) {
      if (performance.now() > until) this.#drop(code);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN);
    }
  }

  /** Ends it: for tests, as a process has one for its whole life. */
  close(): void {
    clearInterval(this.#timer);
    process.off('exit', this.#atExit);
    this.flushSync();
  }

  /** @returns the code of a reader that takes no more now; null: nothing waits */
  #flush(): string | null {
    while (this.#batch.length > 0 || this.#waiting.length > 0) {
      if (this.#batch.length === 0) {
        // A reader takes what follows a torn line for a part of it.
        this.#batch = Buffer.from(`${this.#torn ? '\n' : ''}${this.#waiting.join('')}`);
        this.#waiting = [];
        this.#length = 0;
      }
      try {
        this.#wrote(this.#writeSync(this.#batch));
      } catch (error) {
        const code = systemCode(error) ?? 'unknown failure';
        if (NOT_YET.has(code)) return code;
        this.#drop(code);
      }
    }
    return null;
  }

  #wrote(bytes: number): void {
    if (bytes === 0) return;
    this.#torn = this.#batch[bytes - 1] !== LINE_FEED;
    this.#batch = this.#batch.subarray(bytes);
    if (this.#fault === null || this.#batch.length > 0) return;
    this.#fault = null;
    this.#onFault(null);
  }

  /** Gives the batch up: the next one is tried when its time comes. */
  #drop(code: string): void {
    let lines = 0;
    for (const byte of this.#batch) if (byte === LINE_FEED) lines++;
    // The line feed that ends a torn line is no line.
    if (this.#batch[0] === LINE_FEED) lines--;
    this.#batch = Buffer.alloc(0);
    this.#lose(lines, code);
  }

  #lose(lines: number, code: string): void {
    this.#dropped += lines;
    if (this.#fault !== null) return;
    this.#fault = code;
    this.#onFault(code);
  }
}
