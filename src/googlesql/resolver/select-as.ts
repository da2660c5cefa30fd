/** SELECT AS STRUCT and SELECT AS VALUE: one column, whose value is the row. */
import type { Column, Expr, OutputColumn, Relation } from '../resolved';
import type { Select, Span } from '../syntax';
import type { SqlType } from '../types';
import { invalid, type Session } from './session';

export function asValue(
  session: Session,
  as: NonNullable<Select['as']>,
  span: Span,
  input: Relation,
  output: readonly OutputColumn[],
): { readonly relation: Relation; readonly column: Column } {
  if (as === 'value') {
    const [only] = output;
    if (output.length !== 1 || only === undefined) throw invalid('SELECT AS VALUE has one column.', span);
    return { relation: input, column: only.column };
  }
  const type: SqlType = { kind: 'STRUCT', fields: output.map(({ name, column }) => ({ name, type: column.type })) };
  session.budget.value(type, span);
  const column = session.column(null, type);
  const fields = output.map((out) => session.ref(out.column, span));
  const expr: Expr = { kind: 'make_struct', fields, type, span };
  return { relation: { kind: 'compute', input, columns: [{ column, expr }] }, column };
}
