import { mayRun } from '../../endpoints/catalogue';
import { authenticate, mayQuery } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { jsonResponse } from '../response/response';
import { checkAccept, HEADERS } from './catalogue';

/** `GET /api/key`: what the key of the request is and may do. Never the values that it pins, nor how much was billed. */
export function answerKey(exchange: Exchange, services: Services): void {
  const key = authenticate(exchange, services);
  checkAccept(exchange);
  const { catalogue, budgets, rates, engine } = services;
  const endpoints = catalogue.current().filter((endpoint) => mayRun(key, endpoint));
  const result = {
    name: key.name,
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
