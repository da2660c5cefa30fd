import type { Answered } from '../cache/results';
import type { About } from './request';

/** What log and metrics tell of an answer. @param ttl milliseconds that it may be kept; 0: it is not */
export function toldOf({ outcome, made, kept }: Answered, ttl: number): About {
  if (made === null) return { cache: outcome };
  return {
    cache: outcome,
    ...(ttl > 0 ? { stored: kept !== null } : {}),
    ...(made.bytesBilled === null ? {} : { billed: made.bytesBilled }),
  };
}
