import { ServiceError } from '../errors';

import { MOST_PARAMETERS, tooManyParameters } from './bounds';
import type { RawEntry } from './raw-entry';

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
