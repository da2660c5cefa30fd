import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { ServiceError } from '../../../errors';
import type { Request } from './messages';

/** Requests that are remembered, and for how long, in milliseconds. */
const MOST = 1000;
const REMEMBERED = 5 * 60_000;
/** Processes that requests of one key may cost within that time. */
const MOST_ENDED = 3;

/**
 * Requests that had an engine's process ended. The same again is refused for some minutes; and a key that cost several
 * processes sends no queries of its own for some minutes, since each of them cost others' queries a second run.
 */
export class RefusedRequests {
  readonly #refused = new LRUCache<string, true>({ max: MOST, ttl: REMEMBERED });
  /** Of each key, when its requests had a process ended: milliseconds of `performance.now()`, the last ones. */
  readonly #ended = new LRUCache<string, readonly number[]>({ max: MOST, ttl: REMEMBERED });

  add(request: Request, keyName: string): void {
    this.#refused.set(digest(request), true);
    const times = [...(this.#ended.get(keyName) ?? []), performance.now()];
    this.#ended.set(keyName, times.slice(-MOST_ENDED));
  }

  /** @throws ServiceError `resourcesExceeded` for the request, `tooManyConcurrentQueries` for the key */
  check(request: Request, keyName: string): void {
    if (this.#refused.size === 0) return;
    if (this.#refused.has(digest(request))) throw tooMuch();
    if (!isStored(request)) this.checkKey(keyName);
  }

  /** @throws ServiceError `tooManyConcurrentQueries` where the key may send no queries of its own for now */
  checkKey(keyName: string): void {
    const times = this.#ended.get(keyName) ?? [];
    const [first = 0] = times;
    if (times.length < MOST_ENDED) return;
    const wait = first + REMEMBERED - performance.now();
    if (wait <= 0) return;
    const message = 'Queries of this key have had to be ended with the engine several times.';
    throw new ServiceError('tooManyConcurrentQueries', message, { retryAfter: Math.ceil(wait / 1000) });
  }
}

/** What a request is answered with that took more time or memory than a query may, so that its process had to be ended. */
export function tooMuch(): ServiceError {
  const message = 'The query needs too much time or memory. Make it simpler, or ask for less.';
  return new ServiceError('resourcesExceeded', message);
}

/** Nobody but the operator wrote its text. */
function isStored(request: Request): boolean {
  return request.kind === 'describe' || (isQuery(request) && request.query.stored === true);
}

function isQuery(request: Request): request is Request & { kind: 'run' | 'stream' | 'copy' | 'arrived' } {
  return ['run', 'stream', 'copy', 'arrived'].includes(request.kind);
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
    case 'stream':
    case 'copy':
    case 'arrived':
      return ['run', request.query.sql, request.query.parameters];
    case 'describe':
      return ['describe', request.sql];
    case 'tables':
      return ['tables'];
    case 'inspect':
      return ['inspect', request.statement];
    case 'convert':
      return ['convert', request.job.path];
    case 'ping':
      return ['ping'];
  }
}
