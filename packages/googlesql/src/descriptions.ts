/** What the owner of a table says of its columns, and which columns of a query that is said of. */
import { scalarNamed, typeText } from './type-names';
import type { NamedType, SqlType, StructField } from './types';
import type { ResolvedQuery, Expr, Relation } from './resolved';
import { relationsBelow, definesOf } from './resolved-walk';

/** A column as JSON tells it: `ARRAY<STRUCT>` and `STRUCT` have `fields`. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  /** What the owner of its table says of it. */
  readonly description?: string;
  readonly fields?: readonly DescribedColumn[];
}

/** @param descriptions of the columns, in their order; missing: none is known */
export function describeColumns(
  columns: readonly (NamedType | StructField)[],
  descriptions: readonly Description[] = [],
): readonly DescribedColumn[] {
  return columns.map(({ name, type }, i) => {
    const fields = fieldsOf(type);
    const { text = null, fields: inner = [] } = descriptions[i] ?? {};
    const described = { name: name ?? '', type: nameOf(type), ...(text === null ? {} : { description: text }) };
    return fields === null ? described : { ...described, fields: describeColumns(fields, inner) };
  });
}

/** The columns that `describeColumns` described. A type of a name that is not known is left out. */
export function readColumns(described: readonly DescribedColumn[]): readonly NamedType[] {
  return described.flatMap(({ name, type, fields }) => {
    const read = readType(type, fields ?? []);
    return read === null ? [] : [{ name, type: read }];
  });
}

function readType(written: string, fields: readonly DescribedColumn[]): SqlType | null {
  const element = /^ARRAY<(.+)>$/.exec(written)?.[1];
  if (element !== undefined) {
    const type = readType(element, fields);
    return type === null ? null : { kind: 'ARRAY', element: type };
  }
  if (written === 'STRUCT') return { kind: 'STRUCT', fields: readColumns(fields) };
  const kind = scalarNamed(written);
  return kind === undefined ? null : { kind };
}

function fieldsOf(type: SqlType): readonly StructField[] | null {
  if (type.kind === 'ARRAY') return fieldsOf(type.element);
  return type.kind === 'STRUCT' ? type.fields : null;
}

function nameOf(type: SqlType): string {
  if (type.kind === 'STRUCT') return 'STRUCT';
  return type.kind === 'ARRAY' ? `ARRAY<${nameOf(type.element)}>` : typeText(type);
}

/**
 * The columns of a query's result as a client sees them: one without a name is `f0_`, `f1_`, …; the fields of SELECT AS
 * STRUCT are columns.
 */
export function resultColumns({ output, valueTable }: ResolvedQuery): NamedType[] {
  const type = output[0]?.column.type;
  const columns =
    valueTable && type?.kind === 'STRUCT'
      ? type.fields
      : output.map(({ name, column }) => ({ name, type: column.type }));
  let unnamed = 0;
  return columns.map((column) => ({ name: column.name ?? `f${unnamed++}_`, type: column.type }));
}

export interface Description {
  /** null: nothing is said of it. */
  readonly text: string | null;
  /** Of the fields of a record, or of records in an array, in their order. */
  readonly fields: readonly Description[];
}

const NONE: Description = { text: null, fields: [] };

/** @param fields of a table in the form of BigQuery's REST API, as they came */
export function readDescriptions(fields: unknown): readonly Description[] {
  if (!Array.isArray(fields)) return [];
  return (fields as readonly ({ description?: unknown; fields?: unknown } | null)[]).map((field) => ({
    text: typeof field?.description === 'string' && field.description !== '' ? field.description : null,
    fields: readDescriptions(field?.fields),
  }));
}

/**
 * Descriptions of what a query, or a CTE of it, outputs: of columns and fields of tables that are handed on as they are.
 *
 * @param query with its CTEs
 * @param tables descriptions of their columns, by the names of their schemas
 */
export function describing(
  query: ResolvedQuery,
  tables: ReadonlyMap<string, readonly Description[]>,
): (part: ResolvedQuery) => readonly Description[] {
  const known = new Map<number, Description>();
  if (tables.size > 0) for (const relation of relationsBelow(query)) note(relation, tables, known);
  return ({ output, valueTable }) => {
    const columns = output.map(({ column }) => known.get(column.id) ?? NONE);
    return valueTable && output[0]?.column.type.kind === 'STRUCT' ? (columns[0]?.fields ?? []) : columns;
  };
}

function note(
  relation: Relation,
  tables: ReadonlyMap<string, readonly Description[]>,
  known: Map<number, Description>,
): void {
  const add = (id: number, description: Description | undefined): void => {
    if (description !== undefined) known.set(id, description);
  };
  if (relation.kind === 'table') {
    const { name, columns } = relation.table;
    const described = tables.get(name);
    for (const { column, source } of relation.columns)
      add(column.id, described?.[columns.findIndex((one) => one.name === source)]);
    return;
  }
  for (const { column, from } of definesOf(relation)) {
    const [only, another] = from;
    if (only !== undefined && another === undefined) add(column.id, ofExpression(only, known));
  }
}

function ofExpression(expr: Expr, known: ReadonlyMap<number, Description>): Description | undefined {
  if (expr.kind === 'column') return known.get(expr.column.id);
  if (expr.kind === 'make_struct')
    return { text: null, fields: expr.fields.map((field) => ofExpression(field, known) ?? NONE) };
  return expr.kind === 'field' ? ofExpression(expr.input, known)?.fields[expr.index] : undefined;
}
