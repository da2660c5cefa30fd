/**
 * The order of evaluation of `--eager`: whatever a query computes is evaluated on the rows of the lowest filter below it
 * before that filter has left any out. The rows of a query stay the same; whether it fails does not.
 */
import {
  type ScalarName,
  type Cte,
  type Expr,
  type Relation,
  type ResolvedQuery,
  called,
  inputsOf,
  operandsOf,
  relationExpressions,
  relationsBelow,
  replacing,
} from '../../../packages/googlesql/src/face/index';
import { evaluated, placeProbe, type Probes } from './probes';

export function evaluateEagerly(query: ResolvedQuery): ResolvedQuery {
  const probes: Probes = new Map();
  place(probes, query);
  return new Rebuilder(probes).query(query);
}

/** Every expression of the query, and of queries in it, over the rows that it is evaluated on. */
function place(probes: Probes, query: ResolvedQuery): void {
  for (const relation of relationsBelow(query)) {
    for (const expr of relationExpressions(relation)) {
      for (const rows of rowsOf(relation, expr)) placeProbe(probes, expr, rows);
      for (const inner of subqueriesOf(expr)) place(probes, inner);
    }
  }
}

/** The rows that an operator evaluates one of its expressions on. */
function rowsOf(relation: Relation, expr: Expr): readonly Relation[] {
  const isCondition = (relation.kind === 'join' || relation.kind === 'unnest') && expr === relation.on;
  if (isCondition) return [{ ...relation, on: null }];
  return relation.kind === 'limit' ? [] : inputsOf(relation);
}

function subqueriesOf(expr: Expr): ResolvedQuery[] {
  const inner = operandsOf(expr).flatMap(subqueriesOf);
  return expr.kind === 'subquery' ? [expr.query, ...inner] : inner;
}

/** The query with the probes at their filters. */
class Rebuilder {
  private readonly ctes = new Map<number, Cte>();

  constructor(private readonly probes: Probes) {}

  query(query: ResolvedQuery): ResolvedQuery {
    const ctes = query.ctes.map((cte) => {
      const rebuilt = { ...cte, query: this.query(cte.query) };
      this.ctes.set(cte.id, rebuilt);
      return rebuilt;
    });
    return { ...query, ctes, relation: this.relation(query.relation) };
  }

  private relation(relation: Relation): Relation {
    switch (relation.kind) {
      case 'single_row':
      case 'table':
        return relation;
      case 'cte':
        return { ...relation, cte: this.ctes.get(relation.cte.id) ?? relation.cte };
      case 'query':
        return { ...relation, query: this.query(relation.query) };
      case 'set':
        return { ...relation, inputs: relation.inputs.map((query) => this.query(query)) };
      case 'join':
        return this.ownExpressions({
          ...relation,
          left: this.relation(relation.left),
          right: this.relation(relation.right),
        });
      case 'unnest':
        return this.ownExpressions({
          ...relation,
          input: relation.input === null ? null : this.relation(relation.input),
        });
      case 'filter': {
        const condition = after(this.probes.get(relation) ?? [], relation.condition);
        return this.ownExpressions({ ...relation, input: this.relation(relation.input), condition });
      }
      default:
        return this.ownExpressions({ ...relation, input: this.relation(relation.input) });
    }
  }

  /** The relation with the queries in its own expressions rebuilt; those below it are already. */
  private ownExpressions(relation: Relation): Relation {
    const own = new Set(relationExpressions(relation));
    return replacing((expr) => (own.has(expr) ? this.expression(expr) : undefined)).relation(relation);
  }

  private expression(expr: Expr): Expr {
    return replacing((node) => {
      if (node.kind !== 'subquery') return undefined;
      const operand = node.operand === null ? null : this.expression(node.operand);
      return { ...node, operand, query: this.query(node.query) };
    }).expr(expr);
  }
}

/** The condition once the probes have been evaluated: an IF, as the engine takes a conjunction apart. */
function after(probes: readonly Expr[], condition: Expr): Expr {
  if (probes.length === 0) return condition;
  const { span, type } = condition;
  const call = (name: ScalarName, args: readonly Expr[]): Expr => {
    return called(name, args, type, span);
  };
  const all = probes.map(evaluated);
  return call('IF', [call('$and', all), condition, { kind: 'literal', type, value: 'false', span }]);
}
