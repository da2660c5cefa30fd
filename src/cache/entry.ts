import type { EncodedResponse } from '../rendering/encoded-response';

/** A cached response. */
export interface Entry {
  /** Text of the identity it is cached under. */
  readonly question: string;
  /** With its compressed encodings (`EncodedResponse.complete`). */
  readonly response: EncodedResponse;
  /** Milliseconds since the epoch at which its run had ended. */
  readonly createdAt: number;
  /** Milliseconds from `createdAt` until it is stale. */
  readonly lifetime: number;
  /** Fencing token, rising with every run of one identity in the whole cluster: an older run never replaces a newer entry. */
  readonly fence: number;
}

/** Milliseconds since it was created; never negative, though clocks of machines differ. */
export function ageOf({ createdAt }: Entry, now: number): number {
  return Math.max(0, now - createdAt);
}

/** Whether it may be served without a run. */
export function isFresh(entry: Entry, now: number): boolean {
  return ageOf(entry, now) < entry.lifetime;
}
