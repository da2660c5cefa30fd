/** Where a regular expression matches, by the rules of REGEXP_INSTR; DuckDB says what matches, not where. */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { MOST_PATTERN_COST, patternCost } from '@logquay/googlesql/types';
import { type ChunkBudget, scalarFunction } from './scalar-function';

/** In place of a place: a wrong number, a wrong pattern, one that is too large. */
const WRONG_ARGUMENT = -1n;
const WRONG_PATTERN = -2n;
const TOO_LARGE = -3n;

/** Units of the budget for each instruction at each character of a text: at worst all of them are looked at. */
const FOR_STEP = 2;
/** Units of the budget for one unit of what a pattern costs to compile. */
const FOR_COMPILING = 750;
/** Patterns that were used last; null: the text is not a valid pattern. */
const patterns = new LRUCache<string, { readonly re: RE2JS | null }>({ max: 200 });

/** @returns undefined: the budget leaves no room to compile it */
function compiled(pattern: string, cost: number, budget: ChunkBudget): RE2JS | null | undefined {
  let known = patterns.get(pattern);
  if (known === undefined) {
    if (!budget.spend(Math.ceil(cost) * FOR_COMPILING)) return undefined;
    patterns.set(pattern, (known = { re: compile(pattern) }));
  }
  return known.re;
}

function compile(pattern: string): RE2JS | null {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return null;
  }
}

/** Counted in characters from 1, of the whole match or its one group; 0: there is none. */
export const regexpPlace = scalarFunction(
  ['text', 'text', 'integer', 'integer', 'integer'],
  'integer',
  (text, pattern, position, occurrence, end, budget) => {
    if (position < 1n || occurrence < 1n || end < 0n || end > 1n) return WRONG_ARGUMENT;
    const cost = patternCost(pattern);
    if (cost > MOST_PATTERN_COST) return TOO_LARGE;
    const re = compiled(pattern, cost, budget);
    if (re === undefined) return 0n;
    if (re === null) return WRONG_PATTERN;
    if (position > BigInt(Buffer.byteLength(text)) || pattern === '') return 0n;
    if (re.groupCount() > 1) return WRONG_PATTERN;
    const rest = text.slice(offsetOf(text, Number(position) - 1));
    const match = nthMatch(re, rest, occurrence, budget);
    if (match === null) return 0n;
    return position + BigInt(charactersOf(rest.slice(0, end === 1n ? match.end : match.end - match.length)));
  },
);

/** The place in UTF-16 behind so many characters, or the end. */
function offsetOf(text: string, characters: number): number {
  let at = 0;
  for (let i = 0; i < characters && at < text.length; i++) at += widthAt(text, at);
  return at;
}

function widthAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1;
}

function charactersOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++;
  return count;
}

/**
 * Where a match, or its group, ends, and how long it is; null: there is none, or the budget is used up. Without a group, an
 * empty match ends behind the character that follows it, as GoogleSQL has it.
 */
function nthMatch(
  re: RE2JS,
  text: string,
  occurrence: bigint,
  budget: ChunkBudget,
): { end: number; length: number } | null {
  const matcher = re.matcher(text);
  const grouped = re.groupCount() === 1;
  let at = 0;
  for (let i = 1n; ; i++) {
    if (!budget.spend((text.length - at + 1) * re.programSize() * FOR_STEP) || !matcher.find(at)) return null;
    const [start, end] = [matcher.start(0), matcher.end(0)];
    at = end > start || end >= text.length ? end : end + widthAt(text, end);
    if (i < occurrence) {
      if (at >= text.length) return null;
      continue;
    }
    if (!grouped) return { end: at, length: end - start };
    const [from, to] = [matcher.start(1), matcher.end(1)];
    return from < 0 ? null : { end: to, length: to - from };
  }
}
