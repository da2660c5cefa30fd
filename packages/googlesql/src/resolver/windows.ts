/** OVER clauses: named windows merged in, frames checked and written out. */
import type { SqlFunction } from '../functions/catalogue';
import type { Expr, ResolvedBound, ResolvedFrame, SortKey, WindowCall } from '../resolved';
import type { Call, Expression, FrameBound, NamedWindow, OrderItem } from '../tree';
import type { WindowFrame, WindowSpecification } from '../tree';
import { shortType } from './access';
import { sortKey } from './aggregates';
import { supportsPartitioning } from './comparable';
import type { Context, NamedWindows } from './context';
import { convert } from './convert';
import { coerces } from '../coercion';
import { NUMBERS } from '../type-names';
import { resolveExpr } from './expression';
import { invalid } from './session';

/** Of a window function in another one, or of a name that stands for it. */
export const NESTED_WINDOW = 'Analytic function cannot be an argument of another analytic function.';

type Named = NamedWindows['windows'];

export function resolveWindow(
  context: Context,
  call: Call,
  fn: SqlFunction,
  named: NamedWindows,
): Omit<WindowCall, 'call'> {
  if (call.over === null) throw new Error('a window call has a window');
  const window = flatten(call.over, named.windows, new Set());
  const partitionBy = window.partitionBy.map((expression) => partition(context, expression, named));
  const orderBy = window.orderBy.map((item) => orderKey(context, item, named));
  const { span } = call;
  if (fn.over === 'required' && orderBy.length === 0)
    throw invalid(`Window ORDER BY is required for analytic function ${fn.name.toLowerCase()}.`, span);
  if (fn.over === 'unsupported' && orderBy.length > 0)
    throw invalid(`Window ORDER BY is not allowed for analytic function ${fn.name.toLowerCase()}.`, span);
  if (call.distinct && orderBy.length > 0)
    throw invalid('Window ORDER BY is not allowed if DISTINCT is specified.', span);
  if (window.frame === null) return { partitionBy, orderBy, frame: null };
  if (fn.framing !== true)
    throw invalid(
      `Window framing clause is not allowed for analytic function ${fn.name.toLowerCase()}.`,
      window.frame.span,
    );
  if (call.distinct) throw invalid('Window framing clause is not allowed if DISTINCT is specified.', window.frame.span);
  return { partitionBy, orderBy, frame: resolveFrame(context, window.frame, orderBy) };
}

function partition(context: Context, expression: Expression, { partitions }: NamedWindows): Expr {
  const known = partitions.get(expression);
  if (known !== undefined) return known;
  const expr = resolveExpr(context, expression);
  if (!supportsPartitioning(expr.type))
    throw invalid(`Partitioning by expressions of type ${shortType(expr.type)} is not allowed.`, expression.span);
  partitions.set(expression, expr);
  return expr;
}

function orderKey(context: Context, item: OrderItem, { keys }: NamedWindows): SortKey {
  const key = keys.get(item) ?? sortKey(context, item);
  keys.set(item, key);
  return key;
}

/** Of the entries of a WINDOW clause. */
export function namedWindows(windows: readonly NamedWindow[]): NamedWindows {
  const named = new Map<string, WindowSpecification>();
  for (const { name, window } of windows) {
    const key = name.name.toLowerCase();
    if (named.has(key)) throw invalid(`Duplicate window ${name.name}.`, name.span);
    named.set(key, window);
  }
  return { windows: named, partitions: new Map(), keys: new Map() };
}

/** Errors of named windows that nothing has used. */
export function checkNamedWindows(context: Context, named: NamedWindows): void {
  const earlier = new Map<string, WindowSpecification>();
  for (const [name, window] of named.windows) {
    // A window builds on those before it only.
    const { partitionBy, orderBy } = flatten(window, earlier, new Set());
    earlier.set(name, window);
    for (const expression of partitionBy) partition(context, expression, named);
    for (const item of orderBy) orderKey(context, item, named);
  }
}

