import type { RequestListener } from 'node:http';

import { ServiceError } from '../errors';
import { Exchange, type ExchangeContext } from './exchange';
import { answerText } from './metrics-route';
import { checkHead } from './request-head';
import type { Metrics } from '../metrics';

const METHODS = ['GET', 'HEAD'];
const PATH = '/metrics';

/** What listens on METRICS_PORT: `/metrics`, for everybody who reaches it, and nothing else. */
export function createMetricsListener(metrics: Metrics, context: ExchangeContext): RequestListener {
  return (request, response) => {
    const exchange = new Exchange(request, response, context);
    answer(exchange, metrics).catch((error: unknown) => exchange.fail(error));
  };
}

async function answer(exchange: Exchange, metrics: Metrics): Promise<void> {
  const { method = '', url = '' } = exchange.request;
  checkHead(exchange.request, exchange.headers);
  if (url.replace(/[?#].*$/, '') !== PATH) throw new ServiceError('notFound', 'There is nothing under this path.');
  exchange.told.route = PATH;
  if (!METHODS.includes(method)) {
    throw new ServiceError('methodNotAllowed', `${method} is not allowed here.`, { allowed: METHODS });
  }
  await answerText(exchange, metrics);
}
