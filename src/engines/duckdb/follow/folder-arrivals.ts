import type { ArrivedRange } from '../../contract';
import { ArrivalJournal } from './arrival-journal';
import { type ArrivalRecord, Arrivals } from './arrivals';
import { type ArrivedBatch, ArrivedBatches, type NewBatch } from './arrived-batches';
import { unknownPosition } from './arrived-rows';
import type { Source } from './source';

/** In which order the rows of all tables have arrived: written down, and read again for who follows them (docs/decisions/tail.md). */
export class FolderArrivals {
  #journal: ArrivalJournal | null = null;
  readonly #tables = new Map<string, Arrivals>();
  readonly #batches = new ArrivedBatches();
  /** What has been taken, and is not written down yet. */
  #taken: ArrivalRecord[] = [];

  constructor(private readonly dataDir: string) {}

  /** Names the counts: empty before `open`. */
  get epoch(): string {
    return this.#journal?.epoch ?? '';
  }

  /** Records of a table that have arrived. */
  countOf(table: string): number {
    return this.#tables.get(table)?.count ?? 0;
  }

  /**
   * Goes on from what the writer before has written down, if that has not been done yet.
   *
   * @param path null: another process is the writer, and this one counts for itself
   */
  async open(path: string | null): Promise<void> {
    if (this.#journal !== null) return;
    const { journal, tables } = await ArrivalJournal.open(path);
    this.#journal = journal;
    for (const [name, written] of tables) this.#tables.set(name, new Arrivals(this.dataDir, written));
  }

  /** This process is the writer from now on. */
  writeTo(path: string): void {
    this.#journal?.writeTo(path);
  }

  /** Takes what has been read of a table's sources since the last call. */
  async take(table: string, sources: readonly Source[]): Promise<void> {
    const arrivals = this.#tables.get(table) ?? new Arrivals(this.dataDir);
    this.#tables.set(table, arrivals);
    this.#taken.push(...(await arrivals.take(table, sources, Date.now())));
  }

  /** Writes down what has been taken, and has it known either way. @throws what writing throws */
  async publish(): Promise<void> {
    const records = this.#taken;
    this.#taken = [];
    try {
      await this.#journal!.append(records, () => [...this.#tables].map(([name, arrivals]) => arrivals.state(name)));
    } finally {
      for (const arrivals of this.#tables.values()) arrivals.publish();
    }
  }

  /** The rows of a range, until they are released. @param read gives them as a relation of a name */
  batch(range: ArrivedRange, read: (name: string) => Promise<NewBatch>): Promise<ArrivedBatch> {
    return this.#batches.get(range, read);
  }

  /** The arrivals that a range names. @throws ServiceError invalidParameter where its epoch or table is not known */
  of({ table, epoch }: ArrivedRange): Arrivals {
    const arrivals = this.#tables.get(table);
    if (arrivals === undefined || this.#journal?.knows(epoch) !== true) throw unknownPosition();
    return arrivals;
  }

  /** The database that had the rows is closed. */
  lose(): void {
    this.#batches.lose();
    this.#journal = null;
    this.#tables.clear();
    this.#taken = [];
  }
}
