import type { Answered } from '../cache/results';
import type { Engine } from '../engines/contract';
import type { Key } from '../keys/key';

type Headers = Readonly<Record<string, string>>;

/** What a run tells about its answer: how old it may get and is (RFC 9111), how it came about (RFC 9211), its cost. */
export function answerHeaders(answered: Answered, engine: Pick<Engine, 'kind'>, key: Key): Headers {
  return { ...freshness(answered), ...billing(answered, engine, key) };
}

/** Of an answer that nothing keeps. */
export const NOT_KEPT: Headers = { 'Cache-Control': 'private, no-cache', 'Cache-Status': 'logquay; fwd=miss' };

function freshness({ kept, outcome }: Answered): Headers {
  const collapsed = outcome === 'collapsed' ? '; collapsed' : '';
  if (kept === null) return { ...NOT_KEPT, 'Cache-Status': `logquay; fwd=miss${collapsed}` };
  return {
    'Cache-Control': `private, max-age=${kept.lifetime}`,
    Age: String(kept.age),
    'Cache-Status': statusOf(outcome, kept.lifetime - kept.age),
  };
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

/**
 * What this request cost: nothing where the run was another's, as with BigQuery's own cache. How many bytes were read
 * tells of rows behind a key's fence: a key with pins does not learn it.
 */
function billing({ made }: Answered, { kind }: Pick<Engine, 'kind'>, key: Key): Headers {
  if (key.pins.size > 0) return {};
  const { bytesProcessed, bytesBilled } = made ?? FREE[kind];
  return {
    ...(bytesProcessed === null ? {} : { 'X-Query-Bytes-Processed': String(bytesProcessed) }),
    ...(bytesBilled === null ? {} : { 'X-Query-Bytes-Billed': String(bytesBilled) }),
  };
}

const FREE = {
  bigquery: { bytesProcessed: 0n, bytesBilled: 0n },
  duckdb: { bytesProcessed: null, bytesBilled: null },
} as const;
