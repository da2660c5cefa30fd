import type { PipeOperator, Query } from './tree';
import { forEachChild, walk, type SyntaxNode } from './tree-walk';

/** Whether a query has an ORDER BY of its own: without one, GoogleSQL promises no order of its rows. */
export function fixesOrder({ orderBy, body, pipes }: Query): boolean {
  const before = orderBy.length > 0 || (body.kind === 'query' && fixesOrder(body));
  return pipes.reduce((ordered, operator) => orderAfter(operator) ?? ordered, before);
}

/** Whether a pipe operator orders its rows (true), leaves them in no order (false) or in the one that they had (null). */
export function orderAfter(operator: PipeOperator): boolean | null {
  switch (operator.kind) {
    case 'pipe_order_by':
      return true;
    case 'pipe_aggregate': {
      const { orders, groupBy } = operator;
      const all = [...orders, ...(groupBy?.suffixes ?? []).map(({ order }) => order)];
      return groupBy?.ordered === true || all.some((order) => order !== null);
    }
    case 'pipe_select':
      return operator.distinct || hasWindow(operator) ? false : null;
    case 'pipe_extend':
    case 'pipe_set':
      return hasWindow(operator) ? false : null;
    case 'pipe_drop':
    case 'pipe_rename':
    case 'pipe_as':
    case 'pipe_limit':
    case 'pipe_with':
      return null;
    case 'pipe_where':
    case 'pipe_distinct':
    case 'pipe_join':
    case 'pipe_set_operation':
    case 'pipe_pivot':
    case 'pipe_unpivot':
      return false;
  }
}

/** A window function of the operator's own, not of a subquery. */
function hasWindow(operator: PipeOperator): boolean {
  let found = false;
  const visit = (node: SyntaxNode): boolean => {
    found ||= node.kind === 'call' && node.over !== null;
    return node.kind !== 'query';
  };
  forEachChild(operator, (child) => walk(child, visit));
  return found;
}
