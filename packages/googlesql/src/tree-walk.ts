/** The one walk over syntax trees. A kind of node that it does not know fails compilation; a test holds it to the fields. */
import type {
  Argument,
  Expression,
  FromItem,
  GroupingItem,
  JoinSide,
  OrderItem,
  Query,
  QueryBody,
  LimitClause,
  NamedWindow,
  PipeAggregate,
  PipeOperator,
  PivotClause,
  Select,
  SelectItem,
  UnpivotClause,
  WindowFrame,
  WindowSpecification,
  Call,
} from './tree';
import { namedFunction } from './functions/catalogue';

/** What the tree is made of: queries, their bodies and pipe operators, FROM items, expressions. */
export type SyntaxNode = QueryBody | PipeOperator | FromItem | Expression;

/**
 * Calls `visit` for `root` and everything below it, parents first, otherwise in the order of the text. It does not
 * recurse, so no tree is too high for it. Returning false from `visit` leaves out what is below that node.
 */
export function walk(root: SyntaxNode, visit: (node: SyntaxNode) => unknown): void {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (visit(node) === false) continue;
    const mark = pending.length;
    forEachChild(node, (child) => pending.push(child));
    reverseFrom(pending, mark);
  }
}

/** The node farthest from `root`, and how many nodes the way to it has, itself included. */
export function deepestNode(root: SyntaxNode): { node: SyntaxNode; depth: number } {
  let deepest = { node: root, depth: 1 };
  let level: SyntaxNode[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    const [node] = level;
    if (node !== undefined) deepest = { node, depth };
    const below: SyntaxNode[] = [];
    for (const parent of level) forEachChild(parent, (child) => below.push(child));
    level = below;
  }
  return deepest;
}

function reverseFrom(nodes: SyntaxNode[], from: number): void {
  for (let i = from, j = nodes.length - 1; i < j; i++, j--) {
    const [a, b] = [nodes[i], nodes[j]];
    if (a !== undefined && b !== undefined) [nodes[i], nodes[j]] = [b, a];
  }
}

type Visit = (node: SyntaxNode) => void;

/** Calls `visit` for the nodes directly below `node`, in the order of the text. */
export function forEachChild(node: SyntaxNode, visit: Visit): void {
  switch (node.kind) {
    case 'query':
      return visitQuery(node, visit);
    case 'select':
      return visitSelect(node, visit);
    case 'set_operation':
    case 'pipe_set_operation':
      return each(node.inputs, visit);
    case 'from_query':
      return visit(node.from);

    case 'pipe_select':
    case 'pipe_extend':
      for (const item of node.items) visitItem(item, visit);
      return visitWindows(node.windows, visit);
    case 'pipe_set':
      for (const { expression } of node.items) visit(expression);
      return;
    case 'pipe_drop':
    case 'pipe_rename':
    case 'pipe_as':
    case 'pipe_distinct':
      return;
    case 'pipe_where':
      return visit(node.condition);
    case 'pipe_aggregate':
      return visitAggregate(node, visit);
    case 'pipe_order_by':
      return visitOrder(node.items, visit);
    case 'pipe_limit':
      return visitLimit(node.limit, visit);
    case 'pipe_join':
      return visitJoined(node, visit);
    case 'pipe_pivot':
      return visitPivot(node, visit);
    case 'pipe_unpivot':
      return visitUnpivot(node, visit);
    case 'pipe_with':
      for (const { query } of node.with.entries) visit(query);
      return;

    case 'table_path':
    case 'table_function':
    case 'literal':
    case 'parameter':
    case 'path':
      return;
    case 'unnest':
      return visit(node.array);
    case 'subquery_item':
      return visit(node.query);
    case 'join':
      visit(node.left);
      return visitJoined(node, visit);
    case 'parenthesised_join':
      return visit(node.item);
    case 'pivot':
      visit(node.input);
      return visitPivot(node, visit);
    case 'unpivot':
      visit(node.input);
      return visitUnpivot(node, visit);

    case 'field':
      return visit(node.input);
    case 'subscript':
      visit(node.input);
      return visit(node.index);
    case 'call':
      each(node.arguments.map(argumentExpression), visit);
      maybe(node.having?.expression ?? null, visit);
      visitOrder(node.orderBy, visit);
      visitLimit(node.limit, visit);
      return visitWindow(node.over, visit);
    case 'extract':
      visit(node.from);
      return maybe(node.timeZone, visit);
    case 'cast':
      visit(node.expression);
      maybe(node.format, visit);
      return maybe(node.timeZone, visit);
    case 'case':
      maybe(node.operand, visit);
      for (const { when, then } of node.whens) {
        visit(when);
        visit(then);
      }
      return maybe(node.else, visit);
    case 'unary':
      return visit(node.operand);
    case 'binary':
      visit(node.left);
      return visit(node.right);
    case 'between':
      visit(node.operand);
      visit(node.low);
      return visit(node.high);
    case 'in_list':
      visit(node.operand);
      return each(node.items, visit);
    case 'in_unnest':
      visit(node.operand);
      return visit(node.array);
    case 'in_subquery':
      visit(node.operand);
      return visit(node.query);
    case 'quantified_like':
      visit(node.operand);
      each(node.items, visit);
      maybe(node.array, visit);
      return maybe(node.query, visit);
    case 'is':
      visit(node.operand);
      return maybe(node.other, visit);
    case 'array':
      return each(node.elements, visit);
    case 'struct':
      for (const { expression } of node.fields) visit(expression);
      return;
    case 'interval':
      return visit(node.value);
    case 'lambda':
      return visit(node.body);
    case 'with_expression':
      for (const { expression } of node.variables) visit(expression);
      return visit(node.result);
    case 'scalar_subquery':
    case 'array_subquery':
    case 'exists':
      return visit(node.query);
  }
  node satisfies never;
  throw new Error('A kind of node that the walk does not know.');
}

