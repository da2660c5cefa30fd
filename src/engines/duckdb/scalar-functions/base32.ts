/** Base 32 by RFC 4648, with padding. */
import { scalarFunction } from './scalar-function';

const ALPHABET = Uint8Array.from(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'));
const PADDING = '='.charCodeAt(0);
const BITS_OF_DIGIT = 5;
const DIGITS_OF_GROUP = 8;
const BYTES_OF_GROUP = 5;

/** The value of each character that is a digit; of others 255. */
const VALUES = new Uint8Array(256).fill(255);
ALPHABET.forEach((digit, value) => (VALUES[digit] = value));

export const toBase32 = scalarFunction(['bytes'], 'bytes', (bytes) => {
  const groups = Math.ceil(bytes.length / BYTES_OF_GROUP);
  const text = new Uint8Array(groups * DIGITS_OF_GROUP);
  const whole = Math.floor(bytes.length / BYTES_OF_GROUP);
  for (let group = 0; group < whole; group++) writeGroup(bytes, group * BYTES_OF_GROUP, text, group * DIGITS_OF_GROUP);
  if (groups === whole) return text;
  const rest = new Uint8Array(BYTES_OF_GROUP);
  rest.set(bytes.subarray(whole * BYTES_OF_GROUP));
  writeGroup(rest, 0, text, whole * DIGITS_OF_GROUP);
  const digits = Math.ceil((bytes.length * 8) / BITS_OF_DIGIT);
  return text.fill(PADDING, digits);
});

/** Eight digits of the five bytes from `from` on. */
function writeGroup(bytes: Uint8Array, from: number, text: Uint8Array, at: number): void {
  const high = (bytes[from]! << 12) | (bytes[from + 1]! << 4) | (bytes[from + 2]! >> 4);
  const low = ((bytes[from + 2]! & 15) << 16) | (bytes[from + 3]! << 8) | bytes[from + 4]!;
  text[at] = ALPHABET[high >> 15]!;
  text[at + 1] = ALPHABET[(high >> 10) & 31]!;
  text[at + 2] = ALPHABET[(high >> 5) & 31]!;
  text[at + 3] = ALPHABET[high & 31]!;
  text[at + 4] = ALPHABET[low >> 15]!;
  text[at + 5] = ALPHABET[(low >> 10) & 31]!;
  text[at + 6] = ALPHABET[(low >> 5) & 31]!;
  text[at + 7] = ALPHABET[low & 31]!;
}

export const fromBase32 = scalarFunction(['bytes'], 'bytes', (text) => {
  let digits = text.length;
  while (digits > 0 && text[digits - 1] === PADDING) digits--;
  if (text.length % DIGITS_OF_GROUP !== 0 || text.length - digits > 6) return null;
  if ([1, 3, 6].includes(digits % DIGITS_OF_GROUP)) return null;
  const bytes = new Uint8Array(Math.floor((digits * BITS_OF_DIGIT) / 8));
  let at = 0;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < digits; i++) {
    const value = VALUES[text[i]!]!;
    if (value > 31) return null;
    held = ((held << BITS_OF_DIGIT) | value) & 0xfff;
    bits += BITS_OF_DIGIT;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return bytes;
});
