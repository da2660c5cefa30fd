import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { mayRun } from '../../endpoints/catalogue';
import type { Endpoint } from '../../endpoints/endpoint';
import { describeParameters } from '../../endpoints/parameters';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import { render } from '../../rendering/render';
import { chooseRepresentation } from '../../rendering/representation';
import { allowedEndpoint, authenticate, mayQuery } from '../../run/authorise';
import type { Services } from '../../run/services';
import { mayFollow } from '../../run/tail/tail';
import type { Exchange } from '../exchange';
import { jsonResponse } from '../response/response';

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

/** `GET /api/usage`: who used how much. @throws ServiceError accessDenied for a key that is not the operator's */
export async function answerUsage(exchange: Exchange, services: Services): Promise<void> {
  const key = authenticate(exchange, services);
  if (key.admin !== true)
    throw new ServiceError('accessDenied', 'This key may not see who used how much.', {
      hint: 'Create one for that with "keys create --admin".',
    });
  const representation = chooseRepresentation(exchange.headers.list('accept'));
  const rows = (await services.consumption?.rows()) ?? [];
  const columns = [
    'period',
    'from',
    'key',
    'subject',
    'requests',
    'hits',
    'rows',
    'bytes_billed',
    'errors',
    'statuses',
  ];
  const result = { columns, rows: rows.map((row) => JSON.stringify(row)), truncated: false };
  const { bytes, contentType } = render(result, representation, services.longestResponse);
  exchange.send({ status: 200, headers: { ...HEADERS, 'Content-Type': contentType }, body: bytes });
}

/** `GET /api/searches`: those that the operators share. @throws ServiceError accessDenied for a key with pins */
export async function answerSearches(exchange: Exchange, services: Services): Promise<void> {
  const key = authenticate(exchange, services);
  checkAccept(exchange);
  if (key.pins.size > 0) throw new ServiceError('accessDenied', 'Shared searches are not for keys with pins.');
  exchange.send(jsonResponse(200, { result: (await services.searches?.read()) ?? [] }, HEADERS));
}

/** `GET /api/key`: what the key of the request is and may do. Never the values that it pins, nor how much was billed. */
export function answerKey(exchange: Exchange, services: Services): void {
  const key = authenticate(exchange, services);
  checkAccept(exchange);
  const { catalogue, budgets, rates, engine } = services;
  const endpoints = catalogue.current().filter((endpoint) => mayRun(key, endpoint));
  const result = {
    name: groupOf(key.name),
    endpoints: endpoints.map(({ name }) => name),
    pinned: [...key.pins.keys()],
    redacted: key.redact,
    mayQuery: endpoints.some((endpoint) => mayQuery(key, endpoint, engine)),
    mayExport: key.export,
    expires: key.expires === null ? null : new Date(key.expires).toISOString(),
    limits: { requestsPerSecond: rates.perSecond(key) },
    budgetLeft: budgets.left(key),
  };
  exchange.send(jsonResponse(200, { result }, HEADERS));
}
