import { HIDDEN_SIGNS } from '@logquay/googlesql/types';

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
