import { createHash } from 'node:crypto';

import { STYLE } from './style';

/** What the page may do: look as its one style says, which is named by its hash. It has no script. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:', // the empty icon that keeps browsers from asking for one
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');
