/**
 * Signs that steer a terminal or are not seen: control characters of ASCII and Latin-1, marks of direction, lines and joining. Text by
 * whoever is logged could rewrite with them what was printed before, or pretend to be another text. Line feed, tab and CR LF stay.
 */
export const HIDDEN_SIGNS =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text with such signs by their number, as JSON writes them: what was JSON stays it, with the same values. */
export function visible(text: string): string {
  return text.replace(HIDDEN_SIGNS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What text is written to. */
interface Output {
  readonly isTTY?: boolean;
  write(text: string | Uint8Array): boolean;
}

/** Writes what may hold signs of others' texts: visible on a terminal, as it is elsewhere. @returns as the stream's `write` */
export function print(stream: Output, text: string | Uint8Array): boolean {
  return stream.write(stream.isTTY ? visible(typeof text === 'string' ? text : new TextDecoder().decode(text)) : text);
}
