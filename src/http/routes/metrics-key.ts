import { createHash, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../../config';
import { ServiceError } from '../../errors';
import { presentedKey } from '../../keys/credentials';
import type { RequestHeaders } from '../request/headers';

/** @throws ServiceError unauthenticated where the request does not present METRICS_KEY, which is none of the keys for endpoints */
export function checkMetricsKey(headers: RequestHeaders, key: Secret): void {
  const presented = presentedKey((name) => headers.values(name));
  if (timingSafeEqual(hashOf(presented), hashOf(key.reveal()))) return;
  throw new ServiceError('unauthenticated', 'The key is not valid.');
}

/** Whether the request presents METRICS_KEY, where there is one. */
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

/** Of one length, so that the time of comparing tells nothing. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
