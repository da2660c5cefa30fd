/**
 * The life of one request to a stored endpoint. The order is a promise: nothing is told to who has no key, nothing of an
 * endpoint to a key that may not run it, and no value is judged before the rights to send it.
 */
import type { Made } from './cache/results';
import type { RunLimits } from './engines/contract';
import { answerHeaders } from './run/answer-headers';
import { readAsked } from './run/asked';
import { estimate } from './run/dry-run';
import { produce } from './run/produce';
import type { Rooms, RunAnswer, RunRequest } from './run/request';
import { allowedEndpoint } from './run/rights';

/**
 * Runs the stored endpoint that a request names.
 *
 * @throws ServiceError for the caller; the signal's reason when the caller has gone
 */
export async function run(request: RunRequest, rooms: Rooms): Promise<RunAnswer> {
  // 1. Who asks (401), and for what (404).
  const key = rooms.keys.authenticate(request.header);
  request.about({ key: key.name });
  const endpoint = allowedEndpoint(rooms.catalogue.find(request.idOrName), key);
  request.about({ endpoint: endpoint.name });

  // 2. What they send (400, 403, 406, 413, 415); the same again is not judged again.
  let asked = rooms.judged.recall(request, key, endpoint);
  if (asked === null) {
    asked = await readAsked(request, key, endpoint, rooms);
    if (!asked.dryRun) rooms.judged.remember(request, key, endpoint, asked);
  }
  const { plan, identity } = asked;

  // 3. What is kept.
  const ttl = endpoint.cacheTtl * 1000;
  let answered = ttl === 0 || asked.dryRun ? null : rooms.results.known(identity);
  if (answered === null) {
    // 4. What somebody else is about to get, or a run of its own: the gate, a turn on the engine (400, 403, 429, 504).
    const timeout = endpoint.timeout ?? rooms.defaults.timeout;
    const limits = { deadline: request.arrived + timeout, signal: request.signal };
    if (asked.dryRun) return estimate(plan, rooms, limits, request.timed);
    const make = (own: RunLimits): Promise<Made> => produce(plan, rooms, own, request.timed);
    answered = await rooms.results.answer({ identity, ttl, limits, timeout, payer: key.name, run: make });
  }
  request.about({ cache: answered.outcome });
  return { finished: answered.finished, headers: answerHeaders(answered, rooms.engine, key) };
}
