import type { ColumnMatching, SetOperation } from '../syntax';
import type { Cursor } from './cursor';

export type SetOperator = Pick<SetOperation, 'operator' | 'distinct' | 'matching' | 'span'>;

const OPERATORS: ReadonlyMap<string, SetOperation['operator']> = new Map([
  ['UNION', 'union'],
  ['INTERSECT', 'intersect'],
  ['EXCEPT', 'except'],
]);

const MODES: ReadonlyMap<string, 'inner' | 'left' | 'full'> = new Map([
  ['INNER', 'inner'],
  ['LEFT', 'left'],
  ['FULL', 'full'],
  ['OUTER', 'full'],
]);

/** UNION ALL and its kin, or null where the token begins none. */
export function parseSetOperator(cursor: Cursor): SetOperator | null {
  const { start, symbol } = cursor.token;
  const mode = MODES.get(symbol) ?? null;
  if (mode !== null) {
    const words = symbol !== 'OUTER' && symbol !== 'INNER' && cursor.peek(1).symbol === 'OUTER' ? 2 : 1;
    if (!OPERATORS.has(cursor.peek(words).symbol)) return null;
    for (let i = 0; i < words; i++) cursor.next();
  }
  const operator = OPERATORS.get(cursor.token.symbol);
  if (operator === undefined) return null;
  const { symbol: word } = cursor.next();
  const distinct = cursor.at('DISTINCT');
  if (!distinct && !cursor.at('ALL')) cursor.fail('ALL or DISTINCT');
  cursor.next();
  const matching = parseMatching(cursor, mode);
  const span = cursor.spanFrom(start);
  if (mode !== null && matching === null) {
    cursor.fault(`Syntax error: ${symbol} before ${word} needs BY NAME or CORRESPONDING after it.`, span);
  }
  if (!distinct && operator !== 'union') cursor.refuse(`${word} ALL`, span);
  return { operator, distinct, matching, span };
}

/** [STRICT] CORRESPONDING [BY (a, b)], BY NAME [ON (a, b)] */
function parseMatching(cursor: Cursor, mode: ColumnMatching['mode']): ColumnMatching | null {
  const { start } = cursor.token;
  const strict = cursor.at('STRICT');
  if (strict) {
    if (mode !== null) cursor.fault('Syntax error: STRICT cannot be used with a mode in set operations.', cursor.token);
    cursor.next();
  }
  if (cursor.accept('CORRESPONDING')) {
    const columns = cursor.accept('BY') ? parseColumns(cursor) : null;
    return { mode: mode ?? (strict ? null : 'inner'), columns, span: cursor.spanFrom(start) };
  }
  if (strict) cursor.fail('CORRESPONDING');
  if (!cursor.accept('BY')) return null;
  cursor.expect('NAME');
  const columns = cursor.accept('ON') ? parseColumns(cursor) : null;
  return { mode, columns, span: cursor.spanFrom(start) };
}

function parseColumns(cursor: Cursor): ColumnMatching['columns'] {
  return cursor.parenthesised((at) => at.name('a column name'));
}
