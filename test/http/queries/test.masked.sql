/*
id: 11111111-aaaa-4000-8000-000000000003
name: test.masked
sandbox: true
redact_pii: true
*/
WITH one AS (SELECT 1 AS x)
SELECT x FROM one
