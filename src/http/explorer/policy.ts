/**
 * What the page may do: run and look as its own files say, and ask its own origin. No markup is made from text, and no
 * script runs but the built ones: rows hold what strangers wrote.
 */
export const EXPLORER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  'img-src data:', // the empty icon that keeps browsers from asking for one
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types analyser', // which lets one worker be started, by the name of its file
].join(';');
