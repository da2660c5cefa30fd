/** The rows of one table as parts of different shapes. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { findSingleLists, oneOfEach, singleValue } from '../src/data/single-lists';
import { unknownPart, type Part } from '../src/data/part';
import { quoteName } from '../src/sql';
import type { RestField } from '../../googlesql/src/rest-schema';

/** Makes parts of the rows of a table that has all of them, with lists. */
type MakeParts = (
  connection: DuckDBConnection,
  table: string,
  fields: readonly RestField[],
) => Promise<readonly Part[]>;

export const SHAPES = {
  lists: (_connection, table) => Promise.resolve([unknownPart(quoteName(table))]),
  /** Lists of one as records; the rows that have others beside them. */
  records: async (connection, table, fields) => {
    const single = await allSingle(connection, table, fields);
    return withOddRows(connection, table, fields, single, 'records', 'true');
  },
  /** Both kinds of the same rows' shape, some with fewer lists of one than the others, one without a row. */
  mixed: async (connection, table, fields) => {
    const single = await allSingle(connection, table, fields);
    const outermost = new Set([...single].filter((path) => !path.includes('.')));
    const part = (i: number): string => `hash(to_json(t)) % 4 = ${i}`;
    return [
      ...(await withOddRows(connection, table, fields, single, 'mixed 0', part(0))),
      ...(await withOddRows(connection, table, fields, outermost, 'mixed 1', part(1))),
      ...(await withOddRows(connection, table, fields, new Set(), 'mixed 2', part(2))),
      ...(await withOddRows(connection, table, fields, single, 'mixed 3', part(3))),
      ...(await withOddRows(connection, table, fields, single, 'mixed 4', 'false')),
    ];
  },
} as const satisfies Readonly<Record<string, MakeParts>>;

export type Shape = keyof typeof SHAPES;

/** Every list that holds one element in most rows. */
async function allSingle(
  connection: DuckDBConnection,
  table: string,
  fields: readonly RestField[],
): Promise<ReadonlySet<string>> {
  return findSingleLists(connection, quoteName(table), fields, 2);
}

/** Parts pass for so many times larger than they are: they are read as those of a large table. */
const LARGE = 100_000;

async function withOddRows(
  connection: DuckDBConnection,
  table: string,
  fields: readonly RestField[],
  single: ReadonlySet<string>,
  name: string,
  where: string,
): Promise<readonly Part[]> {
  const condition = oneOfEach(fields, single) ?? 'true';
  const values = fields.map((field) => `${singleValue(field, single)} AS ${quoteName(field.name)}`).join(', ');
  const [relation, odd] = [quoteName(`${table} ${name}`), quoteName(`${table} ${name} odd`)];
  const from = `FROM ${quoteName(table)} AS t WHERE ${where}`;
  await connection.run(`CREATE TABLE ${relation} AS SELECT ${values} ${from} AND (${condition})`);
  await connection.run(`CREATE TABLE ${odd} AS SELECT * ${from} AND NOT (${condition})`);
  const hasTime = fields.some((field) => field.name === 'timestamp');
  const counts = await connection.runAndReadAll(
    `SELECT count(*), count(${hasTime ? 'timestamp' : 'NULL'}) FROM ${quoteName(table)} AS t WHERE ${where}`,
  );
  const [rows, times] = counts.getRows()[0]!;
  const timedBy = rows === times ? 'timestamp' : null;
  return [
    { ...unknownPart(relation), single, rows: Number(rows) * LARGE, timedBy },
    { ...unknownPart(odd), timedBy },
  ];
}
