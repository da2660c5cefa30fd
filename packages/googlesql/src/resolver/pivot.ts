/**
 * PIVOT, lowered to grouping: every column of the input that neither the aggregates nor FOR read is a key, and each
 * aggregate is computed once per value of IN over the rows whose FOR is that value.
 */
import { coerces } from '../coercion';
import { columnsRead } from '../columns-read';
import { callExpressions } from '../resolved-walk';
import type { AggregateCall, Column, ComputedColumn, Expr, Relation } from '../resolved';
import { called } from '../resolved-nodes';
import type { Pivot, PivotClause, Span } from '../tree';
import type { SqlType } from '../types';
import { shortType } from './access';
import { supportsEquality, supportsGrouping } from './comparable';
import { plainContext, type AggregateSink, type Context } from './context';
import { convert } from './convert';
import { resolveExpr } from './expression';
import { resolveFrom, type FromContext, type Source } from './from';
import { negated } from './operators';
import { NameList, scopeOf } from './scope';
import { invalid, type Session } from './session';

type PivotAggregate = Pivot['aggregates'][number];

/** Aggregates that see NULL as a value: rows of other columns would count. */
const SEES_NULL = new Set(['APPROX_TOP_COUNT', 'APPROX_TOP_SUM', 'ARRAY_AGG']);

export function resolvePivot(context: FromContext, pivot: Pivot): Source {
  return pivotOver(context, resolveFrom(context, pivot.input), pivot, pivot.span);
}

/** @param span of the whole clause, for what is wrong with it */
export function pivotOver(context: FromContext, input: Source, pivot: PivotClause, span: Span): Source {
  const { session } = context;
  if (input.list.columns.some(({ valueTable }) => valueTable))
    throw invalid('PIVOT is not allowed with array scans.', span);
  const scope = scopeOf(input.list, context.outer);
  const plain = plainContext(session, scope, context.ctes, 'PIVOT clause');
  const calls = pivot.aggregates.map((aggregate) => pivotAggregate(plain, aggregate));
  const by = resolveExpr(plain, pivot.for);
  if (!supportsEquality(by.type))
    throw invalid(
      `Type ${shortType(by.type)} cannot be used as a FOR expression because it does not support equality comparison.`,
      pivot.for.span,
    );
  const values = pivot.in.map(({ expression }) => pivotValue(plain, resolveExpr(plain, expression), by.type));

  const read = columnsRead([...calls.flatMap(callExpressions), by]);
  const keys: ComputedColumn[] = [];
  const named: { name: string | null; column: Column }[] = [];
  for (const [i, { name, column: source }] of input.list.columns.entries()) {
    if (read.has(source.id)) continue;
    if (!supportsGrouping(source.type))
      throw invalid(
        `Column ${name ?? i + 1} of type ${shortType(source.type)} cannot be used as an implicit grouping column of a PIVOT clause.`,
        span,
      );
    const column = session.column(name, source.type);
    keys.push({ column, expr: session.ref(source, span) });
    named.push({ name, column });
  }
  const forColumn = session.column(null, by.type);
  const aggregates: { column: Column; call: AggregateCall }[] = [];
  const after: ComputedColumn[] = [];
  for (const [i, value] of values.entries())
    for (const [j, call] of calls.entries()) {
      const name = nameOf(pivot, i, j, value);
      const matches = sameAs(session, forColumn, value);
      const { aggregate, finish } = restricted(session, call, matches);
      const column = session.column(name, aggregate.type);
      aggregates.push({ column, call: aggregate });
      if (finish === null) named.push({ name, column });
      else {
        const final = session.column(name, call.type);
        after.push({ column: final, expr: finish(column) });
        named.push({ name, column: final });
      }
    }
  const computed: Relation = {
    kind: 'compute',
    input: input.relation,
    columns: [{ column: forColumn, expr: by }],
  };
  let relation: Relation = { kind: 'aggregate', input: computed, keys, groupingSets: null, aggregates };
  if (after.length > 0) relation = { kind: 'compute', input: relation, columns: after };
  return { relation, list: NameList.table(pivot.alias?.name ?? null, named) };
}

