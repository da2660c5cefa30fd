import { createHash, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../config';
import { ServiceError } from '../errors';
import { presentedKey } from '../keys/credentials';
import type { Metrics } from '../metrics';
import type { Exchange } from './exchange';

/** Metrics, and the key without which nobody reads them: METRICS_KEY, which is none of the keys for endpoints. */
export interface GuardedMetrics {
  readonly metrics: Metrics;
  readonly key: Secret;
}

/** `GET /metrics` on the service's own port. @throws ServiceError unauthenticated */
export async function answerMetrics(exchange: Exchange, { metrics, key }: GuardedMetrics): Promise<void> {
  const presented = presentedKey((name) => exchange.headers.values(name));
  if (!timingSafeEqual(hashOf(presented), hashOf(key.reveal()))) {
    throw new ServiceError('unauthenticated', 'The key is not valid.');
  }
  await answerText(exchange, metrics);
}

export async function answerText(exchange: Exchange, metrics: Metrics): Promise<void> {
  const body = Buffer.from(await metrics.text());
  exchange.answer({ status: 200, headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }, body });
}

/** Of one length, so that the time of comparing tells nothing. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
