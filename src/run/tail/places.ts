/** What the process that follows a query has given, so that another one can go on from its places (docs/decisions/tail.md). */
import { createHash } from 'node:crypto';

/** One query for rows that have arrived. Plain data. */
export interface RecordedLook {
  /** Microseconds since the epoch: up to when it asked for rows. */
  readonly upTo: number;
  /** Rows that had been given before it. */
  readonly before: number;
  /** Those that it gave, in their order. */
  readonly keys: readonly string[];
  /** Of the first look of a list: rows that are known and not given behind it. */
  readonly there: readonly string[] | null;
}

/** Where looks are recorded, each list by its name. */
export interface PlaceRecords {
  /** Appends to a list, of which the last `most` remain. @throws where it cannot be written */
  append(name: string, looks: readonly RecordedLook[], most: number): Promise<void>;
  /** In their order; empty: nothing is known of the list. @throws where it cannot be read */
  read(name: string): Promise<readonly RecordedLook[]>;
}

/** Milliseconds for which a list is there behind its last look: as long as places are good. */
export const RECORDED = 60 * 60_000;
/** Bytes of a digest: two of a million rows are alike in one of 10^17 cases. */
const DIGEST = 12;

/** A row as it is recorded: nothing of it can be read. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest().subarray(0, DIGEST).toString('base64url');
}

/** What was given at a place. */
export interface GivenBefore {
  readonly keys: ReadonlySet<string>;
  /** Microseconds: up to when rows had been asked for. */
  readonly upTo: bigint;
}

/**
 * What had been given when so many rows had.
 *
 * @param looks as they were read, some of them twice where a failed attempt to record them was none
 * @param count rows of the list's own count @param lateness microseconds for which a row may be late
 * @returns null: the looks do not say
 */
export function givenAt(looks: readonly RecordedLook[], count: number, lateness: bigint): GivenBefore | null {
  const known: RecordedLook[] = [];
  for (const look of looks) {
    const end = known.length === 0 ? look.before : endOf(known.at(-1)!);
    if (look.before > end) return null;
    if (look.before === end) known.push(look);
  }
  const [first] = known;
  const last = known.findLastIndex((look) => endOf(look) <= count);
  if (first === undefined || last < 0 || count > endOf(known.at(-1)!)) return null;
  const upTo = BigInt(known[last]!.upTo);
  // Rows that may be late have to be known as far back: those of looks that are gone are not later than the first that is there.
  if (first.there === null && BigInt(first.upTo) > upTo - lateness) return null;
  const keys = known.flatMap((look) => [
    ...(look.there ?? []),
    ...look.keys.slice(0, Math.max(0, count - look.before)),
  ]);
  return { keys: new Set(keys), upTo };
}

function endOf({ before, keys }: RecordedLook): number {
  return before + keys.length;
}
