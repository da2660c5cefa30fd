/** BYTES as FORMAT writes them. */
import { scalarFunction } from './scalar-function';

const BACKSLASH = 0x5c;
const [DOUBLE, SINGLE, BACKTICK] = [0x22, 0x27, 0x60];
const [FIRST_PRINTED, LAST_PRINTED] = [0x20, 0x7e];
/** Units of the budget for each byte: up to four characters are written for it. */
const FOR_BYTE = 4;

/** A byte as it is, or by its number where it is no character of ASCII that is seen. */
const PLAIN = Array.from({ length: 256 }, (_, byte) =>
  byte >= FIRST_PRINTED && byte <= LAST_PRINTED
    ? String.fromCharCode(byte)
    : `\\x${byte.toString(16).padStart(2, '0')}`,
);

/** With backslashes before those of `special` and before backslashes. */
function escaping(special: readonly number[]): readonly string[] {
  return PLAIN.map((text, byte) => (byte === BACKSLASH || special.includes(byte) ? `\\${text}` : text));
}

const OF_VALUE = escaping([DOUBLE, SINGLE, BACKTICK]);
const IN_DOUBLE = escaping([DOUBLE]);
const IN_SINGLE = escaping([SINGLE]);

/** `literal`: as GoogleSQL reads them, in double quotes unless there are such in them and no single ones. */
export const bytesText = scalarFunction(['bytes', 'boolean'], 'text', (bytes, literal, budget) => {
  if (!budget.spend(bytes.length * FOR_BYTE)) return null;
  if (!literal) return written(bytes, OF_VALUE);
  const single = bytes.includes(DOUBLE) && !bytes.includes(SINGLE);
  return single ? `b'${written(bytes, IN_SINGLE)}'` : `b"${written(bytes, IN_DOUBLE)}"`;
});

function written(bytes: Uint8Array, as: readonly string[]): string {
  let text = '';
  for (const byte of bytes) text += as[byte]!;
  return text;
}
