/**
 * The life of one request to a stored endpoint. The order is a promise: nothing is told to who has no key, nothing of an
 * endpoint to a key that may not run it, and no value is judged before the rights to send it.
 */
import { readConsumerRequest, readParameters } from './endpoints';
import { chooseRepresentation } from './rendering/representation';
import { render } from './rendering/render';
import { answerHeaders } from './run/answer-headers';
import { chooseQuery, inWordsFor } from './run/chosen-query';
import { checkDryRun, estimate } from './run/dry-run';
import type { Rooms, RunAnswer, RunRequest } from './run/request';
import { allowedEndpoint, checkRights } from './run/rights';
import { shownResult } from './run/shown';

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

  // 3. What is run: the stored query, or the consumer's own over its tables (400, 403).
  const limits = { deadline: request.arrived + (endpoint.timeout ?? rooms.defaults.timeout), signal: request.signal };
  const chosen = await request.timed('gate', () => chooseQuery(endpoint, asked, parameters, rooms, limits));
  const query = {
    sql: chosen.sql,
    parameters: chosen.parameters,
    maxRows: endpoint.maxRows,
    hideBytes: redacted,
    maxBytesBilled: endpoint.maxBytesBilled ?? rooms.defaults.maxBytesBilled,
    labels: { endpoint: endpoint.name, key: key.name, kind: asked.query === null ? 'run' : 'sandbox' },
  };
  if (asked.dryRun) return request.timed('engine', () => estimate(query, chosen, rooms, limits));

  // 4. When its turn has come, within the deadline (429, 504), on the engine.
  const result = await request.timed('engine', () =>
    rooms.admission.run(key.name, limits, () => rooms.engine.run(query, limits)).catch(inWordsFor(chosen)),
  );

  // 5. What of it is shown, in finished bytes.
  const finished = await request.timed('render', () =>
    render(shownResult(result, redacted), representation, rooms.longestResponse),
  );
  return { finished, headers: answerHeaders(result, key) };
}
