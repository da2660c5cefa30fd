import { ServiceError } from '../errors';
import { type ReadOptions, rulesToJson } from '@logquay/googlesql/lql';
import { openLql } from '../run/lql-text';

/**
 * What the `lql rules` command prints for one line of input, a JSON string with an LQL text: one line of JSON with
 * `rules` and `sql` (both null for a blank text) or with `error`. It never throws for what a line may hold.
 */
export function answerLine(line: string, options: ReadOptions): string {
  let text: unknown;
  try {
    text = JSON.parse(line);
  } catch {
    // Said below, in the same words as for JSON other than a string.
  }
  if (typeof text !== 'string') {
    return JSON.stringify({ error: { code: 'bad_line', message: 'each line must be one JSON string' } });
  }
  try {
    const lql = openLql(text, options);
    if (lql === null) return JSON.stringify({ rules: null, sql: null });
    return JSON.stringify({ rules: rulesToJson(lql.rules), sql: lql.translate(null).sql });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, ...details } = error.details;
    return JSON.stringify({ error: { code, message: error.message, ...details } });
  }
}