function pivotAggregate(context: Context, { expression }: PivotAggregate): AggregateCall {
  const sink: AggregateSink = { calls: [], scope: context.scope };
  const expr = resolveExpr({ ...context, aggregates: sink }, expression);
  const [only] = sink.calls;
  if (sink.calls.length !== 1 || only === undefined || expr.kind !== 'column' || expr.column !== only.column)
    throw invalid('PIVOT expression must be an aggregate function call.', expression.span);
  const { call } = only;
  if (call.having !== null) throw invalid('An aggregate of PIVOT takes no HAVING.', expression.span);
  if (SEES_NULL.has(call.function) && call.nulls !== 'ignore')
    throw invalid(`${call.function} counts NULLs and cannot be used in PIVOT without IGNORE NULLS.`, expression.span);
  return call;
}

function pivotValue({ session }: Context, value: Expr, type: SqlType): Expr {
  if (!session.isConstant(value) && value.kind !== 'parameter' && value.kind !== 'cast')
    throw invalid('A value of PIVOT must be constant.', value.span);
  if (!coerces(session.operand(value), type))
    throw invalid(`A value of PIVOT is ${shortType(type)} here, not ${shortType(value.type)}.`, value.span);
  return convert(session, value, type);
}

function nameOf(pivot: PivotClause, valueAt: number, aggregateAt: number, value: Expr): string {
  const aggregate = pivot.aggregates[aggregateAt];
  if (aggregate !== undefined && aggregate.alias === null && pivot.aggregates.length > 1)
    throw invalid('Each of several aggregates in PIVOT needs an alias.', aggregate.expression.span);
  const prefix = aggregate?.alias ? `${aggregate.alias.name}_` : '';
  return prefix + (pivot.in[valueAt]?.alias?.name ?? pivotColumnName(value, prefix === ''));
}

/** NULL is the same as NULL here. */
function sameAs(session: Session, column: Column, value: Expr): Expr {
  const args = [session.ref(column, value.span), value];
  const bool: SqlType = { kind: 'BOOL' };
  return negated(called('$is_distinct_from', args, bool, value.span));
}

/** The call over the rows where `matches` holds; `finish` takes its column to the value. */
function restricted(
  session: Session,
  call: AggregateCall,
  matches: Expr,
): { aggregate: AggregateCall; finish: ((column: Column) => Expr) | null } {
  if (call.function === '$count_star')
    return { aggregate: { ...call, function: 'COUNTIF', args: [matches] }, finish: null };
  const [first, ...rest] = call.args;
  if (first === undefined) throw new Error('an aggregate of PIVOT has an argument');
  const { span, type } = first;
  const nothing: Expr = { kind: 'literal', type, value: null, span };
  const only: Expr = called('IF', [matches, first, nothing], type, span);
  const aggregate: AggregateCall = { ...call, args: [only, ...rest] };
  if (call.function !== 'ANY_VALUE') return { aggregate, finish: null };
  // Any value but those of other rows, which are NULL here: the first that is not.
  const limit: Expr = { kind: 'literal', type: { kind: 'INT64' }, value: '1', span };
  const list: SqlType = { kind: 'ARRAY', element: type };
  const at: Expr = { kind: 'literal', type: { kind: 'INT64' }, value: '0', span };
  return {
    aggregate: { ...aggregate, function: 'ARRAY_AGG', nulls: 'ignore', limit, type: list },
    finish: (column) => called('$safe_at', [session.ref(column, span), at], type, span),
  };
}

/** `first`: nothing stands before it, so it must not start with a digit. */
function pivotColumnName(value: Expr, first: boolean): string {
  const { type } = value;
  if (value.kind === 'make_struct' && type.kind === 'STRUCT') {
    const parts = value.fields.map((field, i) => {
      const name = type.fields[i]?.name ?? null;
      return `${name === null ? '' : `${name}_`}${pivotColumnName(field, first && i === 0 && name === null)}`;
    });
    return parts.join('_');
  }
  if (value.kind !== 'literal') throw invalid('This value of PIVOT needs an alias.', value.span);
  if (value.value === null) return 'NULL';
  const text = value.value;
  switch (type.kind) {
    case 'STRING':
      return text === '' ? `${first ? '' : '_'}empty_string_value` : text;
    case 'DATE':
      return `${first ? '_' : ''}${text.replaceAll('-', '_')}`;
    case 'INT64':
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'BOOL':
      return (first && /^\d/.test(text) ? '_' : '') + text.replaceAll('-', 'minus_').replaceAll('.', '_point_');
    default:
      throw invalid(`A value of type ${shortType(type)} needs an alias in PIVOT.`, value.span);
  }
}
