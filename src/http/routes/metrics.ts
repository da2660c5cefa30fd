import { createHash, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../../config';
import { ServiceError } from '../../errors';
import { presentedKey } from '../../keys/key';
import type { Metrics } from '../../metrics/metrics';
import type { Exchange } from '../exchange';
import type { RequestHeaders } from '../request/headers';

/** Requires METRICS_KEY, which is not a key for endpoints. @throws ServiceError unauthenticated */
export function checkMetricsKey(headers: RequestHeaders, key: Secret): void {
  const presented = presentedKey((name) => headers.values(name));
  if (timingSafeEqual(hashOf(presented), hashOf(key.reveal()))) return;
  throw new ServiceError('unauthenticated', 'The key is not valid.');
}

/** Whether the request presents METRICS_KEY. @param key null: not configured */
export function hasMetricsKey(headers: RequestHeaders, key: Secret | null): boolean {
  if (key === null) return false;
  try {
    checkMetricsKey(headers, key);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Hashes have equal length: comparing them takes constant time. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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
