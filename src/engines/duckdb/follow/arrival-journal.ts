/** What has arrived, written down: a live tail goes on from there after a restart (docs/decisions/tail.md). */
import { randomBytes } from 'node:crypto';
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';

import { codeOf } from '../engine/native-error';
import type { ArrivalRecord, ArrivalsState } from './arrivals';

/** Raised when the lines change. */
const FORMAT = 1;
/** Bytes that are appended before the file is written anew. */
const MOST_APPENDED = 8 * 1024 * 1024;

type Line = ArrivalsState | ArrivalRecord;

export class ArrivalJournal {
  #epoch: string;
  /** Epochs of this process: what was given out under one of them is good. */
  readonly #epochs = new Set<string>();
  #appended = Infinity;
  /** The file does not hold what it should. */
  #failed = false;

  /** @param path null: nothing is written, as another process does */
  private constructor(
    private path: string | null,
    epoch: string | null,
  ) {
    this.#epoch = epoch ?? newEpoch();
    this.#epochs.add(this.#epoch);
  }

  /**
   * Opens the journal of the one process that writes it; another process has one of its own in memory.
   *
   * @param path null: nothing is read or written
   */
  static async open(
    path: string | null,
  ): Promise<{ readonly journal: ArrivalJournal; readonly tables: ReadonlyMap<string, readonly Line[]> }> {
    const lines = path === null ? null : await read(path);
    const tables = new Map<string, Line[]>();
    for (const line of lines?.lines ?? []) {
      const known = tables.get(line.table);
      if (known === undefined || 'files' in line) tables.set(line.table, [line]);
      else known.push(line);
    }
    return { journal: new ArrivalJournal(path, lines?.epoch ?? null), tables };
  }

  /** Names the count of arrivals: numbers of one epoch can be compared. */
  get epoch(): string {
    return this.#epoch;
  }

  /** This process is the one that writes it from now on. */
  writeTo(path: string): void {
    this.path = path;
    this.#appended = Infinity;
  }

  /** Whether positions were given out under that epoch by this process or the one before. */
  knows(epoch: string): boolean {
    return this.#epochs.has(epoch);
  }

  /**
   * Writes down what has arrived, before anybody hears of it. Where that fails, what is given out from now on is of another epoch,
   * so that it does not outlive this process.
   *
   * @param state all that there is, for a file that is written anew
   */
  async append(records: readonly ArrivalRecord[], state: () => readonly ArrivalsState[]): Promise<void> {
    if (this.path === null || (records.length === 0 && !this.#failed)) return;
    try {
      if (this.#appended > MOST_APPENDED) {
        await write(this.path, [{ format: FORMAT, epoch: this.#epoch }, ...state()]);
        this.#appended = 0;
      } else {
        const text = linesOf(records);
        await appendFile(this.path, text);
        this.#appended += text.length;
      }
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) this.#epochs.add((this.#epoch = newEpoch()));
      this.#failed = true;
      this.#appended = Infinity;
      throw error;
    }
  }
}

function newEpoch(): string {
  return randomBytes(8).toString('hex');
}

function linesOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Replaces the file, whole in any case. */
async function write(path: string, lines: readonly object[]): Promise<void> {
  const unfinished = `${path}.${String(process.pid)}.unfinished`;
  await writeFile(unfinished, linesOf(lines));
  await rename(unfinished, path);
}

/** null: there is none, or none that this version can use. A last line that was cut off does not count. */
async function read(path: string): Promise<{ readonly epoch: string; readonly lines: readonly Line[] } | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const [head, ...lines] = text
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
    const { format, epoch } = head as { readonly format: number; readonly epoch: string };
    return format === FORMAT ? { epoch, lines: lines as Line[] } : null;
  } catch {
    return null;
  }
}
