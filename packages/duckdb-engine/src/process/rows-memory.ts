/**
 * Rows of runs on their way from the engine's process, in memory of both: a file in memory whose name is gone before anything is in
 * it. What goes through a channel of Node's is copied several times, and leaves as much to be collected
 * (docs/decisions/rows-as-json-text.md).
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

import { ServiceError } from '../contract/service-error';
import { withRoom } from '../contract/contract';

/** Of Linux: files in it are in memory. */
const FOLDER = '/dev/shm';
/** Where the engine's process has it. */
const ROWS_DESCRIPTOR = 4;
/** Bytes for the rows of one run; what is longer goes through the channel from there on. */
const PLACE = 1024 * 1024;
/** Runs at once that have one. */
const PLACES = 8;

/** What the engine's process has written of a run's rows into its place. */
export interface WrittenRows {
  readonly size: number;
  readonly count: number;
}

/** The service's side. */
export class RowsMemory {
  readonly #free = Array.from({ length: PLACES }, (_, i) => i * PLACE);

  private constructor(readonly descriptor: number) {}

  /** @returns null where there is no such memory: all goes through the channel then */
  static create(): RowsMemory | null {
    const path = `${FOLDER}/logquay-${randomUUID()}`;
    try {
      const descriptor = openSync(path, 'wx+', 0o600);
      rmSync(path);
      return new RowsMemory(descriptor);
    } catch {
      return null;
    }
  }

  /** A place for one run; null: all are taken. */
  acquire(): RowsPlace | null {
    const at = this.#free.pop();
    return at === undefined ? null : new RowsPlace(this.descriptor, at, () => this.#free.push(at));
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

export class RowsPlace {
  constructor(
    private readonly descriptor: number,
    readonly at: number,
    /** Only when nothing more is written into it. */
    readonly release: () => void,
  ) {}

  /** @throws ServiceError `backendError` where they cannot be read */
  read(size: number): Buffer {
    const rows = withRoom(size);
    // Nothing waits for a disk.
    if (readSync(this.descriptor, rows, 0, size, this.at) !== size) {
      throw new ServiceError('backendError', 'The embedded engine failed.');
    }
    return rows;
  }
}

/** The engine's side of one run. */
export class RowsWriter {
  #size = 0;
  #count = 0;
  /** Whether what follows goes through the channel. */
  #full = false;

  /** @param at its place; null: it has none */
  constructor(private readonly at: number | null) {
    this.begin();
  }

  /** The rows come anew. */
  begin(): void {
    this.#size = 0;
    this.#count = 0;
    this.#full = this.at === null;
  }

  /** @returns whether they are in the place; behind the first that are not there all others are not either */
  write(lines: Uint8Array, count: number): boolean {
    this.#full ||= this.#size + lines.length > PLACE || !this.#put(lines);
    if (this.#full) return false;
    this.#size += lines.length;
    this.#count += count;
    return true;
  }

  #put(lines: Uint8Array): boolean {
    try {
      return writeSync(ROWS_DESCRIPTOR, lines, 0, lines.length, this.at! + this.#size) === lines.length;
    } catch {
      return false;
    }
  }

  /** null: none. */
  get written(): WrittenRows | null {
    return this.#count === 0 ? null : { size: this.#size, count: this.#count };
  }
}
