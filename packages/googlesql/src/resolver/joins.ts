/** Joins: of tables, and of a table with the elements of its own arrays. */
import type { Column, ComputedColumn, Expr, JoinRelation, Relation } from '../resolved';
import { called } from '../resolved-nodes';
import type { FromItem, Identifier, Join, JoinSide, Span } from '../tree';
import { fieldAt } from './access';
import { supportsEquality } from './comparable';
import { plainContext, type Context } from './context';
import { convert } from './convert';
import { commonType, resolveCondition } from './expression';
import { resolveArrayItem, resolveFrom, type FromContext, type Source } from './from';
import { applyOperator } from './operators';
import { NameList, scopeOf } from './scope';
import { invalid, type Session } from './session';
import { unknownField } from './suggestion';

const TYPES: Readonly<Record<Join['type'], JoinRelation['type']>> = {
  comma: 'inner',
  cross: 'inner',
  inner: 'inner',
  left: 'left',
  right: 'right',
  full: 'full',
};

/** A chain of joins leans left: walked in a loop, however long it is. */
export function resolveJoin(context: FromContext, join: Join): Source {
  const chain: Join[] = [];
  let first: FromItem = join;
  while (first.kind === 'join') {
    chain.push(first);
    first = first.left;
  }
  let left = resolveFrom(context, first);
  for (const step of chain.reverse()) {
    const before = left;
    left = context.session.recover(
      () => joinTo(context, before, step),
      () => ({ relation: before.relation, list: before.list.opened() }),
    );
  }
  return left;
}

/** Joins one more item to what is left of it. */
export function joinTo(context: FromContext, left: Source, join: JoinSide & { readonly span: Span }): Source {
  const type = TYPES[join.type];
  const lateral = type === 'inner' || type === 'left';
  const duplicate = (name: string): never => {
    throw invalid(`Duplicate table alias ${name} in the same FROM clause.`, aliasSpan(join.right));
  };
  // UNNEST sees what is left of it; a table, a subquery or a join in parentheses does not.
  const visible: FromContext = { ...context, left: context.left.merge(left.list, duplicate) };
  const array = lateral ? resolveArrayItem(visible, join.right) : null;
  const right = array === null ? resolveFrom(context, join.right) : array;
  const bare = join.on === null && join.using.length === 0;
  if (bare && array === null && join.type !== 'comma' && join.type !== 'cross')
    throw invalid(`${join.type.toUpperCase()} JOIN needs ON or USING.`, join.span);
  // What USING names is one column from here on, and an alias of neither side.
  const names = new Map(join.using.map((name) => [name.name.toLowerCase(), name]));
  const [taken, once] = [new Set(names.keys()), [...names.values()]];
  const others = left.list.without(taken).merge(right.list.without(taken), duplicate);
  const scope = scopeOf(others, context.outer);
  const conditions = plainContext(context.session, scope, context.ctes, 'JOIN ON clause');
  const using = once.map((name) => usingPair(conditions, left.list, right.list, name));
  const on = join.on === null ? usingCondition(using) : resolveCondition(conditions, join.on, 'A join condition');
  let relation: Relation;
  if (array !== null) {
    const { element, offset } = array;
    const outer = type === 'left';
    relation = {
      kind: 'unnest',
      input: left.relation,
      array: array.array,
      element,
      offset,
      outer,
      on: literalTrue(on),
    };
  } else {
    if (!('relation' in right)) throw new Error('a source has a relation');
    relation = { kind: 'join', type, left: left.relation, right: right.relation, on };
  }
  if (using.length === 0) return { relation, list: others };
  return mergeUsing(context.session, relation, type, using, others);
}

function aliasSpan(item: FromItem): { start: number; end: number } {
  return 'alias' in item && item.alias !== null ? item.alias.span : item.span;
}

/** ON TRUE says nothing. */
function literalTrue(on: Expr | null): Expr | null {
  return on?.kind === 'literal' && on.value === 'true' ? null : on;
}

interface UsingPair {
  readonly name: Identifier;
  readonly left: Expr;
  readonly right: Expr;
  readonly equal: Expr;
  readonly merged: () => Expr;
}

function usingPair(context: Context, leftList: NameList, rightList: NameList, name: Identifier): UsingPair {
  const left = usingColumn(context.session, leftList, name, 'left');
  const right = usingColumn(context.session, rightList, name, 'right');
  const equal = applyOperator(context, '$equal', [left, right], name.span, 'USING');
  if (!equal.args.every((arg) => supportsEquality(arg.type)))
    throw invalid(`Column '${name.name}' in USING has types that do not support equality comparison.`, name.span);
  const merged = (): Expr => {
    const type = commonType(context, [left, right], 'Columns of USING', name.span);
    const args = [convert(context.session, left, type), convert(context.session, right, type)];
    return called('COALESCE', args, type, name.span);
  };
  return { name, left, right, equal, merged };
}

function usingColumn(session: Session, list: NameList, { name, span }: Identifier, side: string): Expr {
  const target = list.lookup(name);
  if (target?.kind === 'column') return session.ref(target.column, span);
  if (target?.kind === 'field') return fieldAt(session.ref(target.column, span), target.index, span);
  const only = target?.kind === 'range' && target.list.isValueTable ? target.list.columns[0] : undefined;
  if (only !== undefined) return session.ref(only.column, span);
  if (target?.kind === 'ambiguous')
    throw invalid(`Column ${name} in USING clause is ambiguous on ${side} side of join.`, span);
  if (target?.kind === 'range') throw invalid(`${name} in USING is a table alias, not a column.`, span);
  throw unknownField(`Column ${name} in USING clause not found on ${side} side of join.`, name, span, list.names());
}

function usingCondition(using: readonly UsingPair[]): Expr | null {
  const [first, ...rest] = using;
  if (first === undefined) return null;
  if (rest.length === 0) return first.equal;
  const args = using.map(({ equal }) => equal);
  return called('$and', args, { kind: 'BOOL' }, first.name.span);
}

/** USING's columns come first and once: the left ones, the right ones of a RIGHT JOIN, whichever is there of a FULL. */
function mergeUsing(
  session: Session,
  relation: Relation,
  type: JoinRelation['type'],
  using: readonly UsingPair[],
  others: NameList,
): Source {
  const computed: ComputedColumn[] = [];
  const first = using.map(({ name, left: l, right: r, merged }) => {
    const expr = type === 'full' ? merged() : type === 'right' ? r : l;
    if (expr.kind === 'column') return { name: name.name, column: expr.column };
    const column: Column = session.column(name.name, expr.type);
    computed.push({ column, expr });
    return { name: name.name, column };
  });
  const columns = [...NameList.table(null, first).columns, ...others.columns];
  const list = new NameList(columns, others.ranges, false, others.open, others.pseudo);
  return { relation: computed.length === 0 ? relation : { kind: 'compute', input: relation, columns: computed }, list };
}
