import path from 'node:path';

import type { Batch } from './batch';
import type { DayFile, DayFiles } from './day-files';
import { type Intent, type Journal, settleAppend } from './journal';

/** Bytes that are written together: what waits meanwhile is the next group. */
const GROUP = 16 * 1024 * 1024;

const NEWLINE = 10;

interface Job {
  readonly table: string;
  readonly batch: Pick<Batch, 'digest' | 'lines'>;
  readonly resolve: (stored: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch, and which bytes of it go where. */
interface Append {
  readonly job: Job;
  readonly intent: Intent;
  readonly lines: Uint8Array;
}

/**
 * Appends batches to the daily files. Batches that wait for a disk to flush are written together, so that the disk's latency
 * bounds how long each takes and not how many there are.
 */
export class Writer {
  readonly #queue: Job[] = [];
  readonly #actions: (() => Promise<void>)[] = [];
  #running: Promise<void> | null = null;
  /** Batches on their way, by digest: one that comes again meanwhile has the outcome of the first. */
  readonly #inFlight = new Map<string, Promise<boolean>>();
  /** Appends that failed, of which the files may hold a part. */
  #unsettled: { readonly table: string; readonly intent: Intent }[] = [];

  constructor(
    private readonly dataDir: string,
    private readonly files: DayFiles,
    private readonly journal: Journal,
  ) {}

  /**
   * Resolves when the rows are written and flushed. @returns false: they were before
   *
   * @throws whatever the file system has against it; nothing of the batch is lost then, nor doubled when it comes again
   */
  write(table: string, batch: Pick<Batch, 'digest' | 'lines'>): Promise<boolean> {
    const { digest } = batch;
    const first = this.#inFlight.get(digest);
    if (first !== undefined) return first.then(() => false);
    const written = new Promise<boolean>((resolve, reject) => {
      this.#queue.push({ table, batch, resolve, reject });
    }).finally(() => this.#inFlight.delete(digest));
    this.#inFlight.set(digest, written);
    this.#start();
    return written;
  }

  /** Finds out what failed appends have left, and cuts off what is no whole row. @throws what the file system has against it */
  settle(): Promise<void> {
    return this.between(() => this.#settle());
  }

  /** Does something while nothing is being written. */
  async between<T>(action: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#actions.push(() => action().then(resolve, reject));
      this.#start();
    });
  }

  #start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // What comes in one iteration of the event loop is one group.
    await Promise.resolve();
    while (this.#queue.length + this.#actions.length > 0) {
      await this.#actions.shift()?.();
      const group = this.#nextGroup();
      try {
        await this.#settle();
        await this.#writeGroup(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    // In the same step as the last look at what waits: what comes from now on starts anew.
    this.#running = null;
  }

  #nextGroup(): Job[] {
    let bytes = 0;
    const end = this.#queue.findIndex(({ batch }, i) => {
      bytes += batch.lines.length;
      return i > 0 && bytes > GROUP;
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }

  async #writeGroup(group: readonly Job[]): Promise<void> {
    const byTable = new Map<string, Job[]>();
    for (const job of group) {
      if (this.journal.stored(job.batch.digest) === null) job.resolve(false);
      else byTable.set(job.table, [...(byTable.get(job.table) ?? []), job]);
    }
    const parts: { readonly file: DayFile; readonly appends: readonly Append[]; readonly table: string }[] = [];
    for (const [table, jobs] of byTable) {
      const file = await this.files.today(table);
      parts.push({ table, file, appends: this.#appendsOf(jobs, file) });
    }
    if (parts.length === 0) return;
    await this.journal.begin(parts.flatMap(({ appends }) => appends.map(({ intent }) => intent)));
    await Promise.all(parts.map(({ table, file, appends }) => this.#append(table, file, appends)));
  }

  #appendsOf(jobs: readonly Job[], { path: file, size }: DayFile): Append[] {
    let from = size;
    return jobs.map((job) => {
      const { digest, lines } = job.batch;
      const skip = this.journal.stored(digest) ?? 0;
      const rest = withoutRows(lines, skip);
      const intent = { batch: digest, file, from, bytes: rest.length, skip };
      from += rest.length;
      return { job, intent, lines: rest };
    });
  }

  async #append(table: string, { handle }: DayFile, appends: readonly Append[]): Promise<void> {
    const intents = appends.map(({ intent }) => intent);
    try {
      await handle.writeFile(Buffer.concat(appends.map(({ lines }) => lines)));
      await handle.datasync();
    } catch (error) {
      this.#unsettled.push(...intents.map((intent) => ({ table, intent })));
      for (const { job } of appends) job.reject(error);
      return;
    }
    this.journal.complete(intents);
    for (const { job } of appends) job.resolve(true);
  }

  /** Before anything is appended behind a failed write: what of it is there, and the end of a row cut off. */
  async #settle(): Promise<void> {
    if (this.#unsettled.length === 0) return;
    const settled: { batch: string; rows: number | null }[] = [];
    for (const { table, intent } of this.#unsettled) {
      await this.files.forget(table);
      const rows = await settleAppend(path.join(this.dataDir, intent.file), intent);
      // Nothing is compressed before this: somebody has deleted the file, to make room perhaps, and what was in it is to come again.
      settled.push({ batch: intent.batch, rows: rows === 'gone' ? intent.skip : rows });
    }
    await this.journal.settle(settled);
    this.#unsettled = [];
  }
}

/** What is left behind the first rows. */
function withoutRows(lines: Uint8Array, rows: number): Uint8Array {
  let start = 0;
  for (let i = 0; i < rows; i++) {
    const end = lines.indexOf(NEWLINE, start);
    if (end === -1) return lines.subarray(lines.length);
    start = end + 1;
  }
  return lines.subarray(start);
}
