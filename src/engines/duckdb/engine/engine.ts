import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { QueryError, ServiceError } from '../../../errors';
import { UNKNOWN_EXECUTION_FAULT } from '../../execution-faults';
import { Threads } from '../../../concurrency/threads';
import type { NamedType, TableSchema } from '../../../googlesql/types';
import type {
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
import { openDatabase, type Database } from './database';
import { endingWithSink } from './ending-with-sink';
import type { StoredTables } from '../data/stored-tables';
import { failure } from './failures';
import { Inspection } from './inspection';
import { LiveDatabase } from './recovering-database';
import { DEFAULTS, type DuckDbOptions } from './options';
import { BrokenStream, readRows, type TakeRows } from './row-stream';
import { prepareSelect, Statements } from './statements';
import { CLOCK_PARAMETER } from '../translate';
import { instantOf, textParameterOf } from '../translate/known-parameters';
import { Translations } from './translation-cache';

/**
 * The embedded engine: BigQuery's SQL over the files of a folder, or over made-up logs, in this process.
 *
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDuckDbEngine(options: DuckDbOptions): Promise<Engine> {
  return answeringInTime(new DuckDbEngine(await openDatabase(options), options));
}

/** Enough rows have been read of a statement that goes on: its connection is not used again. */
class CutOff extends Error {}

interface ReadBounds {
  /** After which the statement ends by itself; null: it does not. */
  readonly lastRow: number | null;
  /** Of the rows' texts together. */
  readonly maxBytes: number;
}

/** The database was opened again while a query waited for it. */
class LostTables extends Error {}

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
    this.#live = new LiveDatabase(database.instance, database.reopen, this.concurrency, options.log);
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
    let rows: string[] = [];
    const outcome = await this.feed(query, limits, (part) => {
      rows = rows.length === 0 ? [...part] : rows.concat(part);
    });
    return { ...outcome, rows, bytesProcessed: null, bytesBilled: null };
  }

  /** As `run`, for who takes the rows part by part. */
  async feed(
    query: EngineQuery,
    limits: RunLimits,
    take: TakeRows,
  ): Promise<Pick<EngineResult, 'columns' | 'truncated'>> {
    let columns: readonly NamedType[] = [];
    const { maxResultBytes: maxBytes = DEFAULTS.maxResultBytes } = this.options;
    const begin = (head: ResultHead): void => {
      columns = head.columns;
    };
    const truncated = await this.#read(query, limits, { begin, take }, { lastRow: query.maxRows + 1, maxBytes });
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

  async #read(query: EngineQuery, limits: RunLimits, sink: RowSink, bounds: ReadBounds): Promise<boolean> {
    try {
      return await this.#readOnce(query, limits, sink, bounds);
    } catch (error) {
      if (error instanceof LostTables) return this.#readOnce(query, limits, sink, bounds);
      throw error;
    }
  }

  async #readOnce(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
    { lastRow, maxBytes }: ReadBounds,
  ): Promise<boolean> {
    checkLimits(limits);
    const { sql, parameters, maxRows, hideBytes, isoTimestamps = false, sorted = false, stored = false } = query;
    const reading = { hideBytes, isoTimestamps, sorted, maxRows: lastRow, stored, fence: query.fence ?? null };
    const tables = this.#data.acquire();
    try {
      const translation = await this.#translations.translation(sql, parameters, reading, tables, limits);
      const values = translation.parameters.map((name) => this.#value(name, parameters));
      const bounds = { maxRows, maxBytes };
      const read = async (statement: DuckDBPreparedStatement): Promise<boolean> => {
        const truncated = await readRows(statement, values, bounds, (rows) => sink.take(rows));
        if (truncated && lastRow === null) throw new CutOff();
        return truncated;
      };
      return await this.#onConnection(sql, limits, async (connection) => {
        if (tables.isLost) throw new LostTables();
        sink.begin({ columns: translation.columns, bytesProcessed: null, bytesBilled: null });
        const grows = translation.tables.some((name) => tables.find(name)?.parts.some((part) => part.grows));
        const use = async <T>(work: (statement: DuckDBPreparedStatement) => Promise<T>): Promise<T> =>
          grows
            ? this.#runOnce(connection, translation.sql, work)
            : work(await this.#statements.prepare(connection, translation.sql));
        try {
          return await use(read);
        } catch (error) {
          if (!(error instanceof BrokenStream)) throw error;
          // A second run says what is wrong: which words a caller gets must not depend on how rows lie.
          if (lastRow !== null) {
            await use((statement) => {
              statement.bind(values);
              return statement.run();
            });
          }
          throw new QueryError('invalidQuery', UNKNOWN_EXECUTION_FAULT, null);
        }
      });
    } finally {
      tables.release();
    }
  }

  /** Plans and runs in one transaction (`Part.grows`). */
  async #runOnce<T>(
    connection: DuckDBConnection,
    sql: string,
    work: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T> {
    await connection.run('BEGIN TRANSACTION');
    const statement = await prepareSelect(connection, sql);
    try {
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

  async #onConnection<T>(
    sql: string,
    limits: RunLimits,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#live.use(limits, work);
    } catch (error) {
      if (error instanceof LostTables || error instanceof CutOff) throw error;
      throw failure(error, this.options.log, sql);
    }
  }

  #value(name: string, parameters: readonly BoundParameter[]): DuckDBValue {
    if (name === CLOCK_PARAMETER) return this.options.now ?? BigInt(Date.now()) * 1000n;
    const text = textParameterOf(name);
    const parameter = parameters.find((bound) => bound.name.toLowerCase() === (text ?? name).toLowerCase());
    if (parameter === undefined) throw new ServiceError('internalError', `Parameter @${name} is not bound`);
    if (text !== null) return instantOf(parameter.value);
    switch (parameter.type) {
      case 'STRING':
        return parameter.value;
      case 'INT64':
        return BigInt(parameter.value);
      case 'FLOAT64':
        return Number(parameter.value);
      case 'BOOL':
        return parameter.value === 'true';
    }
  }
}
