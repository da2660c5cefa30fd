/** Clauses of LQL that keep or leave out the rows with one value. */
import type { Json } from './exact-json';

/** A name that LQL takes as it is, and one that it takes in backticks. */
const NAME = /^@?[A-Za-z_]\w{0,127}$/;
const QUOTED = /^[^`"\\\p{Cc}]{1,128}$/u;
/** What begins a clause of another kind. */
const RESERVED = /^(?:f|from|s|select|c|chart|t|timestamp)$/;
/** UTF-16 units of a text that is compared with; longer ones are searched for by hand. */
const LONGEST = 500;
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * The clause for a value, as `m.response.status_code:500`.
 *
 * @param path the column, then the names within; records, lists of one, JSON, or the key of a pair
 * @returns null: LQL has no words for the path or the value
 */
export function clauseFor(path: readonly string[], value: Json): string | null {
  if (path.length === 0 || !path.every((name) => QUOTED.test(name))) return null;
  const literal = literalOf(value);
  if (literal === null) return null;
  const isPlain = (name: string): boolean => NAME.test(name) && !(path.length === 1 && RESERVED.test(name));
  const names = path.map((name) => (isPlain(name) ? name : `\`${name}\``));
  return `${names.join('.').replace(/^metadata\./, 'm.')}:${literal}`;
}

function literalOf(value: Json): string | null {
  if (value === null) return 'NULL';
  if (typeof value === 'string') {
    if (value.length > LONGEST || CONTROL.test(value)) return null;
    return `"${value.replace(/["\\]/g, '\\$&')}"`;
  }
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  // A float has another value in the row than on paper; equality finds it by chance.
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
}

/** The query with one more clause; its opposite, where it is there, makes room for it. */
export function withClause(query: string, clause: string, exclude: boolean): string {
  const [added, opposite] = exclude ? [`-${clause}`, clause] : [clause, `-${clause}`];
  const padded = ` ${query.trim()} `;
  if (padded.includes(` ${added} `)) return query;
  return `${padded.replace(` ${opposite} `, () => ' ').trim()} ${added}`.trim();
}
