import { type Endpoint, hourOf } from '../endpoints';
import type { Key } from '../keys';
import type { RequestPlan, RunRequest } from './types';

/** Characters of a cached request, and number of plans. */
const LONGEST = 2048;
const MOST = 2000;

/**
 * Plans of earlier requests by URL query, headers and key name (docs/decisions/fast-path.md). A plan is valid for the same
 * key and endpoint objects only: a change of either creates a new object.
 */
export class PlanCache {
  readonly #plans = new Map<string, { readonly key: Key; readonly plan: RequestPlan }>();

  /** @param now microseconds since the epoch: a start that moves with it is that of its hour alone */
  get(request: RunRequest, key: Key, endpoint: Endpoint, now: () => bigint): RequestPlan | null {
    const text = textOf(request, key);
    const cached = text === null ? undefined : this.#plans.get(text);
    if (cached?.key !== key || cached.plan.endpoint !== endpoint) return null;
    const { moving } = cached.plan;
    return moving === null || moving.hour === hourOf(now()) ? cached.plan : null;
  }

  /** Dry runs are not cached. */
  set(request: RunRequest, key: Key, plan: RequestPlan): void {
    const text = textOf(request, key);
    if (text === null || plan.purpose === 'dry run') return;
    // Requests in use are soon cached again: cheaper than to track their order of use.
    if (this.#plans.size >= MOST) this.#plans.clear();
    this.#plans.set(text, { key, plan });
  }
}

/** Everything that `planRequest` reads; null: it is too long, or may have a body. */
function textOf(request: RunRequest, key: Key): string | null {
  const { query, idOrName } = request;
  if (query === null || query.length > LONGEST) return null;
  const accept = request.header('accept').join(', ');
  const redact = request.header('lf-endpoint-redact-pii').join('\n');
  const text = `${key.name}\n${idOrName}\n${query}\n${accept}\n${redact}`;
  return text.length > LONGEST ? null : text;
}
