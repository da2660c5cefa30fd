/**
 * Which expressions may raise a run-time error. A stand-in that takes every operation for fallible but those that
 * surely are not.
 */
import type { Expr } from './resolved';
import { operandsOf, relationExpressions, relationsBelow } from './resolved-walk';

/** Operations that give a value, or NULL, for every value of their operands. */
const TOTAL: ReadonlySet<string> = new Set([
  '$and',
  '$between',
  '$equal',
  '$greater',
  '$greater_or_equal',
  '$in',
  '$in_unnest',
  '$is_distinct_from',
  '$is_false',
  '$is_null',
  '$is_true',
  '$less',
  '$less_or_equal',
  '$not',
  '$not_equal',
  '$or',
  '$safe_at',
  'ARRAY_LENGTH',
  'BYTE_LENGTH',
  'CHAR_LENGTH',
  'COALESCE',
  'CURRENT_TIMESTAMP',
  'ENDS_WITH',
  'GREATEST',
  'IF',
  'IFNULL',
  'LEAST',
  'LENGTH',
  'LOWER',
  'NULLIF',
  'STARTS_WITH',
  'STRPOS',
  'UPPER',
]);

/** Whether the operation of this node may fail, whatever its operands do. */
export function ownFailure(expr: Expr): boolean {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
    case 'field':
    case 'case':
    case 'make_array':
    case 'make_struct':
      return false;
    case 'call':
      return !expr.safe && !TOTAL.has(expr.function);
    case 'cast':
      return !expr.safe;
    case 'subquery':
      return expr.mode === 'scalar';
  }
}

/** Whether this node or anything below it may fail. */
export function canFail(expr: Expr): boolean {
  if (ownFailure(expr) || operandsOf(expr).some(canFail)) return true;
  return (
    expr.kind === 'subquery' && relationsBelow(expr.query).some((below) => relationExpressions(below).some(canFail))
  );
}
