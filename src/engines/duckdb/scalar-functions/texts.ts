/** Texts by rules of Unicode, of English names and of the time zone database. */
import { LRUCache } from 'lru-cache';
import { timeZone } from '../../../googlesql/literals/time-zone';
import { scalarFunction } from './scalar-function';

/** @param form of Unicode: `NFD` and the like */
export const normalized = scalarFunction(['text', 'text'], 'text', (text, form) => text.normalize(form));

/** Zones that were looked at last. */
const zones = new LRUCache<string, boolean>({ max: 1_000 });
const LONGEST_ZONE = 64;

export const isTimeZone = scalarFunction(['text'], 'boolean', (name) => {
  if (name.length > LONGEST_ZONE) return false;
  let known = zones.get(name);
  if (known === undefined) zones.set(name, (known = timeZone(name) !== null));
  return known;
});

const CODES: Readonly<Record<string, string>> = Object.fromEntries(
  ['BFPV', 'CGJKQSXZ', 'DT', 'L', 'MN', 'R'].flatMap((letters, i) =>
    Array.from(letters, (letter) => [letter, String(i + 1)]),
  ),
);

/** A letter and three digits; empty where there is no letter. */
export const soundex = scalarFunction(['text'], 'text', (text) => {
  let [code, last] = ['', ''];
  for (const character of text) {
    if (!/[A-Za-z]/.test(character)) continue;
    const letter = character.toUpperCase();
    const digit = CODES[letter] ?? '';
    if (code === '') code = character;
    else if (digit !== '' && digit !== last) code += digit;
    if (digit !== '') last = digit;
    if (code.length === 4) break;
  }
  return code === '' ? '' : code.padEnd(4, '0');
});
