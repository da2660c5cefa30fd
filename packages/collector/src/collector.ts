import { type Log, type Reason, ServiceError } from '@logquay/duckdb-engine/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DeclaredTables, MOST_ROW_VALUES, describedTables } from '@logquay/duckdb-engine/rows';
import type { RunLimits, Threads } from '@logquay/duckdb-engine/concurrency';
import type { RestField } from '@logquay/googlesql/types';
import { type Batch, type BatchFault, BATCH_TASK, hasMoreValues, MOST_EVENTS, MOST_VALUES, readBatch } from './batch';
import { diskFull, FreeSpace, prepareStore, Store, storeFault } from './store';
import type { Sources } from './sources';

/** Milliseconds between two lines of a key. */
const EVERY = 60_000;

interface Sum {
  batches: number;
  events: number;
  bytes: number;
}

/** Who stored how much, as one line of the log for each key and minute. */
export class Audit {
  readonly #sums = new Map<string, Sum>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly log: Pick<Log, 'info'>) {
    this.#timer = setInterval(() => this.#write(), EVERY);
    this.#timer.unref();
  }

  add(key: string, { events, bytes }: Pick<Sum, 'events' | 'bytes'>): void {
    const sum = this.#sums.get(key) ?? { batches: 0, events: 0, bytes: 0 };
    this.#sums.set(key, {
      batches: sum.batches + 1,
      events: sum.events + events,
      bytes: sum.bytes + bytes,
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#write();
  }

  #write(): void {
    for (const [key, sum] of this.#sums) this.log.info({ key, ...sum }, 'events were stored');
    this.#sums.clear();
  }
}

/**
 * Bytes and values of a body up to which it is read on the thread that serves everybody: a millisecond or two. Each empty event is one
 * value, and gets an id, a time and a row.
 */
const SHORT = 32 * 1024;
const FEW = 1_000;

/** Milliseconds between two attempts to open the store. */
const RETRY = 1_000;

/** What the collector counts. */
export interface CollectorMetrics {
  count(
    name: 'collectedEvents' | 'collectedBytes' | 'collectRepeated' | 'collectRefusedEvents',
    labels: { readonly table: string },
    amount?: number,
  ): void;
  count(name: 'collectRefused', labels: { readonly reason: Reason }): void;
}

export interface CollectorOptions {
  readonly dataDir: string;
  readonly sources: Sources;
  /** Tables that are described without a schema.json. */
  readonly declared: ReadonlyMap<string, readonly RestField[]>;
  /** A file that declares tables beside the one in `dataDir`; default: none. */
  readonly schemaFile?: string | null;
  /** Days that daily files are kept; 0: for ever. */
  readonly retention: number;
  /** Bytes of free space below which nothing is stored. */
  readonly minFree: number;
  /** Bytes of a body, unpacked. */
  readonly maxBody: number;
  readonly threads: Threads;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: CollectorMetrics;
  /** Takes what is wrong with the collector now; null: nothing (any more). */
  readonly report: (fault: string | null) => void;
  /** Milliseconds since the epoch; the real time, whatever CLOCK says. */
  readonly now?: () => number;
}

export interface Delivery {
  /** Name or UUID of the source. */
  readonly source: string;
  readonly body: Buffer;
}

export interface Collected {
  readonly table: string;
  readonly events: number;
  /** Elements of the batch that were no events, or wider than a row may be. */
  readonly refused: number;
}

/** Takes events in and appends them to the tables of DATA_DIR, as docs/collector.md says. */
export class Collector {
  readonly maxBody: number;
  readonly #now: () => number;
  readonly #audit: Audit;
  readonly #space: FreeSpace;
  #store: Store | null = null;
  /** The error for a batch that comes while there is no store. */
  #unopened: ServiceError = unavailable('The data folder is being opened.');
  /** What is reported at the moment; null: nothing. */
  #fault: string | null = null;
  #opening: Promise<void>;
  #closed = false;

  private constructor(
    private readonly options: CollectorOptions,
    private readonly tables: DeclaredTables,
  ) {
    const { log, dataDir, minFree, now = Date.now } = options;
    this.maxBody = options.maxBody;
    this.#now = now;
    this.#audit = new Audit(log);
    this.#space = new FreeSpace(dataDir, minFree);
    this.#opening = this.#open();
  }

