import type { Attributes } from '@opentelemetry/api';

import type { CompletedRequest } from '../telemetry';

/** Methods that the conventions know; any other is `_OTHER`. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']);

/** What a status says when the caller left before its answer: there was none. */
const LEFT = 499;

/** `GET /api/endpoints`; the method alone where no route matched. */
export function spanName({ method, route }: CompletedRequest): string {
  const named = METHODS.has(method) ? method : 'HTTP';
  return route === undefined ? named : `${named} ${route}`;
}

/**
 * The attributes of a request's span, by OpenTelemetry's conventions for HTTP servers (stable since 1.23) as far as they tell
 * no value: `url.path` and `url.query`, which they ask for, hold names and values that callers send.
 */
export function attributesOf(request: CompletedRequest): Attributes {
  const { method, route, endpoint, key, cache, status, billed } = request;
  const known = METHODS.has(method);
  const attributes: Attributes = { 'http.request.method': known ? method : '_OTHER', 'url.scheme': 'http' };
  // Node's parser knows a closed list of methods: this is no text of the caller's.
  if (!known) attributes['http.request.method_original'] = method;
  if (route !== undefined) attributes['http.route'] = route;
  if (status !== LEFT) attributes['http.response.status_code'] = status;
  const error = errorType(request);
  if (error !== undefined) attributes['error.type'] = error;
  if (endpoint !== undefined) attributes['logquay.endpoint'] = endpoint;
  if (key !== undefined) attributes['logquay.key'] = key;
  if (cache !== undefined) attributes['logquay.cache'] = cache;
  if (billed !== undefined) attributes['logquay.bytes_billed'] = Number(billed);
  return attributes;
}

/** Whether the service failed: errors of the caller do not set the span's status (conventions for HTTP servers). */
export function hasFailed({ status }: CompletedRequest): boolean {
  return status >= 500;
}

function errorType({ status, reason }: CompletedRequest): string | undefined {
  if (status === LEFT) return String(LEFT);
  return reason ?? (status >= 500 ? String(status) : undefined);
}
