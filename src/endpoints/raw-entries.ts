import { ServiceError } from '../errors';
import { endOfString, readElements, readMembers, stringValue } from '../json';
import { MOST_VALUES } from './values';

/** A parameter as it came, before anyone knows whether it is declared. */
export interface RawEntry {
  readonly name: string;
  readonly value: RawValue;
  /** Of a JSON object, whose names are each given once. */
  readonly isMember?: boolean;
}

/**
 * What came for it. URLs and forms give `text` only; in a JSON body a number keeps the digits it was written with, as an
 * integer is read from its digits and never through a double (docs/endpoints.md).
 */
export type RawValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }
  /** `items`: its first values, one more than a list may have at most. */
  | { readonly kind: 'array'; readonly items: readonly RawValue[] }
  | { readonly kind: 'null' | 'object' };

/** Parameters in one URL or one body: no endpoint declares a tenth of it. */
const MOST_PARAMETERS = 256;
/** Values in all lists of a JSON body. */
export const MOST_LISTED = 10_000;
/** Objects and arrays open at once in a JSON body: none of them means anything. */
const MOST_NESTING = 100;

function tooManyValues(): ServiceError {
  return new ServiceError('invalidParameter', `The lists of a body have at most ${MOST_LISTED} values together.`);
}

function tooManyParameters(): ServiceError {
  return new ServiceError('invalidParameter', `A request has at most ${MOST_PARAMETERS} parameters.`);
}

/** Longest excerpt of a caller's value in a message, in code points. */
const EXCERPT = 80;

/** A caller's value as a message may show it: in quotes, control characters escaped, cut after 80 characters. */
export function quoteValue(text: string): string {
  const points = Array.from(text.slice(0, 2 * EXCERPT));
  const excerpt = points.slice(0, EXCERPT).join('');
  const quoted = JSON.stringify(excerpt).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return excerpt.length < text.length ? `${quoted}...` : quoted;
}

const MALFORMED = /%(?![0-9a-fA-F]{2})/;

/**
 * Reads a query string (without its `?`) or a form's body, in order, repeated names included. A blank may be written `+`.
 * Throws `invalidParameter` for too many, for a malformed percent-escape or one that is not UTF-8, in names and values, declared or
 * not (docs/endpoints.md): what cannot be read is never passed over.
 */
export function readUrlEncoded(text: string): RawEntry[] {
  return pairsOf(text).map((pair) => {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    return { name, value: { kind: 'text', text: decode(equals < 0 ? '' : pair.slice(equals + 1), name) } };
  });
}

/** Counted before any of them is looked at. */
function pairsOf(text: string): string[] {
  const pairs: string[] = [];
  for (let start = 0; start < text.length;) {
    const ampersand = text.indexOf('&', start);
    const end = ampersand === -1 ? text.length : ampersand;
    if (end > start && pairs.push(text.slice(start, end)) > MOST_PARAMETERS) throw tooManyParameters();
    start = end + 1;
  }
  return pairs;
}

function decode(text: string, parameter?: string): string {
  const details = parameter === undefined ? {} : { parameter };
  if (MALFORMED.test(text)) {
    throw new ServiceError('invalidParameter', 'A percent sign must be followed by two hexadecimal digits.', details);
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new ServiceError('invalidParameter', 'The percent-escapes are not UTF-8.', details, { cause });
  }
}

/**
 * Reads JSON that a caller sent, of at most 100 levels: deeper values would overflow the stack where they are looked through.
 *
 * @param what it is, as a message begins
 * @throws ServiceError invalidParameter
 */
export function readJson(text: string, what: string): unknown {
  checkShape(text, what, Infinity);
  return parsed(text, what);
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ServiceError('invalidParameter', `${what} is not valid JSON.`, {}, { cause });
  }
}

/**
 * Reads the JSON object of a POST as parameters, in order. `JSON.parse` alone would not do: it turns numbers into
 * doubles and forgets names given twice. It judges the syntax; what it accepted is then read again, token by token, as
 * far as the members of the outermost object.
 *
 * Throws `invalidParameter` when the text is no JSON or no object, or one of too many members, values of lists or too deep.
 */
export function readJsonBody(text: string, what = 'The body'): RawEntry[] {
  checkShape(text, what, MOST_PARAMETERS);
  const value = parsed(text, what);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('invalidParameter', `${what} must be a JSON object of parameters.`);
  }
  const budget = { left: MOST_LISTED };
  return readMembers(text).map(({ name, json }) => ({ name, value: valueOf(json, budget), isMember: true }));
}

/** @param budget values of lists that may come */
function valueOf(json: string, budget: { left: number }): RawValue {
  switch (json[0]) {
    case '"':
      return { kind: 'text', text: stringValue(json) };
    case '{':
      return { kind: 'object' };
    case '[': {
      // As many as tell that it is too long.
      const elements = readElements(json, MOST_VALUES + 1);
      if ((budget.left -= elements.length) < 0) throw tooManyValues();
      // No value of a list is itself one: what is in it does not matter.
      const items = elements.map((one) => valueOf(one.startsWith('[') ? '[]' : one, budget));
      return { kind: 'array', items };
    }
    case 'n':
      return { kind: 'null' };
    case 't':
      return { kind: 'boolean', text: 'true' };
    case 'f':
      return { kind: 'boolean', text: 'false' };
    default:
      return { kind: 'number', text: json };
  }
}

/** One look at brackets and commas before anything is built of them; what is no JSON may pass. */
function checkShape(text: string, what: string, mostMembers: number): void {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > MOST_NESTING) {
          throw new ServiceError('invalidParameter', `${what} nests more than ${MOST_NESTING} levels.`);
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COMMA:
        if (depth === 1 && ++commas >= mostMembers) throw tooManyParameters();
    }
  }
}

const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
