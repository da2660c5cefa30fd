import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { ServiceError } from '../../../errors';
import type { Request } from './messages';

/** Requests that are remembered, and for how long, in milliseconds. */
const MOST = 1000;
const REMEMBERED = 5 * 60_000;

/** Requests that had an engine's process ended: the same again is refused for some minutes. */
export class RefusedRequests {
  readonly #refused = new LRUCache<string, true>({ max: MOST, ttl: REMEMBERED });

  add(request: Request): void {
    this.#refused.set(digest(request), true);
  }

  /** @throws ServiceError `resourcesExceeded` */
  check(request: Request): void {
    if (this.#refused.size > 0 && this.#refused.has(digest(request))) throw tooMuch();
  }
}

/** What a request is answered with that took more time or memory than a query may, so that its process had to be ended. */
export function tooMuch(): ServiceError {
  return new ServiceError(
    'resourcesExceeded',
    'The query needs too much time or memory. Make it simpler, or ask for less.',
  );
}

/** The text with its values: other values of the same text may do no harm. */
function digest(request: Request): string {
  return createHash('sha256')
    .update(JSON.stringify(partsOf(request)))
    .digest('base64');
}

function partsOf(request: Request): unknown {
  switch (request.kind) {
    case 'run':
      return ['run', request.query.sql, request.query.parameters];
    case 'describe':
      return ['describe', request.sql];
    case 'inspect':
      return ['inspect', request.statement];
    case 'ping':
      return ['ping'];
  }
}
