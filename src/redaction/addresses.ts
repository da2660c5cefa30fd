/** Half-open UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const MASK = 'REDACTED';

/** The text with every span masked; spans are in order and do not overlap. */
export function mask(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let masked = '';
  let at = 0;
  for (const { start, end } of spans) {
    masked += text.slice(at, start) + MASK;
    at = end;
  }
  return masked + text.slice(at);
}

/**
 * Logs hold text in wrappings: percent-encoded URLs (once or twice), JSON inside of strings. An escape is one character of
 * what it wraps, so that the `20` of `%2010.0.0.1` is a blank and no part of the address.
 */

/** Any character as JSON may write it, also in strings within strings: `\u0031`, `\\u0031`. */
export const JSON_ESCAPE = /(?<!\\)\\+u[0-9a-f]{4}/i;

/** A text with the characters that such escapes stand for. */
export interface Unescaped {
  readonly text: string;
  /** Where spans of it, which are in order, are in the text with escapes. */
  readonly written: (spans: readonly Span[]) => Span[];
}

export function unescaped(written: string): Unescaped {
  const ends: number[] = [];
  const added: number[] = [];
  let sum = 0;
  const text = written.replace(new RegExp(JSON_ESCAPE, 'gi'), (escape, at: number) => {
    ends.push(at - sum + 1);
    added.push((sum += escape.length - 1));
    return String.fromCharCode(parseInt(escape.slice(-4), 16));
  });
  let passed = 0;
  const place = (offset: number): number => {
    while ((ends[passed] ?? Infinity) <= offset) passed++;
    return offset + (added[passed - 1] ?? 0);
  };
  return { text, written: (spans) => spans.map(({ start, end }) => ({ start: place(start), end: place(end) })) };
}

/** A character as read at some place of a text: plain, or wrapped. */
export interface Unit {
  readonly start: number;
  readonly codePoint: number;
  readonly wrapped: boolean;
}

const CONTROL_ESCAPES = new Map([
  ['b', 0x08],
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
]);

/** The character that ends right before `end`; null at the beginning of the text. */
function unitBefore(text: string, end: number): Unit | null {
  if (end <= 0) return null;
  const escape = escapeEndingAt(text, end);
  if (escape !== null) return { ...escape, wrapped: true };
  const unit = text.charCodeAt(end - 1);
  const isPair = unit >= 0xdc00 && unit <= 0xdfff && end > 1;
  const start = isPair ? end - 2 : end - 1;
  const codePoint = text.codePointAt(start) ?? unit;
  // A low surrogate without its high surrogate represents itself.
  return codePoint > 0xffff || !isPair ? { start, codePoint, wrapped: false } : plain(unit, end);
}

function plain(unit: number, end: number): Unit {
  return { start: end - 1, codePoint: unit, wrapped: false };
}

