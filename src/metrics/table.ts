/** Every metric there is (docs/operations.md), and every value that a label may have: nothing that a caller sends is one. */
import { ERRORS, type Reason } from '../errors';
import { COMPONENTS } from '../health/health';

interface Declared {
  readonly name: `logquay_${string}`;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly (keyof typeof LABELS)[];
  readonly help: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const REASONS = Object.keys(ERRORS) as Reason[];

/** What stands where a label has nothing to name. */
export const NONE = 'none';

/** Where names go for which there is no more room. */
export const OTHER = 'other';

/**
 * The values of each label: a closed list, or names that the operator gives (of stored endpoints, of keys, of the build).
 * Names are bounded by `NameBound`.
 */
export const LABELS = {
  route: 'names',
  endpoint: 'names',
  key: 'names',
  version: 'names',
  node: 'names',
  engine: ['duckdb', 'bigquery'],
  status: ['200', '204', '304', '400', '401', '403', '404', '405', '406', '413', '414', '415', '429', '431'].concat([
    '499',
    '500',
    '501',
    '502',
    '503',
    '504',
    '507',
  ]),
  reason: [NONE, ...REASONS],
  phase: ['read', 'gate', 'cache', 'queue', 'engine', 'render'],
  cache: ['hit', 'stale', 'miss', 'collapsed'],
  write: ['stored', 'not_stored'],
  kind: ['run', 'sandbox', 'warm', 'export', 'tail'],
  result: ['ok', 'abandoned', ...REASONS],
  language: ['sql', 'lql'],
  warming: ['refreshed', 'not_due', 'busy', 'gone', 'failed', 'budget'],
  failure: ['timeout', 'refused', 'failed', 'skipped'],
  cause: ['overdue', 'memory', 'stalled', 'crashed'],
  state: ['closed', 'half-open', 'open'],
  statistic: ['p50', 'p90', 'p99', 'max'],
  mode: ['user', 'system'],
  memory: ['rss', 'heap_total', 'heap_used', 'external', 'array_buffers'],
  gc: ['minor', 'major', 'incremental', 'weak_callbacks', 'other'],
  table: 'names',
  file: ['read', 'set_aside'],
  left_out: ['not_json', 'too_long', 'no_timestamp', 'does_not_fit', 'too_wide', 'ignored_field', 'nulled_value'],
  tail_end: ['client_left', 'slow_reader', 'key_changed', 'endpoint_changed', 'shutting_down', 'failed'],
  component: COMPONENTS,
} as const satisfies Record<string, 'names' | readonly string[]>;

/** Seconds: from an answer out of memory to the longest deadline that is usual. */
const LATENCY = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

export const METRICS = {
  requests: {
    name: 'logquay_requests_total',
    type: 'counter',
    labels: ['route', 'endpoint', 'status', 'reason'],
    help: 'Requests by route, stored endpoint, status (499: the caller left) and reason of the error',
  },
  keyRequests: {
    name: 'logquay_key_requests_total',
    type: 'counter',
    labels: ['key', 'status'],
    help: 'Requests by key and status',
  },
  requestDuration: {
    name: 'logquay_request_duration_seconds',
    type: 'histogram',
    labels: ['route', 'endpoint'],
    help: 'Time from arrival until the answer is sent',
    buckets: LATENCY,
  },
  phaseDuration: {
    name: 'logquay_phase_duration_seconds',
    type: 'histogram',
    labels: ['phase'],
    help: 'Time of each step of a request',
    buckets: LATENCY,
  },
  responseBytes: {
    name: 'logquay_response_bytes_total',
    type: 'counter',
    labels: ['route', 'endpoint'],
    help: 'Bytes of answers, compressed as sent, without headers',
  },
  tailListeners: {
    name: 'logquay_tail_listeners',
    type: 'gauge',
    labels: [],
    help: 'Live tails that are open',
  },
  tailRows: {
    name: 'logquay_tail_rows_total',
    type: 'counter',
    labels: ['endpoint'],
    help: 'Rows given by live tails, to each listener',
  },
  tailEnds: {
    name: 'logquay_tail_ends_total',
    type: 'counter',
    labels: ['tail_end'],
    help: 'Live tails that have ended, by why',
  },
  cacheRequests: {
    name: 'logquay_cache_requests_total',
    type: 'counter',
    labels: ['endpoint', 'cache'],
    help: 'Results by where they came from',
  },
  cacheWrites: {
    name: 'logquay_cache_writes_total',
    type: 'counter',
    labels: ['endpoint', 'write'],
    help: 'Results of runs by whether they were cached',
  },
  cacheMemoryBytes: {
    name: 'logquay_cache_memory_bytes',
    type: 'gauge',
    labels: [],
    help: 'Bytes of results cached in the process',
  },
  cacheMemoryEntries: {
    name: 'logquay_cache_memory_entries',
    type: 'gauge',
    labels: [],
    help: 'Results cached in the process',
  },
  inFlight: {
    name: 'logquay_shared_runs',
    type: 'gauge',
    labels: [],
    help: 'Runs in flight, each shared by all identical requests',
  },
  warmerRuns: {
    name: 'logquay_warmer_runs_total',
    type: 'counter',
    labels: ['warming'],
    help: 'Refreshes by outcome',
  },
  warmed: {
    name: 'logquay_warmed_results',
    type: 'gauge',
    labels: [],
    help: 'Results that the warmer refreshes',
  },
  engineRuns: {
    name: 'logquay_engine_runs_total',
    type: 'counter',
    labels: ['endpoint', 'kind', 'result'],
    help: 'Queries run on the engine by kind and outcome',
  },
  engineDuration: {
    name: 'logquay_engine_run_duration_seconds',
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Time of queries on the engine, without waiting for a slot',
    buckets: LATENCY,
  },
  untranslated: {
    name: 'logquay_untranslated_queries_total',
    type: 'counter',
    labels: [],
    help: 'Queries that DuckDB refused as they were translated: each is a fault of this service, and in the log',
  },
  engineRestarts: {
    name: 'logquay_engine_restarts_total',
    type: 'counter',
    labels: ['cause'],
    help: 'Processes of the embedded engine that had to be ended, or ended by themselves',
  },
  engineMemory: {
    name: 'logquay_engine_memory_bytes',
    type: 'gauge',
    labels: [],
    help: "Resident memory of the embedded engine's processes",
  },
  dataRows: {
    name: 'logquay_data_rows',
    type: 'gauge',
    labels: ['table'],
    help: 'Rows of DATA_DIR that are served',
  },
  dataBytes: {
    name: 'logquay_data_stored_bytes',
    type: 'gauge',
    labels: ['table'],
    help: 'Bytes that rows of DATA_DIR take in CACHE_DIR',
  },
  dataFiles: {
    name: 'logquay_data_files',
    type: 'gauge',
    labels: ['table', 'file'],
    help: 'Files of DATA_DIR that rows are read from, and those that are set aside',
  },
  dataBehind: {
    name: 'logquay_data_behind_seconds',
    type: 'gauge',
    labels: ['table'],
    help: 'Since when something in DATA_DIR is not served yet; 0: everything is',
  },
  dataLeftOut: {
    name: 'logquay_data_left_out_rows',
    type: 'gauge',
    labels: ['table', 'left_out'],
    help: 'Rows of DATA_DIR that are left out, by why',
  },
  dataConversions: {
    name: 'logquay_data_conversions',
    type: 'gauge',
    labels: ['table'],
    help: "Sealed files written since the engine's process has started",
  },
  collectedEvents: {
    name: 'logquay_collected_events_total',
    type: 'counter',
    labels: ['table'],
    help: 'Events that shippers sent and that are stored',
  },
  collectedBytes: {
    name: 'logquay_collected_bytes_total',
    type: 'counter',
    labels: ['table'],
    help: 'Bytes of those, as rows in DATA_DIR',
  },
  collectRepeated: {
    name: 'logquay_collect_repeated_batches_total',
    type: 'counter',
    labels: ['table'],
    help: 'Batches that came again and were stored before',
  },
  collectRefusedEvents: {
    name: 'logquay_collect_refused_events_total',
    type: 'counter',
    labels: ['table'],
    help: 'Elements of batches that are no events, or too wide or long for a row; without a table: of no source',
  },
  collectRefused: {
    name: 'logquay_collect_refused_batches_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Batches that are not stored, by the reason of the error',
  },
  bytesProcessed: {
    name: 'logquay_bytes_processed_total',
    type: 'counter',
    labels: ['endpoint', 'key'],
    help: 'Bytes that BigQuery read',
  },
  bytesBilled: {
    name: 'logquay_bytes_billed_total',
    type: 'counter',
    labels: ['endpoint', 'key'],
    help: 'Bytes that BigQuery billed',
  },
  budgetLimit: {
    name: 'logquay_budget_bytes',
    type: 'gauge',
    labels: ['key'],
    help: 'Bytes that a key may have billed today, for keys that have been used since the start',
  },
  budgetSpent: {
    name: 'logquay_budget_spent_bytes',
    type: 'gauge',
    labels: ['key'],
    help: 'Bytes billed to a key today, as far as this process knows',
  },
  sandboxRefusals: {
    name: 'logquay_sandbox_refusals_total',
    type: 'counter',
    labels: ['language', 'reason'],
    help: "Callers' own queries that the gate refused",
  },
  admissionRunning: {
    name: 'logquay_admission_running',
    type: 'gauge',
    labels: [],
    help: 'Queries that hold a slot of the engine',
  },
  admissionWaiting: {
    name: 'logquay_admission_waiting',
    type: 'gauge',
    labels: [],
    help: 'Queries that wait for a slot',
  },
  redisBreaker: {
    name: 'logquay_redis_breaker',
    type: 'gauge',
    labels: ['state'],
    help: 'State of the breaker in front of Redis: 1 for the one it is in',
  },
  redisFailures: {
    name: 'logquay_redis_failures_total',
    type: 'counter',
    labels: ['failure'],
    help: 'Commands that Redis did not answer as it should, or that were not sent as the breaker was open (skipped)',
  },
  redisUnreadable: {
    name: 'logquay_redis_unreadable_entries_total',
    type: 'counter',
    labels: [],
    help: 'Results met in Redis that could not be read',
  },
  bigqueryBreaker: {
    name: 'logquay_bigquery_breaker',
    type: 'gauge',
    labels: ['state'],
    help: 'State of the breaker in front of BigQuery: 1 for the one it is in',
  },
  eventLoopLag: {
    name: 'logquay_event_loop_lag_seconds',
    type: 'gauge',
    labels: ['statistic'],
    help: 'Delay of timers since the last scrape: how long the process did one thing only',
  },
  eventLoopUtilization: {
    name: 'logquay_event_loop_utilization_ratio',
    type: 'gauge',
    labels: [],
    help: 'Part of the time since the last scrape that the event loop was busy, 0 to 1',
  },
  memory: {
    name: 'logquay_process_memory_bytes',
    type: 'gauge',
    labels: ['memory'],
    help: 'Memory of the process',
  },
  cpu: {
    name: 'logquay_process_cpu_seconds_total',
    type: 'counter',
    labels: ['mode'],
    help: 'CPU time of the process',
  },
  startTime: {
    name: 'logquay_process_start_time_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the process started, in seconds since 1970',
  },
  openFiles: {
    name: 'logquay_process_open_fds',
    type: 'gauge',
    labels: [],
    help: 'Open files and connections (Linux)',
  },
  gcDuration: {
    name: 'logquay_gc_seconds_total',
    type: 'counter',
    labels: ['gc'],
    help: 'Time spent in garbage collection',
  },
  logDropped: {
    name: 'logquay_log_lines_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Lines of the log that could not be written and were dropped',
  },
  auditDropped: {
    name: 'logquay_audit_lines_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Lines of the audit log that could not be written and were dropped',
  },
  degraded: {
    name: 'logquay_degraded',
    type: 'gauge',
    labels: ['component'],
    help: 'Whether the component is impaired while the service goes on: 1 if it is',
  },
  brokenEndpoints: {
    name: 'logquay_broken_endpoint',
    type: 'gauge',
    labels: ['endpoint'],
    help: 'Endpoints whose stored query does not resolve: 1 for each of them',
  },
  failedLogins: {
    name: 'logquay_failed_logins_total',
    type: 'counter',
    labels: [],
    help: 'Requests with a key that is not valid, those that were slowed down included',
  },
  build: {
    name: 'logquay_build_info',
    type: 'gauge',
    labels: ['version', 'node', 'engine'],
    help: 'Always 1; says what is running',
  },
} as const satisfies Record<string, Declared>;

export type MetricId = keyof typeof METRICS;

type IdsOf<Type> = { [Id in MetricId]: (typeof METRICS)[Id]['type'] extends Type ? Id : never }[MetricId];
export type CounterId = IdsOf<'counter'>;
export type GaugeId = IdsOf<'gauge'>;
export type HistogramId = IdsOf<'histogram'>;

/** The labels of a metric, each with its value. */
export type LabelsOf<Id extends MetricId> = Readonly<Record<(typeof METRICS)[Id]['labels'][number], string>>;
