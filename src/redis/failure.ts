import { TimeoutError } from '@logquay/duckdb-engine/concurrency';

/**
 * What a failed command says of the connection:
 * `late`: no answer in time. `refused`: Redis lives, and does not want this one command (it is full, or may not).
 * `elsewhere`: this server does not take writes (any more); another does. `broken`: anything else.
 */
export type FailureKind = 'late' | 'refused' | 'elsewhere' | 'broken';

/** Error replies by which a server says that it serves nobody for now. */
const NOT_SERVING = new Set([
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'NOAUTH',
  'WRONGPASS',
  'BUSY',
  'TRYAGAIN',
  'MOVED',
  'ASK',
]);

export function kindOf(error: unknown): FailureKind {
  if (error instanceof TimeoutError) return 'late';
  const code = replyCode(error);
  if (code === null || NOT_SERVING.has(code)) return 'broken';
  return code === 'READONLY' ? 'elsewhere' : 'refused';
}

/** Replies by which a server says that it takes no writes, or none of this user. */
const NO_WRITES = new Set(['MISCONF', 'OOM', 'NOPERM', 'NOREPLICAS']);

export function isOfWrites(error: unknown): boolean {
  return NO_WRITES.has(replyCode(error) ?? '');
}

/** What a log may say of it: never a message, which can repeat what was sent, a password too. */
export function reasonOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'no answer in time';
  const code = replyCode(error);
  if (code !== null) return `answered ${code}`;
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The word by which an error reply says what kind it is; Redis 6 puts a script's own words in front of it. */
function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return null;
  const found = /^ERR Error running script.*: -([A-Z]+)\b/.exec(error.message) ?? /^([A-Z]+)\b/.exec(error.message);
  return found?.[1] ?? 'ERR';
}

/** Redis does not answer in time, or not as it should, or the circuit breaker in front of it is open. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}
