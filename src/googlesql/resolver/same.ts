/** Whether two expressions are the same, wherever they are: by a text that says all of an expression but its place. */
import type { Expr } from '../resolved';
import { operandsOf } from '../resolved-walk';
import { typeText } from '../type-names';

/** Equal for equal expressions. null: it holds a subquery, and no two subqueries are the same. */
export function fingerprint(expr: Expr): string | null {
  const parts: string[] = [];
  return write(expr, parts) ? parts.join(' ') : null;
}

export function sameExpr(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  const text = fingerprint(a);
  return text !== null && text === fingerprint(b);
}

/** False as soon as a subquery is met. */
function write(expr: Expr, parts: string[]): boolean {
  if (expr.kind === 'subquery') return false;
  parts.push(expr.kind, ...attributesOf(expr), '(');
  if (!operandsOf(expr).every((operand) => write(operand, parts))) return false;
  parts.push(')');
  return true;
}

/** What of an expression is neither an operand nor its place: with which operands there are, where some may be missing. */
function attributesOf(expr: Exclude<Expr, { kind: 'subquery' }>): readonly string[] {
  switch (expr.kind) {
    case 'literal':
      return [typeText(expr.type), JSON.stringify(expr.value)];
    case 'parameter':
      return [expr.name];
    case 'column':
      return [String(expr.column.id)];
    case 'field':
      return [String(expr.index)];
    case 'call':
      return [expr.function, String(expr.safe), expr.part ?? '-', typeText(expr.type), ...Object.keys(expr.named)];
    case 'cast':
      return [
        String(expr.safe),
        typeText(expr.type),
        JSON.stringify(expr.parameters ?? null),
        ...present(expr.format, expr.timeZone),
      ];
    case 'case':
      return present(expr.operand, expr.else);
    case 'make_array':
    case 'make_struct':
      return [typeText(expr.type)];
  }
}

const present = (...operands: readonly (Expr | null)[]): string[] =>
  operands.map((operand) => String(operand !== null));
