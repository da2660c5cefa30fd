/** Aggregate calls as they are written. */
import { findFunction } from './functions/catalogue';
import type { Call, Expression } from './syntax';
import { walk, type SyntaxNode } from './syntax-walk';

/** An aggregate call without OVER, of this SELECT and not of a query inside the expression. */
export function isAggregateCall(node: SyntaxNode): node is Call {
  if (node.kind !== 'call' || node.over !== null) return false;
  const path = node.path.map(({ name }) => name);
  const isSafe = path.length > 1 && path[0]?.toUpperCase() === 'SAFE';
  return findFunction((isSafe ? path.slice(1) : path).join('.'))?.mode === 'aggregate';
}

export function hasAggregate(expression: Expression): boolean {
  let found = false;
  walk(expression, (node) => {
    found ||= isAggregateCall(node);
    return !found && node.kind !== 'query';
  });
  return found;
}
