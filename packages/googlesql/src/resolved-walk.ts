/**
 * The one walk over resolved trees: `mapOperands`, `mapCall`, `mapWindow` and `mapRelation` know every part of every node, and all
 * that looks for parts or replaces them is built on these. A node whose parts stay is given back as it is. A test holds them to the fields of `resolved.ts`.
 */
import { columnRef } from './resolved-nodes';
import type {
  AggregateCall,
  Column,
  Expr,
  Relation,
  ResolvedBound,
  ResolvedQuery,
  SortKey,
  WindowCall,
} from './resolved';

type MapExpr = (expr: Expr) => Expr;

/** What replaces the parts of a node. A part that stays is given back as it is. */
export interface Mapping {
  readonly expr: MapExpr;
  readonly relation: (relation: Relation) => Relation;
  readonly query: (query: ResolvedQuery) => ResolvedQuery;
}

/** The node with these parts instead of its own; the node itself where none differs, so that a look costs no copy. */
function withParts<T extends object>(node: T, parts: NoInfer<Partial<T>>): T {
  for (const name in parts) if (parts[name] !== node[name]) return { ...node, ...parts };
  return node;
}

/** The list with each item replaced; the list itself where none differs. */
function mapAll<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  let mapped: T[] | undefined;
  items.forEach((item, index) => {
    const next = map(item);
    if (next !== item) mapped ??= items.slice(0, index);
    mapped?.push(next);
  });
  return mapped ?? items;
}

function mapNamed(named: Readonly<Record<string, Expr>>, map: MapExpr): Readonly<Record<string, Expr>> {
  const mapped: Record<string, Expr> = {};
  for (const name in named) mapped[name] = map(named[name] as Expr);
  return withParts(named, mapped);
}

function mapExprOf<T extends { readonly expr: Expr }>(item: T, map: MapExpr): T {
  const expr = map(item.expr);
  return expr === item.expr ? item : { ...item, expr };
}

/** The expression with those directly below it, and the query of a subquery, replaced. */
export function mapOperands(expr: Expr, { expr: map, query }: Pick<Mapping, 'expr' | 'query'>): Expr {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return expr;
    case 'field':
      return withParts(expr, { input: map(expr.input) });
    case 'call':
      return withParts(expr, { args: mapAll(expr.args, map), named: mapNamed(expr.named, map) });
    case 'cast':
      return withParts(expr, {
        input: map(expr.input),
        format: expr.format && map(expr.format),
        timeZone: expr.timeZone && map(expr.timeZone),
      });
    case 'case':
      return withParts(expr, {
        operand: expr.operand && map(expr.operand),
        whens: mapAll(expr.whens, (one) => withParts(one, { when: map(one.when), then: map(one.then) })),
        else: expr.else && map(expr.else),
      });
    case 'make_array':
      return withParts(expr, { elements: mapAll(expr.elements, map) });
    case 'make_struct':
      return withParts(expr, { fields: mapAll(expr.fields, map) });
    case 'subquery':
      return withParts(expr, { operand: expr.operand && map(expr.operand), query: query(expr.query) });
  }
}

const mapKeys = (keys: readonly SortKey[], map: MapExpr): readonly SortKey[] =>
  mapAll(keys, (key) => mapExprOf(key, map));

/** The call with its expressions replaced: arguments, HAVING, ORDER BY and LIMIT. */
function mapCall(call: AggregateCall, map: MapExpr): AggregateCall {
  return withParts(call, {
    args: mapAll(call.args, map),
    having: call.having && mapExprOf(call.having, map),
    orderBy: mapKeys(call.orderBy, map),
    limit: call.limit && map(call.limit),
  });
}

/** The window function with its expressions replaced, the offsets of its frame included. */
export function mapWindow(window: WindowCall, map: MapExpr): WindowCall {
  const { call, partitionBy, orderBy, frame } = window;
  const bound = (one: ResolvedBound): ResolvedBound => withParts(one, { offset: one.offset && map(one.offset) });
  return withParts(window, {
    call: mapCall(call, map),
    partitionBy: mapAll(partitionBy, map),
    orderBy: mapKeys(orderBy, map),
    frame: frame && withParts(frame, { from: bound(frame.from), to: bound(frame.to) }),
  });
}

