/** IP addresses as text and as bytes: 4 of them, or 16. */
import { isIPv4, isIPv6 } from 'node:net';
import { scalarFunction } from './scalar-function';

const V4 = 4;
const V6 = 16;
/** Characters of the longest address. */
const LONGEST = 45;

export const ipFromString = scalarFunction(['text'], 'bytes', (text) => {
  if (text.length > LONGEST || text.includes('%')) return null;
  if (isIPv4(text)) return bytesOfV4(text);
  return isIPv6(text) ? bytesOfV6(text) : null;
});

function bytesOfV4(text: string): Uint8Array {
  return Uint8Array.from(text.split('.'), Number);
}

function bytesOfV6(text: string): Uint8Array {
  const [head = '', tail] = text.split('::');
  const [before, after] = [bytesOfGroups(head), bytesOfGroups(tail ?? '')];
  const bytes = new Uint8Array(V6);
  bytes.set(before);
  bytes.set(after, V6 - after.length);
  return bytes;
}

function bytesOfGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return [...bytesOfV4(group)];
    const value = parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

export const ipToString = scalarFunction(['bytes'], 'text', (bytes) => {
  if (bytes.length === V4) return bytes.join('.');
  return bytes.length === V6 ? textOfV6(bytes) : null;
});

/** By RFC 5952. */
function textOfV6(bytes: Uint8Array): string {
  const groups = Array.from({ length: V6 / 2 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  // An address of version 4 in one of version 6.
  const first = groups.findIndex((group) => group !== 0);
  if (first === 6) return `::${bytes.subarray(V6 - V4).join('.')}`;
  if (first === 5 && groups[5] === 0xffff) return `::ffff:${bytes.subarray(V6 - V4).join('.')}`;
  let longest = { start: 0, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > longest.length) longest = { start, length };
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (longest.length < 2) return text(groups);
  return `${text(groups.slice(0, longest.start))}::${text(groups.slice(longest.start + longest.length))}`;
}

/** @returns the mask of an address of `length` bytes; null for another length or a prefix that is too long */
function maskOf(length: number, prefix: number): Uint8Array | null {
  if ((length !== V4 && length !== V6) || prefix < 0 || prefix > length * 8) return null;
  return Uint8Array.from({ length }, (_, i) => (0xff << (8 - Math.min(8, Math.max(0, prefix - 8 * i)))) & 0xff);
}

export const ipNetMask = scalarFunction(['integer', 'integer'], 'bytes', (length, prefix) =>
  maskOf(Number(length), Number(prefix)),
);

export const ipTrunc = scalarFunction(['bytes', 'integer'], 'bytes', (bytes, prefix) => {
  const mask = maskOf(bytes.length, Number(prefix));
  return mask && bytes.map((byte, i) => byte & mask[i]!);
});
