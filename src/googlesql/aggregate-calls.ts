/** Aggregate calls as they are written. */
import { namedFunction } from './functions/catalogue';
import type { Call, Expression } from './syntax';
import { walk, type SyntaxNode } from './syntax-walk';

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
