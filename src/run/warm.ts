import { ageOf } from '../cache/entry';
import type { Usage } from '../cache/usage';
import type { Refreshed } from '../cache/warmer';
import { type Endpoint, mayRun, readParameters } from '../endpoints';
import type { Key } from '../keys/key';
import { ServiceError } from '../errors';
import { identityOf } from './asked';
import { needsFence } from './fence';
import { type Plan, produce } from './produce';
import type { Services } from './request';
import { checkRights } from './rights';

/**
 * Makes a kept answer anew, for the key that last asked for it; unless that key, the endpoint or its definition have
 * changed so that nobody would ask the same now.
 *
 * @param age milliseconds: a younger answer stays
 * @throws ServiceError as `run`
 */
export async function warm(usage: Usage, age: number, services: Services, signal: AbortSignal): Promise<Refreshed> {
  const endpoint = services.catalogue.find(usage.endpointId);
  const key = services.keys.find(usage.keyName);
  const plan = endpoint === null || key === null ? null : planOf(usage, endpoint, key);
  if (plan === null) return { outcome: 'gone' };
  const identity = identityOf(plan, services);
  if (identity.hash !== usage.hash) return { outcome: 'gone' };

  const timeout = plan.endpoint.timeout ?? services.defaults.timeout;
  let made = 0;
  const outcome = await services.results.refresh(
    {
      identity,
      ttl: plan.endpoint.cacheTtl * 1000,
      limits: { deadline: performance.now() + timeout, signal },
      timeout,
      payer: plan.payer,
      run: (limits) => produce(plan, services, limits, async (_phase, step) => step()),
    },
    (entry) => {
      made = entry?.made ?? 0;
      return entry === null || ageOf(entry, Date.now()) >= age;
    },
  );
  return outcome === 'busy' ? { outcome } : { outcome, made: outcome === 'made' ? Date.now() : made };
}

/** null: the key may not ask this any more. */
function planOf(usage: Usage, endpoint: Endpoint, key: Key): Plan | null {
  if (!mayRun(key, endpoint)) return null;
  if ((key.redact || endpoint.redactPii) && !usage.redacted) return null;
  const { redacted, representation } = usage;
  const given = Object.entries(usage.values).map(([name, text]) => ({ name, value: { kind: 'text', text } as const }));
  try {
    checkRights({ query: null, dryRun: false }, given, key, endpoint);
    const parameters = readParameters(endpoint, given, key.pins);
    const fenced = needsFence(key);
    return { endpoint, query: null, parameters, redacted, fenced, representation, payer: key.name, warm: true };
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
