/** FORMAT by a format that is known only when the query runs, or that has more than printf of DuckDB can do. */
import type { ChunkBudget } from './chunk-budget';
import {
  decimalOfDouble,
  decimalOfText,
  fixedText,
  generalText,
  scientificText,
  type ExactDecimal,
} from './decimal-text';
import { scalarFunction } from './scalar-function';

/** What an argument is to a specifier: of INT64, FLOAT64, NUMERIC and BIGNUMERIC, STRING, JSON, or of another type. */
export type ArgumentLetter = 'i' | 'f' | 'n' | 's' | 'j' | 'o';

/** Its value as text, null for NULL, as `%t` prints it and as `%T` does. */
export type FormatArgument = readonly [letter: ArgumentLetter, value: string | null, printed: string, literal: string];

interface Specifier {
  readonly flags: string;
  readonly width: number;
  /** Null: none is given. */
  readonly precision: number | null;
  readonly letter: string;
}

/** What a format makes of its arguments. */
type Outcome = { readonly text: string } | 'NULL' | 'an error' | 'refused';

const PART = /[^%]+|%([-+ #'0]*)(\*|\d*)(?:\.(\*|\d*))?([^\n])|%/gu;
/** Wider fields than anyone reads. */
const WIDEST = 1_000;

const TAKEN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from('dixXo', (letter) => [letter, 'i'])),
  ...Object.fromEntries(Array.from('fFeEgG', (letter) => [letter, 'fn'])),
  ...{ s: 's', p: 'j', P: 'j', t: 'ifnsjo', T: 'ifnsjo' },
};

class Printing {
  #next = 0;
  #text = '';
  #hasNull = false;
  #isRefused = false;

  constructor(private readonly args: readonly FormatArgument[]) {}

  run(format: string): Outcome {
    for (const match of format.matchAll(PART)) if (!this.#part(match)) return 'an error';
    if (this.#next !== this.args.length) return 'an error';
    if (this.#isRefused) return 'refused';
    return this.#hasNull ? 'NULL' : { text: this.#text };
  }

  #part([text, flags = '', width = '', precision, letter]: RegExpExecArray): boolean {
    if (!text.startsWith('%')) this.#text += text;
    else if (text === '%%') this.#text += '%';
    else {
      if (letter === undefined || letter === '%') return false;
      const [wide, precise] = [this.#count(width), this.#count(precision ?? null)];
      const arg = this.args[this.#next++];
      if (wide === undefined || precise === undefined || arg === undefined) return false;
      if (TAKEN[letter]?.includes(arg[0]) !== true) return false;
      this.#print(arg, {
        flags: wide !== null && wide < 0 ? `${flags}-` : flags,
        width: Math.abs(wide ?? 0),
        precision: precise !== null && precise < 0 ? null : precise,
        letter,
      });
    }
    return true;
  }

  /** A width or a precision: null where there is none, undefined where its argument is no number. */
  #count(written: string | null): number | null | undefined {
    if (written !== '*') return written === null ? null : Number(written);
    const arg = this.args[this.#next++];
    if (arg?.[0] !== 'i') return undefined;
    if (arg[1] === null) this.#hasNull = true;
    return Number(arg[1] ?? 0);
  }

  #print(arg: FormatArgument, specifier: Specifier): void {
    const { letter, width, precision } = specifier;
    if (Math.max(width, precision ?? 0) > WIDEST) this.#isRefused = true;
    if (this.#isRefused || this.#hasNull) return;
    const [of, value, printed, literal] = arg;
    const text = letter === 't' ? printed : letter === 'T' ? literal : value;
    if (text === null) {
      this.#hasNull = true;
      return;
    }
    const piece =
      of === 'i' && !'tT'.includes(letter) ? integerText(BigInt(text), specifier) : otherText(of, text, specifier);
    if (piece === null) this.#isRefused = true;
    else this.#text += piece;
  }
}

function otherText(of: ArgumentLetter, text: string, specifier: Specifier): string | null {
  if (specifier.letter === 'P') {
    const lines = inLines(text);
    return lines === null ? null : stringText(lines, specifier);
  }
  if (!'fFeEgG'.includes(specifier.letter))
    return stringText(specifier.letter === 's' ? untilNul(text) : text, specifier);
  if (of === 'n') return numberText(decimalOfText(text), specifier);
  const value = Number(text.replace(/inf(?:inity)?/i, 'Infinity'));
  if (Number.isFinite(value)) return numberText(decimalOfDouble(value), specifier);
  const name = Number.isNaN(value) ? 'nan' : 'inf';
  const capitals = /[A-Z]/.test(specifier.letter);
  return aligned(signOf(value < 0, specifier), capitals ? name.toUpperCase() : name, specifier, false);
}

/** Deeper values would have more blanks than anything else. */
const DEEPEST = 100;
const TOKEN = /"(?:[^"\\]|\\.)*"|[[{](?=[\]}])[\]}]|[[\]{},:]|[^"[\]{},:]+/g;

