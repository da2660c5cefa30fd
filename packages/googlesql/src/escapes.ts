import { QueryError } from './errors';

export interface QuotedForm {
  readonly raw: boolean;
  readonly bytes: boolean;
}

const SIMPLE = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['?', '?'],
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
]);

/** Escapes with hexadecimal digits: how many follow the letter. `\u` and `\U` are for text only. */
const HEXADECIMAL = new Map([
  ['x', 2],
  ['X', 2],
  ['u', 4],
  ['U', 8],
]);

/**
 * The value of what stands between the quotes, `text.slice(start, end)`. Line ends become LF, as GoogleSQL has it.
 * BYTES come as latin-1 text, one unit a byte. Throws QueryError `invalidQuery` at an escape GoogleSQL does not know.
 */
export function unescape(text: string, start: number, end: number, form: QuotedForm): string {
  const body = text.slice(start, end);
  if (!/[\\\r]/.test(body)) return form.bytes ? utf8(body) : body;
  let out = '';
  for (let i = start; i < end;) {
    const char = text[i];
    if (char === '\r') {
      out += '\n';
      i += text[i + 1] === '\n' ? 2 : 1;
    } else if (char !== '\\') {
      const from = i;
      while (i < end && text[i] !== '\\' && text[i] !== '\r') i++;
      out += form.bytes ? utf8(text.slice(from, i)) : text.slice(from, i);
    } else if (form.raw) {
      const pair = '\\' + characterAt(text, i + 1);
      out += form.bytes ? utf8(pair) : pair;
      i += pair.length;
    } else {
      const escape = readEscape(text, i, end, form.bytes);
      out += escape.value;
      i = escape.next;
    }
  }
  return out;
}

function readEscape(text: string, at: number, end: number, bytes: boolean): { value: string; next: number } {
  const letter = characterAt(text, at + 1);
  const simple = SIMPLE.get(letter);
  if (simple !== undefined) return { value: simple, next: at + 2 };
  if (letter === '\n' || letter === '\r') fault('A backslash cannot escape the end of a line', at, at + 1);
  const octal = letter >= '0' && letter <= '3';
  const count = octal ? 3 : HEXADECIMAL.get(letter);
  if (count === undefined) fault(`\\${letter} is not an escape sequence`, at, at + 1 + letter.length);
  const from = octal ? at + 1 : at + 2;
  const next = from + count;
  const digits = text.slice(from, Math.min(next, end));
  if (digits.length < count || !(octal ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/).test(digits)) {
    fault(`\\${octal ? '' : letter} needs ${count} ${octal ? 'octal' : 'hexadecimal'} digits`, at, from);
  }
  if (bytes && count > 3) fault(`\\${letter} cannot stand in a BYTES literal`, at, next);
  const code = parseInt(digits, octal ? 8 : 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) fault('No Unicode character has this number', at, next);
  return { value: String.fromCodePoint(code), next };
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function utf8(text: string): string {
  // Not by a Buffer, which browsers lack.
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

function fault(message: string, start: number, end: number): never {
  throw new QueryError('invalidQuery', `${message}.`, { start, end });
}

const IN_NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\\': '\\\\', '`': '\\`' };

/** A name as SQL and LQL write any name: in backticks. */
export function quotedName(name: string): string {
  return `\`${name.replace(/[\\`\n\r]/g, (character) => IN_NAMES[character] ?? character)}\``;
}
