import { rm } from 'node:fs/promises';

import {
  type DuckDBConnection,
  type DuckDBInstance,
  type DuckDBPreparedStatement,
  StatementType,
} from '@duckdb/node-api';

import { Threads } from '../concurrency/threads/threads';
import { QueryError, type NamedType, type TableSchema } from '@logquay/googlesql/types';
import { mayMean, nameIn } from '../contract/table-names';
import { ServiceError } from '../contract/service-error';
import { executionFault } from '../contract/execution-faults';
import { COMPOSED_BOUNDS, tablesRead, parseQuery } from '@logquay/googlesql/syntax';
import {
  type ArrivedRange,
  type ArrivedResult,
  type BoundParameter,
  type Engine,
  type EngineQuery,
  type EngineResult,
  type FolderStatus,
  type Lines,
  type LineSink,
  resultOf,
  type RunLimits,
  type TableSchemas,
} from '../contract/contract';
import { checkLimits } from '../concurrency/deadline';
import { PromptEngine } from './prompt-engine';
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
import { BrokenStream, readLines, type RowSink } from './line-stream';
import { OutOfMemory, PassingFailure } from './shared-memory';
import { bytesOf } from './sizes';
import { prepareCopy, prepareSelect, prepareTable, Statements } from './statements';
import {
  CLOCK_PARAMETER,
  instantOf,
  type Output,
  type Statement,
  textParameterOf,
  type Translation,
} from '../translate';
import { Translations } from './translation-cache';
import type { Suffixes } from './translation-task';

/**
 * The embedded engine: BigQuery's SQL over the files of a folder, or over made-up logs, in this process.
 *
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDuckDbEngine(options: DuckDbOptions): Promise<Engine> {
  const database = await openDatabase(options);
  await database.instance;
  return new PromptEngine(new DuckDbEngine(database, options));
}

/** All rows of a query, from when it began last. */
class GatheredRows implements RowSink {
  #parts: Uint8Array[] = [];
  #count = 0;

  begin(): void {
    this.#parts = [];
    this.#count = 0;
  }

  take(lines: Uint8Array, count: number): void {
    // A copy, which `slice` of a Buffer is not.
    this.#parts.push(new Uint8Array(lines));
    this.#count += count;
  }

  get lines(): Lines {
    return { parts: this.#parts, count: this.#count };
  }
}

/** Enough rows have been read of a statement that goes on: its connection is not used again. */
class CutOff extends Error {}

/** What becomes of a query's statement. */
interface Reading<T> {
  readonly output: Output;
  /** After which the statement ends by itself; null: it does not. */
  readonly lastRow: number | null;
  /** Before each try. */
  begin(columns: readonly NamedType[]): void;
  /** Prepares it; @param once it is not run again on the connection */
  prepare(connection: DuckDBConnection, translation: Translation, once: boolean): Promise<DuckDBPreparedStatement>;
  /** Runs it. */
  read(statement: DuckDBPreparedStatement, values: readonly BoundValue[], translation: Translation): Promise<T>;
  /** Whether nothing of it has reached anybody. */
  isRepeatable(): boolean;
}

/** The tables have been replaced while a query waited for them. */
class LostTables extends Error {}

function busyTables(): ServiceError {
  const message = 'The tables are being replaced.';
  return new ServiceError('backendUnavailable', message, { retryAfter: 1 });
}

/** Callers know no tables of the data folder, and its faults are for the operator. */
function unservedTable(): ServiceError {
  const message = 'The rows of a table that is read cannot be served now.';
  return new ServiceError('backendUnavailable', message, { retryAfter: 5 });
}

/** Its fields are not known yet, as they are those of its rows. */
function isUnread({ schema, unserved }: StoredTable): boolean {
  return unserved === true && schema.columns.length === 0;
}

/** For `catch`: what is wrong with a text over a table that has not been read yet is not known. */
function rethrowOf(sql: string, { tables }: TableSnapshot): (error: unknown) => never {
  return (error) => {
    const unread = tables.filter(isUnread).map(({ schema }) => schema.name);
    if (error instanceof QueryError && unread.length > 0) {
      const read = tablesRead(parseQuery(sql, COMPOSED_BOUNDS)).map(({ node }) =>
        nameIn(node.path.map((part) => part.name)),
      );
      if (read.some((name) => unread.some((table) => mayMean(name, table)))) throw unservedTable();
    }
    throw error;
  };
}

/** The caller's rows in temporary tables take one of so many shares of the memory that DuckDB has (docs/decisions/fence.md). */
const OWN_ROWS_SHARE = 4;

interface BoundStatement {
  readonly sql: string;
  readonly values: readonly BoundValue[];
}

/** How often a query is tried again whose tables have been replaced, and once more. */
const MOST_TRIES = 4;

/** What a query is run over. */
interface ReadOver {
  readonly tables: () => TableSnapshot;
  /** Whether the same text may be run over the same tables again. */
  readonly remember: boolean;
}

/** Tables with other parts of one of them. @param table null: they are as they are */
function withParts(tables: TableSnapshot, table: StoredTable | null): TableSnapshot {
  if (table === null) return tables;
  const of = (one: StoredTable): StoredTable =>
    one.schema.name === table.schema.name ? { ...table, unserved: one.unserved ?? false } : one;
  return {
    tables: tables.tables.map(of),
    find: (name) => {
      const found = tables.find(name);
      return found && of(found);
    },
    get isLost() {
      return tables.isLost;
    },
    release: () => tables.release(),
  };
}

/**
 * The engine itself. What it is asked for settles when it has really ended: DuckDB may take its time beyond deadline and
 * signal to notice an interrupt. `PromptEngine` makes it what callers expect.
 */
export class DuckDbEngine implements Engine {
  readonly kind = 'duckdb';
  readonly concurrency: number;
  readonly #live: LiveDatabase;
  readonly #data: StoredTables;
  readonly #translations: Translations;
  /** Bytes. */
  readonly #memory: number;
  readonly #statements = new Statements();
  readonly #threads = new Threads();
  #closed = false;
  readonly #inspection = new Inspection(this.#threads);
  /** Nothing is billed. */
  readonly dryRun = null;

