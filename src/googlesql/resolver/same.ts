/** Whether two expressions are the same, wherever they stand: by a text that says all of an expression but its place. */
import type { Expr } from '../resolved';
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
  const all = (exprs: readonly (Expr | null)[]): boolean => {
    parts.push('(');
    const whole = exprs.every((e) => (e === null ? parts.push('-') > 0 : write(e, parts)));
    parts.push(')');
    return whole;
  };
  switch (expr.kind) {
    case 'literal':
      parts.push('literal', typeText(expr.type), JSON.stringify(expr.value));
      return true;
    case 'parameter':
      parts.push('parameter', expr.name);
      return true;
    case 'column':
      parts.push('column', String(expr.column.id));
      return true;
    case 'field':
      parts.push('field', String(expr.index));
      return write(expr.input, parts);
    case 'call': {
      parts.push(expr.function, String(expr.safe), expr.part ?? '-', typeText(expr.type));
      const named = Object.entries(expr.named);
      parts.push(...named.map(([name]) => name));
      return all(expr.args) && all(named.map(([, value]) => value));
    }
    case 'cast':
      parts.push('cast', String(expr.safe), typeText(expr.type), (expr.parameters ?? []).join());
      return all([expr.input, expr.format, expr.timeZone]);
    case 'case':
      parts.push('case');
      return all([expr.operand, ...expr.whens.flatMap(({ when, then }) => [when, then]), expr.else]);
    case 'make_array':
      parts.push('array', typeText(expr.type));
      return all(expr.elements);
    case 'make_struct':
      parts.push('struct', typeText(expr.type));
      return all(expr.fields);
    case 'subquery':
      return false;
  }
}
