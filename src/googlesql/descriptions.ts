/** What the owner of a table says of its columns, and which columns of a query that is said of. */
import type { Expr, Relation, ResolvedQuery } from './resolved';
import { relationsBelow, definesOf } from './resolved-walk';

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
