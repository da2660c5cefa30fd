import { excerpt, LqlError } from './lql-error';
import type { Span } from './rules';

/** Most segments in a path: each but the last is a join. */
const MAX_SEGMENTS = 20;

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** The path that `written` names: `m.` spelt out as `metadata.`, every segment an identifier. */
export function readPath(written: string, span: Span): string {
  const path = written.startsWith('m.') ? `metadata.${written.slice(2)}` : written;
  const segments = path.split('.');
  if (!segments.every(isIdentifier)) {
    throw new LqlError('bad_path', `"${excerpt(path)}" is not a valid field path`, span, {
      hint: hintFor(written),
    });
  }
  if (segments.length > MAX_SEGMENTS) {
    throw new LqlError('bad_path', `a field path has at most ${MAX_SEGMENTS} segments`, span);
  }
  return path;
}

function hintFor(written: string): string {
  // What is left of 2024-03-17T13:47:02+02:00 after a URL's plus, and of a date and a time that a space parts.
  if (/^[0-9]{1,2}$/.test(written)) {
    return 'A datetime is one word, 2024-03-17T13:47:02+02:00, and a + in a URL must be sent as %2B.';
  }
  return 'A path is names of letters, digits and _ joined by dots; to search for this text, put it in double quotes.';
}
