/**
 * Upper, lower and folded case by Unicode's full mappings. DuckDB maps letters one by one; where one becomes several, or
 * depends on its place in the word, it is replaced beforehand.
 */
import { quoteText } from '../../sql';

/** Letters whose capital form is more than one letter, as a character class. */
const EXPANDING =
  'ßŉǰΐΰև\u1e96-\u1e9aὐὒὔὖ\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7' +
  '\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17';
/** Letters that fold to another letter than their small form. */
const FOLDING = 'µſ\u0345ςϐϑϕϖϰϱϵ\u1c80-\u1c88ẛẞİ';

function lettersOf(characterClass: string): string[] {
  return [...characterClass.matchAll(/(.)-(.)|./gsu)].flatMap(([letter, from, to]) => {
    if (from === undefined || to === undefined) return letter;
    const [first, last] = [from.codePointAt(0)!, to.codePointAt(0)!];
    return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
  });
}

function folded(letter: string): string {
  if (letter === 'ẞ') return 'ss';
  return letter === 'İ' ? 'i\u0307' : letter.toUpperCase().toLowerCase();
}

/** Each letter of the class that is in the text `s` is replaced, all places of a letter at once. */
function replacing(s: string, characterClass: string, by: (letter: string) => string): string {
  const letters = lettersOf(characterClass);
  const map = `MAP {${letters.map((letter) => `${quoteText(letter)}: ${quoteText(by(letter))}`).join(', ')}}`;
  const found = `list_distinct(regexp_extract_all(${s}, ${quoteText(`[${characterClass}]`)}))`;
  return `list_reduce(${found}, lambda t, letter: replace(t, letter, ${map}[letter]), ${s})`;
}

/** What a letter may be followed or preceded by inside of a word, as far as a capital sigma at its end is concerned. */
const BETWEEN = `[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:·’]*`;
const CASED = '\\p{Lu}\\p{Ll}\\p{Lt}';
const FINAL_SIGMA = `([${CASED}]${BETWEEN})Σ(${BETWEEN}(?:[^${CASED}]|$))`;

const isAscii = 'strlen(s) = length(s)';

/** Macros of a text `s`, which they repeat. */
export const LETTER_CASE_MACROS: Readonly<Record<string, string>> = {
  'lq_upper(s)': `CASE WHEN ${isAscii} THEN upper(s) ELSE upper(${replacing('s', EXPANDING, (letter) => letter.toUpperCase())}) END`,
  'lq_lower(s)': `CASE WHEN ${isAscii} OR NOT (contains(s, 'Σ') OR contains(s, 'İ')) THEN lower(s)
      ELSE lower(replace(regexp_replace(s, ${quoteText(FINAL_SIGMA)}, '\\1ς\\2', 'g'), 'İ', 'i\u0307')) END`,
  // Of a text in a normal form, which the result need not be in.
  'lq_casefolded(s)': `CASE WHEN ${isAscii} THEN lower(s)
      ELSE lower(${replacing('s', EXPANDING + FOLDING, folded)}) END`,
  // DuckDB's own ends at a NUL, which takes part in no letter.
  'lq_nfc(s)': `CASE WHEN contains(s, chr(0))
      THEN array_to_string(list_transform(string_split(s, chr(0)), lambda p: nfc_normalize(p)), chr(0)) ELSE nfc_normalize(s) END`,
  'lq_folded(s)': `CASE WHEN ${isAscii} THEN lower(s)
      ELSE lower(${replacing('lq_nfc(s)', EXPANDING + FOLDING, folded)}) END`,
};
