import { partFor, type Endpoint } from '../endpoints/endpoint';
import { hourOf } from '../endpoints/values';
import type { Key } from '../keys/key';
import type { RequestPlan, RunRequest } from './types';

/** Characters of a cached request, and number of plans. */
const LONGEST = 2048;
const MOST = 2000;

/** What a plan is made of, beside key and endpoint, where the URL holds all parameters. */
export interface PlannedRequest extends Pick<RunRequest, 'idOrName' | 'query'> {
  /** Media types of which one is chosen. */
  readonly form: string;
  /** Values of `LF-ENDPOINT-REDACT-PII`. */
  readonly redact: readonly string[];
}

/**
 * Plans of earlier requests by what they are made of. A plan is valid for the same
 * key and endpoint objects only: a change of either creates a new object.
 */
export class PlanCache {
  readonly #plans = new Map<string, { readonly key: Key; readonly plan: RequestPlan }>();

  /** @param now microseconds since the epoch: a start that moves with it is that of its hour alone */
  get(request: PlannedRequest, key: Key, endpoint: Endpoint, now: () => bigint): RequestPlan | null {
    const text = textOf(request, key);
    const cached = text === null ? undefined : this.#plans.get(text);
    if (cached?.key !== key || cached.plan.endpoint !== partFor(endpoint, cached.plan.query)) return null;
    const { moving } = cached.plan;
    return moving === null || moving.hour === hourOf(now()) ? cached.plan : null;
  }

  /** Dry runs are not cached, nor what is long or may have a body. */
  set(request: PlannedRequest, key: Key, plan: RequestPlan): void {
    const text = textOf(request, key);
    if (text === null || plan.purpose === 'dry run') return;
    // Requests in use are soon cached again: cheaper than to track their order of use.
    if (this.#plans.size >= MOST) this.#plans.clear();
    this.#plans.set(text, { key, plan });
  }
}

function textOf({ query, idOrName, form, redact }: PlannedRequest, key: Key): string | null {
  if (query === null || query.length > LONGEST) return null;
  const text = `${key.name}\n${idOrName}\n${query}\n${form}\n${redact.join('\n')}`;
  return text.length > LONGEST ? null : text;
}
