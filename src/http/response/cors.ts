import type { RequestHeaders } from '../request/headers';

/** Headers of a request that a page may send, and of an answer that it may read. */
const REQUEST_HEADERS =
  'Accept, Authorization, Content-Type, If-None-Match, LF-ENDPOINT-REDACT-PII, traceparent, X-API-KEY, X-Request-Id';
const RESPONSE_HEADERS =
  'Age, Cache-Status, Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, Server-Timing, WWW-Authenticate, X-Default-Parameters, X-Error-Status, X-Query-Bytes-Billed, X-Query-Bytes-Processed, X-Query-Warnings, X-Request-Id, X-Result-Truncated, X-Unknown-Parameters';

/** How long a browser may remember a preflight, in seconds. */
const REMEMBERED = 600;

/** Which pages of which origins may read the answers. */
export class Cors {
  constructor(private readonly origins: '*' | readonly string[]) {}

  /** Whether answers differ by `Origin`. */
  get configured(): boolean {
    return this.origins === '*' || this.origins.length > 0;
  }

  /** Whether a request comes from no page of a browser, or from one that may read answers. */
  allows(request: RequestHeaders): boolean {
    return request.values('origin').length === 0 || this.#allowed(request) !== null;
  }

  /** For every answer; none for an origin that is not allowed. */
  headers(request: RequestHeaders): Record<string, string> {
    const allowed = this.#allowed(request);
    if (allowed === null) return {};
    return { 'Access-Control-Allow-Origin': allowed, 'Access-Control-Expose-Headers': RESPONSE_HEADERS };
  }

  /** For the answer to a preflight, beside those of every answer. */
  preflight(request: RequestHeaders, methods: readonly string[]): Record<string, string> {
    if (this.#allowed(request) === null || request.values('access-control-request-method').length === 0) return {};
    return {
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': REQUEST_HEADERS,
      'Access-Control-Max-Age': String(REMEMBERED),
    };
  }

  #allowed(request: RequestHeaders): string | null {
    const [origin] = request.values('origin');
    if (origin === undefined) return null;
    if (this.origins === '*') return '*';
    return this.origins.includes(origin) ? origin : null;
  }
}
