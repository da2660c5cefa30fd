/** UNPIVOT, lowered to an array of (label, values) per row, unnested. */
import type { Column, ComputedColumn, Expr, Relation } from '../resolved';
import { called } from '../resolved-nodes';
import type { Span, Unpivot, UnpivotClause } from '../tree';
import { sameType, typeText } from '../type-names';
import type { SqlType } from '../types';
import { fieldAt, resolvePath } from './access';
import { plainContext } from './context';
import { resolveFrom, type FromContext, type Source } from './from';
import { resolveLiteral } from './literals';
import { negated } from './operators';
import { NameList, scopeOf } from './scope';
import { invalid, type Session } from './session';

export function resolveUnpivot(context: FromContext, unpivot: Unpivot): Source {
  return unpivotOver(context, resolveFrom(context, unpivot.input), unpivot, unpivot.span);
}

/** @param span of the whole clause, for what is wrong with it */
export function unpivotOver(context: FromContext, input: Source, unpivot: UnpivotClause, span: Span): Source {
  const { session } = context;
  if (input.list.columns.some(({ valueTable }) => valueTable))
    throw invalid('UNPIVOT is not allowed with array scans.', span);
  const groups = columnGroups(context, unpivot, input, span);
  const labels = labelsOf(session, unpivot, span);
  const [firstLabel] = labels;
  const [types] = groups.map((group) => group.map((expr) => expr.type));
  if (firstLabel === undefined || types === undefined) throw invalid('UNPIVOT needs a column.', span);

  const row: SqlType = {
    kind: 'STRUCT',
    fields: [{ name: 'label', type: firstLabel.type }, ...types.map((type, i) => ({ name: `value${i + 1}`, type }))],
  };
  const elements = groups.map((group, i): Expr => {
    const fields = [labels[i] ?? firstLabel, ...group];
    return { kind: 'make_struct', fields, type: row, span };
  });
  const array: Expr = { kind: 'make_array', elements, type: { kind: 'ARRAY', element: row }, span };
  const element = session.column(null, row);
  const unnest: Relation = {
    kind: 'unnest',
    input: input.relation,
    array,
    element,
    offset: null,
    outer: false,
    on: null,
  };
  const part = (index: number): Expr => fieldAt(session.ref(element, span), index, span);
  const computed: ComputedColumn[] = types.map((type, i) => ({
    column: session.column(unpivot.values[i]?.name ?? null, type),
    expr: part(i + 1),
  }));
  computed.push({ column: session.column(unpivot.name.name, firstLabel.type), expr: part(0) });
  let relation: Relation = { kind: 'compute', input: unnest, columns: computed };
  if (!unpivot.includeNulls)
    relation = { kind: 'filter', input: relation, condition: someValue(session, computed.slice(0, -1)) };

  const used = new Set(groups.flat().map((expr) => (expr.kind === 'column' ? expr.column.id : 0)));
  const others = input.list.columns
    .filter(({ column }) => !used.has(column.id))
    .map(({ name, column }) => ({ name, column }));
  const created = computed.map(({ column }) => ({ name: column.name, column }));
  return { relation, list: NameList.table(unpivot.alias?.name ?? null, [...others, ...created]) };
}

/** The columns of each row to be, checked to be columns, all of the first row's types, none twice. */
function columnGroups(context: FromContext, unpivot: UnpivotClause, input: Source, whole: Span): Expr[][] {
  const { session } = context;
  const plain = plainContext(session, scopeOf(input.list, context.outer), context.ctes, 'UNPIVOT clause');
  const own = new Set(input.list.columns.map(({ column }) => column.id));
  const seen = new Set<number>();
  let types: SqlType[] | null = null;
  return unpivot.in.map(({ columns }) => {
    if (columns.length !== unpivot.values.length)
      throw invalid(
        `UNPIVOT makes ${unpivot.values.length} value columns, but ${columns.length} are given here.`,
        whole,
      );
    const group = columns.map((parts, i) => {
      const span = { start: parts[0]?.span.start ?? 0, end: parts.at(-1)?.span.end ?? 0 };
      const expr = resolvePath(plain, { kind: 'path', parts, span });
      if (expr.kind !== 'column' || !own.has(expr.column.id))
        throw invalid('UNPIVOT takes columns of its input only.', span);
      if (seen.has(expr.column.id)) throw invalid('Column names in UNPIVOT IN clause cannot be repeated.', span);
      seen.add(expr.column.id);
      const expected = types?.[i];
      if (expected !== undefined && !sameType(expected, expr.type))
        throw invalid(
          `UNPIVOT puts columns of one type together: ${typeText(expected).slice(0, 60)}, not ${typeText(expr.type).slice(0, 60)}.`,
          span,
        );
      return expr;
    });
    types ??= group.map((expr) => expr.type);
    return group;
  });
}

/** Written labels, or the columns' names joined. */
function labelsOf(session: Session, unpivot: UnpivotClause, span: Span): Expr[] {
  const labels = unpivot.in.map(({ columns, label }): Expr => {
    if (label === null) {
      const value = columns.map((parts) => parts.at(-1)?.name ?? '').join('_');
      return { kind: 'literal', type: { kind: 'STRING' }, value, span };
    }
    if (label.kind !== 'literal' || (label.type !== 'STRING' && label.type !== 'INT64'))
      throw invalid('A label of UNPIVOT is a STRING or INT64 literal.', label.span);
    return resolveLiteral(session, label);
  });
  const [first] = labels;
  for (const label of labels)
    if (first !== undefined && !sameType(first.type, label.type))
      throw invalid('All UNPIVOT labels must be the same type.', label.span);
  return labels;
}

function someValue(session: Session, values: readonly { readonly column: Column; readonly expr: Expr }[]): Expr {
  const type: SqlType = { kind: 'BOOL' };
  const tests = values.map(({ column, expr: { span } }): Expr => {
    const args = [session.ref(column, span)];
    return negated(called('$is_null', args, type, span));
  });
  const [first] = tests;
  if (first !== undefined && tests.length === 1) return first;
  return {
    kind: 'call',
    function: '$or',
    safe: false,
    args: tests,
    named: {},
    part: null,
    type,
    span: first?.span ?? { start: 0, end: 0 },
  };
}
