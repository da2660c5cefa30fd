/** The operands of LQL's filters; and values and names as SQL, such that no value can end the literal that holds it. */
import { isSeverityName, LEVELS } from '../roles';
import { partsOf } from '../time/calendar';
import { excerpt, LqlError } from './lql-error';
import type { FieldOperator, Instant, Test, Value } from './rules';
import type { Piece, Scanner } from './scanner';
import { isDateSpelling, onlyColonBeforeRange } from './timestamp';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * A string literal. Backslash and apostrophe are escaped with a backslash (BigQuery knows no doubled apostrophe), and
 * control characters by number, so that the literal stays on one line and shows what it holds.
 */
export function textLiteral(text: string): string {
  return `'${text.replace(/[\\']|\p{Cc}/gu, (c) => SHORT_ESCAPES[c] ?? numericEscape(c))}'`;
}

/** A text as LQL quotes it. */
export function textInQuotes(text: string): string {
  return `"${excerpt(text).replace(/["\\]/g, '\\$&')}"`;
}

/** `\x` reaches 7F only: beyond, GoogleSQL takes it in bytes alone. */
function numericEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** A literal of the operand's own type. */
export function valueLiteral(value: Value): string {
  switch (typeof value) {
    case 'string':
      return textLiteral(value);
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
    case 'bigint':
      return String(value);
    case 'number':
      return floatLiteral(value);
    default:
      return value === null ? 'NULL' : momentLiteral(value.micros, false);
  }
}

