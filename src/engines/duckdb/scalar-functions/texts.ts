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

/** The digit of each letter from A to Z; 0: it has none. */
const DIGITS = '01230120022455012623010202';

/** A letter as it is written and three digits; empty where there is no letter. */
export const soundex = scalarFunction(['text'], 'text', (text) => {
  let [code, last] = ['', '0'];
  for (let i = 0; i < text.length && code.length < 4; i++) {
    const letter = (text.charCodeAt(i) | 32) - 97;
    if (letter < 0 || letter > 25 || text.charCodeAt(i) > 127) continue;
    const digit = DIGITS[letter]!;
    if (code === '') code = text[i]!;
    else if (digit !== '0' && digit !== last) code += digit;
    if (digit !== '0') last = digit;
  }
  return code === '' ? '' : code.padEnd(4, '0');
});
