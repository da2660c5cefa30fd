/**
 * BYTES as text of Latin-1 and back: each byte is the character of its number, so that functions of text count, search and
 * match bytes (translate/functions/latin1.ts).
 */
import { latin1Pattern } from '@logquay/googlesql/types';
import { scalarFunction } from './scalar-function';

export const latin1Text = scalarFunction(['bytes'], 'text', (bytes) => textOf(bytes));

/** Units of the budget for a byte of a pattern: at worst an escape for each two of them is written out. */
const FOR_PATTERN_BYTE = 45;

/** A pattern of BYTES as one that matches the same in text of Latin-1. */
export const latin1PatternText = scalarFunction(['bytes'], 'text', (bytes, budget) =>
  budget.spend(bytes.length * FOR_PATTERN_BYTE) ? latin1Pattern(textOf(bytes)) : null,
);

export const bytesOfLatin1 = scalarFunction(['text'], 'bytes', (text) => Buffer.from(text, 'latin1'));

/** Behind each text of a list. */
const END = 0x100;
const DIGITS = Buffer.from('0123456789ABCDEF');
const COMMA = 0x2c;

/** Texts, each with U+0100 behind it, as hexadecimal digits, each with a comma behind them. */
export const hexOfLatin1Texts = scalarFunction(['text'], 'text', (texts, budget) => {
  if (!budget.spend(texts.length)) return null;
  const digits = Buffer.allocUnsafe(2 * texts.length);
  let length = 0;
  for (let i = 0; i < texts.length; i++) {
    const unit = texts.charCodeAt(i);
    if (unit === END) digits[length++] = COMMA;
    else {
      digits[length++] = DIGITS[unit >> 4]!;
      digits[length++] = DIGITS[unit & 0xf]!;
    }
  }
  return digits.toString('latin1', 0, length);
});

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
