import { STATUS_CODES } from 'node:http';
import { ERRORS, ServiceError } from '../../errors';
import { TokenRefused } from '../../keys/claims';

/** RFC 6750, 3. */
const CHALLENGE = 'Bearer realm="logquay"';
const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token"`;

/** A response, without the headers that exchange.ts adds to every one. */
export interface HttpResponse {
  readonly status: number;
  /** By name, or a flat list of names and values, which is faster to write. */
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  /** null: none, as with 204 and 304. */
  readonly body: Buffer | null;
}

/** A response with its headers by name. */
export interface NamedResponse extends HttpResponse {
  readonly headers: Readonly<Record<string, string>>;
}

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): NamedResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** The error that a caller sees for anything thrown. What the service did not word itself shows nothing of the inside. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError(
    'internalError',
    'Something went wrong inside. The log names it by the request id.',
    {},
    {
      cause: thrown,
    },
  );
}

/** The one shape of every error (docs/querying.md): that of Google's own API errors, with the true status. */
export function errorResponse(error: ServiceError, requestId: string): NamedResponse {
  const { http, status } = ERRORS[error.reason];
  const { retryAfter, ...details } = error.details;
  const body = {
    error: {
      code: http,
      status,
      message: error.message,
      errors: [{ domain: 'global', reason: error.reason, message: error.message, ...details }],
      requestId,
    },
  };
  return {
    status: http,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      ...(http === 401 ? { 'WWW-Authenticate': error instanceof TokenRefused ? INVALID_TOKEN : CHALLENGE } : {}),
      ...(http === 405 ? { Allow: (details.allowed ?? []).join(', ') } : {}),
      ...([429, 503, 507].includes(http) ? { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter ?? 1))) } : {}),
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The answer as bytes for a connection whose request could not even be parsed. */
export function rawResponse(answer: NamedResponse, more: Readonly<Record<string, string>>): Buffer {
  const body = answer.body ?? Buffer.alloc(0);
  const headers = { ...more, ...answer.headers, 'Content-Length': String(body.length), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `HTTP/1.1 ${String(answer.status)} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
  return Buffer.concat([Buffer.from(`${start}${lines.join('')}\r\n`), body]);
}

/** Whether Logflare answers such an error of a consumer query with 200 (docs/supabase.md): what its caller can mend. */
export function isLogflareError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof ServiceError && (ERRORS[thrown.reason].http === 400 || thrown.reason === 'sandboxViolation');
}

/**
 * The error as Logflare answers it: 200 and `{"error": text}`, which Supabase Studio shows as it is. `X-Error-Status` has the
 * true status.
 */
export function logflareError(error: ServiceError): NamedResponse {
  const status = String(ERRORS[error.reason].http);
  return jsonResponse(200, { error: textOf(error) }, { 'X-Error-Status': status });
}

/** Message, place and hint: the text is all that Studio shows. */
function textOf({ message, details: { line, column, hint } }: ServiceError): string {
  const place = line === undefined || column === undefined ? [] : [`(line ${String(line)}, column ${String(column)})`];
  return [message, ...place, ...(hint === undefined ? [] : [hint])].join(' ');
}
