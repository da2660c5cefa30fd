/** Time zones that were looked at last: to look for a name takes as long as to read a page of text. */
import { LRUCache } from 'lru-cache';
import { timeZone } from '../../../googlesql/literals/time-zone';
import type { ChunkBudget } from './chunk-budget';

type Zone = ReturnType<typeof timeZone>;

const zones = new LRUCache<string, { readonly zone: Zone }>({ max: 1_000 });
const LONGEST_ZONE = 64;
/** Units of the budget for a name that is not remembered. */
const FOR_NEW_ZONE = 12_000;

/** @returns undefined: the budget has no room for a new name; null: there is no such zone */
export function knownZone(name: string, budget: ChunkBudget): Zone | undefined {
  if (name.length > LONGEST_ZONE) return null;
  let known = zones.get(name);
  if (known === undefined) {
    if (!budget.isWithin(FOR_NEW_ZONE)) return undefined;
    zones.set(name, (known = { zone: timeZone(name) }));
  }
  return known.zone;
}
