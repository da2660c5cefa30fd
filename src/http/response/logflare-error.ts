import { ERRORS, ServiceError } from '../../errors';
import { jsonResponse, type NamedResponse } from './response';

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
