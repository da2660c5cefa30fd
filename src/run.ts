/**
 * The life of one request to a stored endpoint. The order is a promise: nothing is told to who has no key, nothing of an
 * endpoint to a key that may not run it, and no value is judged before the rights to send it.
 */
import type { Answered, RunResult } from './cache/results';
import type { RunLimits } from './engines/contract';
import { answerHeaders } from './run/answer-headers';
import { readAsked } from './run/asked';
import { estimate } from './run/dry-run';
import { produce, type Timed } from './run/produce';
import type { Services, RunAnswer, RunRequest } from './run/request';
import { countEndpoint, countRequest } from './run/rates';
import { allowedEndpoint } from './run/rights';
import type { RequestTelemetry } from './telemetry';

/**
 * Runs the stored endpoint that a request names.
 *
 * @throws ServiceError for the caller; the signal's reason when the caller has gone
 */
export async function run(request: RunRequest, services: Services): Promise<RunAnswer> {
  // 1. Who asks (401), and for what (404); whether it is too often (429).
  const key = services.keys.authenticate((name) => request.header(name));
  request.record({ key: key.name, pinned: key.pins.size > 0 });
  countRequest(request, key, services.rates);
  const endpoint = allowedEndpoint(services.catalogue.find(request.idOrName), key);
  request.record({ endpoint: endpoint.name });
  countEndpoint(request, endpoint, key, services.rates);

  // 2. What they send (400, 403, 406, 413, 415); the same again is not judged again.
  let asked = services.judged.recall(request, key, endpoint);
  if (asked === null) {
    asked = await readAsked(request, key, endpoint, services);
    if (!asked.dryRun) services.judged.remember(request, key, endpoint, asked);
  }
  const { plan, identity } = asked;
  if (plan.query !== null) request.record({ query: plan.query });
  const timed: Timed = (phase, step) => request.timed(phase, step);
  const timeout = endpoint.timeout ?? services.defaults.timeout;
  const limits = (): RunLimits => ({ deadline: request.arrived + timeout, signal: request.signal });
  if (asked.dryRun) return estimate(plan, services, limits(), timed);

  // 3. What is kept; else what somebody is about to get, or a run of its own: the gate and a turn on the engine (400, 403,
  //    429, 504).
  const ttl = endpoint.cacheTtl * 1000;
  const make = (own: RunLimits): Promise<RunResult> => produce(plan, services, own, timed);
  const answered =
    (ttl > 0 ? services.results.known(identity) : null) ??
    (await timed('cache', () =>
      services.results.answer({ identity, ttl, limits: limits(), timeout, payer: key.name, run: make }),
    ));
  request.record(outcomeOf(answered, ttl));
  if (asked.usage !== null) services.usage.touch(asked.usage, ttl);
  return { response: answered.response, headers: answerHeaders(answered, services.engine, key) };
}

/** @param ttl milliseconds that the result may be cached; 0: it is not */
function outcomeOf({ outcome, made, kept }: Answered, ttl: number): RequestTelemetry {
  if (made === null) return { cache: outcome };
  return {
    cache: outcome,
    ...(ttl > 0 ? { stored: kept !== null } : {}),
    ...(made.bytesBilled === null ? {} : { billed: made.bytesBilled }),
  };
}
