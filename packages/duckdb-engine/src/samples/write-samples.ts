import type { DuckDBConnection } from '@duckdb/node-api';
import type { Progress } from '../engine/log';
import { AUTH, PGBOUNCER, POSTGREST, REALTIME, STORAGE } from './services';
import { columnsOf } from '@logquay/googlesql/types';
import { type StoredTable, unknownPart } from '../data/part';
import type { DuckDbOptions } from '../engine/options';
import { quoteName } from '../sql';
import { EDGE } from './edge';
import { FUNCTION, FUNCTION_EDGE } from './functions';
import { POSTGRES } from './postgres';
import { sampleRows, singleListsOf } from './sample-table';

const TABLES = [EDGE, POSTGRES, FUNCTION_EDGE, FUNCTION, AUTH, REALTIME, STORAGE, POSTGREST, PGBOUNCER];

/** Part of the sample data's fingerprint: raised when the samples change. */
export const SAMPLES_VERSION = 1;

/**
 * Fills the attached database `database` with a week of made-up logs, one table per log table: the last rows lie within
 * a minute of `until` (microseconds since the epoch). Their fields are the declared ones. The same instant gives the same rows. Each connection makes one table at a time.
 */
export async function makeSamples(
  connections: readonly DuckDBConnection[],
  database: string,
  until: bigint,
  declared: DuckDbOptions['declared'],
  progress: Progress,
): Promise<void> {
  const total = TABLES.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  const tables = TABLES.values();
  const make = async (connection: DuckDBConnection): Promise<void> => {
    for (const table of tables) {
      progress({ what: 'Making sample logs', done, total, unit: 'rows' });
      const rows = sampleRows(table, declared.get(table.name)!, `make_timestamp(${until})`, true);
      await connection.run(`CREATE TABLE ${quoteName(database)}.${quoteName(table.name)} AS ${rows}`);
      done += table.rows;
    }
  };
  // Nothing runs any more when the first failure is thrown: DuckDB crashes where its instance is closed beneath a query.
  const outcomes = await Promise.allSettled(connections.map(make));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  progress(null);
}

/** The tables of `database` that `makeSamples` has filled. */
export function sampleTables(database: string, declared: DuckDbOptions['declared']): readonly StoredTable[] {
  return TABLES.map((table) => {
    const fields = declared.get(table.name)!;
    const relation = `${quoteName(database)}.${quoteName(table.name)}`;
    const part = { ...unknownPart(relation), timedBy: 'timestamp', single: singleListsOf(table, fields) };
    return { schema: { name: table.name, columns: columnsOf(fields) }, parts: [part], revision: 0 };
  });
}
