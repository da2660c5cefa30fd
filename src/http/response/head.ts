/** Headers of every response: those that a route gives, and those of all. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import helmet from 'helmet';

import type { RequestHeaders } from '../request/headers';
import { Cors } from './cors';

/** Headers as Node copies them with the least work: names and values by turns. */
export class HeaderList {
  readonly flat: string[];

  constructor(flat: readonly string[]) {
    this.flat = [...flat];
  }

  get(name: string): string | undefined {
    const at = this.#at(name);
    return at < 0 ? undefined : this.flat[at + 1];
  }

  /** Replaces the value of a header, or adds one. @param name as the list spells it */
  set(name: string, value: string): void {
    const at = this.#at(name);
    if (at < 0) this.flat.push(name, value);
    else this.flat[at + 1] = value;
  }

  #at(name: string): number {
    for (let at = 0; at < this.flat.length; at += 2) if (this.flat[at] === name) return at;
    return -1;
  }
}

/**
 * Helmet's headers. They are the same for every request, so they are taken once: answers written without Express, and
 * those to requests that never parsed, carry them too. Pages have a Content-Security-Policy of their own, JSON needs none.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = takeHeaders();

/** Beside those where callers reach the service through TLS alone: over plain HTTP it would lock them out. */
const TLS_HEADERS: Readonly<Record<string, string>> = {
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

const SECURITY = Object.entries(SECURITY_HEADERS).flat();
const SECURITY_OVER_TLS = [...SECURITY, ...Object.entries(TLS_HEADERS).flat()];
const POLICY = 'Content-Security-Policy';

export interface ResponseHeadOptions {
  readonly cors: Cors;
  /** Whether callers reach the service through TLS. */
  readonly tls: boolean;
  /** Whether connections are being closed. */
  readonly draining: () => boolean;
  /** Whether a request that needs no key presents one that has pins. */
  readonly presentsPins: (headers: RequestHeaders) => boolean;
}

/** What an answer has for headers beside its own. */
export class ResponseHead {
  constructor(
    private readonly options: ResponseHeadOptions = {
      cors: new Cors([]),
      tls: false,
      draining: () => false,
      presentsPins: () => false,
    },
  ) {}

  /**
   * All headers of an answer.
   *
   * @param own of the answer, a flat list
   * @param timing the times of its steps; `pinned`: whether its key has pins, undefined where no key was needed
   */
  of(
    request: { readonly id: string; readonly headers: RequestHeaders; readonly pinned: boolean | undefined },
    own: readonly string[],
    timing: () => string,
  ): string[] {
    const { cors, tls, draining, presentsPins } = this.options;
    const list = new HeaderList(own);
    if (cors.configured) {
      const vary = list.get('Vary');
      list.set('Vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
      list.flat.push(...Object.entries(cors.headers(request.headers)).flat());
    }
    const policy = list.get(POLICY);
    if (tls && policy !== undefined) list.set(POLICY, `${policy};upgrade-insecure-requests`);
    // A precise clock, by which rows behind a key's pins would be told apart.
    const pinned = request.pinned ?? presentsPins(request.headers);
    return [
      ...(tls ? SECURITY_OVER_TLS : SECURITY),
      'X-Request-Id',
      request.id,
      ...(pinned ? [] : ['Server-Timing', timing()]),
      ...list.flat,
      ...(draining() ? ['Connection', 'close'] : []),
    ];
  }
}