/** The shortest text that reads back as the same number, and as a float. */
function floatLiteral(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** A TIMESTAMP, or a DATETIME. */
export function momentLiteral(micros: bigint, civil: boolean): string {
  const { date, clock, fraction } = partsOf(micros);
  const text = `${date} ${clock}${fraction}`;
  return civil ? `DATETIME '${text}'` : `TIMESTAMP '${text}+00:00'`;
}

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;
const BARE = /^[\p{L}\p{N}_]+$/u;
const BARE_PATTERN = /^[\p{L}\p{N}_-]+(?:\.[0-9]+)?$/u;

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/**
 * Reads the operand of a field filter; the scanner stands right behind the operator. The spelling alone decides the
 * type: nothing is looked up, and what is quoted stays text.
 */
export function readOperand(scanner: Scanner, path: string, operator: FieldOperator): Test & { quoted: boolean } {
  const isPattern = operator === '~' || operator === 'list_includes_regex';
  if (scanner.atBoundary) {
    const here = { start: scanner.offset, end: scanner.offset };
    throw new LqlError('empty_value', `value expected for ${excerpt(path)}`, here, {
      hint: 'The value follows the operator without a space; "" is the empty text.',
    });
  }
  if (scanner.next === '"' || scanner.next === '(') {
    const piece = scanner.next === '"' ? scanner.quoted() : scanner.parenthesised();
    if (!scanner.atBoundary) throw gluedToValue(scanner);
    if (isPattern && piece.text === '') throw new LqlError('empty_term', 'search term is empty', piece.span);
    return { ...test(operator, piece.text), quoted: true };
  }
  const piece = scanner.token();
  const range = readRange(piece);
  if (range !== null) {
    if (operator !== '=') throw onlyColonBeforeRange(piece);
    return { ...range(), quoted: false };
  }
  if (isRangeOfLevels(piece.text, path)) throw levelsOnly(piece, path);
  if (isPattern) {
    if (!BARE_PATTERN.test(piece.text)) throw mustBeQuoted(piece);
    return { operator, value: piece.text, quoted: false };
  }
  return { ...test(operator, readBare(piece, operator)), quoted: false };
}

/** Moments are read elsewhere, where a path is known to be a timestamp. */
type BareValue = Exclude<Value, Instant>;

function test(operator: FieldOperator, value: BareValue): Test {
  if (operator !== '~' && operator !== 'list_includes_regex') return { operator, value };
  return { operator, value: String(value) };
}

/** A form that is spelt like a range, to be read only once it is known to stand behind a plain colon. */
function readRange(piece: Piece): (() => Test) | null {
  const dots = piece.text.indexOf('..');
  if (dots < 0) return null;
  const [from, to] = [piece.text.slice(0, dots), piece.text.slice(dots + 2)];
  if (NUMBER.test(from) && NUMBER.test(to)) {
    return () => ({ operator: 'range', values: [readNumber(from, piece), readNumber(to, piece)] });
  }
  if (isDateSpelling(from) && isDateSpelling(to)) return () => ({ operator: 'range', values: [from, to] });
  const [first, last] = [levelRank(from), levelRank(to)].sort((a, b) => a - b) as [number, number];
  return first < 0 ? null : () => ({ operator: 'in', values: LEVELS.slice(first, last + 1) });
}

/** One that `readRange` has not taken: of a level that there is not, or without an end. */
function isRangeOfLevels(text: string, path: string): boolean {
  const [from = '', to, ...more] = text.split('..');
  if (to === undefined || more.length > 0 || !BARE.test(from + to)) return false;
  // Numbers without an end are no levels.
  if ((from === '' || to === '') && NUMBER.test(from + to)) return false;
  return isSeverityName(path.split('.').at(-1) ?? '') || levelRank(from) >= 0 || levelRank(to) >= 0;
}

function levelsOnly({ text, span }: Piece, path: string): LqlError {
  const field = isSeverityName(path.split('.').at(-1) ?? '') ? path.replace(/^metadata\./, 'm.') : 'm.level';
  return new LqlError('bad_value', `"${excerpt(text)}" is no range of levels`, span, {
    hint: `The levels of a range are, by gravity, ${LEVELS.join(', ')}: ${field}:error..emergency.`,
    allowed: LEVELS,
  });
}

function levelRank(name: string): number {
  return LEVELS.findIndex((level) => level === name);
}

function readBare(piece: Piece, operator: FieldOperator): BareValue {
  const { text, span } = piece;
  const ordered = operator !== '=' && operator !== 'list_includes';
  if (isDateSpelling(text)) return text;
  if (NUMBER.test(text)) return readNumber(text, piece);
  if (text === 'NULL') {
    if (operator === '=') return null;
    throw new LqlError('operator_on_null', 'NULL has no order and is in no list', span, {
      hint: 'Use ":NULL"; for the text NULL, put it in double quotes.',
    });
  }
  if (text === 'true' || text === 'false') {
    if (!ordered) return text === 'true';
    throw new LqlError('operator_on_boolean', 'booleans have no order', span, {
      hint: 'Use ":true" or ":false"; for the text, put it in double quotes.',
    });
  }
  if (BARE.test(text)) return text;
  throw mustBeQuoted(piece);
}

function readNumber(text: string, piece: Piece): bigint | number {
  if (text.includes('.')) {
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    throw new LqlError('number_range', 'the number is beyond FLOAT64', piece.span);
  }
  const digits = text.replace(/^(-?)0+(?=[0-9])/, '$1');
  // Longer than any INT64: not worth the quadratic time of reading it.
  const value = digits.length > 20 ? null : BigInt(digits);
  if (value !== null && value >= INT64.min && value <= INT64.max) return value;
  throw new LqlError('number_range', 'the integer is beyond 64 bits', piece.span, {
    hint: 'Put it in double quotes to compare it as text.',
  });
}

function mustBeQuoted(piece: Piece): LqlError {
  const { text } = piece;
  return new LqlError('bad_value', `"${excerpt(text)}" must be quoted`, piece.span, { hint: quotingHint(text) });
}

function quotingHint(text: string): string {
  if (text.startsWith('=')) return 'Equality is the plain colon, path:value.';
  if (text.startsWith('!')) return 'Negation is a minus before the path, -path:value.';
  if (text.startsWith("'")) return 'Only double quotes and parentheses quote a value.';
  if (text.includes('..')) return 'A range has two numbers or two dates, path:1..3; for the text, use double quotes.';
  if (text.includes(',')) return 'There are no lists; one of several values is a pattern, path:~"^(a|b)$".';
  return `Put the value in double quotes: ${textInQuotes(text)}.`;
}

function gluedToValue(scanner: Scanner): LqlError {
  const message = 'whitespace needed after the value; quote it if it has special characters';
  return new LqlError('adjacent', message, scanner.token().span, {
    hint: 'Quotes and parentheses hold the whole value; write \\" for a double quote inside quotes.',
  });
}
