export const CTE_TABLES = [
  'edge_logs',
  'postgres_logs',
  'function_edge_logs',
  'function_logs',
  'auth_logs',
  'realtime_logs',
  'storage_logs',
  'postgrest_logs',
  'pgbouncer_logs',
];

export const PARAMETERS = ['project', 'iso_timestamp_start', 'iso_timestamp_end'];
