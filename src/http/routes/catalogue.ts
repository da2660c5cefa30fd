import { mayRun } from '../../endpoints/catalogue';
import type { Endpoint } from '../../endpoints/endpoint';
import { describeParameters } from '../../endpoints/parameters';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import { chooseRepresentation } from '../../rendering/representation';
import { allowedEndpoint, authenticate } from '../../run/authorise';
import type { Services } from '../../run/services';
import { mayFollow } from '../../run/tail/tail';
import { jsonResponse } from '../response/response';
import type { Exchange } from '../exchange';

/** What one key sees of the catalogue differs from what another sees, and changes with the files. */
export const HEADERS = { 'Cache-Control': 'private, no-cache', Vary: 'Accept, X-API-KEY, Authorization' };

/** `GET /api/endpoints`: what this key may run. */
export function answerCatalogue(exchange: Exchange, services: Services): void {
  const key = authenticate(exchange, services);
  checkAccept(exchange);
  const listed = services.catalogue.current().filter((endpoint) => mayRun(key, endpoint));
  exchange.send(jsonResponse(200, { result: listed.map((endpoint) => describe(endpoint, key, services)) }, HEADERS));
}

/** `GET /api/endpoints/:idOrName`: one of them. */
export function answerEndpoint(exchange: Exchange, idOrName: string, services: Services): void {
  const key = authenticate(exchange, services);
  const endpoint = allowedEndpoint(services.catalogue.find(idOrName), key);
  checkAccept(exchange);
  exchange.send(jsonResponse(200, { result: describe(endpoint, key, services) }, HEADERS));
}

/** Only results have other forms than JSON. */
export function checkAccept({ headers }: Exchange): void {
  const accept = headers.list('accept');
  if (chooseRepresentation(accept) === 'application/json') return;
  throw new ServiceError('notAcceptable', 'This is answered as JSON only.', { allowed: ['application/json'] });
}

/** An endpoint as the holder of the key sees it: never its SQL. */
function describe(endpoint: Endpoint, { pins }: Key, { engine }: Pick<Services, 'engine'>): object {
  return {
    id: endpoint.id,
    name: endpoint.name,
    description: endpoint.description,
    params: describeParameters(endpoint, pins),
    maxRows: endpoint.maxRows,
    cacheTtl: endpoint.cacheTtl,
    cacheWarming: endpoint.cacheWarming,
    sandbox: endpoint.sandbox,
    redactPii: endpoint.redactPii,
    tail: mayFollow(engine),
    tables: endpoint.sandbox ? endpoint.cteTables : [],
  };
}
