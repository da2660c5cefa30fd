/** The presets of `logquay init`, each with a field that says whose a row is. */
export const TENANTS = {
  'cloud-logging': 'resource.labels.project_id',
  'log-analytics': 'resource.labels.project_id',
  otel: 'project',
  ga4: 'stream_id',
  nginx: 'host',
  kubernetes: 'kubernetes.namespace_name',
  pino: 'hostname',
} as const;
