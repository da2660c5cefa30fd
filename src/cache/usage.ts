/** Which cached results are in use, for the warmer. Results of consumer queries are never recorded. */
import type { Representation } from '../rendering/representation';

/** All that is needed to repeat the request. */
export interface Usage {
  /** Of the request: that of the identity under which the result is cached, or the same at any time where its start moves on. */
  readonly hash: string;
  readonly endpointId: string;
  /** Bound parameters by name, as a URL would give them, a list for one given several times; without pinned ones. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  readonly redacted: boolean;
  readonly representation: Representation;
  /** Of the last request: the next refresh is billed to this key. */
  readonly keyName: string;
}

export interface InUse {
  readonly usage: Usage;
  /** Milliseconds since the last request, to a tenth of the ttl: requests in between are not recorded. */
  readonly idle: number;
  /** Failed refreshes in a row. */
  readonly failures: number;
}

/** Shared between processes where they share results: each of them sees the requests of all. */
export interface UsageBook {
  /**
   * Records a request. Cheap, as it happens on every hit: nothing waits for it, and it never fails. Requests within a tenth
   * of the ttl, ten seconds at most, may be recorded as one.
   *
   * @param ttl milliseconds for which the result is cached
   */
  touch(usage: Usage, ttl: number): void;
  /** What was requested within so many milliseconds and is not held off, the most recent first. */
  inUse(within: number, atMost: number): Promise<InUse[]>;
  /** A refresh failed: no process tries it again for so many milliseconds. */
  failed(hash: string, holdOff: number): Promise<void>;
  /** Whether a failed refresh, of any process, holds further ones off now. */
  isHeldOff(hash: string): Promise<boolean>;
  succeeded(hash: string): Promise<void>;
  /** It is not refreshed until it is requested again. */
  forget(hash: string): Promise<void>;
  close(): Promise<void>;
}
