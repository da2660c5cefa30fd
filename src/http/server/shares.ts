import { ByteShares } from '../../limits/byte-shares';

const MIB = 1024 * 1024;

/** Bytes of unread answers of a key, or of one answer where that may be longer; and of bodies of requests. */
const UNREAD = 64 * MIB;
const BODIES = 32 * MIB;

/** Bytes of answers that clients have not taken yet, and of bodies of requests. */
export interface Shares {
  readonly unread: ByteShares;
  readonly bodies: ByteShares;
}

/** What callers may have the process hold (docs/operations.md): twice a key's share for all. @param longestResponse bytes */
export function sharesOf(longestResponse: number): Shares {
  const unread = Math.max(UNREAD, longestResponse);
  return {
    unread: new ByteShares({ perKey: unread, all: 2 * unread }),
    bodies: new ByteShares({ perKey: BODIES, all: 2 * BODIES }),
  };
}
