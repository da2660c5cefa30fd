import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ServiceError } from '../../errors';
import type { Metrics } from '../../metrics/metrics';
import type { Health } from '../../health/health';
import type { Log } from '../../log';
import { Exchange } from '../exchange';
import { checkHead } from '../request/headers';
import { answerText, answerReady } from '../routes/probes';
import { drainable } from './drain';
import { createHttpServer } from './http-server';
import type { Lifecycle } from './lifecycle';

/** Milliseconds that a scrape may take after the service has ended. */
const LAST_SCRAPE = 1000;

/**
 * Listens for scrapes on a port of its own (docs/operations.md). Scrapes are not counted, and logged only when they fail.
 *
 * @returns closes the port
 */
export async function openMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  { log, ...view }: OperatorView & { readonly log: Log },
): Promise<() => Promise<void>> {
  const server = createHttpServer(createMetricsListener(view, log));
  const drain = drainable(server);
  server.listen(port, host);
  await once(server, 'listening');
  log.info({ host, metricsPort: (server.address() as AddressInfo).port }, 'listening for scrapes');
  return () => {
    const cutOff = performance.now() + LAST_SCRAPE;
    return drain(() => cutOff);
  };
}

const METHODS = ['GET', 'HEAD'];

/** What those may read who reach the port. */
interface OperatorView {
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly health: Pick<Health, 'degradations'>;
}

/** What listens on METRICS_PORT: `/metrics` and `/ready` with its detail, for everybody who reaches it, and nothing else. */
function createMetricsListener(view: OperatorView, log: Log): RequestListener {
  const { metrics, lifecycle, health } = view;
  const routes = new Map<string, (exchange: Exchange) => Promise<void>>([
    ['/metrics', (exchange) => answerText(exchange, metrics)],
    ['/ready', (exchange) => answerReady(exchange, lifecycle, health, true)],
  ]);
  return (request, response) => {
    const exchange = new Exchange(request, response, { log });
    answer(exchange, routes).catch((error: unknown) => exchange.fail(error));
  };
}

async function answer(
  exchange: Exchange,
  routes: ReadonlyMap<string, (exchange: Exchange) => Promise<void>>,
): Promise<void> {
  const { method = '', url = '' } = exchange.request;
  checkHead(exchange.request, exchange.headers);
  const path = url.replace(/[?#].*$/, '');
  const route = routes.get(path);
  if (route === undefined) throw new ServiceError('notFound', 'There is nothing under this path.');
  exchange.telemetry.route = path;
  if (!METHODS.includes(method)) {
    throw new ServiceError('methodNotAllowed', `${method} is not allowed here.`, { allowed: METHODS });
  }
  await route(exchange);
}
