/** What DuckDB says when a query fails while it runs, in the fixed words of this service: never a value, never its text. */
import { QueryError } from '../../../errors';
import { EXECUTION_FAULTS, UNKNOWN_EXECUTION_FAULT } from '../../execution-faults';
import { FAILURE_MARK, type Failure } from './sql';

const WORDS: Readonly<Record<Failure, string>> = EXECUTION_FAULTS;

/** DuckDB's own messages, first match wins. */
const MESSAGES: readonly (readonly [RegExp, Failure])[] = [
  [/scalar subquery|more than one row returned by a subquery/i, 'rows'],
  [/unknown timezone/i, 'zone'],
  [/malformed json|invalid json/i, 'json'],
  [/division by zero|divide by zero/i, 'division'],
  [/timestamp|date (?:field|out of range)|could not parse string|strptime|interval|(?:^|\W)(?:date|time) /i, 'date'],
  [/overflow|undefined outside|out of range|range error|cannot take/i, 'overflow'],
  [
    /regular expression|regexp|invalid rewrite|missing \)|unexpected \)|missing \]|no argument for repetition|invalid escape|bad repetition|invalid (?:perl|character|group|named)|trailing \\/i,
    'regexp',
  ],
  [/conversion error|could not convert|could not cast|decode|base64|hex/i, 'cast'],
];

/** Kinds of DuckDB errors that a row's values, and so the query, are to blame for. */
const OF_THE_QUERY = /^(?:Conversion|Invalid Input|Out of Range|Invalid Type|Not implemented) Error/;

/**
 * The caller's error for one that DuckDB raised while running a translated query; null where it is no fault of the query
 * but of the engine or of the translation, which the log should have in full.
 */
export function runtimeError(error: unknown): QueryError | null {
  // Not `instanceof Error`: the error comes out of a native module, whose Error may be another realm's.
  const held = typeof error === 'object' && error !== null && 'message' in error;
  const failure = kindOf(held ? String(error.message) : String(error));
  return failure === null ? null : new QueryError('invalidQuery', failure, null);
}

function kindOf(message: string): string | null {
  const own = new RegExp(`${FAILURE_MARK}(\\w+)`).exec(message)?.[1];
  if (own !== undefined && own in WORDS) return WORDS[own as Failure];
  if (!OF_THE_QUERY.test(message)) return null;
  const known = MESSAGES.find(([pattern]) => pattern.test(message));
  return known === undefined ? UNKNOWN_EXECUTION_FAULT : WORDS[known[1]];
}
