/**
 * Where an expression can be evaluated before the filters below it. An engine may do that wherever the result stays the
 * same, since GoogleSQL fixes no order but that of conditional expressions, which stay whole here.
 */
import {
  type ScalarName,
  type Column,
  type Expr,
  type Filter,
  type Relation,
  type ResolvedQuery,
  called,
  operandsOf,
  visibleColumns,
  replacing,
} from '../../../packages/googlesql/src/face/index';
import { readsOf } from './columns';

/** Expressions that a filter is to evaluate on its rows beside its condition. */
export type Probes = Map<Filter, Expr[]>;

/** Operators that evaluate all of their operands, as far as the language says. */
const STRICT = /^\$(?!in$)/;

/** Places the expression at the lowest filters that it can be evaluated at; where it cannot, its operands. */
export function placeProbe(probes: Probes, expr: Expr, input: Relation): void {
  if (isPlain(expr) || push(probes, expr, input)) return;
  if (expr.kind === 'cast' || (expr.kind === 'call' && STRICT.test(expr.function)))
    for (const operand of operandsOf(expr)) placeProbe(probes, operand, input);
}

/** A column, a literal, a path: nothing in it can fail. */
function isPlain(expr: Expr): boolean {
  if (expr.kind === 'field') return isPlain(expr.input);
  return expr.kind === 'column' || expr.kind === 'literal' || expr.kind === 'parameter';
}

/** Whether a filter at or below `relation` has taken the expression. */
function push(probes: Probes, expr: Expr, relation: Relation): boolean {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'limit':
      return false;
    case 'filter':
      if (push(probes, expr, relation.input)) return true;
      probes.set(relation, [...(probes.get(relation) ?? []), expr]);
      return true;
    case 'sort':
      return push(probes, expr, relation.input);
    case 'query':
      return push(probes, expr, relation.query.relation);
    case 'compute':
      return push(probes, replaced(expr, relation.columns), relation.input);
    case 'aggregate': {
      const { columns } = readsOf(expr);
      if (relation.aggregates.some(({ column }) => columns.has(column.id))) return false;
      return push(probes, replaced(expr, relation.keys), relation.input);
    }
    case 'window': {
      const { columns } = readsOf(expr);
      return !relation.functions.some(({ column }) => columns.has(column.id)) && push(probes, expr, relation.input);
    }
    case 'cte': {
      const { columns, scansCte } = readsOf(expr);
      // A CTE sees neither rows around it nor, in itself, itself.
      const own = new Set(relation.columns.map(({ column }) => column.id));
      if (scansCte || [...columns].some((id) => !own.has(id))) return false;
      const sources = relation.columns.map(({ column, source }) => ({ column, expr: ref(source, expr) }));
      return push(probes, replaced(expr, sources), relation.cte.query.relation);
    }
    case 'join': {
      const { columns } = readsOf(expr);
      const [left, right] = [idsOf(relation.left), idsOf(relation.right)];
      const read = [...columns].filter((id) => left.has(id) || right.has(id));
      if (read.every((id) => left.has(id))) return push(probes, expr, relation.left);
      return read.every((id) => right.has(id)) && push(probes, expr, relation.right);
    }
    case 'unnest': {
      const { input, element, offset } = relation;
      if (input === null) return false;
      const { columns } = readsOf(expr);
      const readsElement = columns.has(element.id) || (offset !== null && columns.has(offset.id));
      return push(probes, readsElement ? overElements(expr, { ...relation, input: null }) : expr, input);
    }
    case 'set': {
      const taken = relation.inputs.map((query) =>
        push(probes, ofInput(expr, relation.columns, query), query.relation),
      );
      return taken.includes(true);
    }
  }
}

function idsOf(relation: Relation): ReadonlySet<number> {
  return new Set(visibleColumns(relation).map(({ id }) => id));
}

function replaced(expr: Expr, columns: readonly { readonly column: Column; readonly expr: Expr }[]): Expr {
  const byId = new Map(columns.map((computed) => [computed.column.id, computed.expr]));
  return replacing((node) => (node.kind === 'column' ? byId.get(node.column.id) : undefined)).expr(expr);
}

function ofInput(expr: Expr, columns: readonly Column[], query: ResolvedQuery): Expr {
  return replaced(
    expr,
    columns.flatMap((column, i) => {
      const output = query.output[i];
      return output === undefined ? [] : [{ column, expr: ref(output.column, expr) }];
    }),
  );
}

function ref(column: Column, { span }: Expr): Expr {
  return { kind: 'column', column, type: column.type, span };
}

/** The expression evaluated on every element of an array of the row. */
function overElements(expr: Expr, elements: Relation): Expr {
  const relation: Relation = { kind: 'filter', input: elements, condition: evaluated(expr) };
  const query: ResolvedQuery = { ctes: [], relation, output: [], valueTable: false, ordered: false };
  return { kind: 'subquery', mode: 'exists', operand: null, query, type: { kind: 'BOOL' }, span: expr.span };
}

/** A condition that is TRUE once the expression has been evaluated: the engine evaluates both sides of OR. */
export function evaluated(expr: Expr): Expr {
  const { span } = expr;
  const type = { kind: 'BOOL' } as const;
  const call = (name: ScalarName, args: readonly Expr[]): Expr => {
    return called(name, args, type, span);
  };
  return call('$or', [call('$is_null', [expr]), { kind: 'literal', type, value: 'true', span }]);
}
