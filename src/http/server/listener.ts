import type { IncomingMessage, RequestListener } from 'node:http';
import type { Secret } from '../../config';
import type { Log } from '../../log';
import type { CompletedRequest } from '../../telemetry';
import type { Metrics } from '../../metrics/metrics';
import { RequestMeter } from '../../metrics/readings';
import type { Tracing } from '../../tracing/request-spans';
import { checkHead } from '../request/headers';
import { Cors } from '../response/cors';
import { Exchange } from '../exchange';
import { RequestLog } from '../request-log';
import { ResponseHead } from '../response/head';
import { FailedLogins } from './failed-logins';
import type { Lifecycle } from './lifecycle';
import type { Shares } from '../../limits/byte-shares';
import { createRouter, RUN_PATH, type RouterOptions } from './router';
import { answerRun } from '../routes/run';

const PREFIX = '/api/endpoints/query/';
const NAME = /^[A-Za-z0-9._-]+$/;
const METHODS = new Set(['GET', 'HEAD', 'POST']);

/**
 * The id or name in a plain request to run a stored endpoint, which nearly every request is; null for any other: those
 * Express routes (docs/decisions/dependencies.md).
 */
function directRun({ method = '', url = '' }: IncomingMessage): string | null {
  if (!url.startsWith(PREFIX) || !METHODS.has(method)) return null;
  const query = url.indexOf('?', PREFIX.length);
  const idOrName = url.slice(PREFIX.length, query === -1 ? undefined : query);
  return NAME.test(idOrName) ? idOrName : null;
}

export interface ListenerOptions extends Omit<RouterOptions, 'cors' | 'metrics'> {
  readonly log: Log;
  readonly corsOrigins: '*' | readonly string[];
  readonly metrics: Metrics;
  /** The key of `/metrics`; null: there is no such route. */
  readonly metricsKey: Secret | null;
  /** Whether SQL and LQL of requests are logged. */
  readonly logSql: boolean;
  /** null or absent: requests are not traced. */
  readonly tracing?: Tracing | null;
  /** Whether callers reach the service through TLS; absent: no. */
  readonly tls?: boolean;
  /** Whom else every request is told once it has ended; absent: nobody. */
  readonly tell?: ((id: string, request: CompletedRequest, url: string) => void) | undefined;
  /** What callers may have the process hold. */
  readonly shares: Shares;
}

/**
 * Handles a request. Plain requests to run an endpoint bypass Express and take the same path as if it had routed them
 * (docs/decisions/dependencies.md).
 */
export function createListener(options: ListenerOptions): RequestListener {
  const { log, logSql, corsOrigins, metrics, metricsKey, tracing = null, tls = false, shares } = options;
  const { lifecycle, logflareErrors = false } = options;
  const cors = new Cors(corsOrigins);
  const guarded = metricsKey === null ? null : { metrics, key: metricsKey };
  const router = createRouter({ ...options, cors, metrics: guarded });
  const failedLogins = new FailedLogins(() => metrics.count('failedLogins', {}));
  const head = new ResponseHead({
    cors,
    tls,
    draining: () => lifecycle.draining,
    presentsPins: (headers) => (lifecycle.presentedKey((name) => headers.values(name))?.pins.size ?? 0) > 0,
  });
  const requests = new RequestLog({ log, logSql, meter: new RequestMeter(metrics), tracing, tell: options.tell });
  const context = { log, requests, head, shares, failedLogins, lifecycle };
  const listen: RequestListener = (request, response) => {
    const exchange = new Exchange(request, response, context);
    const answer = (): void => {
      const idOrName = directRun(request);
      if (idOrName === null) router(request, Object.assign(response, { locals: { exchange } }));
      else runDirectly(exchange, idOrName, lifecycle, logflareErrors).catch((error: unknown) => exchange.fail(error));
    };
    const admitted = lifecycle.admit((name) => exchange.header(name));
    if (admitted === null) answer();
    else void admitted.then(answer);
  };
  return (request, response) => {
    const { held } = lifecycle;
    if (held === null) listen(request, response);
    else void held.then(() => listen(request, response));
  };
}

async function runDirectly(
  exchange: Exchange,
  idOrName: string,
  lifecycle: Lifecycle,
  logflareErrors: boolean,
): Promise<void> {
  exchange.telemetry.route = RUN_PATH;
  checkHead(exchange.request, exchange.headers);
  await answerRun(exchange, idOrName, lifecycle.services(), logflareErrors);
}
