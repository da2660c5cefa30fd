import type { ParameterDeclaration } from '../endpoint';

import { readDateText, readInstantText } from './instant';
import { patternFault } from './pattern';

/** Longest value of a declared parameter, in bytes of UTF-8. */
const LONGEST_VALUE = 4096;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** With the `u` flag a pair is one character, so this finds halves alone. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const INTEGER = /^-?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A value read by its declaration: in the canonical form of its type, or what would have been allowed instead. */
export type ValueReading =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly expected: string; readonly allowed: readonly string[] };

type Declared = Pick<ParameterDeclaration, 'type' | 'values' | 'minimum' | 'maximum'>;

/**
 * Reads a value that is neither absent nor empty (docs/endpoints.md).
 *
 * Canonical forms: an INT64's digits, a FLOAT64's shortest text, `true` or `false`, `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the
 * text itself. Two texts that mean one value have one canonical form, and so share a cache entry.
 */
export function readValue(declared: Declared, text: string): ValueReading {
  const unfit = textFault(text);
  if (unfit !== null) return { ok: false, expected: unfit, allowed: [] };
  switch (declared.type) {
    case 'string':
      return { ok: true, value: text };
    case 'integer':
      return readInteger(declared, text);
    case 'number':
      return readNumber(declared, text);
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { ok: true, value: text }
        : { ok: false, expected: 'true or false', allowed: ['true', 'false'] };
    case 'timestamp':
      return orElse(readInstantText(text), 'an ISO 8601 timestamp with at most six fraction digits', [
        'YYYY-MM-DD',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]Z',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]+hh:mm',
      ]);
    case 'date':
      return orElse(readDateText(text), 'a date that exists', ['YYYY-MM-DD']);
    case 'enum': {
      const values = declared.values ?? [];
      return orElse(values.includes(text) ? text : null, `one of ${values.join(', ')}`, values);
    }
    case 'regex': {
      const fault = patternFault(text);
      return fault === null
        ? { ok: true, value: text }
        : { ok: false, expected: `an RE2 regular expression (${fault})`, allowed: [] };
    }
  }
}

/** Why a text can be no parameter value at all; null: it can. */
function textFault(text: string): string | null {
  if (Buffer.byteLength(text, 'utf8') > LONGEST_VALUE) return `at most ${String(LONGEST_VALUE)} bytes long`;
  if (LONE_SURROGATE.test(text)) return 'Unicode text without lone surrogates';
  // Engines end a text there or refuse it; no log holds one.
  if (text.includes('\0')) return 'text without NUL characters';
  return null;
}

function readInteger(declared: Declared, text: string): ValueReading {
  const low = declared.minimum ?? INT64_MIN;
  const high = declared.maximum ?? INT64_MAX;
  const range = `${String(low)}..${String(high)}`;
  if (INTEGER.test(text)) {
    const value = BigInt(text);
    if (value >= low && value <= high) return { ok: true, value: value.toString() };
  }
  return { ok: false, expected: `a whole number from ${String(low)} to ${String(high)}`, allowed: [range] };
}

function readNumber(declared: Declared, text: string): ValueReading {
  const low = declared.minimum ?? -Number.MAX_VALUE;
  const high = declared.maximum ?? Number.MAX_VALUE;
  if (NUMBER.test(text)) {
    const value = Number(text);
    if (value >= low && value <= high) return { ok: true, value: String(value) };
  }
  return {
    ok: false,
    expected: `a number from ${String(low)} to ${String(high)}`,
    allowed: [`${String(low)}..${String(high)}`],
  };
}

function orElse(value: string | null, expected: string, allowed: readonly string[]): ValueReading {
  return value === null ? { ok: false, expected, allowed } : { ok: true, value };
}
