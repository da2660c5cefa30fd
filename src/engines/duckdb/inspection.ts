import { DuckDBInstance } from '@duckdb/node-api';
import { QueryError } from '../../errors';
import { COMPOSED_BOUNDS } from '../../googlesql/bounds';
import { parseQuery } from '../../googlesql/parser';
import { resolveQuery } from '../../googlesql/resolver';
import { turn } from '../../googlesql/turn';
import type { TableSchema } from '../../googlesql/types';
import type { BoundParameter } from '../contract';
import { isBreakdown } from './native-error';
import { setUpStatements, translate } from './translate';
import { duckType, physicalFieldNames, quoteName } from './translate/sql';

/**
 * The sandbox's last wall: a statement is resolved where no table exists but those it may read, and its translation is
 * then planned by a DuckDB of its own that holds those tables, empty, and nothing else.
 */
export class Inspection {
  #room: Promise<DuckDBInstance> | undefined;

  /** @throws QueryError `sandboxViolation` where `statement` reads anything but `tables`, or for a fault in it. */
  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
  ): Promise<void> {
    const allowed = tables.map((table) => table.name);
    const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
    await turn(statement);
    const query = parseQuery(statement, COMPOSED_BOUNDS);
    await turn(statement);
    const resolved = resolveQuery(query, statement, {
      findTable(path) {
        const [first, ...more] = path;
        const table = more.length === 0 ? byName.get(first!.name.toLowerCase()) : undefined;
        if (table !== undefined) return table;
        const span = { start: first!.span.start, end: path.at(-1)!.span.end };
        throw new QueryError('sandboxViolation', 'The query reads a table that it may not read.', span, { allowed });
      },
      parameters: new Map(parameters.map(({ name, type }) => [name, { kind: type }])),
    });
    await turn(statement);
    const { sql } = translate(resolved, {
      tableName: (table) => quoteName(table.name),
      hideBytes: false,
      maxRows: 1,
    });
    const room = (this.#room ??= emptyRoom());
    const connection = await (await room).connect();
    try {
      for (const table of tables) await connection.run(emptyTable(table));
      (await connection.prepare(sql)).destroySync();
    } catch (error) {
      // It may be broken for ever: the next inspection has a new one. Those in this one keep it alive.
      if (isBreakdown(error) && this.#room === room) this.#room = undefined;
      throw error;
    } finally {
      connection.closeSync();
    }
  }

  async close(): Promise<void> {
    (await this.#room)?.closeSync();
  }
}

async function emptyRoom(): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', max_memory: '64MB', temp_directory: '' });
  const connection = await instance.connect();
  await connection.run(`SET GLOBAL TimeZone = 'UTC'`);
  for (const macro of setUpStatements()) await connection.run(macro);
  connection.closeSync();
  return instance;
}

/** Temporary: it goes with the connection. */
function emptyTable({ name, columns }: TableSchema): string {
  const names = physicalFieldNames(columns);
  const fields = columns.map(({ type }, i) => `${quoteName(names[i]!)} ${duckType(type)}`);
  return `CREATE TEMP TABLE ${quoteName(name)} (${fields.join(', ')})`;
}
