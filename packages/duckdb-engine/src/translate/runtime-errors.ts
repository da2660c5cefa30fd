/** What DuckDB says when a query fails while it runs, in the fixed words of this service: never a value, never its text. */
import { QueryError } from '@logquay/googlesql/types';
import { EXECUTION_FAULTS, executionFault } from '../contract/execution-faults';
import type { Span } from '@logquay/googlesql/syntax';
import { FAILURE_MARK, type Failure, OVERLOAD } from '../sql';
import { CHUNK_BYTES } from '../scalar-functions/scalar-function';

/** The whole of what `error()` raises in a translated query (`fail` in sql.ts). */
const OWN = new RegExp(
  `^Invalid Input Error: ${FAILURE_MARK}(\\w+)(?:\\.([A-Z0-9_.]{1,60}))?(?:@(\\d{1,9})-(\\d{1,9}))?(?:\n|$)`,
);

/** `Conversion Error: ` and the like, with which every message begins. */
const KIND = /^[A-Z][\w -]{1,40}? Error: /;

/**
 * How DuckDB's own messages begin behind their kind, first match wins. Only the beginning is looked at, up to the first
 * value: values come from rows, and no text of theirs may choose what is answered.
 */
const BEGINNINGS: readonly (readonly [RegExp, Failure])[] = [
  [/^more than one row returned by a subquery/i, 'rows'],
  [/^unknown timezone/i, 'zone'],
  [/^(?:malformed json|invalid json|json )/i, 'json'],
  [/^(?:division|divide|modulo) by zero/i, 'division'],
  [
    /^(?:invalid (?:timestamp|date|time|interval)|(?:timestamp|date|time|interval|epoch) |could not parse string|could not convert (?:timestamp|date|time)|strptime|strftime|extract specifier)/i,
    'date',
  ],
  [
    /^type (?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INT\d+|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\)) with value [-+.\de]+ can't be cast because/i,
    'overflow',
  ],
  [/^(?:overflow|cannot take|value out of range|\w+ is undefined outside)/i, 'overflow'],
  [
    /^(?:regular expression|regexp|invalid rewrite|missing \)|unexpected \)|missing \]|no argument for repetition|invalid escape|bad repetition|invalid (?:repetition|perl|character class|named)|trailing \\)/i,
    'regexp',
  ],
  [/^(?:could not (?:convert|cast|decode)|failure in decode|invalid input for hex)/i, 'cast'],
];

/** What a kind says by itself, where the beginning says nothing. */
const KINDS: ReadonlyMap<string, Failure> = new Map([
  ['Conversion Error', 'cast'],
  ['Out of Range Error', 'overflow'],
]);

/** Kinds of DuckDB errors that a row's values, and so the query, are to blame for; and a LIKE pattern that ends within an escape. */
const OF_THE_QUERY =
  /^(?:(?:Conversion|Invalid Input|Out of Range|Invalid Type|Not implemented) Error|Syntax Error: Like pattern)/;

/**
 * The caller's error for one that DuckDB raised while running a translated query; null where it is no fault of the query
 * but of the engine or of the translation, which the log should have in full.
 */
export function runtimeError(error: unknown): QueryError | null {
  // Not `instanceof Error`: the error comes out of a native module, whose Error may be another realm's.
  const held = typeof error === 'object' && error !== null && 'message' in error;
  const message = held ? String(error.message) : String(error);
  const [, own, functionName, start, end] = OWN.exec(message) ?? [];
  const place = start === undefined || end === undefined ? null : { start: Number(start), end: Number(end) };
  if (own === OVERLOAD && functionName !== undefined) return overloaded(functionName, place);
  if (own !== undefined && isFailure(own)) return executionFault(own, place);
  return OF_THE_QUERY.test(message) ? executionFault(failureOf(message), place) : null;
}

function overloaded(functionName: string, place: Span | null): QueryError {
  const message = `${functionName} is given too much at once`;
  const most = `${CHUNK_BYTES / 1024 / 1024} MiB in some 2,000 rows, and less of what takes long`;
  return new QueryError('resourcesExceeded', message, place, {
    hint: `It takes up to ${most}: filter rows before, or cut their values, as with LEFT(x, 4000).`,
  });
}

function isFailure(kind: string): kind is Failure {
  return Object.hasOwn(EXECUTION_FAULTS, kind);
}

function failureOf(message: string): Failure | null {
  const kind = KIND.exec(message)?.[0] ?? '';
  const rest = message.slice(kind.length);
  return BEGINNINGS.find(([beginning]) => beginning.test(rest))?.[1] ?? KINDS.get(kind.replace(/: $/, '')) ?? null;
}
