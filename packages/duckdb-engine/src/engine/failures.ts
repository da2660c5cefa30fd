import { createHash } from 'node:crypto';
import { abortError } from '../concurrency/deadline';
import { ServiceError } from '../contract/service-error';
import { QueryError } from '@logquay/googlesql/types';
import type { Log } from './log';
import { kindOf, messageOf } from './native-error';
import { isShortage, OutOfMemory, PassingFailure } from './shared-memory';
import { executionFault, untranslated } from '../contract/execution-faults';
import { runtimeError } from '../translate';

/** At the beginning alone, as the kinds below: what follows can be a value of a row. */
const DEPTH = /^Parser Error: Max expression depth/;
/** DuckDB does not take the statement at all: a gap in the translation, which no retry closes. */
const REFUSED = /^(?:Parser|Binder|Catalog) Error/;

/**
 * What the caller is message of an error from a connection: failures of the query itself in the fixed words for their
 * kind, a lack of memory as `resourcesExceeded`, anything else as `backendError`. DuckDB's text may hold values of rows
 * and SQL: it goes to nobody, and of it only the kind to the log.
 *
 * @param sql the query, of which the log has a hash
 * @param isAbandoned nobody waits for the query any more: what is thrown on its way out is no failure
 */
export function failure(error: unknown, log: Log, sql: string, isAbandoned: boolean): Error {
  if (error instanceof ServiceError || error instanceof QueryError || error instanceof DOMException) return error;
  if (isAbandoned) return abortError();
  if (error instanceof PassingFailure) return executionFault(null, null);
  if (isShortage(error)) return new OutOfMemory();
  const message = messageOf(error);
  if (DEPTH.test(message)) {
    const message = 'The query nests too deeply for the embedded engine. Join fewer tables, or nest fewer subqueries.';
    return new QueryError('resourcesExceeded', message, null);
  }
  if (REFUSED.test(message)) {
    log.error({ kind: kindOf(message), query: hashOf(sql) }, 'DuckDB refused a translated query');
    return untranslated();
  }
  const ofTheQuery = runtimeError(new Error(message));
  if (ofTheQuery !== null) return ofTheQuery;
  log.error({ kind: kindOf(message), query: hashOf(sql) }, 'The embedded engine failed');
  return new ServiceError('backendError', 'The embedded engine failed.');
}

/** The first twelve digits of the text's SHA-256: who has the text finds its lines (`printf %s "$sql" | sha256sum`). */
function hashOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex').slice(0, 12);
}
