import { QueryError, ServiceError } from '../../../errors';
import type { Log } from './log';
import { messageOf } from './native-error';
import { runtimeError } from '../translate';

/** At the beginning alone, as the kinds below: what follows can be a value of a row. */
const MEMORY = /^(?:Out of Memory Error|(?:[\w -]{1,40} Error: )?(?:failed to allocate|(?:std::)?bad_alloc))/i;
const DEPTH = /^Parser Error: Max expression depth/;
/** DuckDB does not take the statement at all: a gap in the translation, which no retry closes. */
const REFUSED = /^(?:Parser|Binder|Catalog) Error/;

/**
 * What the caller is message of an error from a connection: failures of the query itself in the fixed words for their
 * kind, a lack of memory as `resourcesExceeded`, anything else as `backendError`. DuckDB's text may hold values of rows
 * and SQL: it goes to nobody, and of it only the kind to the log.
 */
export function failure(error: unknown, log: Log): Error {
  if (error instanceof ServiceError || error instanceof QueryError || error instanceof DOMException) return error;
  const message = messageOf(error);
  if (MEMORY.test(message)) {
    const message = 'The query needs more memory than it is allowed. Reduce the time range or ask for less.';
    return new ServiceError('resourcesExceeded', message);
  }
  if (DEPTH.test(message)) {
    const message = 'The query nests too deeply for the embedded engine. Join fewer tables, or nest fewer subqueries.';
    return new QueryError('resourcesExceeded', message, null);
  }
  if (REFUSED.test(message)) {
    log.error({ kind: kindOf(message) }, 'DuckDB refused a translated query');
    return new QueryError('invalidQuery', 'The embedded engine cannot run this query.', null);
  }
  const ofTheQuery = runtimeError(new Error(message));
  if (ofTheQuery !== null) return ofTheQuery;
  log.error({ kind: kindOf(message) }, 'The embedded engine failed');
  return new ServiceError('backendError', 'The embedded engine failed.');
}

/** `Binder Error`: DuckDB's words for what went wrong, before anything of the query. */
function kindOf(message: string): string {
  return /^[\w -]{1,40}? Error/.exec(message)?.[0] ?? 'unknown';
}
