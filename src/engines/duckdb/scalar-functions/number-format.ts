/** CAST of a number AS STRING with FORMAT: `9,999.99`, `XXXX`, `9.99EEEE`. */
import { LRUCache } from 'lru-cache';
import { decimalOfDouble, decimalOfText, fixedText, scientificText, type ExactDecimal } from './decimal-text';
import { scalarFunction } from './scalar-function';

/** A format that has been taken apart. */
interface NumberFormat {
  /** Digits, separators, the point and the exponent, a character each: `9`, `0`, `X`, `x`, `,`, `.`, `V`, `E`, `e`. */
  readonly elements: string;
  /** Where the fraction, or the exponent, begins. */
  readonly point: number;
  /** Where the first `0` was written. */
  readonly firstZero: number | null;
  readonly wholeDigits: number;
  readonly places: number;
  readonly isHexadecimal: boolean;
  /** `S`, `M` for MI, `P` for PR. */
  readonly sign: string;
  readonly isSignFirst: boolean;
  readonly currency: string;
  readonly hasB: boolean;
  /** Without blanks, and zeros at the end of the fraction. */
  readonly isCompact: boolean;
}

const ELEMENT = /\$|[09XDGSBVCL.,]|MI|PR|RN|EEEE|FM|TM[9E]?/iy;
const CURRENCIES: Readonly<Record<string, string>> = { $: '$', L: '$', l: '$', C: 'USD', c: 'usd' };
const MOST_HEXADECIMAL = 16;
const LONGEST = 1_000;

/** An element as one character, in the letters that it is written in where these count. */
function character(element: string): string {
  const name = element.toUpperCase();
  if (name === 'D') return '.';
  if (name === 'G') return ',';
  if (name === 'EEEE') return element[0]!;
  return name === 'X' ? element : name[0]!;
}

/** Null: it is no format of a number. Refused: the reference has none of these yet. */
function compiled(format: string): NumberFormat | 'refused' | null {
  const elements: string[] = [];
  for (let at = 0; at < format.length;) {
    ELEMENT.lastIndex = at;
    const [element] = ELEMENT.exec(format) ?? [];
    if (element === undefined) return null;
    elements.push(element);
    at += element.length;
  }
  const isFlag = (element: string): boolean => /^(?:FM|[$CLB])$/i.test(element);
  const flags = elements.filter(isFlag);
  const currencies = flags.filter((flag) => CURRENCIES[flag] !== undefined);
  const count = (name: string): number => flags.filter((flag) => flag.toUpperCase() === name).length;
  if (currencies.length > 1 || count('B') > 1 || count('FM') > 1) return null;
  const others = elements.filter((element) => !isFlag(element));
  if (/^TM/i.test(others[0] ?? '')) return elements.length === 1 ? 'refused' : null;
  const isPlain = currencies.length + count('B') === 0;
  if (/^RN/i.test(others[0] ?? '')) return others.length === 1 && isPlain ? 'refused' : null;
  if (others.some((element) => /^(?:TM|RN)/i.test(element))) return null;
  const flagged = { currency: CURRENCIES[currencies[0] ?? ''] ?? '', hasB: count('B') > 0, isCompact: count('FM') > 0 };
  const text = others.map(character).join('');
  const found = (isPlain ? hexadecimalOf(text) : null) ?? decimalOf(text);
  return found === null ? null : { ...found, ...flagged };
}

type Unflagged = Omit<NumberFormat, 'currency' | 'hasB' | 'isCompact'>;

const HEXADECIMAL = /^(S?)([0Xx]*[Xx][0Xx]*)([SMP]?)$/;
const DECIMAL = /^(S?)([09,]*)(?:([.V])([09]*))?([Ee]?)([SMP]?)$/;