/** The relation with what it reads and what it evaluates itself replaced. The query of a CTE is no part of its scans. */
export function mapRelation(relation: Relation, { expr: map, relation: input, query }: Mapping): Relation {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return relation;
    case 'query':
      return withParts(relation, { query: query(relation.query) });
    case 'unnest':
      return withParts(relation, {
        input: relation.input && input(relation.input),
        array: map(relation.array),
        on: relation.on && map(relation.on),
      });
    case 'join':
      return withParts(relation, {
        left: input(relation.left),
        right: input(relation.right),
        on: relation.on && map(relation.on),
      });
    case 'filter':
      return withParts(relation, { input: input(relation.input), condition: map(relation.condition) });
    case 'compute':
      return withParts(relation, {
        input: input(relation.input),
        columns: mapAll(relation.columns, (one) => mapExprOf(one, map)),
      });
    case 'aggregate':
      return withParts(relation, {
        input: input(relation.input),
        keys: mapAll(relation.keys, (one) => mapExprOf(one, map)),
        aggregates: mapAll(relation.aggregates, (one) => withParts(one, { call: mapCall(one.call, map) })),
      });
    case 'window':
      return withParts(relation, {
        input: input(relation.input),
        functions: mapAll(relation.functions, (one) => withParts(one, { call: mapWindow(one.call, map) })),
      });
    case 'sort':
      return withParts(relation, { input: input(relation.input), keys: mapKeys(relation.keys, map) });
    case 'limit':
      return withParts(relation, {
        input: input(relation.input),
        count: map(relation.count),
        offset: relation.offset && map(relation.offset),
      });
    case 'set':
      return withParts(relation, { inputs: mapAll(relation.inputs, query) });
  }
}

// ------------------------------------------------------------------------------------ looking for parts

