import type { ErrorDetails } from './service-error';

/** What programs read of a fault. Nothing of it is sent: callers have the message and the hint. */
export interface FaultNote {
  /**
   * `ungrouped`: a column that is neither grouped nor aggregated. `value`: a row's value did not fit, `pattern`: a regular expression
   * of the query did not. `untranslated`: the engine's database does not take the query as it was translated.
   */
  readonly code?: 'ungrouped' | 'value' | 'pattern' | 'untranslated';
  /** The unknown name. */
  readonly name?: string;
  /** What was probably meant in its place. */
  readonly suggestion?: string;
  /** The record in which there is a field of that name, by its path. */
  readonly record?: string;
}

export type QueryFault = 'invalidQuery' | 'sandboxViolation' | 'unknownField' | 'resourcesExceeded';

/**
 * A fault in a SQL text, with its place in that text. `locate` (position.ts) turns it into a ServiceError once the
 * text that the caller sent is known; until then offsets are UTF-16 offsets into the text that was read.
 */
export class QueryError extends Error {
  override readonly name = 'QueryError';

  constructor(
    readonly fault: QueryFault,
    message: string,
    /** null: the fault has no single place. */
    readonly span: { readonly start: number; readonly end: number } | null,
    readonly details: Pick<ErrorDetails, 'allowed' | 'hint' | 'parameter'> & { readonly note?: FaultNote } = {},
  ) {
    super(message);
  }
}
