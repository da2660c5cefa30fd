import { ServiceError } from '../errors';
import { rulesToJson } from './json';
import { type TranslateContext, translateLql } from './translate';

/**
 * What the `lql rules` command prints for one line of input, a JSON string with an LQL text: one line of JSON with
 * `rules` and `sql` (both null for a blank text) or with `error`. It never throws for what a line may hold.
 */
export function answerLine(line: string, context: TranslateContext): string {
  let text: unknown;
  try {
    text = JSON.parse(line);
  } catch {
    // Said below, in the same words as for JSON that is no string.
  }
  if (typeof text !== 'string') {
    return JSON.stringify({ error: { code: 'bad_line', message: 'each line must be one JSON string' } });
  }
  try {
    const translation = translateLql(text, context);
    if (translation === null) return JSON.stringify({ rules: null, sql: null });
    return JSON.stringify({ rules: rulesToJson(translation.rules), sql: translation.sql });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, ...details } = error.details;
    return JSON.stringify({ error: { code, message: error.message, ...details } });
  }
}
