import { codeOf, kindOf, messageOf } from '../engine/native-error';

/** What kind of fault an error is. DuckDB's messages may hold values of rows: they are not for the log. */
export function faultKind(error: unknown): string {
  if (/No space left|ENOSPC/.test(messageOf(error))) return 'no space left';
  return codeOf(error) ?? kindOf(error);
}
