/** INITCAP of texts in ASCII. */
import { scalarFunction } from './scalar-function';

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
