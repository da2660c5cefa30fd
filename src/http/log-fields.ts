import type { CompletedRequest } from '../telemetry';

type Fields = Record<string, string | number>;

/**
 * The fields of the log's line for a request (docs/operations.md): never a value, a secret or a row, so never the URL; the
 * caller's own query only if that is asked for. Flat: a field that is an object costs pino more than all others together.
 */
export function logFields(
  id: string,
  request: CompletedRequest,
  { trace, withSql }: { readonly trace: string | undefined; readonly withSql: boolean },
): Fields {
  const fields: Fields = { id, method: request.method };
  const { route, key, endpoint, cache, table, events, reason, query, billed } = request;
  if (route !== undefined) fields.route = route;
  if (key !== undefined) fields.key = key;
  if (endpoint !== undefined) fields.endpoint = endpoint;
  if (cache !== undefined) fields.cache = cache;
  if (table !== undefined) fields.table = table;
  if (events !== undefined) fields.events = events;
  if (reason !== undefined) fields.reason = reason;
  fields.status = request.status;
  fields.ms = tenths(request.milliseconds);
  for (const { name, milliseconds } of request.phases) fields[`${name}Ms`] = tenths(milliseconds);
  fields.bytes = request.bytes;
  if (billed !== undefined) fields.billed = Number(billed);
  if (trace !== undefined) fields.trace = trace;
  if (withSql && query !== undefined) fields[query.language] = query.text;
  return fields;
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
