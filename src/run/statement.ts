/** Which pattern of a query is at fault, once an engine has refused one. */
import { faultIn } from '../endpoints/definition';
import type { Endpoint } from '../endpoints/endpoint';
import { patternFault } from '../endpoints/values';
import {
  isExecutionFault,
  SEVERAL_CAN_FAIL,
  type BoundParameter,
  type RunLimits,
} from '@logquay/duckdb-engine/contract';
import { QueryError, ServiceError, locate } from '../errors';
import { TRANSLATED_BOUNDS, parseQuery, type Span, walk } from '@logquay/googlesql/syntax';
import { type StoredAnalyses, storedQueryOf } from '../analysis/stored-analyses';
import { isTimeName, type NamedType, type Roles, rolesOf, type TableSchema } from '@logquay/googlesql/types';
import type { ConsumerRequest } from '../endpoints/reserved-parameters';
import { fixesOrder } from '@logquay/googlesql';
import type { Key } from '../keys/key';
import { openLql } from './lql-text';
import { tablesOfStoredQuery } from '../sandbox/compose';
import { StoredQueryFault } from '../sandbox/cte-columns';
import type { Gate } from '../sandbox/gate';
import type { StoredQuery } from '../sandbox/stored-query';
import type { Services } from './services';
import type { RequestPlan } from './types';

/** Longest text that is read again on the main thread, in UTF-16 units, and patterns that are looked at. */
const LONGEST_TEXT = 8_000;
const MOST_PATTERNS = 20;

/**
 * The error with the place of the pattern, where the engine gives none and the text writes one that RE2 does not take: it fails
 * on every row alike.
 *
 * @param sql the caller's text, in which the place counts
 */
export function withPattern(error: QueryError, sql: string): QueryError {
  const { fault, message, span, details } = error;
  if (span !== null || details.note?.code !== 'pattern' || sql.length > LONGEST_TEXT) return error;
  for (const pattern of patternsOf(sql)) {
    const wrong = patternFault(pattern.text);
    if (wrong !== null)
      return new QueryError(fault, message, pattern.span, { ...details, hint: `RE2 says: ${wrong}.` });
  }
  return error;
}

/** Patterns that are written as literals, in the order of the text; none where it cannot be read. */
function patternsOf(sql: string): readonly { readonly text: string; readonly span: Span }[] {
  const found: { readonly text: string; readonly span: Span }[] = [];
  try {
    walk(parseQuery(sql, TRANSLATED_BOUNDS), (node) => {
      if (node.kind !== 'call' || !/^regexp_/i.test(node.path.at(-1)?.name ?? '')) return;
      const pattern = node.arguments[1]?.expression;
      if (pattern?.kind !== 'literal' || pattern.type !== 'STRING' || found.length >= MOST_PATTERNS) return;
      found.push({ text: pattern.value, span: pattern.span });
    });
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
  }
  return found;
}

/** Whether a statement is at fault, and not a value that it met. */
function isFaultOfText(error: QueryError): boolean {
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

/** Keys that must learn nothing of rows which a stored query filters out (docs/sandbox.md, The fence). */

/** Without pins a key could choose every value of the stored filters itself: nothing is hidden from it. */
export function needsFence(key: Pick<Key, 'pins'>): boolean {
  return key.pins.size > 0;
}

/** Sorts rows without a fixed order: the engine's order would reveal how other rows lie between them. */
export function inPlainOrder(rows: readonly string[]): readonly string[] {
  return [...rows].sort();
}

/**
 * The error of a query that failed on a value. Which of several expressions fails first can depend on how other rows lie between
 * the caller's: then nothing is said about it.
 *
 * @param onlyFault the one place in the caller's text that can fail
 */
function fencedFault({ fault, message }: QueryError, onlyFault: Span | null): QueryError {
  return new QueryError(fault, onlyFault === null ? SEVERAL_CAN_FAIL : message, onlyFault);
}

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
  { analyses, gate, now }: Pick<Services, 'analyses' | 'gate' | 'now'>,
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
  const roles = await rolesIn(endpoint, { name: lql.table, columns }, analyses, limits);
  const translation = lql.translate(columns, roles);
  const translated = { language: 'lql', text: translation.sql, fenced } as const;
  return admitted(gate, endpoint, stored, translated, parameters, translation.locate, limits);
}

/** The roles of a CTE table's columns. Whether a number is a time only the table behind tells, which is followed where there is one. */
async function rolesIn(
  endpoint: Endpoint,
  { name, columns }: TableSchema,
  analyses: Pick<StoredAnalyses, 'roles'>,
  limits: RunLimits,
): Promise<Roles> {
  const roles = rolesOf(columns, endpoint.log);
  const mayCount = ({ type, name: column }: NamedType): boolean =>
    (type.kind === 'INT64' || type.kind === 'FLOAT64') && isTimeName(column);
  if (!columns.some(mayCount)) return roles;
  const { tables } = await analyses.roles(endpoint, limits);
  const time = tables.find((table) => table.name === name)?.roles?.time ?? null;
  return time === null || time.unit === null ? roles : { ...roles, time };
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
