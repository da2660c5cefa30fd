import type { QueryError } from '../errors';
import type { Span } from './rules';

/** The closed list of codes; docs/lql.md explains each and is held to this list by a test. */
export const LQL_CODES = [
  'too_long',
  'bad_char',
  'too_many_clauses',
  'too_many_selects',
  'too_many_arrays',
  'dangling_negation',
  'negated_clause',
  'bad_word',
  'empty_term',
  'unterminated_string',
  'adjacent',
  'bad_path',
  'empty_value',
  'bad_value',
  'number_range',
  'operator_on_range',
  'operator_on_null',
  'operator_on_boolean',
  'bad_timestamp',
  'mixed_range',
  'type_mismatch',
  'no_time',
  'bad_chart',
  'duplicate_chart',
  'bad_select',
  'blank_alias',
  'bad_alias',
  'duplicate_column',
  'bad_from',
  'duplicate_from',
  'unknown_table',
  'table_required',
  'no_tables',
] as const;

export type LqlCode = (typeof LQL_CODES)[number];

export interface LqlAdvice {
  /** What to write instead. */
  readonly hint?: string;
  /** What would have been accepted in this place. */
  readonly allowed?: readonly string[];
}

/** Longest excerpt in `near` and in messages, in code points. */
const EXCERPT = 80;

/** The first words of a text, for messages: whole code points, cut with an ellipsis. */
export function excerpt(text: string): string {
  // Twice as many UTF-16 units always hold as many code points, so a huge text is not split as a whole.
  const points = Array.from(text.slice(0, 2 * EXCERPT + 2));
  return points.length > EXCERPT ? `${points.slice(0, EXCERPT).join('')}…` : text;
}

/** A fault in an LQL text, with its place in that text. */
export class LqlError extends Error {
  override readonly name = 'LqlError';

  constructor(
    readonly code: LqlCode,
    message: string,
    readonly span: Span,
    readonly advice: LqlAdvice = {},
  ) {
    super(message);
  }
}

/** A hint about SQL as the sender of an LQL text can use it: LQL reaches into records by their path, without joins. */
export function inLql<T extends Pick<QueryError['details'], 'hint' | 'note'>>(details: T): T {
  const { suggestion, record } = details.note ?? {};
  if (suggestion === undefined || record === undefined) return details;
  const path = `${record}.${suggestion}`;
  return { ...details, hint: `Did you mean ${path}?`, note: { ...details.note, suggestion: path, record: undefined } };
}
