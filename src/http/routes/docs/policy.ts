import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { STYLE } from './style';

/** The page's only script: plain JavaScript, from the sources under test and from the build alike. */
export const SCRIPT = readFileSync(path.join(__dirname, 'browser/page.js'), 'utf8');

/**
 * What the page may do: run its one script, look as its one style says, and ask its own origin. Named by hashes rather
 * than nonces, so that the same page has the same bytes and an ETag. Markup cannot be made from text at all.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "connect-src 'self'",
  'img-src data:', // the empty icon that keeps browsers from asking for one
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(';');

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
