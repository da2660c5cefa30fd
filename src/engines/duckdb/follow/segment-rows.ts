/**
 * The rows of a segment (`segment.ts`) in their tables: in time order, the last first, and lists of one as their element
 * (docs/decisions/single-lists.md).
 */
import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { findSingleLists, oneOfEach, singleType, singleValue } from '../data/single-lists';
import { quoteName } from '../sql';
import { SOURCE_COLUMN, type Segment } from './segment';

/** What is known of written rows. */
export type WrittenRows = Omit<Segment, 'file' | 'bytes'>;

const TIMES = new Set(['TIMESTAMP', 'DATETIME', 'DATE']);

/** Writes the rows of a relation with lists; null: there are none. @param database attached, which is the segment */
export async function writeLists(
  connection: DuckDBConnection,
  database: string,
  fields: readonly RestField[],
  from: string,
): Promise<WrittenRows | null> {
  const { single, everywhere } = await findSingleLists(connection, from, fields);
  const condition = everywhere ? null : oneOfEach(fields, single);
  const values = fields.map((field) => `${singleValue(field, single)} AS ${quoteName(field.name)}`);
  const where = condition === null ? '' : ` WHERE ${condition}`;
  await createRows(connection, database, fields, single);
  await insertRows(
    connection,
    database,
    `SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${from}${where}${orderOf(fields)}`,
  );
  let odd = 0;
  if (condition !== null) {
    await connection.run(`CREATE TABLE ${database}.odd AS FROM ${from} WHERE NOT (${condition})${orderOf(fields)}`);
    odd = Number((await connection.runAndReadAll(`SELECT count(*) FROM ${database}.odd`)).getRows()[0]![0]);
    if (odd === 0) await connection.run(`DROP TABLE ${database}.odd`);
  }
  return writtenRows(connection, database, fields, single, odd);
}

/** Creates the table of rows whose columns have the lists of `single` as their elements. */
export async function createRows(
  connection: DuckDBConnection,
  database: string,
  fields: readonly RestField[],
  single: ReadonlySet<string>,
): Promise<void> {
  const types = fields.map((field) => `${quoteName(field.name)} ${singleType(field, single)}`);
  await connection.run(`CREATE TABLE ${database}.rows (${[...types, `${SOURCE_COLUMN} INTEGER`].join(', ')})`);
}

/** Inserts the rows of a query that has those columns, in its order. */
export async function insertRows(connection: DuckDBConnection, database: string, query: string): Promise<void> {
  await connection.run(`INSERT INTO ${database}.rows ${query}`);
}

/** What is known of the rows in the tables; null: there are none. @param odd rows of table `odd` */
export async function writtenRows(
  connection: DuckDBConnection,
  database: string,
  fields: readonly RestField[],
  single: ReadonlySet<string>,
  odd: number,
): Promise<WrittenRows | null> {
  const timestamp = timestampOf(fields);
  const time = timestamp?.type === 'TIMESTAMP' ? quoteName(timestamp.name) : 'CAST(NULL AS TIMESTAMP)';
  const all = ['rows', ...(odd > 0 ? ['odd'] : [])].map(
    (table) => `SELECT ${SOURCE_COLUMN} AS s, ${time} AS t FROM ${database}.${table}`,
  );
  const groups = await connection.runAndReadAll(
    `SELECT s, count(*), count(t), epoch_us(min(t)), epoch_us(max(t)) FROM (${all.join(' UNION ALL ')}) GROUP BY 1`,
  );
  const sources = groups.getRows() as [number, bigint, bigint, bigint | null, bigint | null][];
  if (sources.length === 0) return null;
  const timed = sources.every(([, rows, times]) => rows === times);
  const bound = (values: readonly (bigint | null)[]): string | null =>
    timed ? String(values.reduce((best, value) => (value! < best! ? value : best))) : null;
  return {
    rows: sources.reduce((sum, [, count]) => sum + Number(count), 0),
    odd,
    earliest: bound(sources.map(([, , , earliest]) => earliest)),
    latest: timed ? String(-BigInt(bound(sources.map(([, , , , latest]) => -latest!))!)) : null,
    sources: Object.fromEntries(sources.map(([source, count]) => [source, Number(count)])),
    fields,
    single: [...single],
  };
}

/** SQL: the last first, as those that are read most are found soonest. */
export function orderOf(fields: readonly RestField[]): string {
  const timestamp = timestampOf(fields);
  return timestamp === undefined ? '' : ` ORDER BY ${quoteName(timestamp.name)} DESC NULLS LAST`;
}

function timestampOf(fields: readonly RestField[]): RestField | undefined {
  return fields.find(({ name, type, mode }) => name === 'timestamp' && mode !== 'REPEATED' && TIMES.has(type));
}
