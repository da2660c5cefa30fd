/** NET: IP addresses as text and as bytes, 4 of them or 16, and the public suffix of a host by the ICANN section of publicsuffix.org. */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { type ChunkBudget, scalarFunction } from './scalar-function';

const V4 = 4;
const V6 = 16;
/** Characters of the longest address. */
const LONGEST_ADDRESS = 45;

export const ipFromString = scalarFunction(['text'], 'bytes', (text) => {
  if (text.length > LONGEST_ADDRESS || text.includes('%')) return null;
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

/** Characters of the longest host of DNS, with some room. */
const LONGEST_HOST = 1_000;
/** The host is one already, in whatever characters. */
const OPTIONS = { extractHostname: false, validateHostname: false, allowPrivateDomains: false };
/** Units of the budget for a host and each of its characters; for one in others than ASCII, for each pair of them. */
const FOR_HOST = 256;
const FOR_CHARACTER = 16;
const FOR_PAIR = 1 / 2;

/** The last labels of a host that are its public suffix, and so many before; null where it has none. */
function lastLabels(host: string, before: number, budget: ChunkBudget): string | null {
  let [start, end] = [0, host.length];
  while (host[start] === '.') start++;
  while (end > start && host[end - 1] === '.') end--;
  const trimmed = host.slice(start, end);
  if (trimmed.length > LONGEST_HOST || trimmed.includes('..') || trimmed === '') return null;
  const isAscii = !/[^\x20-\x7e]/.test(trimmed);
  const units = trimmed.length * (FOR_CHARACTER + (isAscii ? 0 : trimmed.length * FOR_PAIR));
  if (!budget.spend(FOR_HOST + units)) return null;
  const { publicSuffix, isIcann } = parse(isAscii ? trimmed.toLowerCase() : domainToASCII(trimmed), OPTIONS);
  if (publicSuffix === null || isIcann !== true) return null;
  const labels = trimmed.split(/[.。．｡]/);
  const count = publicSuffix.split('.').length + before;
  return count > labels.length ? null : labels.slice(-count).join('.') + host.slice(end);
}

export const publicSuffix = scalarFunction(['text'], 'text', (host, budget) => lastLabels(host, 0, budget));
export const registeredDomain = scalarFunction(['text'], 'text', (host, budget) => lastLabels(host, 1, budget));
