/**
 * The sandbox's fourth wall on BigQuery: the consumer's text under the same names, each CTE table an empty stub of its
 * type. A dry run of it must reference nothing: scoping is then BigQuery's own (docs/sandbox.md).
 */
import { quotedName, type SqlType, type StructField, type TableSchema } from '@logquay/googlesql/types';

export interface StubText {
  readonly sql: string;
  /** Where the consumer's text begins in `sql`. */
  readonly offset: number;
}

export function stubText(statement: string, tables: readonly TableSchema[]): StubText {
  const stubs = tables.map((table) => `${quotePath([table.name])} AS (${emptyRows(table)})`);
  const head = stubs.length === 0 ? '(\n' : `WITH ${stubs.join(',\n')}\n(\n`;
  return { sql: `${head}${statement}\n)`, offset: head.length };
}

/** A table's path, each part quoted for itself. */
export function quotePath(parts: readonly string[]): string {
  return parts.map(quotedName).join('.');
}

function emptyRows({ columns }: TableSchema): string {
  return `SELECT * FROM UNNEST(CAST([] AS ARRAY<${structText(columns)}>))`;
}

function typeText(type: SqlType): string {
  switch (type.kind) {
    case 'ARRAY':
      return `ARRAY<${typeText(type.element)}>`;
    case 'STRUCT':
      return structText(type.fields);
    default:
      return type.kind;
  }
}

function structText(fields: readonly StructField[]): string {
  const texts = fields.map(({ name, type }) =>
    name === null ? typeText(type) : `${quotePath([name])} ${typeText(type)}`,
  );
  return `STRUCT<${texts.join(', ')}>`;
}