/** A window with what it takes over from the one it names. `seen`: those that build on it. */
function flatten(window: WindowSpecification, named: Named, seen: Set<string>): WindowSpecification {
  if (window.base === null) return window;
  const name = window.base.name.toLowerCase();
  const found = named.get(name);
  if (found === undefined || seen.has(name))
    throw invalid(`Unrecognized window alias ${window.base.name}.`, window.base.span);
  const base = flatten(found, named, seen.add(name));
  if (window.partitionBy.length > 0)
    throw invalid('If a window has a PARTITION BY, it cannot reference a named window.', window.span);
  if (window.orderBy.length > 0 && base.orderBy.length > 0)
    throw invalid(
      'If a window inherits an ORDER BY from its referenced window, it cannot have an inline ORDER BY.',
      window.span,
    );
  const bareName = window.orderBy.length === 0 && window.frame === null;
  if (base.frame !== null && !bareName) throw invalid('A window with a frame cannot be built on.', window.span);
  return {
    base: null,
    partitionBy: base.partitionBy,
    orderBy: window.orderBy.length > 0 ? window.orderBy : base.orderBy,
    frame: window.frame ?? base.frame,
    span: window.span,
  };
}

const RANKS: Readonly<Record<FrameBound['kind'], number>> = {
  unbounded_preceding: 0,
  preceding: 1,
  current_row: 2,
  following: 3,
  unbounded_following: 4,
};

function resolveFrame(context: Context, frame: WindowFrame, orderBy: readonly SortKey[]): ResolvedFrame {
  const from = resolveBound(context, frame, frame.from, orderBy);
  const to: ResolvedBound =
    frame.to === null ? { kind: 'current_row', offset: null } : resolveBound(context, frame, frame.to, orderBy);
  if (from.kind === 'unbounded_following' || to.kind === 'unbounded_preceding' || RANKS[from.kind] > RANKS[to.kind])
    throw invalid('The frame of this window starts after its end.', frame.span);
  return { unit: frame.unit, from, to };
}

function resolveBound(
  context: Context,
  frame: WindowFrame,
  bound: FrameBound,
  orderBy: readonly SortKey[],
): ResolvedBound {
  if (bound.offset === null) return { kind: bound.kind, offset: null };
  const offset = resolveExpr(context, bound.offset);
  if (offset.kind !== 'literal' && offset.kind !== 'parameter')
    throw invalid('Window framing expression must be a literal or parameter.', bound.span);
  if (offset.kind === 'literal' && (offset.value === null || offset.value.startsWith('-')))
    throw invalid('Window framing expression cannot be NULL or negative.', bound.span);
  return {
    kind: bound.kind,
    offset: frame.unit === 'rows' ? rows(context, offset) : range(context, offset, frame, orderBy),
  };
}

function rows({ session }: Context, offset: Expr): Expr {
  if (!coerces(session.operand(offset), { kind: 'INT64' }))
    throw invalid(
      `Window framing expression for ROWS can only be of integer type, but has type ${shortType(offset.type)}.`,
      offset.span,
    );
  return convert(session, offset, { kind: 'INT64' });
}

function range({ session }: Context, offset: Expr, frame: WindowFrame, orderBy: readonly SortKey[]): Expr {
  const [key] = orderBy;
  if (key === undefined || orderBy.length > 1)
    throw invalid('RANGE with an offset needs exactly one ORDER BY key.', frame.span);
  const { type } = key.expr;
  if (!NUMBERS.has(type.kind))
    throw invalid(
      `ORDER BY key must be numeric in a RANGE-based window with OFFSET PRECEDING or OFFSET FOLLOWING boundaries, but has type ${shortType(type)}.`,
      key.expr.span,
    );
  if (!coerces(session.operand(offset), type))
    throw invalid(`The offset of RANGE is ${shortType(type)} here, not ${shortType(offset.type)}.`, offset.span);
  return convert(session, offset, type);
}