function visitQuery(query: Query, visit: Visit): void {
  for (const entry of query.with?.entries ?? []) visit(entry.query);
  visit(query.body);
  visitOrder(query.orderBy, visit);
  visitLimit(query.limit, visit);
  each(query.pipes, visit);
}

function visitAggregate({ items, groupBy }: PipeAggregate, visit: Visit): void {
  for (const item of items) visitItem(item, visit);
  for (const item of groupBy?.items ?? []) visitGrouping(item, visit);
}

function visitJoined({ right, on }: JoinSide, visit: Visit): void {
  visit(right);
  maybe(on, visit);
}

function visitPivot(pivot: PivotClause, visit: Visit): void {
  for (const { expression } of pivot.aggregates) visit(expression);
  visit(pivot.for);
  for (const { expression } of pivot.in) visit(expression);
}

function visitUnpivot(unpivot: UnpivotClause, visit: Visit): void {
  for (const { label } of unpivot.in) maybe(label, visit);
}

function visitSelect(select: Select, visit: Visit): void {
  for (const item of select.items) visitItem(item, visit);
  maybe(select.from, visit);
  maybe(select.where, visit);
  for (const item of select.groupBy?.items ?? []) visitGrouping(item, visit);
  maybe(select.having, visit);
  maybe(select.qualify, visit);
  visitWindows(select.windows, visit);
}

function visitWindows(windows: readonly NamedWindow[], visit: Visit): void {
  for (const { window } of windows) visitWindow(window, visit);
}

function visitItem(item: SelectItem, visit: Visit): void {
  if (item.kind === 'select_expression') return visit(item.expression);
  maybe(item.of, visit);
  for (const { expression } of item.replace) visit(expression);
}

function visitGrouping(item: GroupingItem, visit: Visit): void {
  switch (item.kind) {
    case 'expression':
      return visit(item.expression);
    case 'list':
      return each(item.expressions, visit);
    case 'rollup':
    case 'cube':
      for (const set of item.sets) each(set, visit);
      return;
    case 'grouping_sets':
      for (const inner of item.items) visitGrouping(inner, visit);
  }
}

function visitWindow(window: WindowSpecification | null, visit: Visit): void {
  if (window === null) return;
  each(window.partitionBy, visit);
  visitOrder(window.orderBy, visit);
  if (window.frame !== null) visitFrame(window.frame, visit);
}

function visitFrame({ from, to }: WindowFrame, visit: Visit): void {
  maybe(from.offset, visit);
  maybe(to?.offset ?? null, visit);
}

function visitOrder(items: readonly OrderItem[], visit: Visit): void {
  for (const { expression, collation } of items) {
    visit(expression);
    maybe(collation, visit);
  }
}

function visitLimit(limit: LimitClause | null, visit: Visit): void {
  if (limit === null) return;
  visit(limit.count);
  maybe(limit.offset, visit);
}

function argumentExpression(argument: Argument): Expression {
  return argument.expression;
}

function each(nodes: readonly SyntaxNode[], visit: Visit): void {
  for (const node of nodes) visit(node);
}

function maybe(node: SyntaxNode | null, visit: Visit): void {
  if (node !== null) visit(node);
}

/** An aggregate call without OVER, of this SELECT and not of a query inside the expression. */
export function isAggregateCall(node: SyntaxNode): node is Call {
  if (node.kind !== 'call' || node.over !== null) return false;
  return namedFunction(node.path).fn?.mode === 'aggregate';
}

export function hasAggregate(expression: Expression): boolean {
  let found = false;
  walk(expression, (node) => {
    found ||= isAggregateCall(node);
    return !found && node.kind !== 'query';
  });
  return found;
}
