import type { EncodedResponse } from '../rendering/encoded-response';

/** A kept answer. */
export interface Entry {
  /** The text of the identity that it answers. */
  readonly question: string;
  /** With its compressed encodings (`EncodedResponse.complete`). */
  readonly response: EncodedResponse;
  /** Milliseconds since the epoch at which its run had ended. */
  readonly made: number;
  /** Milliseconds from `made` until it is stale. */
  readonly lifetime: number;
  /** Rises with every run of one identity, in the whole cluster: an older run never replaces a newer one's entry. */
  readonly fence: number;
}

/** Milliseconds since it was made; never negative, though clocks of machines differ. */
export function ageOf({ made }: Entry, now: number): number {
  return Math.max(0, now - made);
}

/** Whether it may answer without a run. */
export function isFresh(entry: Entry, now: number): boolean {
  return ageOf(entry, now) < entry.lifetime;
}
