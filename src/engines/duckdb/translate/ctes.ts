/** Which CTEs are computed once and kept, and which are written out at each place that reads them. */
import type { Cte, Expr, Relation, ResolvedQuery } from '../../../googlesql/resolved';
import { readsOfQuery } from './columns';

/** So many times written out, any CTE costs DuckDB more to plan than to keep. */
const MANY_READS = 50;

/**
 * A CTE is kept when it is read more than once and does real work. Scans, filters and unnesting are cheaper done twice
 * with each reader's own filters and columns than kept whole, up to a point; BigQuery itself evaluates a CTE at each
 * reference.
 */
export function keptCtes(query: ResolvedQuery): (cte: Cte) => boolean {
  const reads = new Map<number, number>();
  eachQuery(query, (relation) => {
    if (relation.kind === 'cte') reads.set(relation.cte.id, (reads.get(relation.cte.id) ?? 0) + 1);
  });
  const verdicts = new Map<number, boolean>();
  return (cte) => {
    let verdict = verdicts.get(cte.id);
    if (verdict === undefined) {
      const times = reads.get(cte.id) ?? 0;
      const worthIt = times > MANY_READS || (times > 1 && works(cte.query));
      verdict = worthIt && isClosed(cte.query) && !isVolatile(cte.query);
      verdicts.set(cte.id, verdict);
    }
    return verdict;
  };
}

/** Whether it aggregates, sorts out duplicates, joins or windows anywhere. */
function works(query: ResolvedQuery): boolean {
  let found = false;
  eachQuery(query, (relation) => {
    found ||= relation.kind === 'aggregate' || relation.kind === 'join' || relation.kind === 'window';
    found ||= relation.kind === 'set' && (relation.distinct || relation.operator !== 'union');
    found ||= relation.kind === 'limit';
    found ||= relation.kind === 'cte' && works(relation.cte.query);
  });
  return found;
}

/** A correlated CTE has to stay where the rows around it are. */
export function isClosed(query: ResolvedQuery): boolean {
  const defined = new Set<number>();
  eachQuery(query, (relation) => {
    switch (relation.kind) {
      case 'table':
      case 'cte':
        relation.columns.forEach((c) => defined.add(c.column.id));
        break;
      case 'unnest':
        defined.add(relation.element.id);
        if (relation.offset !== null) defined.add(relation.offset.id);
        break;
      case 'compute':
        relation.columns.forEach((c) => defined.add(c.column.id));
        break;
      case 'aggregate':
        relation.keys.forEach((k) => defined.add(k.column.id));
        relation.aggregates.forEach((a) => defined.add(a.column.id));
        break;
      case 'window':
        relation.functions.forEach((f) => defined.add(f.column.id));
        break;
      case 'set':
        relation.columns.forEach((c) => defined.add(c.id));
        break;
      default:
        break;
    }
  });
  return [...readsOfQuery(query, new Set())].every((id) => defined.has(id));
}

/** The ids of all CTEs that the body of `cte` reads, through others too. */
export function ctesReadBy(cte: Cte, into: Set<number> = new Set()): Set<number> {
  eachQuery(cte.query, (relation) => {
    if (relation.kind !== 'cte' || into.has(relation.cte.id)) return;
    into.add(relation.cte.id);
    ctesReadBy(relation.cte, into);
  });
  return into;
}

const VOLATILE = new Set(['RAND', 'GENERATE_UUID']);

function isVolatile(query: ResolvedQuery): boolean {
  let found = false;
  eachQuery(
    query,
    () => undefined,
    (expr) => {
      found ||= expr.kind === 'call' && VOLATILE.has(expr.function);
    },
  );
  return found;
}

/** Visits every relation of a query, and every expression, subqueries and the bodies of its own CTEs included. */
export function eachQuery(
  query: ResolvedQuery,
  onRelation: (relation: Relation) => void,
  onExpr: (expr: Expr) => void = () => undefined,
): void {
  query.ctes.forEach((cte) => eachQuery(cte.query, onRelation, onExpr));
  eachRelation(query.relation, onRelation, onExpr);
}

function eachRelation(
  relation: Relation,
  onRelation: (relation: Relation) => void,
  onExpr: (expr: Expr) => void,
): void {
  onRelation(relation);
  const visit = (expr: Expr | null): void => {
    if (expr !== null) eachExpr(expr, onRelation, onExpr);
  };
  const into = (inner: Relation): void => eachRelation(inner, onRelation, onExpr);
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return;
    case 'query':
      return eachQuery(relation.query, onRelation, onExpr);
    case 'unnest':
      if (relation.input !== null) into(relation.input);
      visit(relation.array);
      return visit(relation.on);
    case 'join':
      into(relation.left);
      into(relation.right);
      return visit(relation.on);
    case 'filter':
      into(relation.input);
      return visit(relation.condition);
    case 'compute':
      into(relation.input);
      return relation.columns.forEach((c) => visit(c.expr));
    case 'aggregate':
      into(relation.input);
      relation.keys.forEach((k) => visit(k.expr));
      return relation.aggregates.forEach((a) => {
        a.call.args.forEach(visit);
        visit(a.call.having?.expr ?? null);
        a.call.orderBy.forEach((k) => visit(k.expr));
      });
    case 'window':
      into(relation.input);
      return relation.functions.forEach(({ call }) => {
        call.call.args.forEach(visit);
        call.partitionBy.forEach(visit);
        call.orderBy.forEach((k) => visit(k.expr));
      });
    case 'sort':
      into(relation.input);
      return relation.keys.forEach((k) => visit(k.expr));
    case 'limit':
      into(relation.input);
      visit(relation.count);
      return visit(relation.offset);
    case 'set':
      return relation.inputs.forEach((q) => eachQuery(q, onRelation, onExpr));
  }
}

function eachExpr(expr: Expr, onRelation: (relation: Relation) => void, onExpr: (expr: Expr) => void): void {
  onExpr(expr);
  const visit = (inner: Expr | null): void => {
    if (inner !== null) eachExpr(inner, onRelation, onExpr);
  };
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return;
    case 'field':
      return visit(expr.input);
    case 'call':
      expr.args.forEach(visit);
      return Object.values(expr.named).forEach(visit);
    case 'cast':
      visit(expr.input);
      visit(expr.format);
      return visit(expr.timeZone);
    case 'case':
      visit(expr.operand);
      expr.whens.forEach((w) => {
        visit(w.when);
        visit(w.then);
      });
      return visit(expr.else);
    case 'make_array':
      return expr.elements.forEach(visit);
    case 'make_struct':
      return expr.fields.forEach(visit);
    case 'subquery':
      visit(expr.operand);
      return eachQuery(expr.query, onRelation, onExpr);
  }
}
