/**
 * The life of one request to a stored endpoint. The order is a promise: nothing is told to who has no key, nothing of an
 * endpoint to a key that may not run it, and no value is judged before the rights to send it.
 */
import { identify } from './cache/identity';
import { readConsumerRequest, readParameters } from './endpoints';
import { chooseRepresentation } from './rendering/representation';
import { answerHeaders } from './run/answer-headers';
import { checkDryRun, estimate } from './run/dry-run';
import { produce } from './run/produce';
import type { Rooms, RunAnswer, RunRequest } from './run/request';
import { allowedEndpoint, checkRights } from './run/rights';

/**
 * Runs the stored endpoint that a request names.
 *
 * @throws ServiceError for the caller; the signal's reason when the caller has gone
 */
export async function run(request: RunRequest, rooms: Rooms): Promise<RunAnswer> {
  // 1. Who asks (401), for what (404), in which form (406).
  const key = rooms.keys.authenticate(request.header);
  request.about({ key: key.name });
  const endpoint = allowedEndpoint(rooms.catalogue.find(request.idOrName), key);
  request.about({ endpoint: endpoint.name });
  const representation = chooseRepresentation(request.header('accept').join(', '));

  // 2. What they send (400, 413, 415): first whether the key may send it (403), then the values, the pins among them.
  const given = await request.timed('read', request.parameters);
  const asked = readConsumerRequest(endpoint, given);
  checkRights(asked, key, endpoint);
  checkDryRun(asked, rooms.engine);
  const parameters = readParameters(endpoint, given, key.pins);
  const redacted = key.redact || endpoint.redactPii || request.header('lf-endpoint-redact-pii').includes('true');

  // 3. What there is to do about it, and until when.
  const timeout = endpoint.timeout ?? rooms.defaults.timeout;
  const limits = { deadline: request.arrived + timeout, signal: request.signal };
  const plan = { endpoint, query: asked.query, parameters, redacted, representation, payer: key.name, warm: false };
  if (asked.dryRun) return estimate(plan, rooms, limits, request.timed);

  // 4. What is kept, what somebody else is about to get, or a run of its own (400, 403, 429, 504).
  const answered = await rooms.results.answer({
    identity: identify({ ...plan, endpointId: endpoint.id, revision: endpoint.revision, target: rooms.engine.target }),
    ttl: endpoint.cacheTtl * 1000,
    limits,
    timeout,
    payer: key.name,
    run: (own) => produce(plan, rooms, own, request.timed),
  });
  request.about({ cache: answered.outcome });
  return { finished: answered.finished, headers: answerHeaders(answered, rooms.engine, key) };
}
