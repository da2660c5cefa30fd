import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { QueryError, ServiceError } from '../../../errors';
import { UNKNOWN_EXECUTION_FAULT } from '../../execution-faults';
import { Threads } from '../../../concurrency/threads';
import type { NamedType, TableSchema } from '../../../googlesql/types';
import type {
  ArrivedRange,
  ArrivedResult,
  BoundParameter,
  Engine,
  EngineQuery,
  EngineResult,
  ResultHead,
  RowSink,
  RunLimits,
  TableSchemas,
} from '../../contract';
import type { FolderStatus } from '../../data-status';
import { checkLimits } from '../../../concurrency/deadline';
import { answeringInTime } from './prompt-engine';
import type { Work } from './connections';
import { bindValues, boundInstant, type BoundValue, boundValue } from './bound-value';
import { openDatabase, type Database } from './database';
import { endingWithSink } from './ending-with-sink';
import type { StoredTable } from '../data/part';
import type { StoredTables, TableSnapshot } from '../data/stored-tables';
import { failure } from './failures';
import { Inspection } from './inspection';
import { LiveDatabase } from './recovering-database';
import { DEFAULTS, type DuckDbOptions } from './options';
import { BrokenStream, readRows } from './row-stream';
import { PassingFailure } from './shared-memory';
import { bytesOf } from './sizes';
import { prepareSelect, prepareTable, Statements } from './statements';
import { CLOCK_PARAMETER, instantOf, type Statement, textParameterOf, type Translation } from '../translate';
import { Translations } from './translation-cache';

/**
 * The embedded engine: BigQuery's SQL over the files of a folder, or over made-up logs, in this process.
 *
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDuckDbEngine(options: DuckDbOptions): Promise<Engine> {
  return answeringInTime(new DuckDbEngine(await openDatabase(options), options));
}

/** All rows of a query, from when it began last. */
class GatheredRows implements RowSink {
  rows: string[] = [];

  begin(): void {
    this.rows = [];
  }

  take(part: readonly string[]): void {
    this.rows = this.rows.length === 0 ? [...part] : this.rows.concat(part);
  }
}

/** Enough rows have been read of a statement that goes on: its connection is not used again. */
class CutOff extends Error {}

interface ReadBounds {
  /** After which the statement ends by itself; null: it does not. */
  readonly lastRow: number | null;
  /** Of the rows' texts together. */
  readonly maxBytes: number;
}

/** The tables have been replaced while a query waited for them. */
class LostTables extends Error {}

function busyTables(): ServiceError {
  const message = 'The tables are being replaced.';
  return new ServiceError('backendUnavailable', message, { retryAfter: 1 });
}

/** How often a query is tried again whose tables have been replaced, and once more. */
const MOST_TRIES = 4;

/** Begins a transaction and prepares its statement, in the moment that decides which rows there are. */
type Begin = (prepare: () => Promise<DuckDBPreparedStatement>) => Promise<DuckDBPreparedStatement>;

/** What a query is run over. */
interface ReadOver {
  readonly tables: () => TableSnapshot;
  /** Whether the same text may be run over the same tables again. */
  readonly remember: boolean;
  /** null: at any moment. */
  readonly begin: ((tables: TableSnapshot) => Begin) | null;
}

/**
 * The engine itself. What it is asked for settles when it has really ended: DuckDB may take its time beyond deadline and
 * signal to notice an interrupt. `answeringInTime` makes it what callers expect.
 */
export class DuckDbEngine implements Engine {
  readonly kind = 'duckdb';
  readonly concurrency: number;
  readonly #live: LiveDatabase;
  readonly #data: StoredTables;
  readonly #translations: Translations;
  readonly #statements = new Statements();
  readonly #threads = new Threads();
  readonly #inspection = new Inspection(this.#threads);
  /** Nothing is billed. */
  readonly dryRun = null;

  constructor(
    private readonly database: Database,
    private readonly options: Omit<DuckDbOptions, 'dataDir' | 'cacheDir'>,
  ) {
    this.concurrency = options.connections ?? DEFAULTS.connections;
    const memory = bytesOf(options.memory ?? DEFAULTS.memory);
    this.#live = new LiveDatabase(database.instance, database.reopen, this.concurrency, memory, options.log);
    this.#data = database.data;
    this.#translations = new Translations(this.#threads);
  }

  get target(): string {
    return this.database.target;
  }

  dataStatus(): FolderStatus | null {
    return this.database.status;
  }

