/*
id: 9a4c7d05-2e8b-4c16-a1f7-0b3d6e5c8f29
name: functions.combined-stats
description: >-
  Calls of one edge function by result, their time, and its own log lines by level, per minute or hour: Studio's page of
  a function.
max_rows: 10000
sandbox: false
redact_pii: false
params:
  project:
    type: string
    required: true
    description: Project reference, compared exactly.
  function_id:
    type: string
    required: true
    description: The function's id, compared exactly.
  interval:
    type: enum
    values: [15min, 1hr, 3hr, 1day]
    default: 1hr
    description: "Window: 15min, 1hr and 3hr by the minute, 1day by the hour."
*/

-- CPU and memory are known to the platform alone: columns that Studio reads, 0 here.
WITH events AS (
  SELECT IF(@interval = '1day', TIMESTAMP_TRUNC(t.timestamp, HOUR, 'UTC'), TIMESTAMP_TRUNC(t.timestamp, MINUTE, 'UTC')) AS timestamp,
    r.status_code, m.execution_time_ms, CAST(NULL AS STRING) AS level
  FROM raw_function_edge_logs AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  LEFT JOIN UNNEST(m.response) AS r ON TRUE
  WHERE m.project_ref = @project
    AND m.function_id = @function_id
    AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (CASE @interval WHEN '15min' THEN 15 WHEN '3hr' THEN 180 WHEN '1day' THEN 1440 ELSE 60 END) MINUTE)
  UNION ALL
  SELECT IF(@interval = '1day', TIMESTAMP_TRUNC(t.timestamp, HOUR, 'UTC'), TIMESTAMP_TRUNC(t.timestamp, MINUTE, 'UTC')) AS timestamp,
    CAST(NULL AS INT64) AS status_code, CAST(NULL AS INT64) AS execution_time_ms, COALESCE(LOWER(m.level), 'log') AS level
  FROM raw_function_logs AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project_ref = @project
    AND m.function_id = @function_id
    AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (CASE @interval WHEN '15min' THEN 15 WHEN '3hr' THEN 180 WHEN '1day' THEN 1440 ELSE 60 END) MINUTE)
)
SELECT
  e.timestamp,
  COUNTIF(e.level IS NULL) AS requests_count,
  COUNTIF(e.level IS NULL) AS count,
  COUNTIF(e.status_code BETWEEN 200 AND 299) AS success_count,
  COUNTIF(e.status_code BETWEEN 300 AND 399) AS redirect_count,
  COUNTIF(e.status_code BETWEEN 400 AND 499) AS client_err_count,
  COUNTIF(e.status_code >= 500) AS server_err_count,
  COUNTIF(e.level IS NOT NULL) AS log_count,
  COUNTIF(e.level = 'info') AS log_info_count,
  COUNTIF(e.level IN ('warn', 'warning')) AS log_warn_count,
  COUNTIF(e.level = 'error') AS log_error_count,
  COALESCE(AVG(e.execution_time_ms), 0) AS avg_execution_time,
  COALESCE(MAX(e.execution_time_ms), 0) AS max_execution_time,
  0 AS avg_cpu_time_used,
  0 AS max_cpu_time_used,
  0 AS avg_memory_used,
  0 AS avg_heap_memory_used,
  0 AS avg_external_memory_used
FROM events AS e
GROUP BY e.timestamp
ORDER BY e.timestamp
