import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { StatementType } from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';

/** Statements ofConnection for each connection: what a dashboard repeats. */
const PER_CONNECTION = 8;

/** Prepared statements by connection and text: planning a wide row's JSON costs as much as reading a few hundred rows. */
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
