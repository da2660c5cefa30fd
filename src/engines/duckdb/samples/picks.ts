/**
 * SQL expressions that pick values for the sample row number `i`. A pick depends on the row, its table (column `salt`)
 * and the name of the pick alone: the same rows on every start, but for the clock.
 */
import { quoteText } from '../sql';

/** One of the texts; an item with a weight comes up so many times as often, and null is SQL NULL. */
export function pick(name: string, items: readonly (string | null | readonly [string | null, number])[]): string {
  const texts = items.flatMap((item) => {
    const [text, weight] = typeof item === 'object' && item !== null ? item : [item, 1];
    return Array.from({ length: weight }, () => (text === null ? 'NULL' : quoteText(text)));
  });
  return pickSql(name, texts);
}

/** One of the SQL expressions. Each is evaluated for every row: constants and columns, please. */
export function pickSql(name: string, expressions: readonly string[]): string {
  return `[${expressions.join(', ')}][${below(name, expressions.length)} + 1]`;
}

/** An integer from 0 up to, not including, `bound`. */
export function below(name: string, bound: number): string {
  return `(${hash(name)} % ${bound})::BIGINT`;
}

/** An integer between both, inclusive. */
export function between(name: string, low: number, high: number): string {
  return `(${low} + ${below(name, high - low + 1)})`;
}

/** True for so many rows of a hundred. */
export function chance(name: string, percent: number): string {
  return `(${hash(name)} % 100 < ${percent})`;
}

/** Lower-case hexadecimal digits, at most 32. */
export function hex(name: string, digits: number): string {
  return `left(md5(concat(salt, i, ${quoteText(name)})), ${digits})`;
}

export function uuid(name: string): string {
  return `CAST(CAST(md5(concat(salt, i, ${quoteText(name)})) AS UUID) AS VARCHAR)`;
}

/** Text with `{column}` places, as SQL. A NULL comes out empty. */
export function text(template: string): string {
  const parts = template.split(/\{(\w+)\}/).map((part, i) => (i % 2 === 1 ? part : part === '' ? '' : quoteText(part)));
  return `concat(${parts.filter((part) => part !== '').join(', ')})`;
}

function hash(name: string): string {
  return `hash(i, salt, ${quoteText(name)})`;
}
