/** The public suffix of a host, by the ICANN section of publicsuffix.org. */
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { scalarFunction } from './scalar-function';

/** Characters of the longest host of DNS, with some room. */
const LONGEST = 1_000;
/** The host is one already, in whatever characters. */
const OPTIONS = { extractHostname: false, validateHostname: false, allowPrivateDomains: false };

/** The last labels of a host that are its public suffix, and so many before; null where it has none. */
function lastLabels(host: string, before: number): string | null {
  const [, trimmed = '', dots = ''] = /^\.*(.*?)(\.*)$/s.exec(host) ?? [];
  if (trimmed.length > LONGEST || trimmed.includes('..') || trimmed === '') return null;
  const ascii = /[^\x20-\x7e]/.test(trimmed) ? domainToASCII(trimmed) : trimmed.toLowerCase();
  const { publicSuffix, isIcann } = parse(ascii, OPTIONS);
  if (publicSuffix === null || isIcann !== true) return null;
  const labels = trimmed.split(/[.。．｡]/);
  const count = publicSuffix.split('.').length + before;
  return count > labels.length ? null : labels.slice(-count).join('.') + dots;
}

export const publicSuffix = scalarFunction(['text'], 'text', (host) => lastLabels(host, 0));
export const registeredDomain = scalarFunction(['text'], 'text', (host) => lastLabels(host, 1));
