/** The public suffix of a host, by the ICANN section of publicsuffix.org. */
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import type { ChunkBudget } from './chunk-budget';
import { scalarFunction } from './scalar-function';

/** Characters of the longest host of DNS, with some room. */
const LONGEST = 1_000;
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
  if (trimmed.length > LONGEST || trimmed.includes('..') || trimmed === '') return null;
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
