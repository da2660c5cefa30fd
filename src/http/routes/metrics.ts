import type { Secret } from '../../config';
import type { Metrics } from '../../metrics/metrics';
import type { Exchange } from '../exchange';
import { checkMetricsKey } from './metrics-key';

/** Metrics, and the key without which nobody reads them. */
export interface GuardedMetrics {
  readonly metrics: Metrics;
  readonly key: Secret;
}

/** `GET /metrics` on the service's own port. @throws ServiceError unauthenticated */
export async function answerMetrics(exchange: Exchange, { metrics, key }: GuardedMetrics): Promise<void> {
  checkMetricsKey(exchange.headers, key);
  await answerText(exchange, metrics);
}

export async function answerText(exchange: Exchange, metrics: Metrics): Promise<void> {
  const body = Buffer.from(await metrics.text());
  exchange.send({ status: 200, headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }, body });
}
