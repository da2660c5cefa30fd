import type { CacheResult } from '../cache/results';
import type { Engine, ResultHead } from '@logquay/duckdb-engine/contract';
import type { Key } from '../keys/key';
import type { Misreading } from '@logquay/googlesql/lql';
import type { RequestPlan } from './types';

/** Headers of a result: its age and lifetime (RFC 9111), cache status (RFC 9211) and cost, as a flat header list. */
export function responseHeaders(answered: CacheResult, engine: Pick<Engine, 'kind'>, key: Key): string[] {
  const headers = freshness(answered, key);
  // The number of bytes read depends on rows behind the fence of a key with pins.
  if (key.pins.size > 0) return headers;
  // Another request's run costs nothing, as a hit of BigQuery's own cache.
  return [...headers, ...costHeaders(answered.run ?? FREE[engine.kind])];
}

/** What a run has read and cost; a flat header list. */
export function costHeaders({ bytesProcessed, bytesBilled }: Omit<ResultHead, 'columns'>): string[] {
  const headers: string[] = [];
  if (bytesProcessed !== null) headers.push('X-Query-Bytes-Processed', String(bytesProcessed));
  if (bytesBilled !== null) headers.push('X-Query-Bytes-Billed', String(bytesBilled));
  return headers;
}

/** Of a response that is neither cached nor shared. */
export const UNCACHED: readonly string[] = uncached('');

function uncached(collapsed: '' | '; collapsed'): string[] {
  return ['Cache-Control', 'private, no-cache', 'Cache-Status', `logquay; fwd=miss${collapsed}`];
}

function freshness({ cached, outcome }: CacheResult, { isAmbient = false }: Key): string[] {
  if (cached === null) return uncached(outcome === 'collapsed' ? '; collapsed' : '');
  const { age, lifetime } = cached;
  const status = statusOf(outcome, lifetime - age);
  const control = isAmbient ? 'private, no-cache' : `private, max-age=${lifetime}`;
  return ['Cache-Control', control, 'Age', String(age), 'Cache-Status', status];
}

function statusOf(outcome: CacheResult['outcome'], ttl: number): string {
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

/** How a request was read, where that may not be what was meant; a flat header list. */
export function readingHeaders(
  plan: Pick<RequestPlan, 'parameters' | 'moving' | 'unknown' | 'misreadings'>,
): readonly string[] {
  return [...defaultHeader(plan), ...unknownHeader(plan.unknown), ...warningHeader(plan.misreadings)];
}

/** Starts that the request left to `default_lookback`. */
function defaultHeader({ parameters, moving }: Pick<RequestPlan, 'parameters' | 'moving'>): readonly string[] {
  if (moving === null) return [];
  const starts = parameters.filter(({ name }) => moving.names.includes(name));
  return ['X-Default-Parameters', starts.map(({ name, value }) => `${name}=${String(value)}`).join(', ')];
}

/** Bytes of `X-Unknown-Parameters`. */
const LONGEST_UNKNOWN = 256;

/** Names of ignored parameters, percent-encoded, as far as they fit. */
function unknownHeader(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  let value = '';
  for (const name of names) {
    const more = value === '' ? encodeName(name) : `${value}, ${encodeName(name)}`;
    if (more.length <= LONGEST_UNKNOWN) value = more;
  }
  return value === '' ? [] : ['X-Unknown-Parameters', value];
}

/** A lone surrogate has no UTF-8. */
function encodeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** Characters of `X-Query-Warnings`. */
const LONGEST_WARNINGS = 1024;

/** What an LQL text was read as and may not have been meant as, in plain words. */
function warningHeader(misreadings: readonly Misreading[]): readonly string[] {
  if (misreadings.length === 0) return [];
  const words = misreadings.map(({ message, hint }) => `${message} ${hint}`).join(' ');
  // Percent-encoded is what a header cannot hold, and the sign itself.
  const value = words.replace(/[^\x20-\x24\x26-\x7e]+/g, encodeName);
  return ['X-Query-Warnings', value.slice(0, LONGEST_WARNINGS)];
}
