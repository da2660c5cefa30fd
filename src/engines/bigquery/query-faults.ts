/**
 * What is wrong with a query, by BigQuery's words for it. Nothing of those words goes to the caller: an error of
 * evaluation may quote a row, one of compilation a part of the stored query.
 */
import { deadlineExceeded } from '@logquay/duckdb-engine/concurrency';
import {
  type Reason,
  ServiceError,
  executionFault,
  type ExecutionFault,
  OUT_OF_MEMORY,
} from '@logquay/duckdb-engine/contract';
import { QueryError, type QueryFault } from '@logquay/googlesql/types';
import { type ApiFailure, isTransient } from './api-failure';

/**
 * The UTF-16 offset of a place that BigQuery names, line and column from 1: columns count code points, a tab goes on to
 * the next multiple of eight, and CR, LF and CRLF each end a line. A place behind the text is its end.
 */
export function offsetAt(text: string, line: number, column: number): number {
  let offset = 0;
  for (let at = 1; at < line; at++) {
    const end = /\r\n|\r|\n/g;
    end.lastIndex = offset;
    if (end.exec(text) === null) return text.length;
    offset = end.lastIndex;
  }
  let width = 0;
  for (const character of text.slice(offset)) {
    if (width >= column - 1) break;
    width = character === '\t' ? (Math.floor(width / TAB) + 1) * TAB : width + 1;
    offset += character.length;
  }
  return offset;
}

const TAB = 8;

/** What BigQuery's positions count in, and where the text begins that faults are reported against. */
export interface SentText {
  readonly sql: string;
  readonly offset: number;
}

const UNKNOWN_TABLE = 'There is no table of this name.';

