/** Ids of rows that came without: a digest of the row's own bytes, and its ordinal among equal rows. */
import type { DuckDBConnection } from '@duckdb/node-api';

import { quoteText } from '../sql';
import type { Segment } from './segment';

/** What the id of a row begins with until it is numbered. */
export const UNNUMBERED = '\u0001';

const DIGEST = 32;

/** SQL: the ordinal in a generated id. */
export const ORDINAL = `coalesce(TRY_CAST(substr(id, ${DIGEST + 2}) AS BIGINT), 0)`;

/**
 * Numbers the rows of table `rows` that have no id yet, above equal rows in other segments. Equal rows have equal times:
 * only what is near in time is looked through.
 */
export async function numberGeneratedIds(
  connection: DuckDBConnection,
  others: readonly { readonly path: string; readonly segment: Pick<Segment, 'earliest' | 'latest'> }[],
): Promise<void> {
  const marked = `starts_with(id, ${quoteText(UNNUMBERED)})`;
  const found = await connection.runAndReadAll(
    `SELECT CAST(epoch_us(min(timestamp)) AS VARCHAR), CAST(epoch_us(max(timestamp)) AS VARCHAR) FROM rows WHERE ${marked}`,
  );
  const [first, last] = (found.getRows()[0] ?? []) as (string | null)[];
  if (first == null || last == null) return;
  const taken = [`SELECT id FROM rows WHERE NOT ${marked}`];
  for (const [i, { path, segment }] of others.entries()) {
    const apart = BigInt(segment.latest ?? last) < BigInt(first) || BigInt(segment.earliest ?? first) > BigInt(last);
    if (apart) continue;
    await connection.run(`ATTACH ${quoteText(path)} AS other_${i} (READ_ONLY)`);
    taken.push(
      `SELECT id FROM other_${i}.rows WHERE timestamp BETWEEN make_timestamp(${first}) AND make_timestamp(${last})`,
    );
  }
  await connection.run(`UPDATE rows SET id = numbered.id FROM (
      SELECT row AS of, digest || CASE WHEN n = 0 THEN '' ELSE '-' || n END AS id FROM (
        SELECT row, digest, coalesce(next, 0) + row_number() OVER (PARTITION BY digest ORDER BY row) - 1 AS n
        FROM (SELECT rowid AS row, substr(id, 2) AS digest FROM rows WHERE ${marked})
        LEFT JOIN (SELECT substr(id, 1, ${DIGEST}) AS digest, max(${ORDINAL}) + 1 AS next FROM (${taken.join(' UNION ALL ')})
          WHERE substr(id, 1, ${DIGEST}) IN (SELECT substr(id, 2) FROM rows WHERE ${marked}) GROUP BY 1) USING (digest)))
      AS numbered WHERE rows.rowid = numbered.of`);
}
