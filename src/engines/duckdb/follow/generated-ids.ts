/** Ids of rows that came without: a digest of the row's own bytes, and its ordinal among equal rows. */
import type { DuckDBConnection } from '@duckdb/node-api';

import { quoteText } from '../sql';
import { isNotOf, type Segment } from './segment';

/** A segment on disk. */
export interface StoredSegment {
  /** Attaches its file. @returns the name of its database */
  readonly attached: () => Promise<string>;
  readonly segment: Pick<Segment, 'earliest' | 'latest' | 'odd'>;
  /** Sources of rows that do not count. */
  readonly dropped: readonly number[];
}

/** What the id of a row begins with until it is numbered. */
export const UNNUMBERED = '\u0001';

const DIGEST = 32;

/** SQL: the ordinal in a generated id. */
export const ORDINAL = `coalesce(TRY_CAST(substr(id, ${DIGEST + 2}) AS BIGINT), 0)`;

/**
 * Numbers the rows of `tables` that have no id yet, above equal rows in segments.
 *
 * @param timed whether every row has a time: equal rows have equal times, so only what is near in time is looked through
 */
export async function numberGeneratedIds(
  connection: DuckDBConnection,
  tables: readonly string[],
  segments: readonly StoredSegment[],
  timed: boolean,
): Promise<void> {
  const marked = `starts_with(id, ${quoteText(UNNUMBERED)})`;
  const epoch = (bound: string): string => (timed ? `CAST(epoch_us(${bound}(timestamp)) AS VARCHAR)` : 'NULL');
  for (const table of tables) {
    const found = await connection.runAndReadAll(
      `SELECT count(*), ${epoch('min')}, ${epoch('max')} FROM ${table} WHERE ${marked}`,
    );
    const [[count, first, last]] = found.getRows() as [[bigint, string | null, string | null]];
    if (count === 0n) continue;
    const taken = tables.map((other) => `SELECT id FROM ${other} WHERE NOT ${marked}`);
    for (const { attached, segment, dropped } of segments) {
      const bounds = first === null || last === null ? null : { first, last };
      if (bounds !== null && isApart(segment, bounds)) continue;
      const conditions = [
        ...(bounds === null
          ? []
          : [`timestamp BETWEEN make_timestamp(${bounds.first}) AND make_timestamp(${bounds.last})`]),
        ...(dropped.length === 0 ? [] : [isNotOf(dropped)]),
      ];
      const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
      for (const relation of segment.odd > 0 ? ['rows', 'odd'] : ['rows']) {
        taken.push(`SELECT id FROM ${await attached()}.${relation}${where}`);
      }
    }
    await connection.run(`UPDATE ${table} SET id = numbered.id FROM (
        SELECT row AS of, digest || CASE WHEN n = 0 THEN '' ELSE '-' || n END AS id FROM (
          SELECT row, digest, coalesce(next, 0) + row_number() OVER (PARTITION BY digest ORDER BY row) - 1 AS n
          FROM (SELECT rowid AS row, substr(id, 2) AS digest FROM ${table} WHERE ${marked})
          LEFT JOIN (SELECT substr(id, 1, ${DIGEST}) AS digest, max(${ORDINAL}) + 1 AS next FROM (${taken.join(' UNION ALL ')})
            WHERE substr(id, 1, ${DIGEST}) IN (SELECT substr(id, 2) FROM ${table} WHERE ${marked}) GROUP BY 1) USING (digest)))
        AS numbered WHERE ${table}.rowid = numbered.of`);
  }
}

function isApart(
  { earliest, latest }: StoredSegment['segment'],
  { first, last }: { readonly first: string; readonly last: string },
): boolean {
  return BigInt(latest ?? last) < BigInt(first) || BigInt(earliest ?? first) > BigInt(last);
}
