import type { Answered } from '../cache/results';
import type { Engine } from '../engines/contract';
import type { Key } from '../keys/key';

/**
 * What a run tells about its answer: how old it may get and is (RFC 9111), how it came about (RFC 9211), its cost. Names and
 * values in turn.
 */
export function answerHeaders(answered: Answered, engine: Pick<Engine, 'kind'>, key: Key): string[] {
  const headers = freshness(answered);
  // How many bytes were read tells of rows behind a key's fence: a key with pins does not learn it.
  if (key.pins.size > 0) return headers;
  // Nothing where the run was another's, as with BigQuery's own cache.
  const { bytesProcessed, bytesBilled } = answered.made ?? FREE[engine.kind];
  if (bytesProcessed !== null) headers.push('X-Query-Bytes-Processed', String(bytesProcessed));
  if (bytesBilled !== null) headers.push('X-Query-Bytes-Billed', String(bytesBilled));
  return headers;
}

/** Of an answer that nothing keeps, and that nobody else asked for. */
export const NOT_KEPT: readonly string[] = notKept('');

function notKept(collapsed: '' | '; collapsed'): string[] {
  return ['Cache-Control', 'private, no-cache', 'Cache-Status', `logquay; fwd=miss${collapsed}`];
}

function freshness({ kept, outcome }: Answered): string[] {
  if (kept === null) return notKept(outcome === 'collapsed' ? '; collapsed' : '');
  const { age, lifetime } = kept;
  const status = statusOf(outcome, lifetime - age);
  return ['Cache-Control', `private, max-age=${lifetime}`, 'Age', String(age), 'Cache-Status', status];
}

function statusOf(outcome: Answered['outcome'], ttl: number): string {
  switch (outcome) {
    case 'hit':
      return `logquay; hit; ttl=${ttl}`;
    case 'stale':
      return `logquay; hit; ttl=${ttl}; detail=stale-if-error`;
    case 'miss':
      return 'logquay; fwd=miss; stored';
    case 'collapsed':
      return 'logquay; fwd=miss; collapsed';
  }
}

const FREE = {
  bigquery: { bytesProcessed: 0n, bytesBilled: 0n },
  duckdb: { bytesProcessed: null, bytesBilled: null },
} as const;
