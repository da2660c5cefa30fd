/** A difference between the engines, and its class: so many of them have one cause. */

import { knownReason } from './known';

export type Kind =
  /** Other rows, or other types. */
  | 'rows'
  /** The embedded engine answers what the reference refuses. */
  | 'accepted'
  /** The embedded engine refuses what the reference answers, without saying that it is not supported. */
  | 'refused'
  /** DuckDB could not even bind the translation: always a fault. */
  | 'broken';

export interface Difference {
  readonly kind: Kind;
  /** What it is of, in short: the outermost function. */
  readonly of: string;
  readonly sql: string;
  readonly embedded: string;
  readonly reference: string;
}

/** What a run has seen. */
export class Findings {
  /** Expressions and queries on which the engines were held together. */
  compared = 0;
  agreed = 0;
  readonly differences: Difference[] = [];
  /** How often the embedded engine said that something is not supported, by its words. */
  readonly unsupported = new Map<string, number>();
  /** How often a difference was one of `known.ts`, by its reason, with the shortest of them. */
  readonly documented = new Map<string, { times: number; shortest: Difference }>();
  /** How often the reference could not be compared. */
  readonly uncompared = new Map<string, number>();

  refusedByName(words: string): void {
    count(this.unsupported, words);
  }

  /** Records a difference; one that is known counts as agreement. */
  add(difference: Difference): void {
    const reason = knownReason(difference);
    if (reason === null) {
      this.differences.push(difference);
      return;
    }
    this.agreed++;
    const { times, shortest } = this.documented.get(reason) ?? { times: 0, shortest: difference };
    const isShorter = difference.sql.length < shortest.sql.length;
    this.documented.set(reason, { times: times + 1, shortest: isShorter ? difference : shortest });
  }

  notCompared(words: string): void {
    count(this.uncompared, words.slice(0, 120));
  }

  /** Differences by kind and function, the most frequent first. */
  classes(): [name: string, differences: Difference[]][] {
    const classes = new Map<string, Difference[]>();
    for (const difference of this.differences) {
      const name = `${difference.kind} ${difference.of}`;
      classes.set(name, [...(classes.get(name) ?? []), difference]);
    }
    return [...classes].sort((a, b) => b[1].length - a[1].length);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** An error of DuckDB itself where the translation is at fault. */
export function isBroken(message: string): boolean {
  return /^(?:Binder|Parser|Catalog|Internal|INTERNAL|Fatal) Error|can't be translated|Cannot mix values/i.test(
    message,
  );
}
