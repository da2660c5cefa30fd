import { type FileHandle, open, readFile } from 'node:fs/promises';

import { z } from 'zod';

import { systemCode, replaceFile } from '@logquay/duckdb-engine/files';

/** How long a batch is known again, in milliseconds: Vector's sinks in a Supabase stack retry for 30 seconds. */
const WINDOW = 10 * 60_000;

/** Batches known again at most, the latest. */
const MOST_BATCHES = 100_000;

/** Bytes of the journal beyond which it is written anew. */
const LARGEST = 32 * 1024 * 1024;

/** What is about to be appended. */
export interface Intent {
  readonly batch: string;
  /** Relative to DATA_DIR. */
  readonly file: string;
  /** Where in the file, in bytes. */
  readonly from: number;
  readonly bytes: number;
  /** Rows of the batch that were written before. */
  readonly skip: number;
}

const time = z.number().int();
const recordSchema = z.union([
  z.strictObject({
    at: time,
    batch: z.string(),
    file: z.string(),
    from: z.number().int().nonnegative(),
    bytes: z.number().int().nonnegative(),
    skip: z.number().int().nonnegative(),
  }),
  z.strictObject({ at: time, batch: z.string(), rows: z.number().int().nonnegative().nullable() }),
]);

/** How many rows of a batch are stored; null: all. */
type Stored = number | null;

/**
 * The batches that were written lately, so that one that comes again is known by its content, after a crash too. What is about to
 * be written is recorded first: after a crash the size of the file says how much of it was.
 */
export class Journal {
  readonly #batches = new Map<string, { readonly at: number; readonly rows: Stored }>();
  #handle: FileHandle | null = null;
  #size = 0;

  private constructor(
    private readonly file: string,
    private readonly now: () => number,
  ) {}

  /**
   * Reads the journal and settles what was being written when the process ended: what the last records are about to write. Whatever
   * comes before them was written, or a record behind it says how much of it.
   *
   * @param settle says how many rows of an intent the file holds, in the order of the file; see `settleAppend`
   */
  static async open(
    file: string,
    settle: (intent: Intent) => Promise<Stored>,
    now: () => number = Date.now,
  ): Promise<Journal> {
    const journal = new Journal(file, now);
    const records = await readRecords(file);
    const last = records.at(-1)?.at;
    const begun = records.findLastIndex((record) => !('file' in record) || record.at !== last) + 1;
    for (const [i, record] of records.entries()) {
      const rows = !('file' in record) ? record.rows : i < begun ? null : await settle(record);
      journal.#set(record.batch, record.at, rows);
    }
    await journal.#compact();
    return journal;
  }

  /** Rows of a batch that are stored already; null: all of them. */
  stored(batch: string): Stored {
    const known = this.#batches.get(batch);
    return known === undefined || known.at < this.now() - WINDOW ? 0 : known.rows;
  }

  /** Records what is about to be written; durable once it resolves. */
  async begin(intents: readonly Intent[]): Promise<void> {
    const at = this.now();
    await this.#append(intents.map((intent) => ({ at, ...intent })));
  }

  /** The batches are written; nothing needs to be recorded, as the files say so. */
  complete(intents: readonly Intent[]): void {
    const at = this.now();
    for (const { batch } of intents) this.#set(batch, at, null);
  }

  /** Records how much of what was begun is stored after all. */
  async settle(batches: readonly { readonly batch: string; readonly rows: Stored }[]): Promise<void> {
    const at = this.now();
    for (const { batch, rows } of batches) this.#set(batch, at, rows);
    await this.#append(batches.map(({ batch, rows }) => ({ at, batch, rows })));
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  #set(batch: string, at: number, rows: Stored): void {
    this.#batches.delete(batch);
    this.#batches.set(batch, { at, rows });
    const oldest = this.now() - WINDOW;
    for (const [known, { at: then }] of this.#batches) {
      if (then >= oldest && this.#batches.size <= MOST_BATCHES) break;
      this.#batches.delete(known);
    }
  }

  async #append(records: readonly object[]): Promise<void> {
    if (this.#handle === null || this.#size > LARGEST) await this.#compact();
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    try {
      await this.#handle!.writeFile(text);
      await this.#handle!.datasync();
      this.#size += text.length;
    } catch (error) {
      // A part of a record may be there, behind which nothing would be read: it is written anew.
      await this.close();
      throw error;
    }
  }

  async #compact(): Promise<void> {
    const records = [...this.#batches].map(([batch, { at, rows }]) => `${JSON.stringify({ at, batch, rows })}\n`);
    const text = records.join('');
    await this.close();
    await replaceFile(this.file, text);
    this.#handle = await open(this.file, 'a', 0o600);
    this.#size = text.length;
  }
}

/** The records as far as they can be read: after one that is incomplete nothing was written. */
async function readRecords(file: string): Promise<z.infer<typeof recordSchema>[]> {
  const records: z.infer<typeof recordSchema>[] = [];
  let text = '';
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  for (const line of text.split('\n').slice(0, -1)) {
    try {
      records.push(recordSchema.parse(JSON.parse(line)));
    } catch {
      break;
    }
  }
  return records;
}

const NEWLINE = 10;
const BLOCK = 1024 * 1024;

/**
 * Finds out how much of an append a file holds after a crash or a failed write, and cuts a row off that was not finished.
 *
 * @param file its path
 * @returns the rows of the batch that are stored; null: all of them; `gone`: there is no such file
 */
export async function settleAppend(
  file: string,
  { from, bytes, skip }: Omit<Intent, 'batch' | 'file'>,
): Promise<number | null | 'gone'> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r+');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size >= from + bytes) return null;
    const { rows, end } = await completeRows(handle, from, size);
    if (end < size) {
      await handle.truncate(end);
      await handle.sync();
    }
    return skip + rows;
  } finally {
    await handle.close();
  }
}

/** Rows from an offset on, and where the last of them ends. */
async function completeRows(handle: FileHandle, from: number, size: number): Promise<{ rows: number; end: number }> {
  const buffer = Buffer.alloc(BLOCK);
  let rows = 0;
  let end = from;
  for (let at = from; at < size;) {
    const { bytesRead } = await handle.read(buffer, 0, BLOCK, at);
    if (bytesRead === 0) break;
    const block = buffer.subarray(0, bytesRead);
    for (let found = block.indexOf(NEWLINE); found !== -1; found = block.indexOf(NEWLINE, found + 1)) {
      rows++;
      end = at + found + 1;
    }
    at += bytesRead;
  }
  return { rows, end };
}
