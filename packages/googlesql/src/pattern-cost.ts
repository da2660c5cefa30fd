/**
 * What it takes to compile a regular expression (RE2's syntax), estimated before anything compiles it: repetition multiplies
 * (`((a{9}){9}){9}` has 729 instructions), and some classes are long to build. One unit is the work for one instruction of the
 * compiled program, about 3 microseconds of re2js.
 */

/** More than this is not compiled: at worst some 30 milliseconds. Any text of 4 KiB without repetition is below. */
export const MOST_PATTERN_COST = 6_000;

/** A class of Unicode's tables, `\pL`: hundreds of ranges. */
const TABLE = 150;
/** Code points of a range whose other cases `(?i)` looks up in the time of one instruction. */
const FOLDED_PER_UNIT = 75;
/** A repetition: a node of its own, whose height is looked up. */
const REPETITION = 4;
/** Folding looks at no more code points than there are cases for. */
const MOST_FOLDED = 125_000;

/** A quoted run, a class of a table, an escape with digits, another escape, a class, the head of a group, a repetition, a character. */
const UNIT =
  /\\Q([\s\S]*?)(?:\\E|$)|\\[pP](?:\{[^}]*\}|[\s\S]?)|\\x\{[^}]*\}|\\x[\s\S]{0,2}|\\[\s\S]?|\[\^?\]?|\((?:\?[^:)]{0,40}[:)]|\?P?<[^>]*>)?|\{(\d{1,9})(?:,(\d{0,9}))?\}|[\s\S]/gu;
const MEMBER = /\\[pP](?:\{[^}]*\}|[\s\S]?)|\[:\^?[a-z]+:\]|\\x\{[^}]*\}|\\x[\s\S]{0,2}|\\[\s\S]?|[\s\S]/gu;

/** The estimate; a pattern that is not valid has one too. Takes time in proportion to the pattern. */
export function patternCost(pattern: string): number {
  const folds = /\(\?[a-zA-Z]*i/.test(pattern);
  const open: number[] = [];
  let sum = 0;
  let last = 0;
  const put = (cost: number): void => {
    sum += last;
    last = cost;
  };
  UNIT.lastIndex = 0;
  for (let match = UNIT.exec(pattern); match !== null; match = UNIT.exec(pattern)) {
    const [unit, quoted, low, high] = match;
    if (quoted !== undefined) put(quoted.length);
    else if (/^\\[pP]/.test(unit)) put(TABLE);
    else if (low !== undefined) {
      const copies = Math.max(1, Number(low) + (high === '' ? 1 : 0), Number(high ?? 0));
      last = (last + 1) * copies + REPETITION;
    } else if (unit.startsWith('[')) {
      const { cost, end } = classCost(pattern, UNIT.lastIndex, folds);
      put(cost);
      UNIT.lastIndex = end;
    } else if (unit.startsWith('(')) {
      put(0);
      open.push(sum);
      sum = 0;
    } else if (unit === ')') {
      const inside = sum + last + 2;
      sum = open.pop() ?? 0;
      last = inside;
    } else if (unit === '*' || unit === '+' || unit === '?') last += REPETITION;
    else put(1);
  }
  return open.reduce((all, cost) => all + cost, sum + last);
}

/** From behind the opening of a class to behind its end. */
function classCost(pattern: string, start: number, folds: boolean): { cost: number; end: number } {
  let cost = 1;
  let before: number | null = null;
  let ranging = false;
  MEMBER.lastIndex = start;
  for (let match = MEMBER.exec(pattern); match !== null; match = MEMBER.exec(pattern)) {
    const [member] = match;
    if (member === ']') return { cost, end: MEMBER.lastIndex };
    if (member === '-' && before !== null && !ranging) {
      ranging = true;
      continue;
    }
    const point = codePointOf(member);
    if (ranging && before !== null && folds)
      cost += Math.min(Math.max(0, point - before), MOST_FOLDED) / FOLDED_PER_UNIT;
    cost += /^\\[pP]/.test(member) ? TABLE : 0.1;
    before = ranging ? null : point;
    ranging = false;
  }
  return { cost, end: pattern.length };
}

function codePointOf(member: string): number {
  const hex = /^\\x\{?([0-9A-Fa-f]+)/.exec(member)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return member.startsWith('\\') ? (member.codePointAt(1) ?? 0) : (member.codePointAt(0) ?? 0);
}

/** What holds no group that captures, or the head of one that does. */
const GROUP = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|(\((?!\?)|\(\?P?<)/gu;

/** How many groups of a pattern capture. */
export function capturingGroups(pattern: string): number {
  return [...pattern.matchAll(GROUP)].filter(([, group]) => group !== undefined).length;
}
