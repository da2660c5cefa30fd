import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import helmet from 'helmet';

/**
 * Helmet's headers. They are the same for every request, so they are taken once: answers written without Express, and
 * those to requests that never parsed, carry them too. Pages have a Content-Security-Policy of their own, JSON needs none.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = takeHeaders();

/** Beside those where callers reach the service through TLS alone: over plain HTTP it would lock them out. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
};

function takeHeaders(): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet({ contentSecurityPolicy: false, strictTransportSecurity: false })(request, response, () => undefined);
  return Object.fromEntries(
    response.getHeaderNames().map((name) => [canonical(name), String(response.getHeader(name))]),
  );
}

/** `x-frame-options` as `X-Frame-Options`. */
function canonical(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
