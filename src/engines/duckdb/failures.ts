import { QueryError, ServiceError } from '../../errors';
import { runtimeError } from './translate';

/**
 * What the caller is told of an error from a connection: failures of the query itself in the fixed words for their
 * kind, a lack of memory as `resourcesExceeded`, anything else as `backendError`. DuckDB's own text may hold values of
 * rows and stays in `cause`.
 */
export function failure(error: unknown): Error {
  if (error instanceof ServiceError || error instanceof QueryError || error instanceof DOMException) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/^Out of Memory Error|failed to allocate|bad_alloc/i.test(message)) {
    const told = 'The query needs more memory than it is allowed. Reduce the time range or ask for less.';
    return new ServiceError('resourcesExceeded', told, {}, { cause: error });
  }
  return runtimeError(error) ?? new ServiceError('backendError', 'The embedded engine failed.', {}, { cause: error });
}