/** JSON without blanks as lines that are indented; null: it is too deep. */
function inLines(json: string): string | null {
  let [text, depth] = ['', 0];
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      if (++depth > DEEPEST) return null;
      text += token + line();
    } else if (token === '}' || token === ']') {
      depth--;
      text += line() + token;
    } else text += token === ',' ? token + line() : token === ':' ? ': ' : token;
  }
  return text;
}

function untilNul(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

function stringText(text: string, specifier: Specifier): string {
  const { precision, width } = specifier;
  if (precision === null && width === 0) return text;
  const points = Array.from(text);
  const shown = precision === null ? points : points.slice(0, precision);
  const padding = ' '.repeat(Math.max(0, width - shown.length));
  return specifier.flags.includes('-') ? shown.join('') + padding : padding + shown.join('');
}

function signOf(isNegative: boolean, { flags }: Specifier): string {
  if (isNegative) return '-';
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

/** A sign and digits, filled up to the width: with zeros between them, or with blanks on either side. */
function aligned(sign: string, digits: string, { flags, width }: Specifier, mayHaveZeros: boolean): string {
  const missing = Math.max(0, width - sign.length - digits.length);
  if (flags.includes('-')) return sign + digits + ' '.repeat(missing);
  return flags.includes('0') && mayHaveZeros
    ? sign + '0'.repeat(missing) + digits
    : ' '.repeat(missing) + sign + digits;
}

function grouped(digits: string, size: number, separator: string): string {
  let text = digits;
  for (let at = digits.length - size; at > 0; at -= size) text = text.slice(0, at) + separator + text.slice(at);
  return text;
}

function numberText(value: ExactDecimal, specifier: Specifier): string {
  const { flags, letter } = specifier;
  const precision = specifier.precision ?? 6;
  const write = { f: fixedText, e: scientificText, g: generalText }[letter.toLowerCase()] ?? fixedText;
  const text = write(value, precision, flags.includes('#'));
  const [whole = ''] = /^\d+/.exec(text) ?? [];
  const digits = (flags.includes("'") ? grouped(whole, 3, ',') : whole) + text.slice(whole.length);
  const isNegative = value.isNegative && value.units !== 0n;
  return aligned(
    signOf(isNegative, specifier),
    letter === 'E' || letter === 'G' ? digits.toUpperCase() : digits,
    specifier,
    true,
  );
}

const BASES: Readonly<Record<string, readonly [base: number, prefix: string, group: number, separator: string]>> = {
  d: [10, '', 3, ','],
  i: [10, '', 3, ','],
  o: [8, '0', 4, ','],
  x: [16, '0x', 4, ':'],
  X: [16, '0X', 4, ':'],
};

/** Null: the reference writes what is no number. */
function integerText(value: bigint, specifier: Specifier): string | null {
  const { flags, precision, letter } = specifier;
  const [base, prefix, group, separator] = BASES[letter] ?? BASES['d']!;
  const plain = (value < 0n ? -value : value).toString(base);
  const isGrouped = flags.includes("'");
  const isDecimal = base === 10 && !isGrouped;
  if (isDecimal && precision === 0 && value === 0n) return aligned(signOf(false, specifier), '', specifier, false);
  const digits = (letter === 'X' ? plain.toUpperCase() : plain).padStart(precision ?? 0, '0');
  if (isGrouped && digits.length > plain.length) return null;
  const isAlternative = flags.includes('#') && !(base === 8 && digits.length > plain.length);
  const sign = signOf(value < 0n, specifier) + (isAlternative ? prefix : '');
  const written = isGrouped ? grouped(digits, group, separator) : digits;
  return aligned(sign, written, specifier, !isDecimal || precision === null);
}

/** Whether a format takes arguments that are these to a specifier, whatever their values. */
export function takesArguments(format: string, letters: readonly ArgumentLetter[]): boolean {
  return new Printing(letters.map((letter) => [letter, null, '', ''])).run(format) !== 'an error';
}

/** Units of the budget for a call, for each of its arguments, and for each character of the text. */
const FOR_CALL = 1_500;
const FOR_ARGUMENT = 500;

/**
 * The text behind a "=" as it may be empty; "NULL" for NULL, empty where the format is an error.
 *
 * @param args a list of FormatArgument as JSON
 */
export const formatText = scalarFunction(['text', 'text'], 'text', (format, args, budget: ChunkBudget) => {
  const list = JSON.parse(args) as FormatArgument[];
  if (!budget.spend(FOR_CALL + format.length * 8 + list.length * FOR_ARGUMENT + wideCost(format))) return null;
  const outcome = new Printing(list).run(format);
  if (outcome === 'refused') budget.exhaust();
  if (typeof outcome === 'string') return outcome === 'NULL' ? outcome : null;
  return budget.spend(outcome.text.length) ? `=${outcome.text}` : null;
});

/** Of a number, and of one with hundreds of digits. */
const FOR_NUMBER = 100;
const FOR_LONG_NUMBER = 25_000;

function wideCost(format: string): number {
  const numbers = format.match(/[fFeEgG]/g)?.length ?? 0;
  const long = format.match(/\.(?:\d{3,}|\*)/g)?.length ?? 0;
  return numbers * FOR_NUMBER + long * FOR_LONG_NUMBER;
}
