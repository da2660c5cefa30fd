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
import { nextSampleRow, sampleRows, singleListsOf } from './sample-table';

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

/** Milliseconds between two rows that are added. */
const PERIOD = 4_000;
/** Rows that are added to a table at most: a week of them. */
const MOST_ADDED = 100_000;

/** The relation of the rows that are added to a table while the service runs. */
const addedTo = (name: string): string => `memory.main.${quoteName(`added_${name}`)}`;

/**
 * Goes on with the samples: one row of now every few seconds, of one table after the other.
 *
 * @param connection of its own, before it is hardened
 * @returns ends it
 */
export async function goOnWithSamples(
  connection: DuckDBConnection,
  declared: DuckDbOptions['declared'],
): Promise<() => void> {
  for (const table of TABLES) {
    const row = nextSampleRow(table, declared.get(table.name)!, table.rows);
    await connection.run(`CREATE TABLE ${addedTo(table.name)} AS ${row} LIMIT 0`);
  }
  let added = 0;
  let pending = Promise.resolve();
  const add = async (): Promise<void> => {
    // The first table, of requests, has every other row.
    const table = added % 2 === 0 ? TABLES[0]! : TABLES[((added + 1) / 2) % TABLES.length]!;
    const row = nextSampleRow(table, declared.get(table.name)!, table.rows + added);
    added++;
    // Of a database that is being closed there is nothing to say.
    await connection.run(`INSERT INTO ${addedTo(table.name)} ${row}`).catch(() => clearInterval(timer));
    if (added === MOST_ADDED) clearInterval(timer);
  };
  const timer = setInterval(() => {
    pending = pending.then(add);
  }, PERIOD).unref();
  return () => clearInterval(timer);
}

/** The tables of `database` that `makeSamples` has filled. @param goOn rows are added to them */
export function sampleTables(
  database: string,
  declared: DuckDbOptions['declared'],
  goOn: boolean,
): readonly StoredTable[] {
  return TABLES.map((table) => {
    const fields = declared.get(table.name)!;
    const relation = `${quoteName(database)}.${quoteName(table.name)}`;
    const part = { ...unknownPart(relation), timedBy: 'timestamp', single: singleListsOf(table, fields) };
    const added = { ...part, relation: addedTo(table.name), grows: true };
    return {
      schema: { name: table.name, columns: columnsOf(fields) },
      parts: goOn ? [part, added] : [part],
      revision: 0,
    };
  });
}
