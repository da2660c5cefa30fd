/*
id: 5ea0f0e0-9c5b-4f8e-8f4c-9f6d0a1b2c3d
name: tenants.events
description: A table whose tenant is a number.
max_rows: 1000
export: 100000
sandbox: true
params:
  tenant:
    type: integer
    required: true
*/
WITH events AS (
  SELECT t.id, t.timestamp, t.event_message, t.amount, t.score, t.tags
  FROM raw_events AS t
  WHERE t.tenant = @tenant
),
parsed_events AS (
  SELECT t.id, t.timestamp, CAST(t.event_message AS INT64) AS n, DIV(10000, t.amount) AS share, t.tags[SAFE_OFFSET(0)] AS tag
  FROM raw_events AS t
  WHERE t.amount < 1000 AND t.tenant = @tenant
)
SELECT id, amount FROM events ORDER BY id
