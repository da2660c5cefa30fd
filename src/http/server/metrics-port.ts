import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { Metrics, RequestMeter } from '../../metrics';
import { Cors } from '../response/cors';
import { drainable } from './drain';
import type { Log } from '../../log';
import type { ExchangeContext } from '../exchange';
import { FailedLogins } from './failed-logins';
import { sharesOf } from './shares';
import { createMetricsListener, type OperatorView } from './metrics-listener';
import { createHttpServer } from './http-server';

/** Milliseconds that a scrape may take after the service has ended. */
const LAST_SCRAPE = 1000;

/**
 * Listens for scrapes on a port of its own (docs/metrics.md). Scrapes are not counted, and logged only when they fail.
 *
 * @returns closes the port
 */
export async function openMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  { log, ...view }: OperatorView & { readonly log: Log },
): Promise<() => Promise<void>> {
  const uncounted = new RequestMeter(new Metrics());
  const quiet: Log = {
    debug: log.debug.bind(log),
    info: () => undefined,
    warn: log.warn.bind(log),
    error: log.error.bind(log),
    fatal: log.fatal.bind(log),
  };
  const context: ExchangeContext = {
    log: quiet,
    logSql: false,
    cors: new Cors([]),
    meter: uncounted,
    tracing: null,
    tls: false,
    starting: () => false,
    draining: () => false,
    expectUntil: () => undefined,
    presentsPins: () => false,
    failedLogins: new FailedLogins(),
    ...sharesOf(0),
  };
  const server = createHttpServer(createMetricsListener(view, context));
  const drain = drainable(server);
  server.listen(port, host);
  await once(server, 'listening');
  log.info({ host, metricsPort: (server.address() as AddressInfo).port }, 'listening for scrapes');
  return () => {
    const cutOff = performance.now() + LAST_SCRAPE;
    return drain(() => cutOff);
  };
}
