/** What formats of dates and times have in common, those that are written and those that are read. */
import { LRUCache } from 'lru-cache';
import type { ChunkBudget } from './chunk-budget';

/** What is formatted, or read. */
export type TimeKind = 'DATE' | 'TIME' | 'DATETIME' | 'TIMESTAMP';

/** As our functions are given it. */
export const TIME_KINDS: readonly TimeKind[] = ['DATE', 'TIME', 'DATETIME', 'TIMESTAMP'];

/** Elements of what a value of the kind has not. */
export const LACKING: Readonly<Record<TimeKind, string>> = {
  DATE: 'cHIklMPpRrSsTXZz',
  TIME: 'AaBbhCcDdeFGgjmsUuVWwxYyZz',
  DATETIME: 'Zz',
  TIMESTAMP: '',
};

/** Elements that are text of others. */
export const COMPOSED: Readonly<Record<string, string>> = {
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  h: '%b',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
  n: '\n',
  t: '\t',
};

/** Of a format: more of either nobody reads. */
export const LONGEST_FORMAT = 1_000;
export const MOST_ELEMENTS = 100;

/** Of formats that are compiled, so many are remembered for a column of few. */
const REMEMBERED = 256;

/** Units of the budget for a format that is not remembered, and for each of its characters. */
const FOR_NEW_FORMAT = 2_000;
const FOR_FORMAT_CHARACTER = 1_000;

/** Whether `rest`, behind a "%", begins with one of the elements that are lacking; E and O go before some. */
export function isLacking(rest: string, lacking: string): boolean {
  const has = (letter: string | undefined): boolean => letter !== undefined && lacking.includes(letter);
  const [first, second] = rest;
  if (first === 'O') return has(second);
  if (first !== 'E') return has(first);
  return has(second) || (has('S') && /^E[*\d]S/.test(rest)) || (has('Y') && rest.startsWith('E4Y'));
}

/** Every odd run of "%" in a format, which begins an element. */
export function elementStarts(format: string): { readonly run: string; readonly rest: string }[] {
  return [...format.matchAll(/%+/g)]
    .filter(([run]) => run.length % 2 === 1)
    .map(({ 0: run, index }) => ({ run, rest: format.slice(index + run.length) }));
}

export const MONTHS: readonly string[] = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
export const DAYS: readonly string[] = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Formats that were compiled last. */
export class CompiledFormats<Compiled extends object | null> {
  readonly #known = new LRUCache<string, { readonly value: Compiled | 'refused' }>({ max: REMEMBERED });

  constructor(private readonly compile: (format: string, kind: TimeKind) => Compiled | 'refused') {}

  /** @returns undefined: the budget is used up, or the format is one that is refused */
  get(format: string, kind: bigint, budget: ChunkBudget): Compiled | undefined {
    if (format.length > LONGEST_FORMAT) {
      budget.exhaust();
      return undefined;
    }
    const key = `${kind}${format}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      if (!budget.spend(FOR_NEW_FORMAT + format.length * FOR_FORMAT_CHARACTER)) return undefined;
      const isLong = elementStarts(format).length > MOST_ELEMENTS;
      known = { value: isLong ? 'refused' : this.compile(format, TIME_KINDS[Number(kind)]!) };
      this.#known.set(key, known);
    }
    if (known.value !== 'refused') return known.value;
    budget.exhaust();
    return undefined;
  }
}
