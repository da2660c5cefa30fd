import type { ErrorDetails } from './service-error';

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
    readonly details: Pick<ErrorDetails, 'allowed' | 'hint' | 'parameter'> = {},
  ) {
    super(message);
  }
}