/** The escape (`%20`, `%2520`, `\n`, `\x20`) that ends right before `end`. */
function escapeEndingAt(text: string, end: number): { start: number; codePoint: number } | null {
  if (text.charCodeAt(end - 2) === BACKSLASH) {
    const control = CONTROL_ESCAPES.get(text.charAt(end - 1));
    if (control !== undefined) return { start: end - 2, codePoint: control };
  }
  if (!isHex(text.charCodeAt(end - 1)) || !isHex(text.charCodeAt(end - 2))) return null;
  let digits = end - 2;
  while (text.charAt(digits - 2) === '2' && text.charAt(digits - 1) === '5') digits -= 2;
  if (text.charCodeAt(digits - 1) === PERCENT) {
    return { start: digits - 1, codePoint: parseInt(text.slice(end - 2, end), 16) };
  }
  if (text.charAt(end - 3) === 'x' && text.charCodeAt(end - 4) === BACKSLASH) {
    return { start: end - 4, codePoint: parseInt(text.slice(end - 2, end), 16) };
  }
  return null;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/**
 * Places between `from` and `to` where an escape ends that separates words: the digits before it belong to the escape.
 * `100%10.0.0.1` has none, as nobody writes the control character 0x10: there the percent sign is one.
 */
function* separatorEnds(text: string, from: number, to: number): Generator<number> {
  for (let end = from + 1; end < to; end++) {
    const escape = escapeEndingAt(text, end);
    if (escape !== null && escape.start < from && separates(escape.codePoint)) yield end;
  }
}

/** Blanks, line ends, punctuation, and the bytes of other scripts. */
export function separates(codePoint: number): boolean {
  if (codePoint < 0x20) return codePoint >= 0x08 && codePoint <= 0x0d;
  return codePoint >= 0x80 || !isWord(codePoint);
}

function isHex(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** An ASCII letter, digit or `_`; false for NaN, the unit beyond an end of the text. */
export function isWord(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f;
}

/** The sign in every wrapping: plain and fullwidth, percent-encoded, of HTML. */
const AT = /[@\uff20\ufe6b]|%(?:25)*40|&#(?:64|x40);/gi;

export const MAY_HOLD_EMAIL = /[@\uff20\ufe6b]|%(?:25)*40|&#(?:64|x40);/i;

/** A character of a label beyond ASCII may be wrapped too. */
const WRAPPED = String.raw`%[89a-fA-F][0-9a-fA-F]`;
const LABEL = String.raw`(?:[\p{L}\p{M}\p{N}_-]|${WRAPPED}){1,63}`;
const DOT = String.raw`(?:[.\u3002\uff0e\uff61]|%(?:25)*2[eE])`;
/** The last label is of letters: `a@127.0.0.1` and `package@1.2.3` name no mail domain. */
const TOP = String.raw`(?:[xX][nN]--[A-Za-z0-9-]{1,59}|(?:[\p{L}\p{M}]|${WRAPPED}){2,63})`;
const DOMAIN = new RegExp(`(?:${LABEL}${DOT}){1,126}${TOP}`, 'uy');

/** Longest local part looked for: mail allows 64 octets, wrapping makes more of them. */
const LONGEST_LOCAL = 256;

const LOCAL = /[\p{L}\p{M}\p{N}\p{S}]/u;
/** In mail any of these may stand anywhere; in logs they enclose and separate, unless letters are on both sides. */
const INNER = new Set(Array.from("!#$*^`{}~'", (sign) => sign.charCodeAt(0)));

/**
 * Every e-mail address: a local part (any script, plus-tags, quoted), the sign, and a domain with at least one dot and a
 * last label of letters. `= & ? / | : ;` separate: of `email=ana@example.com&x=1` the address alone is found.
 */
export function findEmails(text: string): Span[] {
  const found: Span[] = [];
  let done = 0;
  for (const match of text.matchAll(AT)) {
    const at = match.index;
    if (at < done) continue;
    DOMAIN.lastIndex = at + match[0].length;
    if (!DOMAIN.test(text)) continue;
    const end = DOMAIN.lastIndex;
    const start = quotedStart(text, at, done) ?? localStart(text, at, done);
    if (start === at) continue;
    found.push({ start, end });
    done = end;
  }
  return found;
}

/** Where the local part that ends at `at` begins; `at` itself: it is empty. */
function localStart(text: string, at: number, done: number): number {
  const farthest = Math.max(done, at - LONGEST_LOCAL);
  let start = at;
  for (let unit = unitBefore(text, at); unit !== null && unit.start >= farthest; unit = unitBefore(text, start)) {
    const belongs =
      isLocal(unit) ||
      // Dots count only with something before them: the ones that begin a text are an ellipsis.
      (isDot(unit) && followsLocal(text, unit.start, farthest)) ||
      (isInner(unit) && start < at && followsLocal(text, unit.start, farthest));
    if (!belongs) break;
    start = unit.start;
  }
  return start;
}

/** Whether a character of a local part stands before `end`, dots between aside. */
function followsLocal(text: string, end: number, farthest: number): boolean {
  let unit = unitBefore(text, end);
  while (unit !== null && unit.start >= farthest && isDot(unit)) unit = unitBefore(text, unit.start);
  return unit !== null && unit.start >= farthest && isLocal(unit);
}

function isInner({ codePoint, wrapped }: Unit): boolean {
  return !wrapped && INNER.has(codePoint);
}

function isDot({ codePoint }: Unit): boolean {
  return codePoint === 0x2e;
}

/** Letters, digits and symbols of any script and `_ + -`; a percent-encoded byte beyond ASCII is part of such a letter. */
function isLocal({ codePoint, wrapped }: Unit): boolean {
  if (codePoint < 0x80) return /[A-Za-z0-9_+-]/.test(String.fromCharCode(codePoint));
  return wrapped || LOCAL.test(String.fromCodePoint(codePoint));
}

/** Where `"quoted local part"@` begins, also with the quotes of JSON inside a string; null: nothing is quoted here. */
function quotedStart(text: string, at: number, done: number): number | null {
  if (text.charAt(at - 1) !== '"') return null;
  const quote = text.charAt(at - 2) === '\\' ? '\\"' : '"';
  const inside = at - quote.length;
  const start = text.lastIndexOf(quote, inside - 1);
  if (start < done || start < 0 || inside - start > LONGEST_LOCAL) return null;
  const content = text.slice(start + quote.length, inside);
  return content === '' || /[\r\n]/.test(content) ? null : start;
}

/** A dot, also percent-encoded. */
const IPV4_DOT = /\.|%(?:25)*2e/gi;
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)`;
const SEPARATOR = String.raw`(?:\.|%(?:25)*2[eE])`;
const ADDRESS = new RegExp(`${OCTET}(?:${SEPARATOR}${OCTET}){3}`, 'y');

/** More digits than an octet and the escape before it can have. */
const FARTHEST_DIGIT = 12;

/** Whether looking closer is worth while: three numbers with dots between. */
export const MAY_HOLD_IPV4 = /\d(?:\.|%(?:25)*2e)\d{1,3}(?:\.|%(?:25)*2e)\d/i;

/**
 * Every IPv4 address: four numbers of 0 to 255 with dots between, wherever they begin. Letters beside it do not matter
 * (`v1.2.3.4` holds one), a digit does (`1.2.3.4567` holds none), and what follows the fourth number is no part of it:
 * `1.2.3.4.443` is an address and a port.
 */
export function findIpv4(text: string): Span[] {
  const found: Span[] = [];
  let done = 0;
  for (const { index: dot } of text.matchAll(IPV4_DOT)) {
    if (dot < done) continue;
    let first = dot;
    while (first > done && dot - first < FARTHEST_DIGIT && isDigit(text.charCodeAt(first - 1))) first--;
    if (first === dot) continue;
    for (const start of [...separatorEnds(text, first, dot), ...(dot - first <= 3 ? [first] : [])]) {
      const end = endOfIpv4(text, start);
      if (end === null) continue;
      found.push({ start, end });
      done = end;
      break;
    }
  }
  return found;
}

/** Where the address that begins at `start` ends; null: none does. */
function endOfIpv4(text: string, start: number): number | null {
  ADDRESS.lastIndex = start;
  return ADDRESS.test(text) ? ADDRESS.lastIndex : null;
}

/** A colon, also percent-encoded. */
const COLON = /:|%(?:25)*3a/gi;
const COLON_HERE = /:|%(?:25)*3[aA]/y;

/** Whether looking closer is worth while: a doubled colon, or five groups in a row. */
export const MAY_HOLD_IPV6 = /(?::|%(?:25)*3a){2}|(?:[0-9a-f]{1,4}(?::|%(?:25)*3a)){5}/i;

/** More hexadecimal digits than a group and the escape before it can have. */
const FARTHEST_HEX = 12;

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
    while (first > this.from && colon - first < FARTHEST_HEX && isHex(text.charCodeAt(first - 1))) first--;
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
