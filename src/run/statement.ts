import { storedQueryOf } from '../analysis/stored-analyses';
import type { Endpoint } from '../endpoints/endpoint';
import type { ConsumerRequest } from '../endpoints/reserved-parameters';
import { locate, QueryError, ServiceError } from '../errors';
import { openLql } from '../lql/read';
import { tablesOfStoredQuery } from '../sandbox/compose';
import { StoredQueryFault } from '../sandbox/cte-columns';
import type { Gate } from '../sandbox/gate';
import type { StoredQuery } from '../sandbox/stored-query';
import type { BoundParameter, RunLimits } from '../engines/contract';
import { isExecutionFault } from '../engines/execution-faults';
import { fixesOrder } from '../googlesql/row-order';
import type { Span } from '../googlesql/syntax';
import { withPattern } from './bad-pattern';
import { fencedFault } from './fence';
import type { Services } from './services';
import { isFaultOfText, storedQueryFailed } from './stored-query-failed';
import type { RequestPlan } from './types';

/** The SQL of a request: the stored query, or the consumer's over its CTE tables. */
export interface Statement {
  /** GoogleSQL, complete. */
  readonly sql: string;
  /** Those that `sql` names. */
  readonly parameters: readonly BoundParameter[];
  /** The consumer's query in `sql`; null: a stored query alone. */
  readonly consumer: Span | null;
  /** Whether the order of the rows is fixed. */
  readonly ordered: boolean;
  /** CTE tables that it reads. */
  readonly tables: readonly string[];
  /** Translates the engine's error for the caller, with a position in the text that they sent. */
  readonly errorForCaller: (error: QueryError) => ServiceError;
}

/**
 * Composes the statement of a plan; a consumer query passes the gate.
 *
 * @throws ServiceError for what the gate or LQL refuses, with its position in the caller's text
 */
export async function composeStatement(
  { endpoint, query, parameters, fenced }: Pick<RequestPlan, 'endpoint' | 'query' | 'parameters' | 'fenced'>,
  { gate, now }: Pick<Services, 'gate' | 'now'>,
  limits: RunLimits,
): Promise<Statement> {
  const stored = storedQueryOf(endpoint);
  if (query === null) return storedStatement(endpoint, stored, parameters, fenced);
  if (query.language === 'sql') {
    const toCaller = (error: QueryError): ServiceError => locate(error, query.text);
    return admitted(gate, endpoint, stored, { ...query, fenced }, parameters, toCaller, limits);
  }
  const lql = openLql(query.text, { tables: endpoint.cteTables, now: now() });
  if (lql === null) return storedStatement(endpoint, stored, parameters, fenced);
  const { columns } = await gate.columns(stored, lql.table, limits).catch(rethrowFor(endpoint));
  const translation = lql.translate(columns);
  const translated = { language: 'lql', text: translation.sql, fenced } as const;
  return admitted(gate, endpoint, stored, translated, parameters, translation.locate, limits);
}

/** For `catch`: translates errors in the SQL for the caller and rethrows others. */
export function forCaller({ errorForCaller }: Statement): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof QueryError ? errorForCaller(thrown) : thrown;
  };
}

async function admitted(
  gate: Gate,
  endpoint: Endpoint,
  stored: StoredQuery,
  { language, text, fenced }: NonNullable<ConsumerRequest['query']> & { readonly fenced: boolean },
  parameters: readonly BoundParameter[],
  toCaller: (error: QueryError) => ServiceError,
  limits: RunLimits,
): Promise<Statement> {
  const {
    sql,
    consumer,
    ordered,
    tables,
    parameters: named,
    onlyFault,
    original,
  } = await gate
    .admit(stored, text, { from: language, fenced, limits })
    .catch((error: unknown) => {
      throw error instanceof QueryError ? toCaller(withPattern(error, text)) : error;
    })
    .catch(rethrowFor(endpoint));
  return {
    sql,
    consumer,
    ordered,
    parameters: parameters.filter(({ name }) => named.has(name.toLowerCase())),
    tables,
    errorForCaller: (error) => {
      if (isExecutionFault(error) && fenced) return toCaller(fencedFault(error, onlyFault));
      const { fault, message, span, details } = error;
      // Of what DuckDB does not say where it failed: the one place that can.
      const own = span === null && isExecutionFault(error) ? onlyFault : span && original(span);
      if (consumer !== null && span !== null && own === null && isFaultOfText(error)) {
        return storedQueryFailed(endpoint, error, null);
      }
      return toCaller(withPattern(new QueryError(fault, message, own, details), text));
    },
  };
}

/** For `catch`: a fault of the stored query is its operator's, whoever sent what else. */
function rethrowFor(endpoint: Endpoint): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof StoredQueryFault ? storedQueryFailed(endpoint, thrown.fault, null) : thrown;
  };
}

/** The caller did not write the stored query: errors carry no position in it. */
function storedStatement(
  endpoint: Endpoint,
  stored: StoredQuery,
  parameters: readonly BoundParameter[],
  fenced: boolean,
): Statement {
  return {
    sql: stored.sql,
    consumer: null,
    ordered: fixesOrder(stored.query),
    parameters,
    tables: tablesOfStoredQuery(stored),
    errorForCaller: (error) => {
      if (isFaultOfText(error)) return storedQueryFailed(endpoint, error, error.span);
      const { fault, message } = fenced && isExecutionFault(error) ? fencedFault(error, null) : error;
      return new ServiceError(fault, message, {}, { cause: error });
    },
  };
}
