import { ServiceError } from '../errors';
import { endOfString, readElements, readMembers, stringValue } from '../json';

import { MOST_LISTED, MOST_NESTING, MOST_PARAMETERS, tooManyParameters, tooManyValues } from './bounds';
import type { RawEntry, RawValue } from './raw-entry';
import { MOST_VALUES } from './values/list';

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
