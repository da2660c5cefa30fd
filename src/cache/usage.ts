/** Which kept results are in use: what the warmer goes by. Consumer queries are never among them. */
import type { Representation } from '../rendering/representation';

/** What it takes to ask the same again. */
export interface Usage {
  /** Of the identity under which the result is kept. */
  readonly hash: string;
  readonly endpointId: string;
  /** Bound parameters by name, as a URL would give them; pinned ones included. */
  readonly values: Readonly<Record<string, string>>;
  readonly redacted: boolean;
  readonly representation: Representation;
  /** Of who asked last: they pay for the next refresh. */
  readonly keyName: string;
}

export interface InUse {
  readonly usage: Usage;
  /** Milliseconds since it was last asked for, give or take the tenth of the ttl by which asks are taken together. */
  readonly idle: number;
  /** How often in a row refreshing it has failed. */
  readonly failures: number;
}

/** Shared between processes where they share results: each of them sees what all of them were asked for. */
export interface UsageBook {
  /**
   * Somebody asks. Cheap, for it happens on every hit: nothing waits for it, and it never fails. Of asks within a tenth of
   * the ttl, and within ten seconds, one may stand for all.
   *
   * @param ttl milliseconds for which the result is kept
   */
  touch(usage: Usage, ttl: number): void;
  /** What was asked for within so many milliseconds and is not held off, that asked for last first. */
  inUse(within: number, atMost: number): Promise<InUse[]>;
  /** A refresh failed: for so many milliseconds no process shall try it again. */
  failed(hash: string, holdOff: number): Promise<void>;
  succeeded(hash: string): Promise<void>;
  /** It is not to be refreshed any more, until somebody asks for it again. */
  forget(hash: string): Promise<void>;
  close(): Promise<void>;
}
