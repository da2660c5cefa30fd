/*
id: 0d2b9d2e-6c1f-4a4e-8f3a-5b7c9e1f4a62
name: project.metrics
description: >-
  Events of each service as ok, warning or error, in a window and in the one of the same length before it: the charts
  of Studio's project page.
max_rows: 10000
sandbox: false
redact_pii: false
params:
  project:
    type: string
    required: true
    description: Project reference, compared exactly.
  iso_timestamp_start:
    type: timestamp
    required: true
    description: Events strictly after this instant.
  iso_timestamp_end:
    type: timestamp
    required: true
    description: Events at or before this instant.
  interval:
    type: enum
    values: [1hr, 1day, 7day]
    default: 1day
    description: "Buckets: 1hr by the minute, 1day by the hour, 7day by the day."
*/

-- A status from 500 on is an error, from 400 on a warning; other logs have a level.
-- The start of the window before is written out in each filter: BigQuery prunes partitions by constants.
WITH events AS (
  SELECT t.timestamp, 'db' AS service,
    CASE
      WHEN LOWER(p.error_severity) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(p.error_severity) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_postgres_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  LEFT JOIN UNNEST(m.parsed) AS p ON TRUE
  WHERE t.project = @project
    AND t.timestamp > TIMESTAMP_SUB(CAST(@iso_timestamp_start AS TIMESTAMP), INTERVAL TIMESTAMP_DIFF(CAST(@iso_timestamp_end AS TIMESTAMP), CAST(@iso_timestamp_start AS TIMESTAMP), SECOND) SECOND)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'auth' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_auth_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE t.project = @project
    AND t.timestamp > TIMESTAMP_SUB(CAST(@iso_timestamp_start AS TIMESTAMP), INTERVAL TIMESTAMP_DIFF(CAST(@iso_timestamp_end AS TIMESTAMP), CAST(@iso_timestamp_start AS TIMESTAMP), SECOND) SECOND)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'functions' AS service,
    CASE WHEN r.status_code >= 500 THEN 'error' WHEN r.status_code >= 400 THEN 'warning' ELSE 'ok' END AS severity
  FROM raw_function_edge_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  LEFT JOIN UNNEST(m.response) AS r ON TRUE
  WHERE m.project_ref = @project
    AND t.timestamp > TIMESTAMP_SUB(CAST(@iso_timestamp_start AS TIMESTAMP), INTERVAL TIMESTAMP_DIFF(CAST(@iso_timestamp_end AS TIMESTAMP), CAST(@iso_timestamp_start AS TIMESTAMP), SECOND) SECOND)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'storage' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_storage_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE m.project = @project
    AND t.timestamp > TIMESTAMP_SUB(CAST(@iso_timestamp_start AS TIMESTAMP), INTERVAL TIMESTAMP_DIFF(CAST(@iso_timestamp_end AS TIMESTAMP), CAST(@iso_timestamp_start AS TIMESTAMP), SECOND) SECOND)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'realtime' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_realtime_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE m.project = @project
    AND t.timestamp > TIMESTAMP_SUB(CAST(@iso_timestamp_start AS TIMESTAMP), INTERVAL TIMESTAMP_DIFF(CAST(@iso_timestamp_end AS TIMESTAMP), CAST(@iso_timestamp_start AS TIMESTAMP), SECOND) SECOND)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
)
SELECT
  CASE @interval
    WHEN '1hr' THEN TIMESTAMP_TRUNC(e.timestamp, MINUTE, 'UTC')
    WHEN '7day' THEN TIMESTAMP_TRUNC(e.timestamp, DAY, 'UTC')
    ELSE TIMESTAMP_TRUNC(e.timestamp, HOUR, 'UTC')
  END AS timestamp,
  e.service,
  IF(e.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP), 'current', 'previous') AS time_window,
  COUNTIF(e.severity = 'ok') AS ok_count,
  COUNTIF(e.severity = 'warning') AS warning_count,
  COUNTIF(e.severity = 'error') AS error_count
FROM events AS e
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
