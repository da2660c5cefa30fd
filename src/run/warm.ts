import type { HoldOff } from '../cache/results';
import type { Usage } from '../cache/usage';
import type { Refreshed } from '../cache/warmer';
import { mayRun } from '../endpoints/catalogue';
import type { Endpoint } from '../endpoints/endpoint';
import { readMovingStarts, readParameters } from '../endpoints/parameters';
import { ServiceError } from '../errors';
import type { Key } from '../keys/key';
import { checkPermissions } from './authorise';
import { execute } from './execute';
import { createPlan } from './plan';
import type { Services } from './services';
import type { RequestPlan } from './types';

/**
 * Refreshes a cached result for the key that last requested it, unless a change of that key, the endpoint or its
 * definition has made the request impossible.
 *
 * @param age milliseconds: a younger result is left as it is
 * @throws ServiceError as `run`
 */
export async function warm(
  usage: Usage,
  age: number,
  services: Services,
  holdOff: HoldOff | null,
  signal: AbortSignal,
): Promise<Refreshed> {
  const endpoint = services.catalogue.find(usage.endpointId);
  const key = services.keys.find(usage.keyName);
  const plan = endpoint === null || key === null ? null : planOf(usage, endpoint, key, services);
  if (plan === null) return { outcome: 'gone' };
  const { identity } = plan;
  if (plan.usageHash !== usage.hash) return { outcome: 'gone' };

  const timeout = plan.endpoint.timeout ?? services.defaults.timeout;
  let createdAt = 0;
  const outcome = await services.results.refresh(
    {
      identity,
      ttl: plan.endpoint.cacheTtl * 1000,
      limits: { deadline: performance.now() + timeout, signal },
      timeout,
      payer: plan.payer,
      run: (limits, payers) => execute(plan, services, limits, payers, async (_phase, step) => step()),
    },
    (entry, entryAge) => {
      createdAt = entry?.createdAt ?? 0;
      return entryAge >= age;
    },
    holdOff,
  );
  return outcome === 'not due' ? { outcome, createdAt } : { outcome };
}

/** null: the key may not send this request any more. */
function planOf(usage: Usage, endpoint: Endpoint, key: Key, services: Services): RequestPlan | null {
  if (!mayRun(key, endpoint)) return null;
  if ((key.redact || endpoint.redactPii) && !usage.redacted) return null;
  const { redacted, representation } = usage;
  const given = Object.entries(usage.values).flatMap(([name, values]) =>
    [values].flat().map((text) => ({ name, value: { kind: 'text', text } as const })),
  );
  try {
    checkPermissions({ query: null, dryRun: false }, given, key, endpoint);
    const now = services.now();
    const parameters = readParameters(endpoint, given, key.pins, now);
    const moving = readMovingStarts(endpoint, given, key.pins, now);
    const validated = {
      endpoint,
      query: null,
      parameters,
      moving,
      redacted,
      isoTimestamps: false,
      page: null,
      unknown: [],
      misreadings: [],
      representation,
      asParquet: false,
      purpose: 'warm',
    } as const;
    return createPlan(validated, key, services);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
