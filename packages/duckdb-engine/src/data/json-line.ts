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
/** How JSON.stringify writes a lone surrogate (or a string that looks like one written so). */
const SURROGATE = /\\ud[89a-f]/;
/** A string, or outside of strings a number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const MARKED = new RegExp(`"\\\\u0000${SECRET}:([^"]*)"`, 'g');

/** @throws SyntaxError where the line is not JSON. */
export function parseLine(line: string): unknown {
  if (!LONG_VALUE.test(line)) return JSON.parse(line);
  return JSON.parse(
    line.replace(TOKENS, (token) =>
      token.startsWith('"') || !LONG.test(token) || !isNumber(token) ? token : JSON.stringify(MARK + token),
    ),
  );
}

/** One line of JSON, well-formed Unicode: a lone surrogate becomes U+FFFD. */
export function printLine(value: unknown): string {
  const text = JSON.stringify(value);
  const wellFormed = SURROGATE.test(text) ? JSON.stringify(value, withoutSurrogates) : text;
  return wellFormed.includes(SECRET) ? wellFormed.replace(MARKED, '$1') : wellFormed;
}

function withoutSurrogates(_key: string, item: unknown): unknown {
  return typeof item === 'string' ? item.replace(/\p{Surrogate}/gu, '\ufffd') : item;
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
