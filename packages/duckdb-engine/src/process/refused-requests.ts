import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { ServiceError } from '../contract/service-error';
import type { Request } from './messages';

const MINUTE = 60_000;
/** Texts and keys that are remembered: the last ones. */
const MOST = 1000;
/** How long a text is refused, in milliseconds. */
const TEXT_REFUSED = 60 * MINUTE;
/** Processes that a key's texts may cost within that time, and how long the key is refused then. */
const ENDED = { most: 3, within: 10 * MINUTE } as const;
const KEY_REFUSED = 10 * MINUTE;

export interface Reason {
  readonly request: Request;
  readonly keyName: string;
}

/**
 * Requests that an engine's process had to be ended for. The same text is refused for an hour; and a key whose texts cost three
 * processes in ten minutes sends no texts of its own for ten, since each of them costs others' queries a second run.
 */
export class RefusedRequests {
  /** When a text was the reason, by its digest: milliseconds of the clock. */
  readonly #texts = new LRUCache<string, number>({ max: MOST });
  /** When texts of a key were, the last times. */
  readonly #keys = new LRUCache<string, readonly number[]>({ max: MOST });

  /** @param clock milliseconds */
  constructor(private readonly clock = (): number => performance.now()) {}

  /** A process was ended. @param reasons what it was ended for */
  add(reasons: readonly Reason[]): void {
    const now = this.clock();
    for (const { request } of reasons) {
      const text = digest(request);
      if (text !== null) this.#texts.set(text, now);
    }
    const own = reasons.filter(({ request }) => !isStored(request));
    for (const keyName of new Set(own.map((reason) => reason.keyName))) {
      this.#keys.set(keyName, [...(this.#keys.get(keyName) ?? []), now].slice(-ENDED.most));
    }
  }

  /** @throws ServiceError `resourcesExceeded` for the request, `tooManyConcurrentQueries` for the key */
  check({ request, keyName }: Reason): void {
    if (this.#texts.size === 0) return;
    const text = digest(request);
    const since = text === null ? undefined : this.#texts.get(text);
    if (since !== undefined && this.clock() < since + TEXT_REFUSED) throw tooMuch(TRIED);
    if (!isStored(request)) this.checkKey(keyName);
  }

  /** @throws ServiceError `tooManyConcurrentQueries` where the key may send no texts of its own for now */
  checkKey(keyName: string): void {
    const times = this.#keys.get(keyName) ?? [];
    const [first = 0] = times;
    const last = times.at(-1) ?? 0;
    const wait = last + KEY_REFUSED - this.clock();
    if (times.length < ENDED.most || last - first > ENDED.within || wait <= 0) return;
    const message = 'Queries of this key have had to be ended with the engine several times.';
    throw new ServiceError('tooManyConcurrentQueries', message, { retryAfter: Math.ceil(wait / 1000) });
  }
}

const TRIED =
  'The same text needed too much time or memory less than an hour ago. Make it simpler, or let it read less.';

/** What a request is answered with that took more time or memory than a query may, so that its process had to be ended. */
export function tooMuch(
  message = 'The query needs too much time or memory. Make it simpler, or ask for less.',
): ServiceError {
  return new ServiceError('resourcesExceeded', message);
}

/** Nobody but the operator wrote its text. */
function isStored(request: Request): boolean {
  return request.kind === 'describe' || ('query' in request && request.query.stored === true);
}

/** null: it has no text. */
function digest(request: Request): string | null {
  const text = textOf(request);
  return text === null ? null : createHash('sha256').update(JSON.stringify(text)).digest('base64');
}

/** An operator's with its values: others may do no harm. */
function textOf(request: Request): readonly unknown[] | null {
  if ('query' in request) return [request.query.sql, isStored(request) ? request.query.parameters : null];
  if (request.kind === 'describe') return ['describe', request.sql];
  return request.kind === 'inspect' ? ['inspect', request.statement] : null;
}