function hexadecimalOf(text: string): Unflagged | null {
  const [, first = '', digits = '', last = ''] = HEXADECIMAL.exec(text) ?? [];
  if (digits === '' || digits.length > MOST_HEXADECIMAL || (first !== '' && last !== '')) return null;
  // A zero is in the letters of what follows it.
  const elements = digits.replace(/0+([Xx]?)/g, (zeros: string, next: string) => (next || 'X').repeat(zeros.length));
  return {
    ...{ elements, point: elements.length, firstZero: firstZeroOf(digits), wholeDigits: digits.length, places: 0 },
    ...{ isHexadecimal: true, sign: first || last, isSignFirst: first !== '' },
  };
}

function decimalOf(text: string): Unflagged | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, first = '', whole = '', point = '', fraction = '', exponent = '', last = ''] = match;
  const wholeDigits = whole.replaceAll(',', '').length;
  if (wholeDigits + fraction.length === 0 || (first !== '' && last !== '')) return null;
  if ((first === '' && whole.startsWith(',')) || (exponent !== '' && whole.includes(','))) return null;
  const all = whole + point + fraction + exponent;
  // One digit stands before an exponent.
  const dropped = exponent !== '' && whole.length >= 2 ? whole.length - 1 : 0;
  return {
    ...{ elements: all.slice(dropped), point: whole.length - dropped, firstZero: firstZeroOf(all), wholeDigits },
    ...{ places: fraction.length, isHexadecimal: false, sign: first || last, isSignFirst: first !== '' },
  };
}

function firstZeroOf(elements: string): number | null {
  const at = elements.indexOf('0');
  return at === -1 ? null : at;
}

// ---------------------------------------------------------------------------- numbers

/** What stands before a number and behind it. */
function signsOf({ sign, isSignFirst }: NumberFormat, isNegative: boolean, isBlank: boolean): [string, string] {
  const mark = (negative: string, positive: string): string => (isBlank ? ' ' : isNegative ? negative : positive);
  if (sign === 'S') return isSignFirst ? [mark('-', '+'), ''] : ['', mark('-', '+')];
  if (sign === 'M') return ['', mark('-', ' ')];
  if (sign === 'P') return [mark('<', ' '), mark('>', ' ')];
  return [mark('-', ' '), ''];
}

function compact(text: string, { isCompact }: NumberFormat): string {
  return isCompact ? text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '') : text;
}

/** The elements before the point from the right, each by what `write` makes of it, until there is nothing left to write. */
function wholePart(
  { elements, point, firstZero }: NumberFormat,
  digits: string,
  write: (element: string, digit: string) => string,
): { readonly text: string; readonly left: number } {
  let [text, digit, at] = ['', digits.length - 1, point - 1];
  for (; at >= 0 && (digit >= 0 || (firstZero !== null && at >= firstZero)); at--) {
    const element = elements[at]!;
    text = write(element, digits[digit] ?? '0') + text;
    if (element !== ',') digit--;
  }
  return { text, left: at + 1 };
}

function decimalText(format: NumberFormat, value: ExactDecimal): string {
  const { places, elements, point, wholeDigits, hasB, firstZero } = format;
  const hasExponent = /[Ee]$/.test(elements);
  const written = (hasExponent ? scientificText : fixedText)(value, places, true);
  const [, all = '', decimals = '', exponent = ''] = /^(\d+)\.(\d*)(?:e(.*))?$/.exec(written) ?? [];
  const whole = all === '0' ? '' : all;
  const fraction = format.isCompact ? decimals.replace(/0+$/, '') : decimals;
  const isOver = whole.length > wholeDigits;
  const isBlank = hasB && whole === '';
  let next = 0;
  const behind = Array.from(elements.slice(point), (element) => {
    if (element === '.') return isBlank ? ' ' : '.';
    if (element === 'V') return '';
    if ('Ee'.includes(element)) return isOver ? '####' : isBlank ? '    ' : element + exponent;
    const digit = fraction[next++] ?? '';
    return isOver ? '#' : isBlank && digit !== '' ? ' ' : digit;
  }).join('');
  const hasWhole =
    wholeDigits > 0 && (whole !== '' || hasExponent || (firstZero !== null && firstZero < point) || fraction === '');
  const { text, left } = hasWhole
    ? wholePart(format, whole || '0', (element, digit) =>
        element === ',' ? (isBlank ? ' ' : ',') : isOver ? '#' : isBlank ? ' ' : digit,
      )
    : { text: '', left: point };
  const [before, after] = signsOf(format, value.isNegative, isBlank);
  const currency = isBlank ? ' '.repeat(format.currency.length) : format.currency;
  return compact(' '.repeat(left) + before + currency + text + behind + after, format);
}

