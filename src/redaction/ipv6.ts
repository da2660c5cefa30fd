import { isHex, isWord, separates, separatorEnds, unitBefore } from './escapes';
import { endOfIpv4 } from './ipv4';
import type { Span } from './span';

/** A colon, also percent-encoded. */
const COLON = /:|%(?:25)*3a/gi;
const COLON_HERE = /:|%(?:25)*3[aA]/y;

/** Whether looking closer is worth while: a doubled colon, or five groups in a row. */
export const MAY_HOLD_IPV6 = /(?::|%(?:25)*3a){2}|(?:[0-9a-f]{1,4}(?::|%(?:25)*3a)){5}/i;

/** More hexadecimal digits than a group and the escape before it can have. */
const FARTHEST = 12;

/** `fe80::1%eth0`, in a URL `%25eth0`. */
const ZONE = /%(?:25)*([A-Za-z0-9][A-Za-z0-9._~-]{0,63})/y;

/** Around a lone `::`: what stands around an address, not around an operator of some language. */
const OPENS = /^[\s"'`([{<=,/\\]?$/;
const CLOSES = /^[\s"'`)\]}>,;/\\%]?$/;

/**
 * Every IPv6 address: eight groups, or fewer with one `::`, the last two also as an IPv4 address, with its zone.
 *
 * Names of programming languages use `::` too. An address whose only separator is one `::` is therefore taken only when no
 * letter or digit touches it (`Foo::Bar` has hexadecimal ends), and not when it is spelt like a name (`Abc::Def`). Groups
 * of exactly two digits throughout are a hardware address or a fingerprint.
 */
export function findIpv6(text: string): Span[] {
  const found: Span[] = [];
  let done = 0;
  for (const { index: colon } of text.matchAll(COLON)) {
    if (colon < done) continue;
    const run = new Run(text, colon, done);
    const span = run.address();
    if (span !== null) found.push(span);
    done = span?.end ?? run.end;
  }
  return found;
}

/** What begins with the first colon of a run of groups and colons. */
class Run {
  /** Where reading goes on when there is no address here. */
  end: number;

  constructor(
    private readonly text: string,
    private readonly colon: number,
    private readonly from: number,
  ) {
    this.end = colon + 1;
  }

  address(): Span | null {
    for (const start of this.starts()) {
      const reading = readGroups(this.text, start);
      this.end = Math.max(this.end, reading.runEnd);
      if (reading.address === null) continue;
      const { end, weak } = reading.address;
      if (weak && !this.isDelimited(start, end)) continue;
      return { start, end: end + zoneLength(this.text, end) };
    }
    return null;
  }

  /** Where an address may begin, the likelier first. */
  private *starts(): Generator<number> {
    const { text, colon } = this;
    let first = colon;
    while (first > this.from && colon - first < FARTHEST && isHex(text.charCodeAt(first - 1))) first--;
    const next = colon + colonLength(text, colon);
    const isDoubled = colonLength(text, next) > 0;
    yield* separatorEnds(text, first, isDoubled ? colon + 1 : colon);
    // `IPv6:` of an address literal, and the colon between a label and a doubled one (`peer:::1`).
    if (/ipv6$/i.test(text.slice(Math.max(0, colon - 4), colon))) yield next;
    const isTripled = isDoubled && colonLength(text, next + colonLength(text, next)) > 0;
    if (isTripled && first === colon) yield next;
    if (colon - first <= 4 && (first < colon || isDoubled)) yield first;
    // A label of letters: `client:2001:db8::1`.
    if (!isDoubled) yield next;
  }

  private isDelimited(start: number, end: number): boolean {
    const { text } = this;
    const before = unitBefore(text, start);
    if (before !== null && !separates(before.codePoint)) return false;
    if (isWord(text.charCodeAt(end))) return false;
    const address = text.slice(start, end);
    if (isHex(address.charCodeAt(0)) || isHex(address.charCodeAt(address.length - 1))) {
      return !/^[A-F][a-f]+(?::|%)|(?::|%3[aA])[A-F][a-f]+$/.test(address) || /\d/.test(address.replace(/%\w\w/g, ''));
    }
    return (before?.wrapped === true || OPENS.test(text.slice(start - 1, start))) && CLOSES.test(text.charAt(end));
  }
}

interface Reading {
  /** Up to here nothing else can begin. */
  readonly runEnd: number;
  /** `weak`: it could be the name of something else. */
  readonly address: { readonly end: number; readonly weak: boolean } | null;
}

/** Reads groups from `start` on, and finds the longest address among them. */
function readGroups(text: string, start: number): Reading {
  const lengths: number[] = [];
  let address: { end: number; weak: boolean } | null = null;
  let doubled = false;
  let singles = 0;
  let at = start;
  while (doubled || lengths.length < 8) {
    const group = groupLength(text, at);
    if (group > 4) break;
    if (group > 0) {
      const tail = endOfIpv4(text, at);
      if (tail !== null && (doubled ? lengths.length <= 5 : lengths.length === 6)) {
        return { runEnd: tail, address: { end: tail, weak: false } };
      }
      lengths.push(group);
      at += group;
      const complete = doubled ? lengths.length <= 7 : lengths.length === 8;
      if (complete) address = { end: at, weak: doubled && (singles === 0 || lengths.length < 3) };
    }
    const single = colonLength(text, at);
    const double = single === 0 ? 0 : colonLength(text, at + single);
    if (double > 0) {
      // A second `::` makes no address: it is the path of a name.
      if (doubled || colonLength(text, at + single + double) > 0) return { runEnd: endOfRun(text, at), address: null };
      doubled = true;
      at += single + double;
      if (lengths.length <= 7) address = { end: at, weak: singles === 0 || lengths.length < 2 };
    } else {
      if (single === 0 || lengths.length === 0 || groupLength(text, at + single) === 0) break;
      singles++;
      at += single;
    }
  }
  if (address === null || doubled) return { runEnd: at, address };
  return isHardware(text, start, lengths) ? { runEnd: endOfRun(text, at), address: null } : { runEnd: at, address };
}

/** Two digits in every group; the first may be the end of a word: `SHA256:16:27:...`. */
function isHardware(text: string, start: number, [first, ...others]: readonly number[]): boolean {
  return others.every((length) => length === 2) && (first === 2 || isWord(text.charCodeAt(start - 1)));
}

/** Where groups and colons of any number and length end. */
function endOfRun(text: string, from: number): number {
  let at = from;
  for (;;) {
    const length = isHex(text.charCodeAt(at)) ? 1 : colonLength(text, at);
    if (length === 0) return at;
    at += length;
  }
}

/** Hexadecimal digits in a row; 5 means more than a group can have. */
function groupLength(text: string, at: number): number {
  let length = 0;
  while (length < 5 && isHex(text.charCodeAt(at + length))) length++;
  return length;
}

function colonLength(text: string, at: number): number {
  COLON_HERE.lastIndex = at;
  return COLON_HERE.test(text) ? COLON_HERE.lastIndex - at : 0;
}

/** The zone's length with its percent sign; 0 where the percent sign begins an escape: `::1%20and`. */
function zoneLength(text: string, at: number): number {
  ZONE.lastIndex = at;
  const match = ZONE.exec(text);
  const zone = match?.[1];
  if (match === null || zone === undefined) return 0;
  const isEncodedPercent = match[0].length > zone.length + 1;
  if (!isEncodedPercent && isHex(zone.charCodeAt(0)) && isHex(zone.charCodeAt(1))) {
    const byte = parseInt(zone.slice(0, 2), 16);
    const isEscape = byte < 0x80 ? separates(byte) : text.charAt(at + 3) === '%';
    if (isEscape) return 0;
  }
  const trimmed = zone.replace(/[._~-]+$/, '');
  return match[0].length - (zone.length - trimmed.length);
}
