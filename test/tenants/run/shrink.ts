/** Makes a consumer query that two services answer differently as short as it goes. */
import { lex } from '../../../src/googlesql/lexer';

/**
 * Takes tokens away, in ever smaller runs and what stands between brackets first, as long as `differs` holds of what is left.
 *
 * @param attempts how many texts are tried at most
 */
export async function shrink(
  sql: string,
  differs: (sql: string) => Promise<boolean>,
  attempts: number,
): Promise<string> {
  let tokens = tokensOf(sql);
  let left = attempts;
  const keep = async (candidate: readonly string[]): Promise<boolean> => {
    if (candidate.length === 0 || candidate.length >= tokens.length || left-- <= 0) return false;
    if (!(await differs(candidate.join(' ')))) return false;
    tokens = [...candidate];
    return true;
  };
  for (let shorter = true; shorter && left > 0;) {
    shorter = false;
    for (const [start, end] of brackets(tokens)) {
      const inner = tokens.slice(start + 1, end);
      // A subquery in the place of the whole, brackets without what they hold, a constant in their place.
      if (
        (await keep(inner)) ||
        (await keep([...tokens.slice(0, start), ...inner, ...tokens.slice(end + 1)])) ||
        (await keep([...tokens.slice(0, start), 'null', ...tokens.slice(end + 1)]))
      ) {
        shorter = true;
        break;
      }
    }
    for (let size = Math.max(1, tokens.length >> 1); size >= 1 && left > 0; size >>= 1) {
      for (let at = 0; at + size <= tokens.length && left > 0;) {
        if (await keep([...tokens.slice(0, at), ...tokens.slice(at + size)])) shorter = true;
        else at += size > 4 ? size >> 1 : 1;
      }
    }
  }
  return tokens.join(' ');
}

function tokensOf(sql: string): string[] {
  return lex(sql)
    .filter(({ kind }) => kind !== 'end')
    .map(({ start, end }) => sql.slice(start, end));
}

function brackets(tokens: readonly string[]): [number, number][] {
  const open: number[] = [];
  const pairs: [number, number][] = [];
  tokens.forEach((token, i) => {
    if (token === '(' || token === '[') open.push(i);
    else if (token === ')' || token === ']') {
      const start = open.pop();
      if (start !== undefined) pairs.push([start, i]);
    }
  });
  return pairs.sort(([a], [b]) => a - b);
}
