/** Unknown names: what may have been meant, and what there is. */
import { QueryError } from '../errors';
import { otherDialectHint } from '../functions/other-dialects';
import type { Span } from '../tree';
import type { NestedField } from './nested-field';

/** Longest list of names that an error carries. */
const ALLOWED_LIMIT = 20;

/**
 * An unknown column or field, with the nearest name or the record that has it, and, where they are few, all names there are.
 *
 * @param rest how a field without a column is read; undefined: there are none
 */
export function unknownField(
  message: string,
  name: string,
  span: Span,
  names: readonly string[],
  nested?: NestedField,
  rest?: string,
): QueryError {
  const known = [...new Set(names)];
  const near = nearest(name, known);
  const { hint, note } = hintOf(name, near, nested);
  const hints = [hint, rest].filter((part) => part !== undefined);
  return new QueryError('unknownField', message, span, {
    ...(hints.length === 0 ? {} : { hint: hints.join(' ') }),
    ...(note === undefined ? {} : { note }),
    ...(known.length > 0 && known.length <= ALLOWED_LIMIT ? { allowed: known } : {}),
  });
}

function hintOf(name: string, near: string | undefined, nested: NestedField | undefined): Suggestion {
  if (nested === undefined || (!nested.exact && near !== undefined)) return suggestion(name, near);
  return { hint: nested.hint, note: { name, suggestion: nested.name, record: nested.record } };
}

type Suggestion = Pick<QueryError['details'], 'hint' | 'note'>;

/** What an error says where a name is not known. @param near what was probably meant */
export function suggestion(name: string, near: string | undefined): Suggestion {
  return near === undefined ? { note: { name } } : { hint: `Did you mean ${near}?`, note: { name, suggestion: near } };
}

/** Most function names that an error lists. */
const NEAREST_LIMIT = 10;

/**
 * A call of a function that GoogleSQL does not have: how GoogleSQL writes what another dialect calls so, or the nearest name.
 *
 * @param names of the functions that may be called
 */
export function functionNotFound(
  fault: 'invalidQuery' | 'sandboxViolation',
  name: string,
  span: Span,
  names: readonly string[],
): QueryError {
  const near = nearest(name, names);
  const other = otherDialectHint(name);
  return new QueryError(fault, `Function not found: ${name}.`, span, {
    ...(other === undefined ? suggestion(name, near) : { hint: other, note: { name } }),
    ...(fault === 'sandboxViolation' ? { allowed: nearestNames(name, names) } : {}),
  });
}

/** Known names that differ least, the nearest first; of those that differ alike the first of the list. */
export function nearestNames(name: string, known: readonly string[]): readonly string[] {
  if (name.length > LONGEST_NAME) return known.slice(0, NEAREST_LIMIT);
  const wanted = name.toLowerCase();
  return known
    .slice(0, MOST_COMPARED)
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAREST_LIMIT)
    .map(({ candidate }) => candidate);
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
    if (candidate.length < (longer?.length ?? Infinity) && candidate.toLowerCase().startsWith(wanted))
      longer = candidate;
    if (Math.abs(candidate.length - wanted.length) > least) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    // A letter is left out more often than one is added.
    if (distance < least || (distance === least && best !== undefined && candidate.length > best.length)) {
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
