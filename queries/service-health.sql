/*
id: 6f0e5a1c-3f0b-4b0e-9f0d-8a6f2c1d7b53
name: service-health
description: >-
  Events of each service by minute, hour or day, counted as ok, warning or error: Studio's page on the health of
  services.
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
  granularity:
    type: enum
    values: [minute, hour, day]
    default: hour
    description: Length of a bucket.
*/

-- A status from 500 on is an error, from 400 on a warning; other logs have a level.
-- supavisor_logs and etl_replication_logs are of the platform alone; Studio reads them all the same.
WITH events AS (
  SELECT t.timestamp, 'edge_logs' AS service,
    CASE WHEN r.status_code >= 500 THEN 'error' WHEN r.status_code >= 400 THEN 'warning' ELSE 'ok' END AS severity
  FROM raw_edge_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  LEFT JOIN UNNEST(m.response) AS r ON TRUE
  WHERE t.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'postgres_logs' AS service,
    CASE
      WHEN LOWER(p.error_severity) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(p.error_severity) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_postgres_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  LEFT JOIN UNNEST(m.parsed) AS p ON TRUE
  WHERE t.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'auth_logs' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_auth_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE t.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'function_edge_logs' AS service,
    CASE WHEN r.status_code >= 500 THEN 'error' WHEN r.status_code >= 400 THEN 'warning' ELSE 'ok' END AS severity
  FROM raw_function_edge_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  LEFT JOIN UNNEST(m.response) AS r ON TRUE
  WHERE m.project_ref = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'function_logs' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_function_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE m.project_ref = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'storage_logs' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_storage_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE m.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'realtime_logs' AS service,
    CASE
      WHEN LOWER(m.level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN LOWER(m.level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS severity
  FROM raw_realtime_logs AS t
  LEFT JOIN UNNEST(t.metadata) AS m ON TRUE
  WHERE m.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
  UNION ALL
  SELECT t.timestamp, 'postgrest_logs' AS service,
    'ok' AS severity
  FROM raw_postgrest_logs AS t
  WHERE t.project = @project
    AND t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP)
    AND t.timestamp <= CAST(@iso_timestamp_end AS TIMESTAMP)
)
SELECT
  DATETIME(
    CASE @granularity
      WHEN 'minute' THEN TIMESTAMP_TRUNC(e.timestamp, MINUTE, 'UTC')
      WHEN 'day' THEN TIMESTAMP_TRUNC(e.timestamp, DAY, 'UTC')
      ELSE TIMESTAMP_TRUNC(e.timestamp, HOUR, 'UTC')
    END,
    'UTC'
  ) AS timestamp,
  STRUCT(
    COUNTIF(e.service = 'edge_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'edge_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'edge_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'edge_logs') AS total
  ) AS edge_logs,
  STRUCT(
    COUNTIF(e.service = 'postgres_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'postgres_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'postgres_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'postgres_logs') AS total
  ) AS postgres_logs,
  STRUCT(
    COUNTIF(e.service = 'auth_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'auth_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'auth_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'auth_logs') AS total
  ) AS auth_logs,
  STRUCT(
    COUNTIF(e.service = 'function_edge_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'function_edge_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'function_edge_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'function_edge_logs') AS total
  ) AS function_edge_logs,
  STRUCT(
    COUNTIF(e.service = 'function_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'function_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'function_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'function_logs') AS total
  ) AS function_logs,
  STRUCT(
    COUNTIF(e.service = 'storage_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'storage_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'storage_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'storage_logs') AS total
  ) AS storage_logs,
  STRUCT(
    COUNTIF(e.service = 'realtime_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'realtime_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'realtime_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'realtime_logs') AS total
  ) AS realtime_logs,
  STRUCT(
    COUNTIF(e.service = 'postgrest_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'postgrest_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'postgrest_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'postgrest_logs') AS total
  ) AS postgrest_logs,
  STRUCT(
    COUNTIF(e.service = 'supavisor_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'supavisor_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'supavisor_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'supavisor_logs') AS total
  ) AS supavisor_logs,
  STRUCT(
    COUNTIF(e.service = 'etl_replication_logs' AND e.severity = 'ok') AS ok,
    COUNTIF(e.service = 'etl_replication_logs' AND e.severity = 'warning') AS warning,
    COUNTIF(e.service = 'etl_replication_logs' AND e.severity = 'error') AS error,
    COUNTIF(e.service = 'etl_replication_logs') AS total
  ) AS etl_replication_logs
FROM events AS e
GROUP BY 1
ORDER BY 1
