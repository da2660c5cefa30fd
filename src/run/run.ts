/** The life of a request to a stored endpoint: authorise, plan, execute (docs/architecture.md). */
import type { CacheResult } from '../cache/results';
import type { RequestTelemetry } from '../telemetry';
import { authorise, checkResolves } from './authorise';
import { estimate, execute, limitsOf } from './execute';
import { exportRows } from './export';
import { runPage } from './page';
import { planRequest } from './plan';
import { readingHeaders, responseHeaders } from './response-headers';
import type { Services } from './services';
import type { RequestPlan, RunRequest, RunResponse } from './types';

/**
 * Runs the stored endpoint that a request names.
 *
 * @returns null: an export, which has been sent
 * @throws ServiceError for the caller; the signal's reason when the client has disconnected
 */
export async function run(request: RunRequest, services: Services): Promise<RunResponse | null> {
  // 401, 404, 429: nothing is read of a request, and nothing revealed, before its key may run the endpoint.
  const { key, endpoint } = await authorise(request, services);
  await checkResolves(endpoint, services);

  // 400, 403, 406, 413, 415: whatever can be validated without reading SQL.
  const plan = await planRequest(request, key, endpoint, services);
  if (plan.query !== null) request.record({ query: plan.query });
  if (plan.purpose === 'dry run') return estimate(plan, request, services);
  if (plan.page !== null) return runPage({ ...plan, page: plan.page }, request, services);
  if (plan.purpose === 'export') {
    await exportRows(plan, key, request, services);
    return null;
  }

  // 400, 403, 429, 504: from the cache, from a run in flight, or from a run of its own.
  const answered = await resultOf(plan, request, services);
  const ttl = endpoint.cacheTtl * 1000;
  request.record({ ...outcomeOf(answered, ttl), rows: answered.response.rows });
  if (plan.usage !== null) services.usage.touch(plan.usage, ttl);
  return {
    response: answered.response,
    headers: [...responseHeaders(answered, services.engine, key), ...readingHeaders(plan)],
  };
}

async function resultOf(plan: RequestPlan, request: RunRequest, services: Services): Promise<CacheResult> {
  const { endpoint, identity, payer } = plan;
  const ttl = endpoint.cacheTtl * 1000;
  const cached = ttl > 0 ? services.results.cached(identity) : null;
  if (cached !== null) return cached;
  const { limits, timeout } = limitsOf(plan, request, services);
  return request.timed('cache', () =>
    services.results.get({
      identity,
      ttl,
      limits,
      timeout,
      payer,
      run: (own, payers) => execute(plan, services, own, payers, (phase, step) => request.timed(phase, step)),
    }),
  );
}

/** @param ttl milliseconds for which the result may be cached; 0: it is not */
function outcomeOf({ outcome, run: started, cached }: CacheResult, ttl: number): RequestTelemetry {
  if (started === null) return { cache: outcome };
  return {
    cache: outcome,
    ...(ttl > 0 ? { stored: cached !== null } : {}),
    ...(started.bytesBilled === null ? {} : { billed: started.bytesBilled }),
  };
}
