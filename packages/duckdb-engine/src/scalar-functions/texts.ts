/** Texts by rules of Unicode, of ASCII and of the time zone database. */
import { isAscii } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { timeZone } from '@logquay/googlesql/types';
import { type ChunkBudget, scalarFunction } from './scalar-function';

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

type Zone = ReturnType<typeof timeZone>;

/** Time zones that were looked at last: to look for a name takes as long as to read a page of text. */
const zones = new LRUCache<string, { readonly zone: Zone }>({ max: 1_000 });
const LONGEST_ZONE = 64;
/** Units of the budget for a name that is not remembered. */
const FOR_NEW_ZONE = 12_000;

/** @returns undefined: the budget has no room for a new name; null: there is no such zone */
function knownZone(name: string, budget: ChunkBudget): Zone | undefined {
  if (name.length > LONGEST_ZONE) return null;
  let known = zones.get(name);
  if (known === undefined) {
    if (!budget.isWithin(FOR_NEW_ZONE)) return undefined;
    zones.set(name, (known = { zone: timeZone(name) }));
  }
  return known.zone;
}

/** Beyond the budget every name passes for one: DuckDB raises an error for one that it does not know. */
export const isTimeZone = scalarFunction(['text'], 'boolean', (name, budget) => knownZone(name, budget) !== null);

// ---------------------------------------------------------------- INITCAP of texts in ASCII

const isSmall = (letter: number): boolean => letter >= 0x61 && letter <= 0x7a;
const isCapital = (letter: number): boolean => letter >= 0x41 && letter <= 0x5a;
/** Between a capital letter and the small one. */
const CASE = 0x20;

/** As a rule those of one query are the same for all rows. */
let last = { delimiters: Buffer.alloc(0), ends: new Uint8Array(256) };

/** 1 at each byte that is a delimiter. */
function endsOf(delimiters: Uint8Array): Uint8Array {
  if (!last.delimiters.equals(delimiters)) {
    last = { delimiters: Buffer.from(delimiters), ends: new Uint8Array(256) };
    for (const delimiter of delimiters) last.ends[delimiter] = 1;
  }
  return last.ends;
}

/** The letter behind a delimiter, or at the beginning, becomes a capital one, and others become small ones. */
export const initcap = scalarFunction(['bytes', 'bytes'], 'bytes', (text, delimiters) => {
  const ends = endsOf(delimiters);
  const result = new Uint8Array(text.length);
  let isFirst = true;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    const isEnd = ends[letter] === 1;
    if (isEnd) result[i] = letter;
    else if (isFirst) result[i] = isSmall(letter) ? letter - CASE : letter;
    else result[i] = isCapital(letter) ? letter + CASE : letter;
    isFirst = isEnd;
  }
  return result;
});