function namedText(format: NumberFormat, value: number): string {
  const { elements, point, isCompact } = format;
  const name = Number.isNaN(value) ? 'NAN' : 'INF';
  const hasExponent = /[Ee]$/.test(elements);
  const isOver = point < name.length;
  const body = hasExponent ? { text: name, left: elements.length } : namedWhole(format, name, isOver);
  const behind = Array.from(hasExponent ? '' : elements.slice(point), (element) =>
    element === 'V' ? '' : isOver ? (element === '.' ? '.' : '#') : ' ',
  ).join('');
  const signs = signsOf(format, value < 0, false);
  const [before, after] = Number.isNaN(value) ? signs.map((sign) => ' '.repeat(sign.length)) : signs;
  const padding = isCompact ? '' : ' '.repeat(body.left);
  return compact(padding + before! + format.currency + body.text + compact(behind, format) + after!, format);
}

/** The letters take the places of digits and separators alike. */
function namedWhole({ elements, point }: NumberFormat, name: string, isOver: boolean): { text: string; left: number } {
  const taken = elements.slice(Math.max(0, point - name.length), point);
  return { text: isOver ? taken.replace(/[^,]/g, '#') : name, left: point - taken.length };
}

const BEYOND = 1n << 64n;

function hexadecimalText(format: NumberFormat, value: ExactDecimal | number): string {
  const whole = typeof value === 'number' ? BEYOND : BigInt(fixedText({ ...value, roundsHalfUp: true }, 0, false));
  const digits = whole >= BEYOND ? '0'.repeat(MOST_HEXADECIMAL + 1) : whole.toString(16);
  const isOver = digits.length > format.elements.length;
  const { text, left } = wholePart(format, digits, (element, digit) =>
    isOver ? '#' : element === 'X' ? digit.toUpperCase() : digit,
  );
  const isNegative = typeof value === 'number' ? value < 0 : value.isNegative;
  const [before, after] = signsOf(format, isNegative, false);
  return compact(' '.repeat(left) + before + text + after, format);
}

// ---------------------------------------------------------------------------- the function

const formats = new LRUCache<string, { readonly format: ReturnType<typeof compiled> }>({ max: 256 });
/** Units of the budget for a number, and for each element of its format. */
const FOR_NUMBER = 2_000;
const FOR_ELEMENT = 32;

/**
 * The text of a number behind a "=" as it may be empty; empty where the format is an error.
 *
 * @param isDouble of a FLOAT64, in its shortest form
 */
export const formatNumber = scalarFunction(['text', 'text', 'boolean'], 'text', (text, number, isDouble, budget) => {
  if (text.length > LONGEST) budget.exhaust();
  if (!budget.spend(FOR_NUMBER + text.length * FOR_ELEMENT)) return null;
  let known = formats.get(text);
  if (known === undefined) formats.set(text, (known = { format: compiled(text) }));
  const { format } = known;
  if (format === 'refused') budget.exhaust();
  if (format === null || format === 'refused') return null;
  const double = isDouble ? Number(number.replace(/inf(?:inity)?/i, 'Infinity')) : 0;
  if (!Number.isFinite(double))
    return `=${format.isHexadecimal ? hexadecimalText(format, double) : namedText(format, double)}`;
  const value = isDouble ? decimalOfDouble(double) : decimalOfText(number);
  return `=${format.isHexadecimal ? hexadecimalText(format, value) : decimalText(format, value)}`;
});
