/** The columns that a relation shows. */
import type { Column, Relation } from '../../../../googlesql/resolved';

/** The columns that an operator above `relation` may read, in order. */
export function visibleColumns(relation: Relation): readonly Column[] {
  let columns = known.get(relation);
  if (columns === undefined) known.set(relation, (columns = columnsOf(relation)));
  return columns;
}

/** Each relation of a long chain is looked up, some more than once. */
const known = new WeakMap<Relation, readonly Column[]>();

function columnsOf(relation: Relation): readonly Column[] {
  switch (relation.kind) {
    case 'single_row':
      return [];
    case 'table':
    case 'cte':
      return relation.columns.map((c) => c.column);
    case 'query':
      return relation.query.output.map((c) => c.column);
    case 'unnest':
      return [
        ...(relation.input === null ? [] : visibleColumns(relation.input)),
        relation.element,
        ...(relation.offset === null ? [] : [relation.offset]),
      ];
    case 'join':
      return [...visibleColumns(relation.left), ...visibleColumns(relation.right)];
    case 'filter':
    case 'sort':
    case 'limit':
      return visibleColumns(relation.input);
    case 'compute':
      return [...visibleColumns(relation.input), ...relation.columns.map((c) => c.column)];
    case 'aggregate':
      return [...relation.keys.map((k) => k.column), ...relation.aggregates.map((a) => a.column)];
    case 'window':
      return [...visibleColumns(relation.input), ...relation.functions.map((f) => f.column)];
    case 'set':
      return relation.columns;
  }
}