  /**
   * Resolves when events are taken, or as soon as another process turns out to write the folder: its events are refused with 503
   * until that one has ended.
   *
   * @throws Error for a folder that cannot be written, or a schema.json that is not one
   */
  static async open(options: CollectorOptions): Promise<Collector> {
    await prepareStore(options.dataDir);
    const collector = new Collector(options, await describedTables(options.dataDir, options));
    await Promise.race([collector.#opening, sleep(RETRY, undefined, { ref: false })]);
    return collector;
  }

  /**
   * Whether events can be stored, before a body is read.
   *
   * @throws ServiceError insufficientStorage, backendUnavailable
   */
  async admit(): Promise<void> {
    if (this.#store === null) throw this.refused(this.#unopened);
    if (await this.#space.low()) {
      this.#complain('There is less free space than COLLECT_MIN_FREE: no events are stored.');
      throw this.refused(diskFull());
    }
  }

  /**
   * Stores the events of a batch: they are written and flushed when it resolves.
   *
   * @throws ServiceError notFound for a source that feeds no table, invalidParameter, payloadTooLarge; insufficientStorage or
   *   backendUnavailable where the same batch is to be sent again
   */
  async collect({ source, body }: Delivery, limits: RunLimits): Promise<Collected> {
    try {
      return await this.#collect(source, body, limits);
    } catch (error) {
      throw this.refused(error);
    }
  }

  /** Call it when no request is under way any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening.catch(() => undefined);
    await this.#store?.close();
    this.#audit.close();
  }

  async #collect(source: string, body: Buffer, limits: RunLimits): Promise<Collected> {
    const { sources, metrics } = this.options;
    const table = sources.get(source.toLowerCase());
    if (table === undefined) {
      throw new ServiceError('notFound', 'This source feeds no table.', { hint: 'Name it in COLLECT_SOURCES.' });
    }
    const { digest, lines, events, refused } = await this.#read(table, body, limits);
    metrics.count('collectRefusedEvents', { table }, refused);
    if (events === 0 && refused > 0) {
      throw new ServiceError('invalidParameter', 'No element of the batch is an event that can be stored.', {
        hint: `An event is an object; its lists have at most ${MOST_ROW_VALUES} values.`,
      });
    }
    const stored = events === 0 || (await this.#write(table, { digest, lines }));
    if (stored) {
      metrics.count('collectedEvents', { table }, events);
      metrics.count('collectedBytes', { table }, lines.length);
      this.#audit.add(limits.keyName ?? '', { events, bytes: lines.length });
    } else metrics.count('collectRepeated', { table });
    return { table, events, refused };
  }

  async #read(table: string, body: Buffer, limits: RunLimits): Promise<Batch> {
    const fields = this.tables.get(table)?.fields ?? null;
    const input = { body, table, fields, arrived: new Date(this.#now()).toISOString() };
    const short = body.length <= SHORT && !hasMoreValues(body, FEW);
    const batch = short ? readBatch(input) : await this.#readOnThread(input, limits);
    if (typeof batch === 'string') throw batchFault(batch);
    return batch;
  }

  async #readOnThread(input: Parameters<typeof readBatch>[0], limits: RunLimits): Promise<Batch | BatchFault> {
    try {
      return await this.options.threads.run(BATCH_TASK, input, limits);
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      if (cause.reason !== 'resourcesExceeded') throw unavailable('Too many batches wait to be read.');
      throw new ServiceError(
        'payloadTooLarge',
        'The batch takes too much time or memory. Send smaller ones.',
        {},
        { cause },
      );
    }
  }

  async #write(table: string, batch: Pick<Batch, 'digest' | 'lines'>): Promise<boolean> {
    if (this.#store === null) throw this.#unopened;
    try {
      const stored = await this.#store.writer.write(table, batch);
      this.#report(null);
      return stored;
    } catch (cause) {
      const error = storeFault(cause);
      this.options.log.error({ err: cause }, 'events could not be stored');
      this.#report(error.message);
      throw error;
    }
  }

  /** Opens the store as soon as no other process has the folder. */
  async #open(): Promise<void> {
    const { dataDir, retention, log } = this.options;
    while (!this.#closed) {
      try {
        this.#store = await Store.open({ dataDir, retention, log, now: this.#now }, () => this.#lose());
        if (this.#store !== null) {
          this.#report(null);
          return;
        }
        const fault = 'Another process is writing the data folder.';
        this.#unopened = unavailable(fault);
        this.#complain(fault);
      } catch (error) {
        this.#unopened = storeFault(error);
        const message = error instanceof Error ? error.message : String(error);
        this.#complain(`The collector cannot open its files: ${message}`);
      }
      await sleep(RETRY, undefined, { ref: false });
    }
  }

  /** The lock is another's now: nothing more may be written here. */
  #lose(): void {
    const store = this.#store;
    this.#store = null;
    this.#complain('Another process has taken the data folder.');
    this.#opening = Promise.resolve(store?.close()).then(() => this.#open());
  }

  #complain(fault: string): void {
    if (this.#fault !== fault) this.options.log.warn({}, fault);
    this.#report(fault);
  }

  #report(fault: string | null): void {
    if (this.#fault === fault) return;
    this.#fault = fault;
    this.options.report(fault);
  }

  /** Counts a batch that is not stored. @returns why */
  refused<T>(error: T): T {
    const reason = error instanceof ServiceError ? error.reason : 'internalError';
    this.options.metrics.count('collectRefused', { reason });
    return error;
  }
}

function unavailable(message: string): ServiceError {
  return new ServiceError('backendUnavailable', message, { retryAfter: 1 });
}

function batchFault(fault: BatchFault): ServiceError {
  switch (fault) {
    case 'not_utf8':
      return new ServiceError('invalidParameter', 'The body is not UTF-8.');
    case 'not_json':
      return new ServiceError(
        'invalidParameter',
        'The body must be a list of events, {"batch": [...]} or one event, in JSON.',
      );
    case 'too_many':
      return new ServiceError('payloadTooLarge', `A batch may have ${String(MOST_EVENTS)} events.`);
    case 'too_many_values':
      return new ServiceError('payloadTooLarge', `A batch may have ${String(MOST_VALUES)} values.`);
  }
}
