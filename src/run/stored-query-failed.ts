import { faultIn } from '../endpoints/definition';
import type { Endpoint } from '../endpoints/endpoint';
import { type QueryError, ServiceError } from '../errors';
import { isExecutionFault } from '../engines/execution-faults';
import type { Span } from '../googlesql/syntax';

/** Whether a statement is at fault, and not a value that it met. */
export function isFaultOfText(error: QueryError): boolean {
  return error.fault !== 'resourcesExceeded' && !isExecutionFault(error);
}

/**
 * The error for the caller of an endpoint whose stored query is wrong: nothing that they sent is. The log names file and place.
 *
 * @param span in the file; null: not known
 */
export function storedQueryFailed({ file, sql }: Endpoint, error: QueryError, span: Span | null): ServiceError {
  const { line, column, reason } = faultIn(sql, error);
  const place = span === null ? file : `${file}:${String(line)}:${String(column)}`;
  const message = 'The stored query of this endpoint is wrong. Its operator finds the reason in the log.';
  return new ServiceError('storedQueryFailed', message, {}, { cause: new Error(`${place}: ${reason}`) });
}
