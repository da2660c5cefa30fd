/** What programs read of a fault. Nothing of it is sent: callers have the message and the hint. */
export interface FaultNote {
  /**
   * `ungrouped`: a column that is neither grouped nor aggregated. `value`: a row's value did not fit, `pattern`: a regular expression
   * of the query did not. `untranslated`: the engine's database does not take the query as it was translated.
   */
  readonly code?: 'ungrouped' | 'value' | 'pattern' | 'untranslated';
  /** The unknown name. */
  readonly name?: string;
  /** What was probably meant in its place. */
  readonly suggestion?: string;
  /** The record in which there is a field of that name, by its path. */
  readonly record?: string;
}

export type QueryFault = 'invalidQuery' | 'sandboxViolation' | 'unknownField' | 'resourcesExceeded';

/** What else is known of a fault. */
export interface QueryDetails {
  readonly parameter?: string;
  /** What would have been accepted in this place. */
  readonly allowed?: readonly string[];
  /** What to write instead. */
  readonly hint?: string;
  readonly note?: FaultNote;
}

/**
 * A fault in a SQL text, with its place in that text: UTF-16 offsets into the text that was read.
 */
export class QueryError extends Error {
  override readonly name = 'QueryError';

  constructor(
    readonly fault: QueryFault,
    message: string,
    /** null: the fault has no single place. */
    readonly span: { readonly start: number; readonly end: number } | null,
    readonly details: QueryDetails = {},
  ) {
    super(message);
  }
}

/**
 * Line and column, both from 1, of a UTF-16 offset. Columns count Unicode code points and a tab is one
 * (docs/querying.md); CR, LF and CRLF each end a line.
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
