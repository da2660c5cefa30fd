import { codeOf, messageOf } from '../engine/native-error';

/** What kind of fault an error is. DuckDB's messages may hold values of rows: they are not for the log. */
export function faultKind(error: unknown): string {
  const message = messageOf(error);
  if (/No space left|ENOSPC/.test(message)) return 'no space left';
  return codeOf(error) ?? /^[A-Z][\w -]*? Error/.exec(message)?.[0] ?? 'unknown';
}
