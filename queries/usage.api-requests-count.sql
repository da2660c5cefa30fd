/*
id: 3b8e4a60-1d57-4f0c-9c2b-7e5d0a9f8c14
name: usage.api-requests-count
description: Requests of a project in the last 24 hours.
max_rows: 1
cache_ttl: 60
sandbox: false
redact_pii: false
params:
  project:
    type: string
    required: true
    description: Project reference, compared exactly.
*/

SELECT COUNT(*) AS count
FROM raw_edge_logs AS t
WHERE t.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 24 HOUR)
