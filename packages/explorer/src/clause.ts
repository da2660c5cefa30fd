/** Clauses of LQL that keep or leave out the rows with one value. */
import type { Json } from './exact-json';

/** A name that LQL takes without quotes; it has none for names. */
const NAME = /^[A-Za-z_]\w{0,127}$/;
/** UTF-16 units of a text that is compared with; longer ones are searched for by hand. */
const LONGEST = 500;
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * The clause for a value, as `m.response.status_code:500`.
 *
 * @param path the column, then the names within; every part but the last is a list of records
 * @returns null: LQL has no words for the path or the value
 */
export function clauseFor(path: readonly string[], value: Json): string | null {
  if (path.length === 0 || !path.every((name) => NAME.test(name))) return null;
  const literal = literalOf(value);
  if (literal === null) return null;
  const names = path.length > 1 && path[0] === 'metadata' ? ['m', ...path.slice(1)] : path;
  return `${names.join('.')}:${literal}`;
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
