import type { RequestListener } from 'node:http';

import { ServiceError } from '../../errors';
import type { Health } from '../../health/health';
import type { Metrics } from '../../metrics';
import { Exchange, type ExchangeContext } from '../exchange';
import type { Lifecycle } from './lifecycle';
import { answerText } from '../routes/metrics';
import { answerReady } from '../routes/probes';
import { checkHead } from '../request/head';

const METHODS = ['GET', 'HEAD'];

/** What those may read who reach the port. */
export interface OperatorView {
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly health: Pick<Health, 'degradations'>;
}

/** What listens on METRICS_PORT: `/metrics` and `/ready` with its detail, for everybody who reaches it, and nothing else. */
export function createMetricsListener(view: OperatorView, context: ExchangeContext): RequestListener {
  const { metrics, lifecycle, health } = view;
  const routes = new Map<string, (exchange: Exchange) => Promise<void>>([
    ['/metrics', (exchange) => answerText(exchange, metrics)],
    ['/ready', (exchange) => answerReady(exchange, lifecycle, health, true)],
  ]);
  return (request, response) => {
    const exchange = new Exchange(request, response, context);
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
