/** Signs that turn text round or are not seen: they would let a row pretend to be another. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text of a row with control characters and direction marks shown by their number, as `[U+202E]`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** The start of a text on one line. @param longest in UTF-16 units */
export function firstOf(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return visibleText(cut.replace(/[\r\n\t]+/g, ' '));
}
