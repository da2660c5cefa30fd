/**
 * The sandbox's fourth wall on BigQuery: the consumer's text under the same names, each CTE table an empty stub of its
 * type. A dry run of it must reference nothing: scoping is then BigQuery's own (sandbox.md, How it stands).
 */
import type { SqlType, TableSchema } from '../../googlesql/types';

export interface StubText {
  readonly sql: string;
  /** Where the consumer's text begins in `sql`. */
  readonly offset: number;
}

export function stubText(statement: string, tables: readonly TableSchema[]): StubText {
  const stubs = tables.map((table) => `${quote(table.name)} AS (${emptyRows(table)})`);
  const head = stubs.length === 0 ? '(\n' : `WITH ${stubs.join(',\n')}\n(\n`;
  return { sql: `${head}${statement}\n)`, offset: head.length };
}

function emptyRows({ columns }: TableSchema): string {
  const fields = columns.map(({ name, type }) => `${quote(name)} ${typeText(type)}`);
  return `SELECT * FROM UNNEST(CAST([] AS ARRAY<STRUCT<${fields.join(', ')}>>))`;
}

function typeText(type: SqlType): string {
  switch (type.kind) {
    case 'ARRAY':
      return `ARRAY<${typeText(type.element)}>`;
    case 'STRUCT':
      return `STRUCT<${type.fields
        .map((field) => (field.name === null ? typeText(field.type) : `${quote(field.name)} ${typeText(field.type)}`))
        .join(', ')}>`;
    default:
      return type.kind;
  }
}

function quote(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
