import { type Unit, unitBefore } from './escapes';
import type { Span } from './span';

/** The sign in every wrapping: plain and fullwidth, percent-encoded, of HTML. */
const AT = /[@\uff20\ufe6b]|%(?:25)*40|&#(?:64|x40);/gi;

export const MAY_HOLD_EMAIL = /[@\uff20\ufe6b]|%(?:25)*40|&#(?:64|x40);/i;

/** A character of a label beyond ASCII may be wrapped too. */
const WRAPPED = String.raw`%[89a-fA-F][0-9a-fA-F]`;
const LABEL = String.raw`(?:[\p{L}\p{M}\p{N}_-]|${WRAPPED}){1,63}`;
const DOT = String.raw`(?:[.\u3002\uff0e\uff61]|%(?:25)*2[eE])`;
/** The last label is of letters: `a@127.0.0.1` and `package@1.2.3` name no mail domain. */
const TOP = String.raw`(?:[xX][nN]--[A-Za-z0-9-]{1,59}|(?:[\p{L}\p{M}]|${WRAPPED}){2,63})`;
const DOMAIN = new RegExp(`(?:${LABEL}${DOT}){1,126}${TOP}`, 'uy');

/** Longest local part looked for: mail allows 64 octets, wrapping makes more of them. */
const LONGEST_LOCAL = 256;

const LOCAL = /[\p{L}\p{M}\p{N}\p{S}]/u;
/** In mail any of these may stand anywhere; in logs they enclose and separate, unless letters are on both sides. */
const INNER = new Set(Array.from("!#$*^`{}~'", (sign) => sign.charCodeAt(0)));

/**
 * Every e-mail address: a local part (any script, plus-tags, quoted), the sign, and a domain with at least one dot and a
 * last label of letters. `= & ? / | : ;` separate: of `email=ana@example.com&x=1` the address alone is found.
 */
export function findEmails(text: string): Span[] {
  const found: Span[] = [];
  let done = 0;
  for (const match of text.matchAll(AT)) {
    const at = match.index;
    if (at < done) continue;
    DOMAIN.lastIndex = at + match[0].length;
    if (!DOMAIN.test(text)) continue;
    const end = DOMAIN.lastIndex;
    const start = quotedStart(text, at, done) ?? localStart(text, at, done);
    if (start === at) continue;
    found.push({ start, end });
    done = end;
  }
  return found;
}

/** Where the local part that ends at `at` begins; `at` itself: it is empty. */
function localStart(text: string, at: number, done: number): number {
  const farthest = Math.max(done, at - LONGEST_LOCAL);
  let start = at;
  for (let unit = unitBefore(text, at); unit !== null && unit.start >= farthest; unit = unitBefore(text, start)) {
    const belongs =
      isLocal(unit) ||
      // Dots count only with something before them: the ones that begin a text are an ellipsis.
      (isDot(unit) && followsLocal(text, unit.start, farthest)) ||
      (isInner(unit) && start < at && followsLocal(text, unit.start, farthest));
    if (!belongs) break;
    start = unit.start;
  }
  return start;
}

/** Whether a character of a local part stands before `end`, dots between aside. */
function followsLocal(text: string, end: number, farthest: number): boolean {
  let unit = unitBefore(text, end);
  while (unit !== null && unit.start >= farthest && isDot(unit)) unit = unitBefore(text, unit.start);
  return unit !== null && unit.start >= farthest && isLocal(unit);
}

function isInner({ codePoint, wrapped }: Unit): boolean {
  return !wrapped && INNER.has(codePoint);
}

function isDot({ codePoint }: Unit): boolean {
  return codePoint === 0x2e;
}

/** Letters, digits and symbols of any script and `_ + -`; a percent-encoded byte beyond ASCII is part of such a letter. */
function isLocal({ codePoint, wrapped }: Unit): boolean {
  if (codePoint < 0x80) return /[A-Za-z0-9_+-]/.test(String.fromCharCode(codePoint));
  return wrapped || LOCAL.test(String.fromCodePoint(codePoint));
}

/** Where `"quoted local part"@` begins, also with the quotes of JSON inside a string; null: nothing is quoted here. */
function quotedStart(text: string, at: number, done: number): number | null {
  if (text.charAt(at - 1) !== '"') return null;
  const quote = text.charAt(at - 2) === '\\' ? '\\"' : '"';
  const inside = at - quote.length;
  const start = text.lastIndexOf(quote, inside - 1);
  if (start < done || start < 0 || inside - start > LONGEST_LOCAL) return null;
  const content = text.slice(start + quote.length, inside);
  return content === '' || /[\r\n]/.test(content) ? null : start;
}
