/** The contract of every result store, and what processes share on top of it. */
import { createHash } from 'node:crypto';
import type { BoundParameter } from '@logquay/duckdb-engine/contract';
import type { Representation } from '../rendering/representation';
import type { EncodedResponse } from '../rendering/encoded-response';

/** Everything that an answer depends on (docs/cache.md). Two requests that agree in all of it may share one. */
export interface Question {
  readonly endpointId: string;
  /** Of the endpoint's definition. */
  readonly revision: string;
  /** Engine and data, and the fixed clock where there is one. */
  readonly target: string;
  /** Validated, pinned ones included. */
  readonly parameters: readonly BoundParameter[];
  /** The consumer's own query, as they sent it. */
  readonly query: { readonly language: string; readonly text: string } | null;
  readonly redacted: boolean;
  /** What runs without the fence may fail where it does not with it: the two share neither answers nor runs. */
  readonly fenced: boolean;
  readonly representation: Representation;
  /** Whether TIMESTAMP is ISO 8601 text. */
  readonly isoTimestamps: boolean;
  /** Whether formulas are escaped where the representation is CSV. */
  readonly escapeFormulas: boolean;
}

/** A question by name: what entries are kept under, shared under, and leased under. */
export interface Identity {
  /** The whole question, unambiguous; an entry carries it and it is compared on read. */
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal digits. */
  readonly hash: string;
}

export function identify(question: Question): Identity {
  const { endpointId, revision, target, parameters, query, redacted, fenced, representation } = question;
  const bound = parameters
    .map(({ name, type, value }) => [name.toLowerCase(), type, value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const consumer = query === null ? null : [query.language, query.text];
  const escaped = representation === 'text/csv' && question.escapeFormulas;
  const form = `${representation}${escaped ? '; formulas=escaped' : ''}${question.isoTimestamps ? '; timestamps=iso' : ''}`;
  const text = JSON.stringify([endpointId, revision, target, bound, consumer, redacted, fenced, form]);
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}

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

/** `test/cache/store-contract.ts` is the suite that every implementation passes. */
export interface ResultStore {
  /** Bytes of the largest entry that is stored. */
  readonly maxEntry: number;
  /** null: no readable entry for this identity. Stale entries are returned too. */
  read(identity: Identity): Promise<Entry | null>;
  /**
   * Stores an entry for `maxAge` milliseconds.
   *
   * @returns whether it was stored: not when it is too large, nor in place of an entry with a higher fence
   */
  write(identity: Identity, entry: Entry, maxAge: number): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * What processes share. Every method rejects with `RedisUnavailable` within the command timeout when the shared store
 * fails, and at once while its circuit breaker is open: callers go on without it.
 */
export interface SharedStore extends ResultStore {
  /** The fence of the current entry, without its bytes; null: no entry. */
  fenceOf(identity: Identity): Promise<number | null>;
  /** The right to run, for one process at a time; null: another process holds it. */
  acquire(identity: Identity): Promise<Lease | null>;
  /**
   * Registers this process as waiting for another's run, for about a lease time, and checks whether that run goes on.
   */
  await(identity: Identity): Promise<'running' | 'over'>;
  /** This process no longer waits. */
  leave(identity: Identity): Promise<void>;
}

/** The right to run for one identity. It ends by itself after the lease time unless it is renewed. */
export interface Lease {
  /** For the entry of the run. */
  readonly fence: number;
  /** Of the entry at the time of the lease; null: no entry. */
  readonly previous: number | null;
  /** @returns false when it was lost: it expired, or another process holds it */
  renew(): Promise<boolean>;
  /** Whether another process waits for the run. */
  awaited(): Promise<boolean>;
  /** Releases it, if it is still this process's. */
  release(): Promise<void>;
}
