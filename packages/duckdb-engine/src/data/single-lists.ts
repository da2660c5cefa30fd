/**
 * Lists of records that hold exactly one element in almost every row, as log records do (`metadata[0].request[0]`): they are
 * stored as that element, which is read several times as fast (docs/decisions/resolved-tree.md). The few rows in which one of
 * them is longer or empty are stored beside the others, as lists.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { typeOf, type RestField } from '@logquay/googlesql/types';
import { duckType, quoteName } from '../sql';

/** A list is stored as its element where at most one row in so many has another number of them. */
const MOST_ODD = 100;

interface ListPath {
  /** `metadata.request`. */
  readonly path: string;
  /** Those of the lists around it. */
  readonly above: readonly string[];
  /** DuckDB's expression of the list in a row whose lists above it hold one element. */
  readonly sql: string;
}

function listPaths(
  fields: readonly RestField[],
  sql = '',
  prefix = '',
  above: readonly string[] = [],
): readonly ListPath[] {
  return fields.flatMap((field) => {
    if (field.type !== 'RECORD') return [];
    const [own, path] = [`${sql}${quoteName(field.name)}`, `${prefix}${field.name}`];
    if (field.mode !== 'REPEATED') return listPaths(field.fields, `${own}.`, `${path}.`, above);
    return [{ path, above, sql: own }, ...listPaths(field.fields, `${own}[1].`, `${path}.`, [...above, path])];
  });
}

/** Paths of the lists of a relation that are worth storing as their elements. @param mostOdd one row in so many may hold another number of them */
export async function findSingleLists(
  connection: DuckDBConnection,
  relation: string,
  fields: readonly RestField[],
  mostOdd = MOST_ODD,
): Promise<ReadonlySet<string>> {
  const paths = listPaths(fields);
  const single = new Set<string>();
  if (paths.length === 0) return single;
  const counts = paths.map(({ sql }) => `count(*) FILTER (len(${sql}) = 1)`);
  const reader = await connection.runAndReadAll(`SELECT count(*), ${counts.join(', ')} FROM ${relation}`);
  const [rows, ...ones] = reader.getRows()[0]!.map(Number);
  for (const [i, { path, above }] of paths.entries()) {
    const odd = rows! - ones[i]!;
    if (rows === 0 || odd * mostOdd > rows! || !above.every((outer) => single.has(outer))) continue;
    single.add(path);
  }
  return single;
}

/** The condition on a row with lists that each of `single` holds one element; null: it holds for every row. */
export function oneOfEach(fields: readonly RestField[], single: ReadonlySet<string>): string | null {
  const conditions = listPaths(fields)
    .filter(({ path }) => single.has(path))
    .map(({ sql }) => `coalesce(len(${sql}) = 1, false)`);
  return conditions.length === 0 ? null : conditions.join(' AND ');
}

/** The type of a column in which the lists of `single` are stored as their elements. */
export function singleType(field: RestField, single: ReadonlySet<string>, path = field.name): string {
  if (field.type !== 'RECORD') return duckType(typeOf(field), true);
  const item = `STRUCT(${field.fields
    .map((inner) => `${quoteName(inner.name)} ${singleType(inner, single, `${path}.${inner.name}`)}`)
    .join(', ')})`;
  return field.mode === 'REPEATED' && !single.has(path) ? `${item}[]` : item;
}

/** The value of such a column, of a row with lists for which `oneOfEach` holds. */
export function singleValue(field: RestField, single: ReadonlySet<string>): string {
  return valueOf(field, quoteName(field.name), field.name, single);
}

function valueOf(field: RestField, sql: string, path: string, single: ReadonlySet<string>): string {
  if (field.type !== 'RECORD') return sql;
  if (field.mode === 'REPEATED' && !single.has(path)) return sql;
  const own = field.mode === 'REPEATED' ? `${sql}[1]` : sql;
  // A record with such a list in it is not NULL: the list would not hold one element.
  if (![...single].some((other) => other.startsWith(`${path}.`))) return own;
  const values = field.fields.map((inner) => {
    const value = valueOf(inner, `${own}.${quoteName(inner.name)}`, `${path}.${inner.name}`, single);
    return `${quoteName(inner.name)} := ${value}`;
  });
  return `struct_pack(${values.join(', ')})`;
}

/** The value of such a column as it was before: with lists. */
export function listsValue(field: RestField, single: ReadonlySet<string>): string {
  return withLists(field, quoteName(field.name), field.name, single);
}

function withLists(field: RestField, sql: string, path: string, single: ReadonlySet<string>): string {
  if (field.type !== 'RECORD') return sql;
  const isSingle = field.mode === 'REPEATED' && single.has(path);
  if (field.mode === 'REPEATED' && !isSingle) return sql;
  let own = sql;
  if ([...single].some((other) => other.startsWith(`${path}.`))) {
    const values = field.fields.map((inner) => {
      const value = withLists(inner, `${sql}.${quoteName(inner.name)}`, `${path}.${inner.name}`, single);
      return `${quoteName(inner.name)} := ${value}`;
    });
    own = `struct_pack(${values.join(', ')})`;
  }
  return isSingle ? `[${own}]` : own;
}
