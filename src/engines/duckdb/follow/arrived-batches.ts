import type { ArrivedRange } from '../../contract';
import type { StoredTable } from '../data/part';

/** Rows that have arrived, for one who reads them and then releases them. */
export interface ArrivedBatch {
  readonly table: StoredTable;
  readonly epoch: string;
  /** Records that had arrived when the last of them had. */
  readonly upTo: number;
  release(): void;
}

export type NewBatch = Omit<ArrivedBatch, 'release'> & { remove(): Promise<void> };

/** Those that nobody reads are held for others who follow the same rows. */
const HELD = 4;

interface Entry {
  readonly batch: Promise<NewBatch>;
  readers: number;
}

/** Rows that have arrived, each read once for all who ask for the same. */
export class ArrivedBatches {
  readonly #entries = new Map<string, Entry>();
  #next = 0;

  /** @param read gives them as a relation of a name */
  async get(range: ArrivedRange, read: (name: string) => Promise<NewBatch>): Promise<ArrivedBatch> {
    const { table, epoch, after, upTo, whole } = range;
    const key = JSON.stringify([table, epoch, after, upTo, whole]);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { batch: read(`arrived ${String(this.#next++)}`), readers: 0 };
      this.#entries.set(key, entry);
    }
    const held = entry;
    held.readers++;
    try {
      const batch = await held.batch;
      return { ...batch, release: () => this.#release(held) };
    } catch (error) {
      held.readers--;
      if (this.#entries.get(key) === held) this.#entries.delete(key);
      throw error;
    }
  }

  /** The database that had them is closed. */
  lose(): void {
    this.#entries.clear();
  }

  #release(entry: Entry): void {
    entry.readers--;
    for (const [key, { readers, batch }] of this.#entries) {
      if (this.#entries.size <= HELD) return;
      if (readers > 0) continue;
      this.#entries.delete(key);
      void batch.then((one) => one.remove()).catch(() => undefined);
    }
  }
}
