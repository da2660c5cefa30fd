/** Base 32 by RFC 4648, with padding. */
import { scalarFunction } from './scalar-function';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS_OF_DIGIT = 5;
const DIGITS_OF_GROUP = 8;

export const toBase32 = scalarFunction(['bytes'], 'text', (bytes) => {
  let [text, held, bits] = ['', 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= BITS_OF_DIGIT; bits -= BITS_OF_DIGIT) {
      text += ALPHABET[(held >> (bits - BITS_OF_DIGIT)) & 31]!;
    }
  }
  if (bits > 0) text += ALPHABET[(held << (BITS_OF_DIGIT - bits)) & 31]!;
  return text.padEnd(Math.ceil(text.length / DIGITS_OF_GROUP) * DIGITS_OF_GROUP, '=');
});

export const fromBase32 = scalarFunction(['text'], 'bytes', (text) => {
  if (text.length % DIGITS_OF_GROUP !== 0) return null;
  const digits = text.replace(/=+$/, '');
  if (text.length - digits.length > 6 || [1, 3, 6].includes(digits.length % DIGITS_OF_GROUP)) return null;
  const bytes = new Uint8Array(Math.floor((digits.length * BITS_OF_DIGIT) / 8));
  let [at, held, bits] = [0, 0, 0];
  for (const digit of digits) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return null;
    held = ((held << BITS_OF_DIGIT) | value) & 0xfff;
    if ((bits += BITS_OF_DIGIT) >= 8) bytes[at++] = (held >> (bits -= 8)) & 0xff;
  }
  return bytes;
});
