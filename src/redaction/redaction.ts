import { endOfString } from '../json';
import {
  findEmails,
  findIpv4,
  findIpv6,
  JSON_ESCAPE,
  mask,
  MAY_HOLD_EMAIL,
  MAY_HOLD_IPV4,
  MAY_HOLD_IPV6,
  type Span,
  unescaped,
} from './addresses';

/** Every address has one of these; most strings of a row have none. */
const SIGNS = /[@\uff20\ufe6b%:.\\&]/;

/** Whether the text can hold anything to mask: a look that costs little. */
function mayHoldPii(text: string): boolean {
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

/**
 * Rows with every string redacted, keys and values, at any depth (docs/redaction.md).
 *
 * `rows`: the text of one JSON object each. Only string literals that hold an address are written anew; everything else
 * keeps its bytes, numbers their digits.
 */
export function redactRows(rows: readonly string[]): string[] {
  return rows.map(redactRow);
}

function redactRow(row: string): string {
  if (!mayHoldPii(row) && !JSON_ESCAPE.test(row)) return row;
  let redacted = '';
  let copied = 0;
  for (let start = row.indexOf('"'); start >= 0;) {
    const end = endOfString(row, start);
    if (end > row.length) throw new TypeError('a row is the text of a JSON object');
    const raw = row.slice(start, end);
    if (mayHoldPii(raw) || JSON_ESCAPE.test(raw)) {
      const text = JSON.parse(raw) as string;
      const masked = redactText(text);
      if (masked !== text) {
        redacted += row.slice(copied, start) + JSON.stringify(masked);
        copied = end;
      }
    }
    start = row.indexOf('"', end);
  }
  return copied === 0 ? row : redacted + row.slice(copied);
}
