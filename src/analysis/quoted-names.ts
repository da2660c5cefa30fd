/** Texts in double quotes that were meant as names, as in other dialects: GoogleSQL reads `SELECT "id"` as a text. */
import type { Token } from '../googlesql/token';
import type { NamedType } from '../googlesql/types';

/** A list of expressions follows. */
const LISTS = new Set(['SELECT', 'DISTINCT', 'BY']);
/** The left side of a condition follows. */
const CONDITIONS = new Set(['WHERE', 'AND', 'OR', 'NOT', 'ON', 'HAVING', 'QUALIFY']);

/**
 * Names of columns that the text holds in double quotes where a column is to be expected. A text beside a function's arguments or on
 * the right of a comparison is a value as a rule.
 *
 * @param text that the tokens are of
 */
export function namesInDoubleQuotes(
  text: string,
  tokens: readonly Token[],
  columns: readonly Pick<NamedType, 'name'>[],
): readonly string[] {
  const known = new Set(columns.map(({ name }) => name.toLowerCase()));
  const found = new Set<string>();
  /** Whether each open bracket, and the text around them, is in a list of expressions. */
  const inList = [false];
  let before = '';
  for (const { kind, symbol, value, start } of tokens) {
    if (symbol === '(') inList.push(false);
    else if (symbol === ')' && inList.length > 1) inList.pop();
    else if (LISTS.has(symbol)) inList[inList.length - 1] = true;
    else if (CONDITIONS.has(symbol) || symbol === 'FROM' || symbol === '|>') inList[inList.length - 1] = false;
    const isPlace = LISTS.has(before) || CONDITIONS.has(before) || (before === ',' && inList.at(-1) === true);
    if (kind === 'string' && text[start] === '"' && isPlace && known.has(value.toLowerCase())) found.add(value);
    before = symbol;
  }
  return [...found];
}
