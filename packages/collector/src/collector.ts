import { type Log, type Reason, ServiceError } from '@logquay/duckdb-engine/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DeclaredTables, MOST_ROW_VALUES, describedTables } from '@logquay/duckdb-engine/rows';
import type { RunLimits, Task, Threads } from '@logquay/duckdb-engine/concurrency';
import type { RestField } from '@logquay/googlesql/types';
import {
  type Batch,
  type Batches,
  type BatchFault,
  BATCH_TASK,
  type BatchInput,
  hasMoreValues,
  MOST_BYTES,
  MOST_EVENTS,
  MOST_VALUES,
} from './batch';
import type { OtlpEncoding } from './otlp';
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
class Audit {
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
  /** Name or UUID of the source; null: each event names its own, where COLLECT_SOURCES says. */
  readonly source: string | null;
  readonly body: Buffer;
  /** The project of all events, whatever they say; null or absent: they say it. */
  readonly project?: string | null;
}

/** Records of OpenTelemetry. */
export interface OtlpDelivery extends Pick<Delivery, 'body' | 'project'> {
  readonly encoding: OtlpEncoding;
}

export interface Collected {
  /** The tables, with commas between. */
  readonly table: string;
  readonly events: number;
  /** Elements of the batch that were no events, wider or longer than a row may be, or of a source that feeds no table. */
  readonly refused: number;
}

/** Takes events in and appends them to the tables of DATA_DIR, as docs/data.md says. */
export class Collector {
  readonly maxBody: number;
  /** Where events go, and what says so. */
  readonly sources: Sources;
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
    this.sources = options.sources;
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
  async collect(delivery: Delivery, limits: RunLimits): Promise<Collected> {
    try {
      return await this.#collect(delivery, limits);
    } catch (error) {
      throw this.refused(error);
    }
  }

  /** Stores records of OpenTelemetry, as `collect`. Records that are refused are no error. */
  async collectOtlp({ body, encoding, project = null }: OtlpDelivery, limits: RunLimits): Promise<Collected> {
    try {
      const { OTEL_TABLE, OTLP_TASK } = await import('./otlp.js');
      const { projectAttribute } = this.sources;
      const fields = this.tables.get(OTEL_TABLE)?.fields ?? null;
      const input = { body, encoding, fields, project, projectAttribute, arrived: this.#arrived() };
      // In protobuf a value takes two bytes.
      const few = encoding === 'json' ? !hasMoreValues(body, FEW) : body.length <= 2 * FEW;
      return await this.#storeAll(await this.#read(OTLP_TASK, input, few, limits), limits);
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

  async #collect({ source, body, project = null }: Delivery, limits: RunLimits): Promise<Collected> {
    const to = this.#destination(source);
    const { tables } = this;
    const named = 'table' in to ? [to.table] : [...new Set(to.tables.values())];
    const fields = new Map(
      named.flatMap((table) => (tables.has(table) ? [[table, tables.get(table)?.fields ?? []]] : [])),
    );
    const input = { body, to, fields, project, arrived: this.#arrived() };
    const read = await this.#read(BATCH_TASK, input, !hasMoreValues(body, FEW), limits);
    const collected = await this.#storeAll(read, limits);
    if (collected.events > 0 || collected.refused === 0) return collected;
    if (read.strayed === collected.refused) throw feedsNoTable();
    throw new ServiceError('invalidParameter', 'No element of the batch is an event that can be stored.', {
      hint: `An event is an object; its lists have at most ${MOST_ROW_VALUES} values.`,
    });
  }

  #destination(source: string | null): BatchInput['to'] {
    const { tables, member } = this.sources;
    if (source === null && member !== null) return { member, tables };
    const table = tables.get((source ?? '').toLowerCase());
    if (table === undefined) throw feedsNoTable();
    return { table };
  }

  #arrived(): string {
    return new Date(this.#now()).toISOString();
  }

  /** Writes what was read of a body, table by table: each is stored once, also when another could not be and all come again. */
  async #storeAll({ batches, refused, strayed }: Batches, limits: RunLimits): Promise<Collected> {
    const { metrics } = this.options;
    if (strayed > 0) metrics.count('collectRefusedEvents', { table: '' }, strayed);
    const table = batches.map((batch) => batch.table).join(',');
    if (refused > 0) metrics.count('collectRefusedEvents', { table }, refused);
    const outcomes = await Promise.allSettled(batches.map((batch) => this.#storeBatch(batch, limits)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    const sum = (of: (batch: Batch) => number): number => batches.reduce((all, batch) => all + of(batch), 0);
    return { table, events: sum(({ events }) => events), refused: refused + strayed + sum((batch) => batch.refused) };
  }

  async #storeBatch({ table, digest, lines, events, refused }: Batch, limits: RunLimits): Promise<void> {
    const { metrics } = this.options;
    metrics.count('collectRefusedEvents', { table }, refused);
    if (events > 0 && !(await this.#write(table, { digest, lines }))) {
      metrics.count('collectRepeated', { table });
      return;
    }
    metrics.count('collectedEvents', { table }, events);
    metrics.count('collectedBytes', { table }, lines.length);
    this.#audit.add(limits.keyName ?? '', { events, bytes: lines.length });
  }

  async #read<Input extends { readonly body: Uint8Array }>(
    task: Task<Input, Batches | BatchFault>,
    input: Input,
    few: boolean,
    limits: RunLimits,
  ): Promise<Batches> {
    const short = input.body.length <= SHORT && few;
    const read = short ? task.run(input) : await this.#readOnThread(task, input, limits);
    if ('fault' in read) throw batchFault(read);
    return read;
  }

  async #readOnThread<Input>(
    task: Task<Input, Batches | BatchFault>,
    input: Input,
    limits: RunLimits,
  ): Promise<Batches | BatchFault> {
    try {
      return await this.options.threads.run(task, input, limits);
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

function feedsNoTable(): ServiceError {
  return new ServiceError('notFound', 'This source feeds no table.', { hint: 'Name it in COLLECT_SOURCES.' });
}

function batchFault({ fault, what }: BatchFault): ServiceError {
  switch (fault) {
    case 'not_utf8':
      return new ServiceError('invalidParameter', 'The body is not UTF-8.');
    case 'not_json':
      return new ServiceError(
        'invalidParameter',
        'The body must be a list of events, {"batch": [...]} or one event, in JSON.',
      );
    case 'malformed':
      return new ServiceError(
        'invalidParameter',
        `The body is no ExportLogsServiceRequest of OTLP${what === undefined ? '.' : `: ${what}.`}`,
      );
    case 'too_many':
      return new ServiceError('payloadTooLarge', `A batch may have ${String(MOST_EVENTS)} events.`);
    case 'too_many_values':
      return new ServiceError('payloadTooLarge', `A batch may have ${String(MOST_VALUES)} values.`);
    case 'too_long':
      return new ServiceError(
        'payloadTooLarge',
        `The rows of a batch, each with the attributes of its resource, may have ${String(MOST_BYTES)} bytes.`,
      );
  }
}
