/** ROLLUP, CUBE, GROUPING SETS and GROUPING, which the engine resolves and cannot evaluate, out of a resolved query. */
import {
  type Aggregate,
  type Column,
  type ComputedColumn,
  type Cte,
  type Expr,
  type Relation,
  type ResolvedQuery,
  mapOperands,
  mapRelation,
} from '../../../packages/googlesql/src/face/index';

/** The query with a UNION ALL of one aggregation for each set: a key that is not in the set is a NULL of its type. */
export function withoutGroupingSets(query: ResolvedQuery): ResolvedQuery {
  const ctes = new Map<number, Cte>();
  const ofQuery = (one: ResolvedQuery): ResolvedQuery => {
    for (const cte of one.ctes) ctes.set(cte.id, { ...cte, query: ofQuery(cte.query) });
    return { ...one, ctes: one.ctes.map((cte) => ctes.get(cte.id) ?? cte), relation: ofRelation(one.relation) };
  };
  const ofExpr = (expr: Expr): Expr => mapOperands(expr, { expr: ofExpr, query: ofQuery });
  const ofRelation = (relation: Relation): Relation => {
    if (relation.kind === 'cte') return { ...relation, cte: ctes.get(relation.cte.id) ?? relation.cte };
    const mapped = mapRelation(relation, { expr: ofExpr, relation: ofRelation, query: ofQuery });
    return mapped.kind === 'aggregate' ? ofAggregate(mapped) : mapped;
  };
  return ofQuery(query);
}

function ofAggregate(aggregate: Aggregate): Relation {
  const { keys, aggregates, groupingSets } = aggregate;
  const hasGrouping = aggregates.some(({ call }) => call.function === 'GROUPING');
  if (groupingSets === null && !hasGrouping) return aggregate;
  const columns = [...keys, ...aggregates].map(({ column }) => column);
  const relations = (groupingSets ?? [keys.map((_, i) => i)]).map((set) => ofSet(aggregate, new Set(set)));
  const [only, ...more] = relations;
  if (only !== undefined && more.length === 0) return only;
  const output = columns.map((column) => ({ name: null, column }));
  const inputs = relations.map((relation) => ({ ctes: [], relation, output, valueTable: false, ordered: false }));
  return { kind: 'set', operator: 'union', distinct: false, inputs, columns };
}

function ofSet(aggregate: Aggregate, set: ReadonlySet<number>): Relation {
  const keys = aggregate.keys.filter((_, i) => set.has(i));
  const aggregates = aggregate.aggregates.filter(({ call }) => call.function !== 'GROUPING');
  const columns = aggregate.keys.flatMap(({ column }, i) => (set.has(i) ? [] : [constant(column, null)]));
  for (const { column, call } of aggregate.aggregates) {
    const [key] = call.args;
    if (call.function !== 'GROUPING' || key?.kind !== 'column') continue;
    columns.push(constant(column, keys.some((one) => one.column.id === key.column.id) ? '0' : '1'));
  }
  // The grand total is one row, whatever there is to group.
  const isOneRow = keys.length === 0 && aggregates.length === 0;
  const input: Relation = isOneRow ? { kind: 'single_row' } : { ...aggregate, groupingSets: null, keys, aggregates };
  return columns.length === 0 ? input : { kind: 'compute', input, columns };
}

function constant(column: Column, value: string | null): ComputedColumn {
  return { column, expr: { kind: 'literal', type: column.type, value, span: { start: 0, end: 0 } } };
}
