import { QueryError, ServiceError } from '../../errors';
import type { Log } from './log';
import { runtimeError } from './translate';

/** DuckDB names the kind of an error first. These are of the engine, not of the query's values. */
const ENGINE = /^(?:IO|FATAL|INTERNAL|Connection|Permission|Serialization|Transaction\w*|Dependency) Error/i;
/** A translation that DuckDB does not take: a gap of ours. */
const TRANSLATION = /^(?:Parser|Binder|Catalog|Not implemented|Parameter Not \w+) Error/i;
const MEMORY = /^Out of Memory Error|failed to allocate|bad_alloc/i;

/**
 * What the caller is told of an error from a connection: failures of the query itself in the fixed words for their
 * kind, a lack of memory as `resourcesExceeded`, the engine's own as `backendError`. DuckDB's text may hold values of
 * rows: it goes to nobody, and only its kind to the log.
 */
export function failure(error: unknown, log: Log): Error {
  if (error instanceof ServiceError || error instanceof QueryError || error instanceof DOMException) return error;
  const message = error instanceof Error ? error.message : String(error);
  const kind = /^[\w -]{1,40}? Error/i.exec(message)?.[0] ?? 'unknown';
  if (MEMORY.test(message)) {
    const told = 'The query needs more memory than it is allowed. Reduce the time range or ask for less.';
    return new ServiceError('resourcesExceeded', told);
  }
  if (ENGINE.test(message) || !(error instanceof Error)) {
    log.error({ kind }, 'The embedded engine failed');
    return new ServiceError('backendError', 'The embedded engine failed.');
  }
  if (TRANSLATION.test(message)) {
    log.error({ kind, detail: message.slice(0, 300) }, 'A translated query was refused by DuckDB');
    return new QueryError('invalidQuery', 'The embedded engine cannot run this query.', null);
  }
  const told = runtimeError(message);
  if (!told.known) log.warn({ kind }, 'A query failed in a way that has no words of its own');
  return told.error;
}