/** How BigQuery begins what it says of a query that it does not run: in words that no evaluation fails with. First match wins. */
const COMPILATION: readonly (readonly [RegExp, QueryFault, string])[] = [
  [
    /^(unrecognized name|name \S+ not found inside|field name \S+ does not exist|cannot access field|column \S+ not found)/i,
    'unknownField',
    'There is no column or field of this name.',
  ],
  [/^(syntax error|illegal |unclosed |expected )/i, 'invalidQuery', 'BigQuery finds an error of syntax.'],
  [/^column name \S+ is ambiguous/i, 'invalidQuery', 'A column name is ambiguous.'],
  [/^duplicate column name/i, 'invalidQuery', 'Two columns of the result have one name. Give one an alias.'],
  [
    /^(no matching signature|could not cast literal|invalid cast)/i,
    'invalidQuery',
    'The types of the values do not fit.',
  ],
  [
    /^table \S+ must be qualified with a dataset|^table not found|^not found: (table|dataset)/i,
    'invalidQuery',
    UNKNOWN_TABLE,
  ],
  [/^function not found/i, 'invalidQuery', 'BigQuery knows no function of this name.'],
  [
    /^[^:'"(]*neither grouped nor aggregated|^aggregate function|^aggregations of aggregations/i,
    'invalidQuery',
    'An expression does not fit the grouping.',
  ],
];

/**
 * How BigQuery begins what it says of an evaluation that failed, up to the first value (`beginningOf`). First match wins: an
 * index out of bounds is an «overflow» too. Values come from rows, and no text of theirs may choose what is answered.
 */
const EXECUTION: readonly (readonly [RegExp, ExecutionFault])[] = [
  [/^division by zero/i, 'division'],
  [/^array (index|subscript)|^subscript|out of bounds/i, 'subscript'],
  [/^regular expressions passed into extraction functions/i, 'groups'],
  [/^cannot parse regular expression|^invalid (regular expression|regexp|rewrite)|^regexp_/i, 'regexp'],
  [/^scalar subquery produced more than one|more than one (element|row)/i, 'rows'],
  [/null element/i, 'null_element'],
  [/time ?zone/i, 'zone'],
  [/json/i, 'json'],
  [/^failed to parse input|^mismatch between format|error parsing|format (string|element)|unconsumed/i, 'parse'],
  [/^invalid (timestamp|date|datetime|time)\b|^could not parse .* as (timestamp|date|datetime|time)\b/i, 'date'],
  [/^(timestamp|date|datetime|time|interval) .*(overflow|out of (the )?(supported )?range)/i, 'date'],
  [
    /^bad \w+ value|^invalid \w+ value|^could not cast(?! literal)|^unable to (parse|convert)|invalid utf|base64|hex/i,
    'cast',
  ],
  [/overflow|out of range|floating point error|exceeds? (the )?range/i, 'overflow'],
  [/too many elements|exceeds? max(imum)? (allowed|output)|maximum (allowed )?(output )?size/i, 'size'],
  [/^generate_(date_|timestamp_)?(array|range)$/i, 'size'],
  [/^argument|must be|cannot be|^sequence step/i, 'argument'],
];

/** The function in which it failed, as some messages begin: `MOD: division by zero`. */
const IN_FUNCTION = /^(?!REGEXP_)[A-Z][A-Z0-9_.]*: /;

/** What stands before the first value of a message: values are quoted, in parentheses, or behind a colon or `value`. */
const FIRST_VALUE = /[:'"`\u2018\u201c(]|\bvalue (?=[^:])/;

/** A text that calls ERROR() can make BigQuery say anything. */
const CALLS_ERROR = /\berror\s*\(/i;

/** `… at [2:6]`: BigQuery's own position. */
const POSITION = /\bat \[(\d+):(\d+)\]\s*$/;

/** The caller's error for a query that BigQuery refuses or fails on, with its place where it does not compile. */
function queryFault(message: string, text: SentText): QueryError {
  if (CALLS_ERROR.test(text.sql)) return executionFault(null, null);
  const compilation = COMPILATION.find(([pattern]) => pattern.test(message));
  if (compilation !== undefined) return new QueryError(compilation[1], compilation[2], placeIn(message, text));
  const { beginning, whole } = beginningOf(message);
  const execution = EXECUTION.find(([pattern]) => pattern.test(beginning));
  if (execution !== undefined) {
    // Behind a value, what looks like a position could be a part of it.
    return executionFault(execution[1], whole ? placeIn(message, text) : null);
  }
  // Only a query that does not compile has a position for sure.
  return POSITION.test(message)
    ? new QueryError('invalidQuery', 'BigQuery refuses the query.', placeIn(message, text))
    : executionFault(null, placeIn(message, text));
}

/** A table that is not there: BigQuery says so with a reason of its own. */
function unknownTable(message: string, text: SentText): QueryError {
  return new QueryError('invalidQuery', UNKNOWN_TABLE, placeIn(message, text));
}

/** The word, or the one character, where BigQuery points. */
function placeIn(message: string, { sql, offset }: SentText): QueryError['span'] {
  const position = POSITION.exec(message);
  if (position === null) return null;
  const at = offsetAt(sql, Number(position[1]), Number(position[2]));
  const word = /^(?:[\w@]+|`[^`]*`|[^])/u.exec(sql.slice(at));
  return at < offset ? null : { start: at - offset, end: at - offset + (word?.[0].length ?? 0) };
}

/** What a message says before its first value, and whether that is all of it but its position. */
function beginningOf(message: string): { readonly beginning: string; readonly whole: boolean } {
  const said = message.replace(POSITION, '').replace(IN_FUNCTION, '').trim();
  const beginning = (said.split(FIRST_VALUE, 1)[0] ?? '').trim();
  return { beginning, whole: beginning === said };
}

/** BigQuery's failures as errors of the service, by their `reason`. */

type PublicError = readonly [reason: Reason, message: string, retryAfter?: number];

const QUOTA: PublicError = ['backendUnavailable', "BigQuery's quota is used up for now.", 60];
const BUSY: PublicError = ['backendUnavailable', 'BigQuery asks for fewer requests.', 5];
const UNAVAILABLE: PublicError = ['backendUnavailable', 'BigQuery is not available.', 5];
const UNREADABLE: PublicError = ['backendError', "BigQuery's answer could not be read."];
const REFUSED: PublicError = ['backendError', 'BigQuery could not run the query.'];

/** A map: the reason is BigQuery's text, and may be the name of a member that every object has. */
const BY_REASON: ReadonlyMap<string, PublicError> = new Map(
  Object.entries<PublicError>({
    brokenAnswer: UNREADABLE,
    bytesBilledLimitExceeded: [
      'bytesBilledLimitExceeded',
      'The query would read more bytes than it may bill. Reduce the time range or ask for less.',
    ],
    jobRateLimitExceeded: BUSY,
    malformedAnswer: UNREADABLE,
    quotaExceeded: QUOTA,
    rateLimitExceeded: BUSY,
    resourcesExceeded: ['resourcesExceeded', OUT_OF_MEMORY],
    responseTooLarge: ['resourcesExceeded', 'The result is too large for BigQuery. Ask for fewer rows or columns.'],
    usageQuotaExceeded: QUOTA,
  }),
);

/** For a query that the local BigQuery says it cannot run: the query may be right. */
const LOCAL_LIMIT =
  'The local BigQuery cannot run this query. BigQuery may: emulator/README.md has the limits of the local one.';

/** Reasons for a fault in the query, where they come with 400, or with 200 from services that answer so. */
const QUERY_FAULTS = new Set(['invalidQuery', 'invalid']);

/**
 * The error for the caller. Details of the service's own set-up (a role, a table, credentials) go to the log only
 * (`isOperatorsMatter`).
 */
export function translateFailure(failure: ApiFailure, text: SentText): ServiceError | QueryError {
  const { httpStatus, reason, detail, retryAfter } = failure;
  if (QUERY_FAULTS.has(reason) && (httpStatus === 400 || httpStatus === 200)) return queryFault(detail, text);
  if (reason === 'notImplemented' && detail.startsWith('The local BigQuery'))
    return new QueryError('invalidQuery', LOCAL_LIMIT, null);
  if (reason === 'notFound' && !/not found: job/i.test(detail)) return unknownTable(detail, text);
  // A job is stopped by its own time limit, which is the run's, or by somebody else.
  if (reason === 'timeout' || (reason === 'stopped' && /timed? ?out/i.test(detail))) return deadlineExceeded();
  const error = BY_REASON.get(reason) ?? (isTransient(failure) ? UNAVAILABLE : REFUSED);
  const [publicReason, message, seconds] = httpStatus === 429 ? BUSY : error;
  const wait = seconds === undefined ? {} : { retryAfter: retryAfter ?? seconds };
  return new ServiceError(publicReason, message, wait, { cause: failure });
}

const OPERATORS = new Set([
  'accessDenied',
  'billingNotEnabled',
  'noCredentials',
  'notFound',
  'quotaExceeded',
  'usageQuotaExceeded',
]);

/** Whether the operator has to act. BigQuery's messages for these name tables and roles, never a value. */
export function isOperatorsMatter({ reason, httpStatus }: ApiFailure): boolean {
  return OPERATORS.has(reason) || httpStatus === 401 || httpStatus === 403;
}
