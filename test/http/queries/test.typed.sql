/*
id: 11111111-aaaa-4000-8000-000000000002
name: test.typed
description: One parameter of each kind.
max_rows: 20
cache_ttl: 900
cache_warming: 300
sandbox: true
max_bytes_billed: 5000
timeout: 2
params:
  project: { type: string, required: true, description: Whose rows. }
  level: { type: enum, values: [error, fatal], default: error }
  since: { type: timestamp }
  count: { type: integer, default: 1, min: 1 }
  ratio: { type: number, default: 0.5 }
  deep: { type: boolean, default: false }
*/
WITH rows_of_project AS (
  SELECT @project AS project, @level AS level, @since AS since, @count AS n, @ratio AS ratio, @deep AS deep
)
SELECT * FROM rows_of_project
