import type { QueryError } from './query-error';
import { ServiceError } from './service-error';

/** Longest excerpt in `near`, in code points. */
const NEAR_LIMIT = 80;

/**
 * Line and column, both from 1, of a UTF-16 offset. Columns count Unicode code points and a tab is one
 * (docs/errors.md); CR, LF and CRLF each end a line.
 */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(i + 1) !== 0x0a)) {
      line++;
      lineStart = i + 1;
    }
  }
  return { line, column: Array.from(text.slice(lineStart, offset)).length + 1 };
}

/** The UTF-16 offset of what `lineAndColumn` gives; beyond the end of a line it is that end. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const before = lines.slice(0, line - 1).join('').length;
  const points = Array.from(lines[line - 1] ?? '');
  return before + points.slice(0, column - 1).join('').length;
}

/** What of the details is for the caller. */
function sentOf({ note: _, ...details }: QueryError['details']): Omit<QueryError['details'], 'note'> {
  return details;
}

/** The error that the caller of `text` gets for a fault found in it. */
export function locate(error: QueryError, text: string): ServiceError {
  const { span } = error;
  const details = sentOf(error.details);
  if (span === null) return new ServiceError(error.fault, error.message, details, { cause: error });
  const near = Array.from(text.slice(span.start, span.end)).slice(0, NEAR_LIMIT).join('');
  return new ServiceError(
    error.fault,
    error.message,
    { ...details, ...lineAndColumn(text, span.start), ...(near === '' ? {} : { near }) },
    { cause: error },
  );
}
