/** A stored query for benchmarks: rows like those of a log, made of nothing, kept for a quarter of an hour. */
export function rowsEndpoint(name: string, id: string, rows: number): string {
  return `/*
id: ${id}
name: ${name}
description: Rows to be kept.
max_rows: ${rows}
cache_ttl: 900
sandbox: true
params:
  project: { type: string, required: true, description: Whose rows. }
*/
WITH numbers AS (SELECT n FROM UNNEST(GENERATE_ARRAY(1, ${rows})) AS n)
SELECT n AS id, TIMESTAMP_ADD(TIMESTAMP '2026-09-30 12:00:00', INTERVAL n SECOND) AS timestamp,
  CONCAT('GET | 200 | /rest/v1/items?id=eq.', CAST(n AS STRING)) AS event_message, @project AS project
FROM numbers ORDER BY n
`;
}
