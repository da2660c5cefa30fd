/** Whether two expressions are the same tree, wherever they stand. */
import type { Expr } from '../resolved';
import { sameType } from '../type-names';

/** True for equal trees without subqueries; two subqueries are never the same. */
export function sameExpr(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case 'literal':
      return b.kind === 'literal' && a.value === b.value && sameType(a.type, b.type);
    case 'parameter':
      return b.kind === 'parameter' && a.name === b.name;
    case 'column':
      return b.kind === 'column' && a.column.id === b.column.id;
    case 'field':
      return b.kind === 'field' && a.index === b.index && sameExpr(a.input, b.input);
    case 'call':
      return (
        b.kind === 'call' &&
        a.function === b.function &&
        a.safe === b.safe &&
        a.part === b.part &&
        sameType(a.type, b.type) &&
        sameList(a.args, b.args) &&
        sameList(namedOf(a.named), namedOf(b.named)) &&
        Object.keys(a.named).join() === Object.keys(b.named).join()
      );
    case 'cast':
      return (
        b.kind === 'cast' &&
        a.safe === b.safe &&
        sameType(a.type, b.type) &&
        sameExpr(a.input, b.input) &&
        sameOptional(a.format, b.format) &&
        sameOptional(a.timeZone, b.timeZone)
      );
    case 'case':
      return (
        b.kind === 'case' &&
        sameOptional(a.operand, b.operand) &&
        sameOptional(a.else, b.else) &&
        sameList(
          a.whens.flatMap(({ when, then }) => [when, then]),
          b.whens.flatMap(({ when, then }) => [when, then]),
        )
      );
    case 'make_array':
      return b.kind === 'make_array' && sameType(a.type, b.type) && sameList(a.elements, b.elements);
    case 'make_struct':
      return b.kind === 'make_struct' && sameType(a.type, b.type) && sameList(a.fields, b.fields);
    case 'subquery':
      return false;
  }
}

function sameList(a: readonly Expr[], b: readonly Expr[]): boolean {
  return (
    a.length === b.length &&
    a.every((expr, i) => {
      const other = b[i];
      return other !== undefined && sameExpr(expr, other);
    })
  );
}

function namedOf(named: Readonly<Record<string, Expr>>): Expr[] {
  return Object.values(named);
}

function sameOptional(a: Expr | null, b: Expr | null): boolean {
  return a === null || b === null ? a === b : sameExpr(a, b);
}
