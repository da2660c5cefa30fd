/** What is told of every request once it has ended: its line in the log, its metrics and its trace. */
import type { Log } from '../log';
import type { RequestMeter } from '../metrics/readings';
import type { CompletedRequest } from '../telemetry';
import type { TraceParent, Tracing } from '../tracing/request-spans';
import type { RequestHeaders } from './request/headers';

export interface RequestLogOptions {
  readonly log: Log;
  readonly meter: RequestMeter;
  /** null: requests are not traced. */
  readonly tracing: Tracing | null;
  /** Whether the log tells the SQL and LQL of requests. */
  readonly logSql: boolean;
  /** Whom else it is told; absent: nobody. */
  readonly tell?: ((id: string, request: CompletedRequest, url: string) => void) | undefined;
}

export class RequestLog {
  constructor(private readonly options: RequestLogOptions) {}

  completed(id: string, headers: RequestHeaders, request: CompletedRequest, url = ''): void {
    const { log, meter, tracing, logSql } = this.options;
    meter.count(request);
    const parent = parentOf(headers.list('traceparent'));
    const trace = tracing?.record(request, parent, headers.list('tracestate')) ?? parent?.traceId;
    log.info(logFields(id, request, { trace, withSql: logSql }), 'request');
    this.options.tell?.(id, request, url);
  }
}

type Fields = Record<string, string | number>;

/**
 * The fields of the log's line for a request (docs/operations.md): never a value, a secret or a row, so never the URL; the
 * caller's own query only if that is asked for. Flat: a field that is an object costs pino more than all others together.
 */
function logFields(
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

/** `traceparent` (W3C Trace Context, 2.2.1): version, trace id, parent id, flags; later versions may say more behind them. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The flag by which the caller says that it may have kept its part of the trace (2.2.3.2). */
const SAMPLED = 1;

/** The span that a request is part of; undefined where the header is missing or not valid. */
export function parentOf(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (parseInt(flags, 16) & SAMPLED) !== 0 };
}
