import type { ParameterDeclaration } from '../endpoint';
import { readValue } from './value';

/** Most values of a list. */
export const MOST_VALUES = 1_000;
/** Bytes of UTF-8 of all of them. */
const LONGEST_LIST = 65_536;

/** A list read by its declaration: each value in its canonical form, or what would have been allowed instead. */
export type ListReading =
  | { readonly ok: true; readonly values: readonly string[] }
  | {
      readonly ok: false;
      /** The value that is at fault; null: there are too many, or too long ones. */
      readonly text: string | null;
      readonly expected: string;
      readonly allowed: readonly string[];
    };

/** Reads values none of which is empty. Their order, and what comes twice, is kept: a query may depend on it. */
export function readList(
  declared: Pick<ParameterDeclaration, 'type' | 'values' | 'minimum' | 'maximum'>,
  texts: readonly string[],
): ListReading {
  if (texts.length > MOST_VALUES) return tooMuch(`at most ${String(MOST_VALUES)} values`);
  const values: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const reading = readValue(declared, text);
    if (!reading.ok) return { ...reading, text };
    values.push(reading.value);
    if ((bytes += Buffer.byteLength(reading.value)) > LONGEST_LIST)
      return tooMuch(`at most ${String(LONGEST_LIST)} bytes`);
  }
  return { ok: true, values };
}

function tooMuch(most: string): ListReading {
  return { ok: false, text: null, expected: `a list of ${most}`, allowed: [] };
}
