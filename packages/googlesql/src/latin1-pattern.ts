/**
 * Regular expressions over BYTES, which RE2 matches as text of Latin-1: each byte is the character of its number. The bytes
 * written as such text are matched alike by a pattern for text, but for what is mended here.
 */

/** A quoted run, a class, an escape, anything else. */
const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\\x\{[^}]*\}|\\[0-7]{1,3}|\\[^]|[^\\[]+|[^]/g;
/** An escape within a class, with its number. */
const NUMBERED = /\\x\{([0-9a-fA-F]+)\}|\\([1-7][0-7]{2})|\\[^]|[^\\]+/g;
const LAST = 0xff;
/** Any byte; within a class it is an error in text and in BYTES. */
const ANY = '\\C';
/** No escape: the pattern is an error. */
const WRONG = '\\8';

/**
 * @param pattern the bytes of a pattern as text of Latin-1
 * @returns what matches the same in text of Latin-1: any byte is any character there, and an escape of a number that no byte
 * has is an error. Takes time in proportion to the pattern.
 */
export function latin1Pattern(pattern: string): string {
  if (!pattern.includes('\\')) return pattern;
  let text = '';
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (!token.startsWith('\\Q') && hasNumberBeyond(token)) return WRONG;
    text += token === ANY ? '(?s:.)' : token;
  }
  return text;
}

function hasNumberBeyond(token: string): boolean {
  for (const [, hex, octal] of token.matchAll(NUMBERED)) {
    if ((hex !== undefined && parseInt(hex, 16) > LAST) || (octal !== undefined && parseInt(octal, 8) > LAST))
      return true;
  }
  return false;
}
