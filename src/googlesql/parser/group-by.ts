import type { Expression, GroupBy, GroupingItem } from '../syntax';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';

/** GROUP BY ALL, GROUP BY a, ROLLUP(b, c), GROUPING SETS ((a, b), ()) */
export function parseGroupBy(cursor: Cursor): GroupBy {
  const { start } = cursor.expect('GROUP');
  cursor.expect('BY');
  if (cursor.accept('ALL')) return { all: true, items: [], span: cursor.spanFrom(start) };
  const items = cursor.list(parseGroupingItem);
  return { all: false, items, span: cursor.spanFrom(start) };
}

/** An expression, or ROLLUP, CUBE, GROUPING SETS or `()`. */
export function parseGroupingItem(cursor: Cursor): GroupingItem {
  const { start } = cursor.token;
  if (cursor.at('GROUPING') && cursor.peek(1).symbol === 'SETS') {
    cursor.next();
    cursor.next();
    const items = cursor.parenthesised(parseGroupingSet);
    return { kind: 'grouping_sets', items, span: cursor.spanFrom(start) };
  }
  return parseSetOrEmpty(cursor) ?? { kind: 'expression', expression: parseExpression(cursor) };
}

function parseGroupingSet(cursor: Cursor): GroupingItem {
  const { start, symbol } = cursor.token;
  const item = parseSetOrEmpty(cursor);
  if (item !== null) return item;
  const expression = parseExpression(cursor);
  const expressions = tupleParts(expression, symbol);
  if (expressions === null) return { kind: 'expression', expression };
  return { kind: 'list', expressions, span: cursor.spanFrom(start) };
}

/** ROLLUP(...), CUBE(...) or `()`; null for anything else. */
function parseSetOrEmpty(cursor: Cursor): GroupingItem | null {
  const { start, symbol } = cursor.token;
  if (symbol === '(' && cursor.peek(1).symbol === ')') {
    cursor.next();
    cursor.next();
    return { kind: 'list', expressions: [], span: cursor.spanFrom(start) };
  }
  if (symbol !== 'ROLLUP' && symbol !== 'CUBE') return null;
  cursor.next();
  const sets = cursor.parenthesised(parseColumnSet);
  return { kind: symbol === 'CUBE' ? 'cube' : 'rollup', sets, span: cursor.spanFrom(start) };
}

/** A column, or several in parentheses that stand or fall together. */
function parseColumnSet(cursor: Cursor): readonly Expression[] {
  const { symbol } = cursor.token;
  const expression = parseExpression(cursor);
  return tupleParts(expression, symbol) ?? [expression];
}

/** The parts of `(a, b)`, which reads like a tuple; `first` is the symbol that it began with. */
function tupleParts(expression: Expression, first: string): Expression[] | null {
  if (expression.kind !== 'struct' || first !== '(') return null;
  return expression.fields.map((field) => field.expression);
}
