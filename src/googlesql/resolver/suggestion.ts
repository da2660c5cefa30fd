/** Unknown names: what may have been meant, and what there is. */
import { QueryError } from '../../errors';
import type { Span } from '../syntax';

/** Longest list of names that an error carries. */
const ALLOWED_LIMIT = 20;

/** An unknown column or field, with the nearest name and, where they are few, all names there are. */
export function unknownField(message: string, name: string, span: Span, names: readonly string[]): QueryError {
  const known = [...new Set(names)];
  const near = nearest(name, known);
  return new QueryError('unknownField', message, span, {
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
    ...(known.length > 0 && known.length <= ALLOWED_LIMIT ? { allowed: known } : {}),
  });
}

/** Comparing two names takes time in proportion to the product of their lengths: of longer ones and of more nobody makes slips. */
const LONGEST_NAME = 64;
const MOST_COMPARED = 1_000;

/** The shortest beginning of a name that represents it. */
const SHORTEST_BEGINNING = 4;

/**
 * The known name that differs least, if it differs by a slip of the keyboard: a third of its length at most; else the shortest
 * one that goes on where `name` ends.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let longer: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let compared = 0;
  for (const candidate of known) {
    if (compared++ === MOST_COMPARED) break;
    if (candidate.length < (longer?.length ?? Infinity) && candidate.toLowerCase().startsWith(wanted)) longer = candidate;
    if (Math.abs(candidate.length - wanted.length) >= least) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best ?? (wanted.length >= SHORTEST_BEGINNING ? longer : undefined);
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
