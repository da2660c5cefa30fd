import { findEmails, MAY_HOLD_EMAIL } from './email';
import { findIpv4, MAY_HOLD_IPV4 } from './ipv4';
import { findIpv6, MAY_HOLD_IPV6 } from './ipv6';
import { mask } from './span';

/** Every address has one of these; most strings of a row have none. */
const SIGNS = /[@\uff20\ufe6b%:.\\&]/;

/** Whether the text can hold anything to mask: a look that costs little. */
export function mayHoldPii(text: string): boolean {
  if (!SIGNS.test(text)) return false;
  return MAY_HOLD_EMAIL.test(text) || MAY_HOLD_IPV4.test(text) || MAY_HOLD_IPV6.test(text);
}

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
    if (MAY_HOLD_EMAIL.test(masked)) masked = mask(masked, findEmails(masked));
    if (MAY_HOLD_IPV6.test(masked)) masked = mask(masked, findIpv6(masked));
    if (MAY_HOLD_IPV4.test(masked)) masked = mask(masked, findIpv4(masked));
    if (masked === before) break;
  }
  return masked;
}
