import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import helmet from 'helmet';

/**
 * Helmet's headers. They are the same for every request, so they are taken once: answers written without Express, and
 * those to requests that never parsed, carry them too.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = takeHeaders();

function takeHeaders(): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet()(request, response, () => undefined);
  return Object.fromEntries(
    response.getHeaderNames().map((name) => [canonical(name), String(response.getHeader(name))]),
  );
}

/** `x-frame-options` as `X-Frame-Options`. */
function canonical(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
