import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { ServiceError } from '../../../errors';
import { Threads } from '../../../concurrency/threads';
import type { NamedType, TableSchema } from '../../../googlesql/types';
import type { BoundParameter, Engine, EngineQuery, EngineResult, RunLimits, TableSchemas } from '../../contract';
import type { FolderStatus } from '../../data-status';
import { checkLimits } from '../../../concurrency/deadline';
import { answeringInTime } from './prompt-engine';
import { openDatabase, type Database } from './database';
import type { StoredTables } from '../data/stored-tables';
import { failure } from './failures';
import { Inspection } from './inspection';
import { LiveDatabase } from './recovering-database';
import { DEFAULTS, type DuckDbOptions } from './options';
import { readRows, type RowSink } from './row-stream';
import { prepareSelect, Statements } from './statements';
import { CLOCK_PARAMETER } from '../translate';
import { Translations } from './translation-cache';

/**
 * The embedded engine: BigQuery's SQL over the files of a folder, or over made-up logs, in this process.
 *
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDuckDbEngine(options: DuckDbOptions): Promise<Engine> {
  return answeringInTime(new DuckDbEngine(await openDatabase(options), options));
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
    const outcome = await this.stream(query, limits, (part) => {
      rows = rows.length === 0 ? [...part] : rows.concat(part);
    });
    return { ...outcome, rows, bytesProcessed: null, bytesBilled: null };
  }

  /** As `run`, for who takes the rows part by part. */
  async stream(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
  ): Promise<Pick<EngineResult, 'columns' | 'truncated'>> {
    try {
      return await this.#stream(query, limits, sink);
    } catch (error) {
      if (error instanceof LostTables) return this.#stream(query, limits, sink);
      throw error;
    }
  }

  async #stream(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
  ): Promise<Pick<EngineResult, 'columns' | 'truncated'>> {
    checkLimits(limits);
    const { sql, parameters, maxRows, hideBytes, stored = false, fence = null } = query;
    const reading = { hideBytes, maxRows: maxRows + 1, stored, fence };
    const tables = this.#data.acquire();
    try {
      const translation = await this.#translations.translation(sql, parameters, reading, tables, limits);
      const values = translation.parameters.map((name) => this.#value(name, parameters));
      const bounds = { maxRows, maxBytes: this.options.maxResultBytes ?? DEFAULTS.maxResultBytes };
      const truncated = await this.#onConnection(sql, limits, async (connection) => {
        if (tables.isLost) throw new LostTables();
        if (translation.tables.some((name) => tables.find(name)?.parts.some(({ grows }) => grows))) {
          return this.#runOnce(connection, translation.sql, (statement) => readRows(statement, values, bounds, sink));
        }
        const statement = await this.#statements.prepare(connection, translation.sql);
        return readRows(statement, values, bounds, sink);
      });
      return { columns: translation.columns, truncated };
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

  async #onConnection<T>(sql: string, limits: RunLimits, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    try {
      return await this.#live.use(limits, work);
    } catch (error) {
      if (error instanceof LostTables) throw error;
      throw failure(error, this.options.log, sql);
    }
  }

  #value(name: string, parameters: readonly BoundParameter[]): DuckDBValue {
    if (name === CLOCK_PARAMETER) return this.options.now ?? BigInt(Date.now()) * 1000n;
    const parameter = parameters.find((bound) => bound.name.toLowerCase() === name.toLowerCase());
    if (parameter === undefined) throw new ServiceError('internalError', `Parameter @${name} is not bound`);
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
