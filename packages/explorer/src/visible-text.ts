import { HIDDEN_SIGNS } from '@logquay/googlesql/types';

/** Text of a row with control characters and direction marks shown by their number, as `[U+202E]`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_SIGNS, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** The start of a text on one line. @param longest in UTF-16 units */
export function firstOf(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return visibleText(cut.replace(/[\r\n\t]+/g, ' '));
}

/** `1 row`, `2,084 rows`. */
export function countText(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`;
}
