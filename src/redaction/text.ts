import { findEmails, MAY_HOLD_EMAIL } from './email';
import { unescaped } from './escapes';
import { findIpv4, MAY_HOLD_IPV4 } from './ipv4';
import { findIpv6, MAY_HOLD_IPV6 } from './ipv6';
import { mask, type Span } from './span';

/** Every address has one of these; most strings of a row have none. */
const SIGNS = /[@\uff20\ufe6b%:.\\&]/;

/** Whether the text can hold anything to mask: a look that costs little. */
export function mayHoldPii(text: string): boolean {
  if (!SIGNS.test(text)) return false;
  return MAY_HOLD_EMAIL.test(text) || MAY_HOLD_IPV4.test(text) || MAY_HOLD_IPV6.test(text);
}

const KINDS: readonly (readonly [mayHold: RegExp, find: (text: string) => Span[]])[] = [
  [MAY_HOLD_EMAIL, findEmails],
  [MAY_HOLD_IPV6, findIpv6],
  [MAY_HOLD_IPV4, findIpv4],
];

/** A mask beside other text can make an address of both (`ana@fe80::1.example.com`); no text needs more rounds than this. */
const MOST_ROUNDS = 8;

/**
 * The text with every IPv4, IPv6 and e-mail address replaced by `REDACTED` (docs/redaction.md). Takes time in proportion to
 * the text. Redacting what is redacted changes nothing.
 */
export function redactText(text: string): string {
  let masked = text;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = masked;
    for (const [mayHold, find] of KINDS) {
      const { text: plain, written } = unescaped(masked);
      if (mayHold.test(plain)) masked = mask(masked, written(find(plain)));
    }
    if (masked === before) break;
  }
  return masked;
}
