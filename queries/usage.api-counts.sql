/*
id: c4a7d1e8-92b3-4f6a-b0d5-3e8f51a6c7d2
name: usage.api-counts
description: >-
  Requests to the REST, storage, auth and realtime services per minute, hour or day, counted over the edge requests
  whose URL matches a pattern.
max_rows: 1000
cache_ttl: 900
cache_warming: 300
sandbox: true
redact_pii: false
params:
  interval:
    type: enum
    values: [minutely, hourly, daily, 1hr, 1day, 7day]
    required: true
    description: >-
      Window and bucket: minutely and 1hr are the last hour by the minute, hourly the last hour by the hour, 1day the
      last 24 hours by the hour, daily and 7day the last 7 days by the day.
  project:
    type: regex
    required: true
    description: RE2 regular expression that a request's URL must match somewhere; a plain project reference will do.
*/

-- The window's start is written twice: `dates` shows it to consumers, and chart_counts repeats it because BigQuery
-- prunes partitions by constants (CURRENT_TIMESTAMP() is one, the same everywhere in a statement), not by a subquery.
-- Time zones are named: a project's default time zone must not move the buckets.
WITH dates AS (
  SELECT
    TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL (CASE WHEN @interval IN ('daily', '7day') THEN 168 WHEN @interval = '1day' THEN 24 ELSE 1 END) HOUR
    ) AS start
),
chart_counts AS (
  SELECT
    CASE
      WHEN @interval IN ('minutely', '1hr') THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE, 'UTC')
      WHEN @interval IN ('hourly', '1day') THEN TIMESTAMP_TRUNC(t.timestamp, HOUR, 'UTC')
      ELSE TIMESTAMP_TRUNC(t.timestamp, DAY, 'UTC')
    END AS timestamp,
    COUNTIF(REGEXP_CONTAINS(request.path, '/rest')) AS total_rest_requests,
    COUNTIF(REGEXP_CONTAINS(request.path, '/storage')) AS total_storage_requests,
    COUNTIF(REGEXP_CONTAINS(request.path, '/auth')) AS total_auth_requests,
    COUNTIF(REGEXP_CONTAINS(request.path, '/realtime')) AS total_realtime_requests
  FROM raw_edge_logs AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS request
  WHERE t.timestamp >= TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL (CASE WHEN @interval IN ('daily', '7day') THEN 168 WHEN @interval = '1day' THEN 24 ELSE 1 END) HOUR
    )
    AND REGEXP_CONTAINS(request.url, @project)
  GROUP BY 1
)
SELECT
  DATETIME(c.timestamp, 'UTC') AS timestamp,
  c.total_rest_requests,
  c.total_storage_requests,
  c.total_auth_requests,
  c.total_realtime_requests
FROM chart_counts AS c
ORDER BY c.timestamp
