/** INITCAP: the first letter of each word upper, the others lower. */
import { type Call, sqlOf } from '../expressions/call';
import { quoteText } from '../../sql';
import { ownFunction } from './own-functions';

/** Unicode's White_Space: TRIM takes it off when it is not told what, and it ends a word of INITCAP. */
export const WHITE_SPACE =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

const DELIMITERS = `${WHITE_SPACE}[](){}/|<>!?@"^#$&~_,.:;*%+-\\`;

export function initcap(call: Call): string {
  const delimiters = call.args[1];
  if (delimiters !== undefined && delimiters.constant === null) return initcapOf(call, delimiters.sql);
  const set = delimiters?.constant ?? DELIMITERS;
  const escaped = set.replace(/[\\\][^-]/g, '\\$&');
  const pattern = quoteText(set === '' ? '(?s).+' : `[${escaped}]|[^${escaped}]+`);
  // Others are no characters of what is ASCII.
  const inAscii = quoteText(set.replace(/[^\0-\x7f]/gu, ''));
  return call.bind([sqlOf(call, 0)], (s) => capitalized(call, s, inAscii, pattern, quoteText(`${set}ß`)));
}

/**
 * Texts in ASCII by a function of our own; the letters of others as Unicode has them in DuckDB, by one regular expression, some thirty
 * times as long.
 *
 * @param s names the text
 * @param unchanged in SQL: the delimiters, which stay as they are, and the sharp s, which has no capital form of one letter
 */
function capitalized(call: Call, s: string, delimiters: string, pattern: string, unchanged: string): string {
  const given = [s, delimiters].map((sql) => ({ sql, sized: 'text' as const }));
  const inAscii = ownFunction(call, 'lq_initcap', given, { text: true });
  const first = `CASE WHEN contains(${unchanged}, w[1]) THEN w[1] ELSE upper(w[1]) END`;
  const words = `list_transform(regexp_extract_all(${s}, ${pattern}), lambda w: ${first} || lower(w[2:]))`;
  return `CASE WHEN strlen(${s}) = length(${s}) THEN ${inAscii} ELSE array_to_string(${words}, '') END`;
}

function initcapOf(call: Call, delimiters: string): string {
  return call.bind([sqlOf(call, 0), delimiters], (s, set) =>
    call.bind([`regexp_replace(${set}, '[\\\\\\]\\[^-]', '\\\\\\0', 'g')`, `${set} || 'ß'`], (escaped, unchanged) => {
      const pattern = `CASE ${set} WHEN '' THEN '(?s).+' ELSE '[' || ${escaped} || ']|[^' || ${escaped} || ']+' END`;
      const text = capitalized(call, s, set, pattern, unchanged);
      return `CASE WHEN ${s} IS NULL OR ${set} IS NULL THEN NULL ELSE ${text} END`;
    }),
  );
}
