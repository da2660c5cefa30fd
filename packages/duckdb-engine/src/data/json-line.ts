import { randomBytes } from 'node:crypto';

/**
 * JSON with every digit kept. `JSON.parse` reads integers through a double, so a number too long for one is put into a
 * marked string before parsing and taken out of it after printing. The mark is a secret of this thread: what stands behind it is printed
 * without quotes, and a text that somebody sends must never be.
 */
const SECRET = randomBytes(9).toString('hex');
const MARK = `\u0000${SECRET}:`;
const LONG = /\d[\d.]{15}/;
/** Where such a number may stand, if the text is not in a string; most lines have none and are spared the closer look. */
const LONG_VALUE = /[:,[\s]-?\d[\d.]{15}/;
/** An escaped surrogate, or what looks like one. */
const SURROGATE = /\\ud[89a-f]/i;
/** Each escape of a JSON text; captured: both halves of a character. */
const ESCAPES = /\\(ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2})|\\(?:ud[89a-f][\da-f]{2}|.)/gis;
/** A string, or outside of strings a number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const MARKED = new RegExp(`"\\\\u0000${SECRET}:([^"]*)"`, 'g');

/** Names and texts are well-formed Unicode. @throws SyntaxError where the line is not JSON. */
export function parseLine(line: string): unknown {
  const text = wellFormed(line);
  if (!LONG_VALUE.test(text)) return JSON.parse(text);
  return JSON.parse(
    text.replace(TOKENS, (token) =>
      token.startsWith('"') || !LONG.test(token) || !isNumber(token) ? token : JSON.stringify(MARK + token),
    ),
  );
}

/** One line of JSON, well-formed Unicode: a lone surrogate becomes U+FFFD. */
export function printLine(value: unknown): string {
  const text = wellFormed(JSON.stringify(value));
  return text.includes(SECRET) ? text.replace(MARKED, '$1') : text;
}

/** A JSON text with U+FFFD for each lone surrogate that it escapes, in names too: the one in a million that has any is no row otherwise. */
function wellFormed(text: string): string {
  if (!SURROGATE.test(text)) return text;
  return text.replace(ESCAPES, (escape, pair?: string) =>
    pair === undefined && SURROGATE.test(escape) ? '\ufffd' : escape,
  );
}

/** A number that `printLine` prints as these digits. @param digits a number of JSON */
export function exactNumber(digits: string): unknown {
  return MARK + digits;
}

/** The digits of a number that a double would not hold; null: `value` is something else. */
export function longNumber(value: unknown): string | null {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : null;
}

function isNumber(token: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(token);
}
