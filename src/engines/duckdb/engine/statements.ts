import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { StatementType } from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';

/** Statements kept for each connection: what a dashboard repeats. */
const KEPT = 8;

/** Prepared statements by connection and text: planning a wide row's JSON costs as much as reading a few hundred rows. */
export class Statements {
  readonly #kept = new WeakMap<DuckDBConnection, LRUCache<string, DuckDBPreparedStatement>>();

  /** The statement stays good until it is pushed out by later ones; use it before preparing another. */
  async prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
    let kept = this.#kept.get(connection);
    if (kept === undefined) {
      kept = new LRUCache({ max: KEPT, dispose: (statement) => statement.destroySync() });
      this.#kept.set(connection, kept);
    }
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = await connection.prepare(sql);
    if (statement.statementType !== StatementType.SELECT) {
      statement.destroySync();
      throw new Error('Not a SELECT statement');
    }
    kept.set(sql, statement);
    return statement;
  }
}
