import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { StatementType } from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';

import type { NamedType } from '@logquay/googlesql/types';
import { quoteText } from '../sql';
import { leavesOf } from '../translate';

/** Statements ofConnection for each connection: what a dashboard repeats. */
const PER_CONNECTION = 8;

/**
 * Prepared statements by connection and text: planning a wide row's JSON costs as much as reading a few hundred rows. DuckDB 1.5.6 plans those
 * with parameters again at each run; they are parsed once.
 */
export class Statements {
  readonly #statements = new WeakMap<DuckDBConnection, LRUCache<string, DuckDBPreparedStatement>>();

  /** The statement stays good until it is pushed out by later ones; use it before preparing another. */
  async prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
    let ofConnection = this.#statements.get(connection);
    if (ofConnection === undefined) {
      ofConnection = new LRUCache({ max: PER_CONNECTION, dispose: (statement) => statement.destroySync() });
      this.#statements.set(connection, ofConnection);
    }
    const known = ofConnection.get(sql);
    if (known !== undefined) return known;
    const statement = await prepareSelect(connection, sql);
    ofConnection.set(sql, statement);
    return statement;
  }
}

/** Values of a row group: what is written at once, of wide records too, must find its place in memory. */
const GROUP_VALUES = 1024 * 1024;
/** A sixth of DuckDB's own size, which has memory go to the system and come back for each; and the smallest one that it takes. */
const GROUP_ROWS = { most: 20_480, step: 2048 };

/**
 * A statement that writes what a SELECT gives into a file, as Parquet. Only here does a statement name a file, and only one that the
 * service has named.
 *
 * @param sql that `prepareSelect` takes
 * @throws Error for another kind of statement
 */
export async function prepareCopy(
  connection: DuckDBConnection,
  sql: string,
  path: string,
  columns: readonly NamedType[],
): Promise<DuckDBPreparedStatement> {
  // Nothing that is one SELECT by itself ends the parenthesis around it.
  (await prepareSelect(connection, sql)).destroySync();
  const leaves = columns.reduce((sum, { type }) => sum + leavesOf(type), 0);
  const steps = Math.max(1, Math.floor(GROUP_VALUES / leaves / GROUP_ROWS.step));
  const rows = Math.min(GROUP_ROWS.most, steps * GROUP_ROWS.step);
  const options = `FORMAT parquet, ROW_GROUP_SIZE ${String(rows)}, USE_TMP_FILE false`;
  const statement = await connection.prepare(`COPY (${sql}) TO ${quoteText(path)} (${options})`);
  if (statement.statementType === StatementType.COPY) return statement;
  statement.destroySync();
  throw new Error('Not a COPY statement');
}

/** @throws Error for another kind of statement */
export function prepareSelect(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  return prepareOf(StatementType.SELECT, connection, sql);
}

/** A statement that makes a table. @throws Error for another kind of statement */
export function prepareTable(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  return prepareOf(StatementType.CREATE, connection, sql);
}

async function prepareOf(
  kind: StatementType,
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  const statement = await connection.prepare(sql);
  if (statement.statementType === kind) return statement;
  statement.destroySync();
  throw new Error(`Not a ${StatementType[kind]} statement`);
}