  constructor(
    private readonly database: Database,
    private readonly options: Omit<DuckDbOptions, 'dataDir' | 'cacheDir'>,
  ) {
    this.concurrency = options.connections ?? DEFAULTS.connections;
    const memory = bytesOf(options.memory ?? DEFAULTS.memory);
    this.#memory = memory;
    const reopen = (): Promise<DuckDBInstance> => database.reopen();
    this.#live = new LiveDatabase(database.instance, reopen, this.concurrency, memory, options.log);
    this.#data = database.data;
    this.#translations = new Translations(this.#threads);
  }

  get target(): string {
    return this.database.target;
  }

  get opened(): Promise<unknown> {
    return this.database.instance;
  }

  dataStatus(): FolderStatus | null {
    return this.database.status;
  }

  async run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    const gathered = new GatheredRows();
    const outcome = await this.feed(query, limits, gathered);
    return resultOf(outcome, gathered.lines);
  }

  /** As `run`, for who takes the rows part by part. @param sink begins anew where the query is run again */
  async feed(
    query: EngineQuery,
    limits: RunLimits,
    sink: RowSink,
    over = this.#current,
  ): Promise<Pick<EngineResult, 'columns' | 'truncated'>> {
    let columns: readonly NamedType[] = [];
    const { maxRows } = query;
    const { maxResultBytes: maxBytes = DEFAULTS.maxResultBytes } = this.options;
    const truncated = await this.#read(
      query,
      limits,
      {
        output: 'text',
        lastRow: maxRows + 1,
        begin: (known) => {
          columns = known;
          sink.begin(known);
        },
        prepare: this.#prepare,
        read: (statement, values, { brackets }) =>
          readLines(statement, values, { maxRows, maxBytes, brackets }, (lines, count) => sink.take(lines, count)),
        // Rows are gathered.
        isRepeatable: () => true,
      },
      over,
    );
    return { columns, truncated };
  }

  /** DuckDB's LIMIT is not parallel: a long result is cut off by not reading on. */
  stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean> {
    const { lines: form = 'json', maxRows } = query;
    const all = { maxRows, maxBytes: null, brackets: null };
    return endingWithSink(limits, sink, async (own, ending) => {
      let handedOn = false;
      try {
        return await this.#read(query, own, {
          output: form,
          // Behind the fence all rows are computed before any is cut off.
          lastRow: query.fence ? maxRows + 1 : null,
          begin: (columns) => ending.begin({ columns, bytesProcessed: null, bytesBilled: null }, form),
          prepare: this.#prepare,
          read: async (statement, values) => {
            const truncated = await readLines(statement, values, all, (lines, count) => {
              handedOn = true;
              return ending.take(lines, count);
            });
            if (truncated) throw new CutOff();
            return false;
          },
          // What has been handed on cannot be taken back.
          isRepeatable: () => !handedOn,
        });
      } catch (error) {
        if (error instanceof CutOff) return true;
        throw error;
      }
    });
  }

  async copy(query: EngineQuery, path: string, limits: RunLimits): Promise<number> {
    try {
      return await this.#read(query, limits, {
        output: 'columns',
        lastRow: null,
        begin: () => undefined,
        prepare: (connection, { sql, columns }) => prepareCopy(connection, sql, path, columns),
        read: async (statement, values) => {
          bindValues(statement, values);
          const [[count] = []] = (await statement.runAndReadAll()).getRows();
          return Number(count);
        },
        // Somebody may be reading the file.
        isRepeatable: () => false,
      });
    } catch (error) {
      // Who was to read it may have left before it was there.
      await rm(path, { force: true });
      throw error;
    }
  }

  readonly #prepare: Reading<unknown>['prepare'] = (connection, { sql }, once) =>
    once ? prepareSelect(connection, sql) : this.#statements.prepare(connection, sql);

  async #read<T>(
    query: EngineQuery,
    limits: RunLimits,
    reading: Reading<T>,
    over: ReadOver = this.#current,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(query, limits, reading, over);
      } catch (error) {
        if (!(error instanceof LostTables)) throw error;
        if (tries === MOST_TRIES) throw busyTables();
      }
    }
  }

  /** What queries read: the tables as they are. */
  get #current(): ReadOver {
    return { tables: () => this.#data.acquire(), remember: true };
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
    let place = { epoch: '', upTo: 0 };
    const tables = (): TableSnapshot => {
      const { table, ...end } = range.after === null ? folder.arrivedBefore(range.table) : folder.arrived(range);
      place = end;
      return withParts(this.#data.acquire(), table);
    };
    const outcome = await this.feed(query, limits, sink, { tables, remember: false });
    return { ...outcome, ...place };
  }

  async runArrived(
    query: EngineQuery,
    range: ArrivedRange | { readonly table: string; readonly after: null },
    limits: RunLimits,
  ): Promise<ArrivedResult> {
    const gathered = new GatheredRows();
    const outcome = await this.feedArrived(query, range, limits, gathered);
    return resultOf(outcome, gathered.lines);
  }

  async #readOnce<T>(query: EngineQuery, limits: RunLimits, reading: Reading<T>, over: ReadOver): Promise<T> {
    checkLimits(limits);
    const tables = over.tables();
    const { sql, parameters, hideBytes, isoTimestamps = false, sorted = false, stored = false } = query;
    const { output, lastRow } = reading;
    const { fence = null } = query;
    const wanted = { hideBytes, isoTimestamps, sorted, output, maxRows: lastRow, stored, fence };
    try {
      const { remember } = over;
      const translated = (suffixes?: Suffixes): Promise<Translation> =>
        this.#translations
          .translation(sql, parameters, suffixes ? { ...wanted, suffixes } : wanted, tables, limits, remember)
          .catch(rethrowOf(sql, tables));
      const whole = await translated();
      const suffixes = await this.#suffixes(whole, parameters, tables, limits);
      const translation = suffixes === null ? whole : await translated(suffixes);
      const { before } = translation;
      if (translation.tables.some((name) => tables.find(name)?.unserved === true)) throw unservedTable();
      const valuesOf = (statement: Statement): BoundValue[] =>
        statement.parameters.map((name) => this.#value(name, parameters));
      const values = valuesOf(translation);
      const onConnection = async (connection: DuckDBConnection): Promise<T> => {
        if (tables.isLost) throw new LostTables();
        reading.begin(translation.columns);
        const grows = translation.tables.some((name) => tables.find(name)?.parts.some((part) => part.grows));
        const use = async <U>(work: (prepared: DuckDBPreparedStatement) => Promise<U>): Promise<U> => {
          const once = grows || before.length > 0;
          const prepare = (): Promise<DuckDBPreparedStatement> => reading.prepare(connection, translation, once);
          if (!once) return work(await prepare());
          const bound = (one: Statement): BoundStatement => ({ sql: one.sql, values: valuesOf(one) });
          const made = before.map((table) => ({ ...bound(table), bytes: table.bytes && bound(table.bytes) }));
          return this.#runOnce(connection, made, prepare, work);
        };
        try {
          return await use((prepared) => reading.read(prepared, values, translation));
        } catch (error) {
          if (!(error instanceof BrokenStream)) throw error;
          if (lastRow === null) throw executionFault(null, null);
          // A second run says what is wrong: which words a caller gets must not depend on how rows lie.
          await use((prepared) => {
            bindValues(prepared, values);
            return prepared.run();
          });
          throw new PassingFailure();
        }
      };
      return await this.#onConnection(sql, limits, onConnection, () => reading.isRepeatable());
    } finally {
      tables.release();
    }
  }

  /** Suffixes of the tables that are needed of wildcards; null: of all. */
  async #suffixes(
    { suffixes }: Translation,
    parameters: readonly BoundParameter[],
    tables: TableSnapshot,
    limits: RunLimits,
  ): Promise<Suffixes | null> {
    if (suffixes.size === 0) return null;
    const found = new Map<string, string[]>();
    const work = async (connection: DuckDBConnection): Promise<void> => {
      if (tables.isLost) throw new LostTables();
      for (const [name, statements] of suffixes) {
        const passing = new Set<string>();
        for (const { sql, parameters: names } of statements) {
          const statement = await prepareSelect(connection, sql);
          try {
            bindValues(
              statement,
              names.map((one) => this.#value(one, parameters)),
            );
            for (const [row] of (await statement.runAndReadAll()).getRows())
              passing.add((JSON.parse(String(row)) as { suffix: string }).suffix);
          } finally {
            statement.destroySync();
          }
        }
        found.set(name, [...passing].sort());
      }
    };
    try {
      await this.#onConnection('', limits, work, () => true);
      return found;
    } catch (error) {
      // What fails here may not be evaluated in the query, or fails there.
      if (error instanceof QueryError) return null;
      throw error;
    }
  }

  /**
   * Plans and runs in one transaction (`Part.grows`), which temporary tables do not outlast.
   *
   * @throws OutOfMemory where the caller's rows in them take more than their share of the memory
   */
  async #runOnce<T>(
    connection: DuckDBConnection,
    before: readonly (BoundStatement & { readonly bytes: BoundStatement | null })[],
    prepareLast: () => Promise<DuckDBPreparedStatement>,
    work: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T> {
    const steps = before.flatMap(({ bytes, sql, values }) => {
      const table = { prepare: () => prepareTable(connection, sql), values };
      return bytes === null
        ? [table]
        : [{ prepare: () => prepareSelect(connection, bytes.sql), values: bytes.values }, table];
    });
    const prepare = (i: number): Promise<DuckDBPreparedStatement> => steps[i]?.prepare() ?? prepareLast();
    await connection.run('BEGIN TRANSACTION');
    let statement = await prepare(0);
    let bytes = 0;
    try {
      for (const [i, { values }] of steps.entries()) {
        bindValues(statement, values);
        const [[taken] = []] = (await statement.runAndReadAll()).getRows();
        if (statement.statementType === StatementType.SELECT) bytes += Number(taken);
        if (bytes > this.#memory / OWN_ROWS_SHARE) throw new OutOfMemory();
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
    const tables = this.#data.acquire();
    try {
      const found = paths.flatMap((path) => {
        const table = tables.find(nameIn(path));
        return table === undefined ? [] : [{ path: path.join('.'), table }];
      });
      if (found.some(({ table }) => isUnread(table))) throw unservedTable();
      const schemas = new Map(found.map(({ path, table }) => [path, table.schema]));
      const inferred = new Set(found.flatMap(({ path, table }) => (table.inferred === true ? path : [])));
      return { schemas, inferred, names: tables.tables.map(({ schema }) => schema.name) };
    } finally {
      tables.release();
    }
  }

  async describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]> {
    checkLimits(limits);
    // Of stored queries and their CTE tables: operators wrote all of it.
    const reading = { hideBytes: false, maxRows: 1, stored: true, fence: null };
    const tables = this.#data.acquire();
    try {
      const translation = this.#translations.translation(sql, parameters, reading, tables, limits);
      return (await translation.catch(rethrowOf(sql, tables))).columns;
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
      throw failure(error, this.options.log, statement, limits.signal.aborted || this.#closed);
    }
  }

  async ping(limits: RunLimits): Promise<void> {
    checkLimits(limits);
    await this.#live.probe(limits);
  }

  async close(): Promise<void> {
    this.#closed = true;
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
      throw failure(error, this.options.log, sql, limits.signal.aborted || this.#closed);
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
