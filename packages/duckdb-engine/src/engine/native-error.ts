/** What an error says. Errors of native code and of Node's own modules need not be of this realm's `Error`. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

/** `ENOENT` and the like; null where the error has no code. */
export function codeOf(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null;
}

/** `Binder Error`: DuckDB's words for what went wrong, before anything of the query or of its rows. */
export function kindOf(error: unknown): string {
  return /^[A-Z][\w -]{0,40}? Error/.exec(messageOf(error))?.[0] ?? 'unknown';
}

/** Whether DuckDB has met a bug of its own: every further statement of that instance may be refused. */
export function isBreakdown(error: unknown): boolean {
  return /^(?:FATAL|INTERNAL) Error/.test(messageOf(error));
}

/** Data that the service cannot start with. The message names the file or table and what would be right. */
export class DataFault extends Error {
  override readonly name = 'DataFault';
}
