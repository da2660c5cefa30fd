import type { Expression, GroupBy, GroupingItem, Identifier, Select, SelectItem, SelectStar, Span } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseFrom } from './from';
import { parseNamedWindow } from './window';

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

/** SELECT with every clause up to WINDOW. */
export function parseSelect(cursor: Cursor): Select {
  const { start } = cursor.token;
  const { distinct, as, items } = parseSelectClause(cursor);
  const from = cursor.accept('FROM') ? parseFrom(cursor) : null;
  const where = cursor.accept('WHERE') ? parseExpression(cursor) : null;
  const groupBy = cursor.at('GROUP') ? parseGroupBy(cursor) : null;
  const having = cursor.accept('HAVING') ? parseExpression(cursor) : null;
  const qualify = cursor.accept('QUALIFY') ? parseExpression(cursor) : null;
  const windows = cursor.accept('WINDOW') ? cursor.list(parseNamedWindow) : [];
  const span = cursor.spanFrom(start);
  return { kind: 'select', distinct, as, items, from, where, groupBy, having, qualify, windows, span };
}

/** SELECT [DISTINCT | ALL] [AS STRUCT | VALUE] with its list. */
export function parseSelectClause(cursor: Cursor): Pick<Select, 'distinct' | 'as' | 'items'> {
  cursor.expect('SELECT');
  if (cursor.at('WITH') && cursor.peek(1).symbol !== '(') parseSelectWith(cursor);
  const distinct = cursor.accept('DISTINCT');
  if (!distinct) cursor.accept('ALL');
  const as = cursor.accept('AS') ? parseSelectAs(cursor) : null;
  return { distinct, as, items: parseSelectList(cursor) };
}

/** SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...): its options name columns only. */
function parseSelectWith(cursor: Cursor): void {
  const { start } = cursor.next();
  cursor.name('a modifier of SELECT');
  if (cursor.accept('OPTIONS')) {
    cursor.parenthesised((at) => {
      at.name('an option name');
      at.expect('=');
      return parseExpression(at);
    });
  }
  cursor.refuse('SELECT WITH', cursor.spanFrom(start));
}

function parseSelectAs(cursor: Cursor): Select['as'] {
  if (cursor.accept('STRUCT')) return 'struct';
  const { start } = cursor.token;
  const parts = [cursor.name('STRUCT or VALUE')];
  while (cursor.accept('.')) parts.push(cursor.name('a type name'));
  if (parts.length > 1 || parts[0]?.name.toUpperCase() !== 'VALUE') {
    cursor.refuse('SELECT AS with a type name', cursor.spanFrom(start));
  }
  return 'value';
}

/** At least one item; a comma may follow the last. */
export function parseSelectList(cursor: Cursor): SelectItem[] {
  const items: SelectItem[] = [];
  do {
    items.push(parseSelectItem(cursor));
  } while (cursor.accept(',') && !atListEnd(cursor));
  return items;
}

/** After a comma: a token that no item can begin with, so that the comma was a trailing one. */
export function atListEnd(cursor: Cursor): boolean {
  const { symbol, reserved } = cursor.token;
  return cursor.atPipeEnd() || (reserved && LIST_END.has(symbol));
}

const LIST_END = new Set(
  'FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT UNION INTERSECT EXCEPT FULL INNER FOR'.split(' '),
);

export function parseSelectItem(cursor: Cursor): SelectItem {
  const { start } = cursor.token;
  if (cursor.accept('*')) return parseStarModifiers(cursor, null, start);
  const expression = parseExpression(cursor);
  if (cursor.at('.')) {
    if (cursor.starOperand !== start && !isComparison(expression)) cursor.fail('an operator or an alias');
    cursor.next();
    cursor.expect('*');
    return parseStarModifiers(cursor, expression, start);
  }
  const alias = cursor.accept('AS') || cursor.atName() ? cursor.name('an alias') : null;
  return { kind: 'select_expression', expression, alias, span: cursor.spanFrom(start) };
}

/** Of operators, only a comparison may have `.*` behind it without parentheses. */
function isComparison(expression: Expression): boolean {
  return expression.kind === 'binary' && COMPARISONS.has(expression.operator);
}

const COMPARISONS = new Set(['=', '!=', '<', '<=', '>', '>=']);

/** After the star: [EXCEPT (a, b)] [REPLACE (x AS a)] */
function parseStarModifiers(cursor: Cursor, of: Expression | null, start: number): SelectStar {
  let except: readonly Identifier[] = [];
  let replace: SelectStar['replace'] = [];
  if (cursor.at('EXCEPT') && cursor.peek(1).symbol === '(') {
    cursor.next();
    except = cursor.parenthesised((at) => at.name('a column name'));
  }
  if (cursor.accept('REPLACE')) replace = cursor.parenthesised(parseReplacement);
  return { kind: 'select_star', of, except, replace, span: cursor.spanFrom(start) };
}

function parseReplacement(cursor: Cursor): { expression: Expression; alias: Identifier; span: Span } {
  const { start } = cursor.token;
  const expression = parseExpression(cursor);
  cursor.expect('AS');
  return { expression, alias: cursor.name('a column name'), span: cursor.spanFrom(start) };
}
