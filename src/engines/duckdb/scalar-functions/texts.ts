/** Texts by rules of Unicode, of English names and of the time zone database. */
import { isAscii } from 'node:buffer';
import { knownZone } from './known-zones';
import { scalarFunction } from './scalar-function';

/** Units of the budget for each byte more than a text has UTF-16 units: what is not ASCII. */
const FOR_LETTER = 8;
/** Marks upon one letter are sorted, in time that grows with the square of their number. */
const MARKS = /\p{M}{3,}/gu;
const FOR_PAIR_OF_MARKS = 5;

/** @param form of Unicode: `NFD` and the like */
export const normalized = scalarFunction(['bytes', 'text'], 'bytes', (bytes, form, budget) => {
  if (isAscii(bytes)) return bytes;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  let units = (bytes.length - text.length) * FOR_LETTER;
  for (const [marks] of text.matchAll(MARKS)) units += marks.length * marks.length * FOR_PAIR_OF_MARKS;
  if (!budget.spend(units)) return null;
  const result = Buffer.from(text.normalize(form));
  return budget.spend(result.length) ? result : null;
});

/** Beyond the budget every name passes for one: DuckDB raises an error for one that it does not know. */
export const isTimeZone = scalarFunction(['text'], 'boolean', (name, budget) => knownZone(name, budget) !== null);

/** The digit of each letter from A to Z; 0: it has none. */
const DIGITS = '01230120022455012623010202';
const NO_LETTER = 255;
/** The same by byte. */
const DIGIT_OF_BYTE = new Uint8Array(256).fill(NO_LETTER);
for (let i = 0; i < DIGITS.length; i++) DIGIT_OF_BYTE[65 + i] = DIGIT_OF_BYTE[97 + i] = Number(DIGITS[i]);

/** A letter as it is written and three digits; empty where there is no letter. */
export const soundex = scalarFunction(['bytes'], 'text', (text, budget) => {
  let code = '';
  let last = 0;
  let i = 0;
  for (; i < text.length && code.length < 4; i++) {
    const digit = DIGIT_OF_BYTE[text[i]!]!;
    if (digit === NO_LETTER) continue;
    if (code === '') code = String.fromCharCode(text[i]!);
    else if (digit !== 0 && digit !== last) code += String(digit);
    if (digit !== 0) last = digit;
  }
  // Vowels alone have all of a text looked at, which takes as long again as to take it over.
  budget.spend(i);
  return code === '' ? '' : code.padEnd(4, '0');
});
