/*
id: 7d0f0c0e-54a5-4a53-9e0b-0d6c3ad1f6a1
name: tenants.shapes
description: Shapes of stored queries that a fence has to hold for.
max_rows: 1000
export: 100000
sandbox: true
params:
  project:
    type: string
    required: true
*/
WITH everything AS (
  SELECT * FROM raw_edge_logs AS t WHERE t.project = @project
),
numbers AS (
  -- Computed columns that fail on other projects' rows.
  SELECT t.id, t.timestamp, t.event_message, CAST(t.event_message AS INT64) AS n, DIV(1000, CAST(t.event_message AS INT64)) AS quotient
  FROM raw_auth_logs AS t
  WHERE t.project = @project
),
larger_numbers AS (
  -- One CTE reads another.
  SELECT id, timestamp, n, quotient FROM numbers WHERE n > 20
),
documents AS (
  SELECT t.id, t.timestamp, PARSE_JSON(t.event_message) AS document, JSON_VALUE(t.event_message, '$.n') AS n
  FROM raw_postgres_logs AS t
  WHERE t.project = @project
),
marked AS (
  -- The filter looks into records, and so does a column.
  SELECT t.id, t.timestamp, t.event_message, (SELECT m.level FROM UNNEST(t.metadata) AS m WITH OFFSET AS o ORDER BY o LIMIT 1) AS level
  FROM raw_realtime_logs AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
),
unnested AS (
  SELECT t.id, o, t.timestamp, m.reqId AS request_id, m.responseTime AS response_time, m.rawError AS raw_error
  FROM raw_storage_logs AS t
  CROSS JOIN UNNEST(t.metadata) AS m WITH OFFSET AS o
  WHERE m.project = @project
),
per_minute AS (
  SELECT TIMESTAMP_TRUNC(t.timestamp, MINUTE, 'UTC') AS minute, COUNT(*) AS n, MAX(t.event_message) AS greatest, MIN(LENGTH(t.event_message)) AS shortest
  FROM raw_postgrest_logs AS t
  WHERE t.project = @project
  GROUP BY 1
),
paired AS (
  SELECT e.id, e.timestamp, e.event_message AS edge_message, a.event_message AS auth_message
  FROM raw_edge_logs AS e
  INNER JOIN raw_auth_logs AS a ON a.id = e.id
  WHERE e.project = @project AND a.project = @project
),
distinct_messages AS (
  SELECT DISTINCT t.event_message FROM raw_pgbouncer_logs AS t WHERE t.project = @project
),
newest AS (
  SELECT t.id, t.timestamp, t.event_message
  FROM raw_edge_logs AS t
  WHERE t.project = @project
  QUALIFY ROW_NUMBER() OVER (PARTITION BY t.event_message ORDER BY t.timestamp DESC, t.id) <= 3
),
ranked AS (
  SELECT t.id, t.timestamp, t.event_message, RANK() OVER (ORDER BY t.timestamp, t.id) AS position, LAG(t.event_message) OVER (ORDER BY t.timestamp, t.id) AS previous
  FROM raw_auth_logs AS t
  WHERE t.project = @project
),
both_kinds AS (
  SELECT t.id, t.event_message FROM raw_postgrest_logs AS t WHERE t.project = @project
  UNION ALL
  SELECT t.id, t.event_message FROM raw_pgbouncer_logs AS t WHERE t.project = @project
)
SELECT id, timestamp FROM everything ORDER BY id LIMIT 10
