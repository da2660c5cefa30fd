/** Parts of resolved trees that no query spells out so. */
import type { ScalarName } from './functions/function-table';
import type { Column, ColumnRef, FunctionCall, Relation, ResolvedQuery } from './resolved';
import type { Span } from './tree';
import type { SqlType } from './types';

/** Of nodes that no text stands for. */
export const NO_SPAN: Span = { start: 0, end: 0 };

export function columnRef(column: Column, span = NO_SPAN): ColumnRef {
  return { kind: 'column', column, type: column.type, span };
}

export function called(
  name: ScalarName,
  args: FunctionCall['args'],
  type: SqlType,
  span: Span,
  part: string | null = null,
): FunctionCall {
  return { kind: 'call', function: name, safe: false, args, named: {}, part, type, span };
}

export function queryOf(relation: Relation, ...columns: readonly Column[]): ResolvedQuery {
  const output = columns.map((column) => ({ name: null, column }));
  return { ctes: [], relation, output, valueTable: false, ordered: false };
}
