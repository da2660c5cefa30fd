import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { createHash } from 'node:crypto';

import type { BoundParameter } from '@logquay/duckdb-engine/contract';

/** The part of pino's interface that the engine writes to. Facts never hold a secret, a value or SQL. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** A stored query that reads a table, with values for its parameters. */
export interface ReadingQuery {
  readonly endpoint: string;
  readonly sql: string;
  readonly parameters: readonly BoundParameter[];
}

export interface BigQueryOptions {
  /** Whose jobs they are. */
  readonly projectId: string;
  /** Where unqualified tables are, in the same project. */
  readonly dataset: string;
  /** null: BigQuery finds it by the data set. */
  readonly location: string | null;
  /** Origin of a local BigQuery (`http://127.0.0.1:9050`); null: Google's. */
  readonly emulator: string | null;
  /** Path of a service account's file; null: where Google's libraries look. */
  readonly credentials: string | null;
  /** Bytes, for queries that say nothing else: BigQuery never runs one without a bound. */
  readonly maxBytesBilled: bigint;
  /** Whether BigQuery itself reads consumer queries a last time (`SANDBOX_DRY_RUN`). */
  readonly inspectConsumerQueries: boolean;
  /** Stored queries that read tables: by one of them that last reading proves itself. */
  readonly storedQueries: readonly ReadingQuery[];
  /** The fixed instant that the local BigQuery was started with (`CLOCK`); part of `target`. */
  readonly clock: { readonly text: string } | null;
  readonly log: Log;
  /** Queries running at once in this process (64), and as many dry runs. */
  readonly maxConcurrent?: number;
  /** Bytes of JSON text that one result may hold (64 MiB). */
  readonly maxResultBytes?: number;
  /** Requests without an answer in a row after which BigQuery counts as down (10), and for how many ms (5000). */
  readonly breaker?: { readonly failures: number; readonly cooldown: number };
}

export const DEFAULTS = {
  maxConcurrent: 64,
  maxResultBytes: 64 * 1024 * 1024,
  breaker: { failures: 10, cooldown: 5_000 },
} as const;

/** Labels as BigQuery takes them: lower-case letters, digits, `_` and `-`, at most 63 characters, keys led by a letter. */

const LENGTH = 63;
/** Hex digits of a key name's hash: enough to tell keys apart, and nobody's name on the bill. */
const HASH_LENGTH = 16;

/**
 * The labels of a query in BigQuery's form. `key`, the name of an API key, becomes the first 16 hex digits of its SHA-256;
 * `kind` is `run` where none is given.
 */
export function bigQueryLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const clean: Record<string, string> = { kind: 'run' };
  for (const [key, value] of Object.entries(labels)) {
    const name = sanitise(key.replace(/^[^a-z]+/i, ''));
    if (name !== '') clean[name] = sanitise(name === 'key' ? hash(groupOf(value)) : value);
  }
  return clean;
}

function sanitise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, LENGTH);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}