  async run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    const gathered = new GatheredRows();
    const outcome = await this.feed(query, limits, gathered);
    return { ...outcome, rows: gathered.rows, bytesProcessed: null, bytesBilled: null };
  }

  /** As `run`, for who takes the rows part by part. @param sink begins anew where the query is run again */
  async feed(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
    over = this.#current,
  ): Promise<Pick<EngineResult, 'columns' | 'truncated'>> {
    let columns: readonly NamedType[] = [];
    const { maxResultBytes: maxBytes = DEFAULTS.maxResultBytes } = this.options;
    const begin = (head: ResultHead): void => {
      columns = head.columns;
      sink.begin(head);
    };
    const own: RowSink = { begin, take: (rows) => sink.take(rows) };
    const truncated = await this.#read(query, limits, own, { lastRow: query.maxRows + 1, maxBytes }, over);
    return { columns, truncated };
  }

  /** DuckDB's LIMIT is not parallel: a long result is cut off by not reading on. */
  stream(query: EngineQuery, limits: RunLimits, sink: RowSink): Promise<boolean> {
    return endingWithSink(limits, sink, async (own, ending) => {
      try {
        return await this.#read(query, own, ending, { lastRow: null, maxBytes: Infinity });
      } catch (error) {
        if (error instanceof CutOff) return true;
        throw error;
      }
    });
  }

  async #read(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
    bounds: ReadBounds,
    over: ReadOver = this.#current,
  ): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(query, limits, sink, bounds, over);
      } catch (error) {
        if (!(error instanceof LostTables)) throw error;
        if (tries === MOST_TRIES) throw busyTables();
      }
    }
  }

  /** What queries read: the tables as they are. */
  get #current(): ReadOver {
    return { tables: () => this.#data.acquire(), remember: true, begin: null };
  }

  /** As `runArrived`, for who takes the rows part by part. */
  async feedArrived(
    query: EngineQuery,
    range: ArrivedRange | { readonly table: string; readonly after: null },
    limits: RunLimits,
    sink: RowSink,
  ): Promise<Pick<ArrivedResult, 'columns' | 'truncated' | 'epoch' | 'upTo'>> {
    const { folder } = this.database;
    if (folder === null) throw new Error('There is no data folder.');
    if (range.after !== null) {
      const batch = await folder.arrived(range);
      try {
        const { epoch, upTo } = batch;
        return { ...(await this.feed(query, limits, sink, this.#onlyOf(batch.table))), epoch, upTo };
      } finally {
        batch.release();
      }
    }
    let place = folder.placeOf(range.table);
    // What is read is what had arrived at one instant: the transaction begins while nothing changes.
    const begin: NonNullable<ReadOver['begin']> = (tables) => (prepare) =>
      folder.exclusively(async () => {
        const isCurrent = this.#data.tables.get(range.table)?.revision === tables.find(range.table)?.revision;
        if (!isCurrent) throw new LostTables();
        place = folder.placeOf(range.table);
        return prepare();
      });
    const outcome = await this.feed(query, limits, sink, { ...this.#current, begin });
    return { ...outcome, ...place };
  }

  async runArrived(
    query: EngineQuery,
    range: ArrivedRange | { readonly table: string; readonly after: null },
    limits: RunLimits,
  ): Promise<ArrivedResult> {
    const gathered = new GatheredRows();
    const outcome = await this.feedArrived(query, range, limits, gathered);
    return { ...outcome, rows: gathered.rows, bytesProcessed: null, bytesBilled: null };
  }

  /** One table in place of its own; the others are not read. */
  #onlyOf(table: StoredTable): ReadOver {
    return {
      tables: () => {
        const tables = this.#data.acquire();
        const all = tables.tables.map((one) => (one.schema.name === table.schema.name ? table : one));
        return {
          tables: all,
          find: (name) => all.find(({ schema }) => schema.name === name),
          get isLost() {
            return tables.isLost;
          },
          release: () => tables.release(),
        };
      },
      remember: false,
      begin: null,
    };
  }

  async #readOnce(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
    { lastRow, maxBytes }: ReadBounds,
    over: ReadOver,
  ): Promise<boolean> {
    checkLimits(limits);
    const tables = over.tables();
    const { sql, parameters, maxRows, hideBytes, isoTimestamps = false, sorted = false, stored = false } = query;
    const reading = { hideBytes, isoTimestamps, sorted, maxRows: lastRow, stored, fence: query.fence ?? null };
    try {
      const { remember } = over;
      const translation = await this.#translations.translation(sql, parameters, reading, tables, limits, remember);
      const valuesOf = (statement: Statement): BoundValue[] =>
        statement.parameters.map((name) => this.#value(name, parameters));
      const values = valuesOf(translation);
      const bounds = { maxRows, maxBytes, brackets: translation.brackets };
      let handedOn = false;
      const take = (rows: readonly string[]): Promise<void> | void => {
        handedOn = true;
        return sink.take(rows);
      };
      const read = async (statement: DuckDBPreparedStatement): Promise<boolean> => {
        const truncated = await readRows(statement, values, bounds, take);
        if (truncated && lastRow === null) throw new CutOff();
        return truncated;
      };
      // What a stream has handed on cannot be taken back; rows of a run are gathered.
      const isRepeatable = (): boolean => lastRow !== null || !handedOn;
      const onConnection = async (connection: DuckDBConnection): Promise<boolean> => {
        if (tables.isLost) throw new LostTables();
        sink.begin({ columns: translation.columns, bytesProcessed: null, bytesBilled: null });
        const grows = translation.tables.some((name) => tables.find(name)?.parts.some((part) => part.grows));
        const use = async <T>(work: (statement: DuckDBPreparedStatement) => Promise<T>): Promise<T> =>
          grows || over.begin !== null || translation.before.length > 0
            ? this.#runOnce(connection, translation, valuesOf, work, over.begin?.(tables))
            : work(await this.#statements.prepare(connection, translation.sql));
        try {
          return await use(read);
        } catch (error) {
          if (!(error instanceof BrokenStream)) throw error;
          if (lastRow === null) throw new QueryError('invalidQuery', UNKNOWN_EXECUTION_FAULT, null);
          // A second run says what is wrong: which words a caller gets must not depend on how rows lie.
          await use((statement) => {
            bindValues(statement, values);
            return statement.run();
          });
          throw new PassingFailure();
        }
      };
      return await this.#onConnection(sql, limits, onConnection, isRepeatable);
    } finally {
      tables.release();
    }
  }

  /** Plans and runs in one transaction (`Part.grows`), which temporary tables do not outlast. */
  async #runOnce<T>(
    connection: DuckDBConnection,
    translation: Translation,
    valuesOf: (statement: Statement) => readonly BoundValue[],
    work: (statement: DuckDBPreparedStatement) => Promise<T>,
    begin: Begin = (prepare) => prepare(),
  ): Promise<T> {
    const { before } = translation;
    const prepare = (i: number): Promise<DuckDBPreparedStatement> =>
      i < before.length ? prepareTable(connection, before[i]!.sql) : prepareSelect(connection, translation.sql);
    let statement = await begin(async () => {
      await connection.run('BEGIN TRANSACTION');
      return prepare(0);
    });
    try {
      for (const [i, table] of before.entries()) {
        bindValues(statement, valuesOf(table));
        await statement.run();
        const next = await prepare(i + 1);
        statement.destroySync();
        statement = next;
      }
      return await work(statement);
    } finally {
      statement.destroySync();
      await connection.run('ROLLBACK');
    }
  }

  async tables(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas> {
    checkLimits(limits);
    const { tables } = this.#data;
    // Tables have no project or data set here.
    const known = paths.flatMap(([name = '', ...rest]) => (rest.length > 0 ? [] : (tables.get(name)?.schema ?? [])));
    return { schemas: new Map(known.map((table) => [table.name, table])), names: [...tables.keys()] };
  }

  async describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]> {
    checkLimits(limits);
    const reading = { hideBytes: false, maxRows: 1, stored: false, fence: null };
    const tables = this.#data.acquire();
    try {
      return (await this.#translations.translation(sql, parameters, reading, tables, limits)).columns;
    } finally {
      tables.release();
    }
  }

  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void> {
    checkLimits(limits);
    try {
      await this.#inspection.inspect(statement, tables, parameters, limits);
    } catch (error) {
      throw failure(error, this.options.log, statement);
    }
  }

  async ping(limits: RunLimits): Promise<void> {
    checkLimits(limits);
    await this.#live.probe(limits);
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#live.close();
    await this.#inspection.close();
    await this.#threads.close();
  }

  async #onConnection<T>(sql: string, limits: RunLimits, work: Work<T>, isRepeatable: () => boolean): Promise<T> {
    try {
      return await this.#live.use(limits, work, isRepeatable);
    } catch (error) {
      if (error instanceof LostTables || error instanceof CutOff) throw error;
      throw failure(error, this.options.log, sql);
    }
  }

  #value(name: string, parameters: readonly BoundParameter[]): BoundValue {
    if (name === CLOCK_PARAMETER) return boundInstant(this.options.now ?? BigInt(Date.now()) * 1000n);
    const text = textParameterOf(name);
    const parameter = parameters.find((bound) => bound.name.toLowerCase() === (text ?? name).toLowerCase());
    if (parameter === undefined) throw new ServiceError('internalError', `Parameter @${name} is not bound`);
    return text === null ? boundValue(parameter) : boundInstant(instantOf(String(parameter.value)));
  }
}
