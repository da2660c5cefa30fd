import { QueryError } from '@logquay/googlesql/types';

/**
 * The message for the caller when the evaluation of a row fails: one fixed text for each kind, the same on every engine, never
 * the engine's words (docs/querying.md: a consumer's expression may have met rows that are not the caller's).
 */
export const EXECUTION_FAULTS = {
  division: 'Division by zero',
  overflow: 'A number is out of range',
  cast: 'A value cannot be cast to the requested type',
  argument: 'An argument of a function is out of range',
  subscript: 'An array subscript is out of bounds',
  regexp: 'A regular expression is not valid',
  groups: 'A regular expression has more than one capturing group',
  date: 'A date or time is not valid',
  parse: 'A text does not match the format it is parsed by',
  json: 'A text is not valid JSON',
  null_element: 'An array in the result holds a NULL element',
  zone: 'A time zone is not known',
  rows: 'A scalar subquery gives more than one row',
  size: 'A text or an array that the query makes is too large',
  raised: 'The query raised an error with ERROR()',
} as const;

export type ExecutionFault = keyof typeof EXECUTION_FAULTS;

/** For a failure of none of these kinds. */
export const UNKNOWN_EXECUTION_FAULT = 'The query failed on a value while it ran';

/** For a query of a key with pins in which more than one expression can fail (docs/decisions/fence.md). */
export const SEVERAL_CAN_FAIL = 'The query failed on a value while it ran. Several of its expressions can fail';

/** The error of a failure while rows are evaluated. @param kind null: of no known kind */
export function executionFault(kind: ExecutionFault | null, span: QueryError['span']): QueryError {
  return new QueryError('invalidQuery', kind === null ? UNKNOWN_EXECUTION_FAULT : EXECUTION_FAULTS[kind], span, {
    note: { code: kind === 'regexp' ? 'pattern' : 'value' },
  });
}

/** Whether an engine raised it while it evaluated rows. */
export function isExecutionFault({ details }: Pick<QueryError, 'details'>): boolean {
  return details.note?.code === 'value' || details.note?.code === 'pattern';
}

/** For a query that an engine's database does not take as it was translated: a fault of the translation. */
export function untranslated(): QueryError {
  const message = 'The embedded engine cannot run this query.';
  return new QueryError('invalidQuery', message, null, { note: { code: 'untranslated' } });
}

export const OUT_OF_MEMORY = 'The query needs more memory than it is allowed. Reduce the time range or ask for less.';
