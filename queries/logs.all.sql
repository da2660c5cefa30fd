/*
id: 1f3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e94
name: logs.all
description: >-
  The newest rows of the nine log tables of one project. Without a query of its own it answers the latest edge
  requests; a consumer query may read every table.
max_rows: 1000
sandbox: true
redact_pii: false
params:
  project:
    type: string
    required: true
    description: Project reference, compared exactly.
  iso_timestamp_start:
    type: timestamp
    description: Rows strictly after this instant. Empty means no bound.
  iso_timestamp_end:
    type: timestamp
    description: Rows at or before this instant. Empty means no bound.
*/

-- Why each bound looks as it does:
-- * BigQuery prunes partitions only for `column <operator> constant`, so the bare column stands alone on the left and
--   nothing but parameters and constants on the right. Absent bounds arrive as '' and open the whole range.
-- * The lower bound is exclusive, yet "no bound" must not lose a row at the very first instant of TIMESTAMP: `>=`
--   prunes, the IF below it excludes the start itself.
-- * IF, unlike OR, promises not to evaluate the branch it does not take: '' is never cast.
-- The CTEs are not sorted: an order inside a CTE guarantees nothing to who reads it, and would only cost.
WITH edge_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_edge_logs AS t
  WHERE t.project = @project
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
postgres_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_postgres_logs AS t
  WHERE t.project = @project
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
function_edge_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_function_edge_logs AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
function_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_function_logs AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
auth_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_auth_logs AS t
  WHERE t.project = @project
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
realtime_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_realtime_logs AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
storage_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_storage_logs AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
postgrest_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_postgrest_logs AS t
  WHERE t.project = @project
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
),
pgbouncer_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata
  FROM raw_pgbouncer_logs AS t
  WHERE t.project = @project
    AND t.timestamp >= IF(@iso_timestamp_start = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@iso_timestamp_start AS TIMESTAMP))
    AND IF(@iso_timestamp_start = '', TRUE, t.timestamp > CAST(@iso_timestamp_start AS TIMESTAMP))
    AND t.timestamp <= IF(@iso_timestamp_end = '', TIMESTAMP '9999-12-31 23:59:59.999999+00', CAST(@iso_timestamp_end AS TIMESTAMP))
)
SELECT id, timestamp, event_message, metadata
FROM edge_logs
ORDER BY timestamp DESC, id
LIMIT 100
