import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Outgoing } from './outgoing';

/** Bytes that are copied at once. */
const BLOCK = 256 * 1024;

/** The file has more bytes than it may have. */
export class FileTooLarge extends Error {}

/**
 * A file that somebody else writes, from its beginning to its end, and that is sent meanwhile. It loses its name as soon as it is
 * there, where the system allows that: nothing is left of it, however the processes end that have it open.
 */
export class GrowingFile {
  readonly #buffer = Buffer.allocUnsafeSlow(BLOCK);
  #fd: number | null = null;
  #sent = 0;

  constructor(
    private readonly path: string,
    private readonly maxBytes: number,
  ) {
    // What is in it is nobody else's.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  /** Sends what has been written since, where that is `least` bytes. @throws FileTooLarge */
  forward(outgoing: Outgoing, least: number): void {
    this.#fd ??= this.#open();
    const { size } = fstatSync(this.#fd);
    if (size > this.maxBytes) throw new FileTooLarge(`The file has more than ${String(this.maxBytes)} bytes.`);
    if (size - this.#sent < least) return;
    while (this.#sent < size) {
      const length = Math.min(BLOCK, size - this.#sent);
      const count = readSync(this.#fd, this.#buffer, 0, length, this.#sent);
      outgoing.write(this.#buffer.subarray(0, count));
      this.#sent += count;
    }
  }

  remove(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#unlink();
  }

  #open(): number {
    const fd = openSync(this.path, 'r');
    this.#unlink();
    return fd;
  }

  #unlink(): void {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // Windows keeps a file that is open: it goes at the end, or at the service's next start.
    }
  }
}
