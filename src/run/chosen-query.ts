import type { ConsumerRequest, Endpoint } from '../endpoints';
import type { BoundParameter, RunLimits } from '../engines/contract';
import { locate, QueryError, ServiceError } from '../errors';
import { tableOfLql, translateLql } from '../lql';
import { fixesOrder } from '../googlesql/row-order';
import type { Span } from '../googlesql/syntax';
import { type Gate, type StoredQuery, tablesOfStoredQuery } from '../sandbox';

/** What a request runs: the stored query, or the consumer's own over its CTE tables. */
export interface ChosenQuery {
  /** GoogleSQL, complete. */
  readonly sql: string;
  /** The values that `sql` names, and no other. */
  readonly parameters: readonly BoundParameter[];
  /** The consumer's statement in `sql`; null: there is none. */
  readonly consumer: Span | null;
  /** Whether the query fixes the order of its rows. */
  readonly ordered: boolean;
  /** CTE tables that it reaches. */
  readonly tables: readonly string[];
  /** A fault that the engine finds in `sql`, as the caller gets it: with its place in the text that they sent. */
  readonly forCaller: (error: QueryError) => ServiceError;
}

/** Microseconds since the epoch; taken once per request. */
type Now = () => bigint;

/**
 * Chooses what runs, the consumer's text through the gate.
 *
 * @param fenced the caller must learn nothing of rows that the stored query leaves out
 * @throws ServiceError for what the gate or LQL refuses, with its place in the caller's text
 */
export async function chooseQuery(
  endpoint: Endpoint,
  query: ConsumerRequest['query'],
  parameters: readonly BoundParameter[],
  { gate, now }: { readonly gate: Gate; readonly now: Now },
  limits: RunLimits,
  fenced = false,
): Promise<ChosenQuery> {
  const stored = storedQueryOf(endpoint, parameters);
  if (query === null) return storedChoice(stored, parameters);
  if (query.language === 'sql') {
    const toCaller = (error: QueryError): ServiceError => locate(error, query.text);
    return admitted(gate, stored, { ...query, fenced }, parameters, toCaller, limits);
  }
  const context = { tables: endpoint.cteTables, now: now() };
  const table = tableOfLql(query.text, context);
  if (table === null) return storedChoice(stored, parameters);
  const { columns } = await gate.columns(stored, table, limits);
  const translation = translateLql(query.text, { now: context.now, tables: [{ name: table, columns }] });
  if (translation === null) return storedChoice(stored, parameters);
  const translated = { language: 'lql', text: translation.sql, fenced } as const;
  return admitted(gate, stored, translated, parameters, translation.locate, limits);
}

/** For `catch`: a fault in the SQL goes to the caller in their terms, anything else as it is. */
export function inWordsFor({ forCaller }: ChosenQuery): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof QueryError ? forCaller(thrown) : thrown;
  };
}

async function admitted(
  gate: Gate,
  stored: StoredQuery,
  { language, text, fenced }: NonNullable<ConsumerRequest['query']> & { readonly fenced: boolean },
  parameters: readonly BoundParameter[],
  toCaller: (error: QueryError) => ServiceError,
  limits: RunLimits,
): Promise<ChosenQuery> {
  const {
    sql,
    consumer,
    ordered,
    tables,
    parameters: named,
    original,
  } = await gate.admit(stored, text, { from: language, fenced, limits }).catch((error: unknown) => {
    throw error instanceof QueryError ? toCaller(error) : error;
  });
  return {
    sql,
    consumer,
    ordered,
    parameters: parameters.filter(({ name }) => named.has(name.toLowerCase())),
    tables,
    forCaller: ({ fault, message, span, details }) =>
      toCaller(new QueryError(fault, message, span && original(span), details)),
  };
}

/** Nobody who calls a stored query wrote its text: positions in it stay inside. */
function storedChoice(stored: StoredQuery, parameters: readonly BoundParameter[]): ChosenQuery {
  return {
    sql: stored.sql,
    consumer: null,
    ordered: fixesOrder(stored.query),
    parameters,
    tables: tablesOfStoredQuery(stored),
    forCaller: (error) => new ServiceError(error.fault, error.message, {}, { cause: error }),
  };
}

function storedQueryOf(endpoint: Endpoint, parameters: readonly BoundParameter[]): StoredQuery {
  const { id, revision, sql, query, cteTables } = endpoint;
  return { id, revision, sql, query, cteTables, parameters };
}
