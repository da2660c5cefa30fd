import { fstatSync, write, writeSync } from 'node:fs';

import { systemCode } from '../errors';

/** Characters that are written together, and how long a line waits for others at most, in milliseconds. */
const BATCH = 4096;
const LONGEST_WAIT = 100;

/** Milliseconds that the end of the process may wait for a slow reader of the log, between two tries, and for a file. */
const LAST_WAIT = 200;
const TRY_AGAIN = 5;
const FILE_WAIT = 20;

const LINE_FEED = 0x0a;

/** What a descriptor that does not block says when its reader is slow: nothing is lost yet. */
const NOT_YET = new Set(['EAGAIN', 'EWOULDBLOCK', 'EBUSY']);

/** The calls of the system, for tests. */
export interface System {
  /** Gives an error, or how many bytes were written; null: `writeSync` never blocks, and is taken. */
  readonly write: ((bytes: Buffer, done: (error: Error | null, written: number) => void) => void) | null;
  readonly writeSync: (bytes: Buffer) => number;
}

export interface LineWriterOptions {
  /** Characters of lines that may wait; what comes on top of that is dropped. */
  readonly mostWaiting: number;
  readonly system?: System;
}

/**
 * Lines for a file descriptor, written behind and in batches. Nothing ever waits for it: a line that cannot be written, be the
 * disk full or its reader gone, is dropped and counted, and one that comes later is tried anew.
 *
 * pino's own destination (sonic-boom 4) is no choice: its `flushSync`, which it calls at the end of the process and on fatal
 * lines, tries again for ever when a disk is full.
 */
export class LineWriter {
  #waiting: string[] = [];
  /** Characters in `#waiting`. */
  #length = 0;
  /** What is being written; what of it is left. */
  #batch: Buffer | null = null;
  /** Whether a call of the system is under way. */
  #calling = false;
  /** Whether the last line that was written has no end: the rest of it was dropped. */
  #torn = false;
  #dropped = 0;
  #fault: string | null = null;
  #onFault: (fault: string | null) => void = () => undefined;
  readonly #mostWaiting: number;
  readonly #system: System;
  readonly #timer: NodeJS.Timeout;
  readonly #atExit = (): void => this.flushSync();

  constructor(fd: number, { mostWaiting, system = systemOf(fd) }: LineWriterOptions) {
    this.#mostWaiting = mostWaiting;
    this.#system = system;
    this.#timer = setInterval(() => this.#next(), LONGEST_WAIT).unref();
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
    if (this.#length >= BATCH) this.#next();
  }

  /** Writes what can be written now. What a reader does not take within a moment is dropped. */
  flushSync(): void {
    if (this.#calling) {
      // The file gets it from another thread: here it would be written twice.
      wait(FILE_WAIT);
      this.#batch = null;
    }
    const until = performance.now() + LAST_WAIT;
    while (this.#take() !== null) {
      const batch = this.#batch ?? Buffer.alloc(0);
      try {
        this.#wrote(this.#system.writeSync(batch));
      } catch (error) {
        const code = systemCode(error) ?? 'unknown failure';
        if (!NOT_YET.has(code) || performance.now() > until) this.#drop(code);
        else wait(TRY_AGAIN);
      }
    }
  }

  /** Ends it: for tests, as a process has one for its whole life. */
  close(): void {
    clearInterval(this.#timer);
    process.off('exit', this.#atExit);
    this.flushSync();
  }

  #next(): void {
    if (this.#calling) return;
    const batch = this.#take();
    if (batch === null) return;
    if (this.#system.write === null) {
      this.#writeNow();
      return;
    }
    this.#calling = true;
    this.#system.write(batch, (error, written) => {
      this.#calling = false;
      // The process has come to its end meanwhile.
      if (this.#batch !== batch) return;
      if (error === null) {
        this.#wrote(written);
        if (this.#batch !== null || this.#length >= BATCH) this.#next();
        return;
      }
      const code = systemCode(error) ?? 'unknown failure';
      // The timer tries again.
      if (!NOT_YET.has(code)) this.#drop(code);
    });
  }

  /** Writes all that the reader takes now. */
  #writeNow(): void {
    for (let batch = this.#take(); batch !== null; batch = this.#take()) {
      try {
        this.#wrote(this.#system.writeSync(batch));
      } catch (error) {
        const code = systemCode(error) ?? 'unknown failure';
        // The timer tries again.
        if (!NOT_YET.has(code)) this.#drop(code);
        return;
      }
    }
  }

  /** What is to be written next; null: nothing. */
  #take(): Buffer | null {
    if (this.#batch !== null) return this.#batch;
    if (this.#waiting.length === 0) return null;
    // A reader takes what follows a torn line for a part of it.
    this.#batch = Buffer.from(`${this.#torn ? '\n' : ''}${this.#waiting.join('')}`);
    this.#waiting = [];
    this.#length = 0;
    return this.#batch;
  }

  #wrote(bytes: number): void {
    if (this.#batch === null || bytes === 0) return;
    this.#torn = this.#batch[bytes - 1] !== LINE_FEED;
    this.#batch = bytes === this.#batch.length ? null : this.#batch.subarray(bytes);
    if (this.#fault === null || this.#batch !== null) return;
    this.#fault = null;
    this.#onFault(null);
  }

  /** Gives the batch up: the next one is tried when its time comes. */
  #drop(code: string): void {
    let lines = 0;
    for (const byte of this.#batch ?? []) if (byte === LINE_FEED) lines++;
    // The line feed that ends a torn line is no line.
    if (this.#batch?.[0] === LINE_FEED) lines--;
    this.#batch = null;
    this.#lose(lines, code);
  }

  #lose(lines: number, code: string): void {
    this.#dropped += lines;
    if (this.#fault !== null) return;
    this.#fault = code;
    this.#onFault(code);
  }
}

/**
 * A file is written from another thread, since its disk may be slow. Pipes and sockets do not block: Node has set the process's
 * own so. What their reader does not take now is known at once, and nothing is under way when the process ends.
 */
function systemOf(fd: number): System {
  return {
    write: fstatSync(fd).isFile()
      ? (bytes, done) => {
          write(fd, bytes, 0, bytes.length, null, (error, written) => done(error, written));
        }
      : null,
    writeSync: (bytes) => writeSync(fd, bytes),
  };
}

function wait(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
