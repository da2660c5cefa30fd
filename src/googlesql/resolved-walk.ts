/**
 * The one walk over resolved trees: `mapOperands`, `mapCall`, `mapWindow` and `mapRelation` know every part of every node, and all
 * that looks for parts or replaces them is built on these. A test holds them to the fields of `resolved.ts`.
 */
import type { AggregateCall, Expr, Relation, ResolvedBound, ResolvedQuery, SortKey, WindowCall } from './resolved';

type MapExpr = (expr: Expr) => Expr;

/** What replaces the parts of a node. A part that stays is given back as it is. */
export interface Mapping {
  readonly expr: MapExpr;
  readonly relation: (relation: Relation) => Relation;
  readonly query: (query: ResolvedQuery) => ResolvedQuery;
}

/** The expression with those directly below it, and the query of a subquery, replaced. */
export function mapOperands(expr: Expr, { expr: map, query }: Pick<Mapping, 'expr' | 'query'>): Expr {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return expr;
    case 'field':
      return { ...expr, input: map(expr.input) };
    case 'call': {
      const named: Record<string, Expr> = {};
      const args = expr.args.map(map);
      for (const [name, value] of Object.entries(expr.named)) named[name] = map(value);
      return { ...expr, args, named };
    }
    case 'cast':
      return {
        ...expr,
        input: map(expr.input),
        format: expr.format && map(expr.format),
        timeZone: expr.timeZone && map(expr.timeZone),
      };
    case 'case':
      return {
        ...expr,
        operand: expr.operand && map(expr.operand),
        whens: expr.whens.map(({ when, then }) => ({ when: map(when), then: map(then) })),
        else: expr.else && map(expr.else),
      };
    case 'make_array':
      return { ...expr, elements: expr.elements.map(map) };
    case 'make_struct':
      return { ...expr, fields: expr.fields.map(map) };
    case 'subquery':
      return { ...expr, operand: expr.operand && map(expr.operand), query: query(expr.query) };
  }
}

const mapKey = (key: SortKey, map: MapExpr): SortKey => ({ ...key, expr: map(key.expr) });

/** The call with its expressions replaced: arguments, HAVING, ORDER BY and LIMIT. */
export function mapCall(call: AggregateCall, map: MapExpr): AggregateCall {
  return {
    ...call,
    args: call.args.map(map),
    having: call.having && { ...call.having, expr: map(call.having.expr) },
    orderBy: call.orderBy.map((key) => mapKey(key, map)),
    limit: call.limit && map(call.limit),
  };
}

/** The window function with its expressions replaced, the offsets of its frame included. */
export function mapWindow({ call, partitionBy, orderBy, frame }: WindowCall, map: MapExpr): WindowCall {
  const bound = (one: ResolvedBound): ResolvedBound => ({ ...one, offset: one.offset && map(one.offset) });
  return {
    call: mapCall(call, map),
    partitionBy: partitionBy.map(map),
    orderBy: orderBy.map((key) => mapKey(key, map)),
    frame: frame && { ...frame, from: bound(frame.from), to: bound(frame.to) },
  };
}

/** The relation with what it reads and what it evaluates itself replaced. The query of a CTE is no part of its scans. */
export function mapRelation(relation: Relation, { expr: map, relation: input, query }: Mapping): Relation {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return relation;
    case 'query':
      return { ...relation, query: query(relation.query) };
    case 'unnest':
      return {
        ...relation,
        input: relation.input && input(relation.input),
        array: map(relation.array),
        on: relation.on && map(relation.on),
      };
    case 'join':
      return {
        ...relation,
        left: input(relation.left),
        right: input(relation.right),
        on: relation.on && map(relation.on),
      };
    case 'filter':
      return { ...relation, input: input(relation.input), condition: map(relation.condition) };
    case 'compute':
      return {
        ...relation,
        input: input(relation.input),
        columns: relation.columns.map(({ column, expr }) => ({ column, expr: map(expr) })),
      };
    case 'aggregate':
      return {
        ...relation,
        input: input(relation.input),
        keys: relation.keys.map(({ column, expr }) => ({ column, expr: map(expr) })),
        aggregates: relation.aggregates.map(({ column, call }) => ({ column, call: mapCall(call, map) })),
      };
    case 'window':
      return {
        ...relation,
        input: input(relation.input),
        functions: relation.functions.map(({ column, call }) => ({ column, call: mapWindow(call, map) })),
      };
    case 'sort':
      return { ...relation, input: input(relation.input), keys: relation.keys.map((key) => mapKey(key, map)) };
    case 'limit':
      return {
        ...relation,
        input: input(relation.input),
        count: map(relation.count),
        offset: relation.offset && map(relation.offset),
      };
    case 'set':
      return { ...relation, inputs: relation.inputs.map(query) };
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

/** The expressions directly below one; the query of a subquery is not among them. */
export function operandsOf(expr: Expr): readonly Expr[] {
  return noted((note) => mapOperands(expr, { expr: note, query: unchanged }));
}

export function callExpressions(call: AggregateCall): readonly Expr[] {
  return noted((note) => mapCall(call, note));
}

export function windowExpressions(call: WindowCall): readonly Expr[] {
  return noted((note) => mapWindow(call, note));
}

/** The expressions that an operator evaluates itself. */
export function relationExpressions(relation: Relation): readonly Expr[] {
  return noted((note) => mapRelation(relation, { expr: note, relation: unchanged, query: unchanged }));
}

/** The queries that a relation reads as a whole: of a subquery in FROM, of the sides of a set operation. */
export function queriesOf(relation: Relation): readonly ResolvedQuery[] {
  return noted((note) => mapRelation(relation, { expr: unchanged, relation: unchanged, query: note }));
}

export function inputsOf(relation: Relation): readonly Relation[] {
  return noted((note) => mapRelation(relation, { expr: unchanged, relation: note, query: unchanged }));
}

/**
 * Every relation of a query, those of its CTEs included, not those of subqueries in expressions; each behind what it reads.
 * It does not recurse: no tree is too high for it.
 */
export function relationsBelow(query: ResolvedQuery): readonly Relation[] {
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
  return found.reverse();
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

// ------------------------------------------------------------------------------------ replacing parts

/** What to put in an expression's place; undefined: look inside it. */
export type Replace = (expr: Expr) => Expr | undefined;

/** The mapping that replaces expressions wherever they are, in subqueries too; CTEs never see rows around them. */
export function replacing(replace: Replace): Mapping {
  const mapping: Mapping = {
    expr: (expr) => replace(expr) ?? mapOperands(expr, mapping),
    relation: (relation) => mapRelation(relation, mapping),
    query: (query) => ({ ...query, relation: mapping.relation(query.relation) }),
  };
  return mapping;
}