/** Calls `visit` with a function that notes what it is given and hands it back. */
function noted<T>(visit: (note: (part: T) => T) => unknown): readonly T[] {
  const parts: T[] = [];
  visit((part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

const unchanged = <T>(part: T): T => part;

const NONE: readonly never[] = [];

/** The expressions directly below one; the query of a subquery is not among them. */
export function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return NONE;
    case 'make_array':
      return expr.elements;
    case 'make_struct':
      return expr.fields;
    case 'call':
      if (isEmpty(expr.named)) return expr.args;
      break;
    default:
      break;
  }
  return noted((note) => mapOperands(expr, { expr: note, query: unchanged }));
}

function isEmpty(named: object): boolean {
  for (const _ in named) return false;
  return true;
}

export function callExpressions(call: AggregateCall): readonly Expr[] {
  return noted((note) => mapCall(call, note));
}

interface Parts {
  readonly exprs: readonly Expr[];
  readonly inputs: readonly Relation[];
  readonly queries: readonly ResolvedQuery[];
}

/** A translation looks at each relation a dozen times. */
const partsOfRelations = new WeakMap<Relation, Parts>();

function partsOf(relation: Relation): Parts {
  let parts = partsOfRelations.get(relation);
  if (parts === undefined) {
    const [exprs, inputs, queries]: [Expr[], Relation[], ResolvedQuery[]] = [[], [], []];
    const into =
      <T>(list: T[]) =>
      (part: T): T => {
        list.push(part);
        return part;
      };
    mapRelation(relation, { expr: into(exprs), relation: into(inputs), query: into(queries) });
    partsOfRelations.set(relation, (parts = { exprs, inputs, queries }));
  }
  return parts;
}

/** The expressions that an operator evaluates itself. */
export function relationExpressions(relation: Relation): readonly Expr[] {
  return partsOf(relation).exprs;
}

/** The queries that a relation reads as a whole: of a subquery in FROM, of the sides of a set operation. */
export function queriesOf(relation: Relation): readonly ResolvedQuery[] {
  return partsOf(relation).queries;
}

export function inputsOf(relation: Relation): readonly Relation[] {
  return partsOf(relation).inputs;
}

const relationsOfQueries = new WeakMap<ResolvedQuery, readonly Relation[]>();

/**
 * Every relation of a query, those of its CTEs included, not those of subqueries in expressions; each behind what it reads.
 * It does not recurse: no tree is too high for it.
 */
export function relationsBelow(query: ResolvedQuery): readonly Relation[] {
  const known = relationsOfQueries.get(query);
  if (known !== undefined) return known;
  const found: Relation[] = [];
  const pending: Relation[] = [];
  const add = ({ ctes, relation }: ResolvedQuery): void => {
    ctes.forEach((cte) => add(cte.query));
    pending.push(relation);
  };
  add(query);
  for (let relation = pending.pop(); relation !== undefined; relation = pending.pop()) {
    found.push(relation);
    pending.push(...inputsOf(relation));
    queriesOf(relation).forEach(add);
  }
  found.reverse();
  relationsOfQueries.set(query, found);
  return found;
}

export interface Visitor {
  readonly relation?: (relation: Relation) => void;
  readonly expr?: (expr: Expr) => void;
}

/**
 * Visits every relation and every expression of a query, its CTEs and the subqueries of its expressions included. A CTE is
 * visited where it is defined, not at each reference.
 */
export function visitQuery(query: ResolvedQuery, visitor: Visitor): void {
  for (const relation of relationsBelow(query)) {
    visitor.relation?.(relation);
    for (const expr of relationExpressions(relation)) visitExpr(expr, visitor);
  }
}

function visitExpr(expr: Expr, visitor: Visitor): void {
  visitor.expr?.(expr);
  for (const operand of operandsOf(expr)) visitExpr(operand, visitor);
  if (expr.kind === 'subquery') visitQuery(expr.query, visitor);
}

// ------------------------------------------------------------------------------------ columns

/** A column that a relation defines. */
export interface Definition {
  readonly column: Column;
  /** What its values are, or are made of: none where a table holds them, and of each side of a set operation one. */
  readonly from: readonly Expr[];
  /** What computes it of many rows. */
  readonly call: AggregateCall | null;
}

/** The columns that a relation defines itself, in order. */
export function definesOf(relation: Relation): readonly Definition[] {
  const defined = (column: Column, ...from: readonly Expr[]): Definition => ({ column, from, call: null });
  switch (relation.kind) {
    case 'table':
      return relation.columns.map(({ column }) => defined(column));
    case 'cte':
      return relation.columns.map(({ column, source }) => defined(column, columnRef(source)));
    case 'unnest':
      return [
        defined(relation.element, relation.array),
        ...(relation.offset === null ? [] : [defined(relation.offset)]),
      ];
    case 'compute':
      return relation.columns.map(({ column, expr }) => defined(column, expr));
    case 'aggregate':
      return [
        ...relation.keys.map(({ column, expr }) => defined(column, expr)),
        ...relation.aggregates.map(({ column, call }) => ({ column, from: [], call })),
      ];
    case 'window':
      return relation.functions.map(({ column, call: { call } }) => ({ column, from: [], call }));
    case 'set':
      return relation.columns.map((column, i) =>
        defined(
          column,
          ...relation.inputs.flatMap(({ output }) => output.slice(i, i + 1).map((one) => columnRef(one.column))),
        ),
      );
    default:
      return NONE;
  }
}

/** Each relation of a long chain is looked up, some more than once. */
const visible = new WeakMap<Relation, readonly Column[]>();

/** The columns that an operator above `relation` may read, in order. */
export function visibleColumns(relation: Relation): readonly Column[] {
  let columns = visible.get(relation);
  if (columns === undefined) {
    const own = definesOf(relation).map(({ column }) => column);
    if (relation.kind === 'query') columns = relation.query.output.map(({ column }) => column);
    else if (relation.kind === 'aggregate') columns = own;
    else columns = [...inputsOf(relation).flatMap(visibleColumns), ...own];
    visible.set(relation, columns);
  }
  return columns;
}

// ------------------------------------------------------------------------------------ replacing parts

/** What to put in an expression's place; undefined: look inside it. */
export type Replace = (expr: Expr) => Expr | undefined;

/** The mapping that replaces expressions wherever they are, in subqueries too; CTEs never see rows around them. */
export function replacing(replace: Replace): Mapping {
  const mapping: Mapping = {
    expr: (expr) => replace(expr) ?? mapOperands(expr, mapping),
    relation: (relation) => mapRelation(relation, mapping),
    query: (query) => withParts(query, { relation: mapping.relation(query.relation) }),
  };
  return mapping;
}
