import { fairShare, FairSlots, type SlotBounds } from '@logquay/duckdb-engine/concurrency';
import type { Engine } from '@logquay/duckdb-engine/contract';

/** What the operator allows: queries at a time, of a key and of all, and how many may wait. */
interface Allowed {
  readonly maxRunningPerKey: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/**
 * Bounds of the runs on an engine (docs/querying.md), a name for each key. An engine that runs `concurrency` queries at once gets no more: the rest wait here, where
 * slots are handed out round robin by key, and one key never has all of them. Others get what the operator allows.
 */
export function admissionBounds(
  { maxRunningPerKey, maxRunning, maxWaiting }: Allowed,
  { concurrency }: Pick<Engine, 'concurrency'>,
): SlotBounds {
  if (concurrency === undefined) return { perName: maxRunningPerKey, total: maxRunning, waiting: maxWaiting };
  const total = Math.min(maxRunning, concurrency);
  const perName = Math.min(maxRunningPerKey, fairShare(concurrency), Math.max(1, total - 1));
  return { perName, perNameBesideOthers: 1, total, waiting: maxWaiting };
}

/** Exports that wait for a slot, of all keys. */
const WAITING_EXPORTS = 16;
/** Exports at once on an engine without a bound of its own: each has a page or two in memory. */
const EXPORTS = 4;

/**
 * Slots for exports, which last as long as their clients read: one of a key or a user at a time, never all for the users of one
 * issuer, and never more than half of the queries that the engine runs at once.
 */
export function exportSlots({ concurrency }: Pick<Engine, 'concurrency'>): FairSlots {
  const total = concurrency === undefined ? EXPORTS : fairShare(concurrency);
  return new FairSlots({ total, perName: 1, perGroup: Math.max(1, total - 1), waiting: WAITING_EXPORTS });
}
