import type { QueryError } from '../errors';

/** A hint about SQL as the sender of an LQL text can use it: LQL reaches into records by their path, without joins. */
export function inLql<T extends Pick<QueryError['details'], 'hint' | 'note'>>(details: T): T {
  const { suggestion, record } = details.note ?? {};
  if (suggestion === undefined || record === undefined) return details;
  const path = `${record}.${suggestion}`;
  return { ...details, hint: `Did you mean ${path}?`, note: { ...details.note, suggestion: path, record: undefined } };
}
