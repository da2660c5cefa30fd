import type { RequestFacts } from '../metrics';

/** What is learnt of a request on its way, for log and metrics; names alone, and what is counted. */
export class Told {
  /** The route's pattern. */
  route: string | undefined = undefined;
  key: string | undefined = undefined;
  /** Whether the key has pins; undefined: no key was needed so far. */
  pinned: boolean | undefined = undefined;
  endpoint: string | undefined = undefined;
  /** How a result came about. */
  cache: string | undefined = undefined;
  /** Of a run that this request began: whether its result was kept, and bytes that it was billed. */
  stored: boolean | undefined = undefined;
  billed: bigint | undefined = undefined;
  /** The caller's own query. */
  query: { readonly language: 'sql' | 'lql'; readonly text: string } | undefined = undefined;
  /** Of an error. */
  reason: string | undefined = undefined;
}

interface LogHead {
  readonly id: string;
  readonly method: string;
  readonly trace: string | undefined;
}

type Fields = Record<string, string | number>;

/**
 * The fields of the log's line for a request (docs/operations.md): never a value, a secret or a row, so never the URL; the
 * caller's own query only if that is asked for. Flat: a field that is an object costs pino more than all others together.
 */
export function logFields(
  { id, method, trace }: LogHead,
  facts: Omit<RequestFacts, 'query'> & Pick<Told, 'query' | 'billed'>,
  withSql: boolean,
): Fields {
  const fields: Fields = { id, method };
  const { route, key, endpoint, cache, reason, query, billed } = facts;
  if (route !== undefined) fields.route = route;
  if (key !== undefined) fields.key = key;
  if (endpoint !== undefined) fields.endpoint = endpoint;
  if (cache !== undefined) fields.cache = cache;
  if (reason !== undefined) fields.reason = reason;
  fields.status = facts.status;
  fields.ms = tenths(facts.milliseconds);
  for (const { name, milliseconds } of facts.phases) fields[`${name}Ms`] = tenths(milliseconds);
  fields.bytes = facts.bytes;
  if (billed !== undefined) fields.billed = Number(billed);
  if (trace !== undefined) fields.trace = trace;
  if (withSql && query !== undefined) fields[query.language] = query.text;
  return fields;
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
