import { createHash, timingSafeEqual } from 'node:crypto';

import type { Secret } from '../../config';
import { ServiceError } from '../../errors';
import { presentedKey } from '../../keys/key';
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
