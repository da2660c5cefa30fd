/**
 * What Studio asks of a stack of one's own (supabase/supabase, as of autumn 2026), in queries of the same form: each page of logs lists, counts and charts its table, and opens
 * one log. The tool `get_logs` of its MCP server, until summer 2026, sent the lists; `query_logs`, since then, sends what an assistant has written.
 */
import type { StackEvent } from './traffic';

export interface Page {
  readonly source: string;
  readonly table: string;
  readonly list: string;
  readonly count: string;
  /** By the minute. @param start ISO 8601 */
  readonly chart: (start: string) => string;
  /** Whether Studio's count and chart have an event: what they join or compare is NULL for some. */
  readonly counted: (event: StackEvent) => boolean;
  readonly charted: (event: StackEvent) => boolean;
  /** Something that one of the rows of its list has to have. */
  readonly row: object;
}

interface Words {
  /** Beside id, time and message. */
  readonly columns?: string;
  readonly joins?: string;
  /** Of the list alone. */
  readonly listed?: string;
  readonly where?: string;
  readonly error?: string;
  readonly warning?: string;
  readonly counted?: Page['counted'];
  readonly charted?: Page['charted'];
  readonly row?: object;
}

const every = (): boolean => true;

function page(source: string, table: string, words: Words = {}): Page {
  const { columns = '', joins = '', listed = joins, where = '', error = 'false', warning = 'false' } = words;
  const { counted = every, charted = counted, row = {} } = words;
  return {
    source,
    table,
    list: `
select id, ${table}.timestamp, event_message${columns}
from ${table}
${listed}
${where}
order by timestamp desc
limit 100;
`,
    count: `SELECT count(*) as count FROM ${table} ${joins} ${where}`,
    chart: (start) => `
SELECT
-- log-event-chart
  timestamp_trunc(t.timestamp, minute) as timestamp,
  count(CASE WHEN NOT (${error} OR ${warning}) THEN 1 END) as ok_count,
  count(CASE WHEN ${error} THEN 1 END) as error_count,
  count(CASE WHEN ${warning} THEN 1 END) as warning_count,
FROM
  ${table} t
  ${joins}
  ${where === '' ? 'where' : `${where} and`} t.timestamp > '${start}'
GROUP BY
timestamp
ORDER BY
  timestamp ASC
  `,
    counted,
    charted,
    row,
  };
}

const REQUEST = 'cross join unnest(m.request) as request';
const RESPONSE = 'cross join unnest(m.response) as response';
const PARSED = `cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed`;

export const PAGES: readonly Page[] = [
  page('cloudflare.logs.prod', 'edge_logs', {
    columns: ', request.method, request.path, request.search, response.status_code',
    joins: `cross join unnest(metadata) as m ${REQUEST} ${RESPONSE}`,
    error: 'response.status_code >= 500',
    warning: 'response.status_code >= 400 AND response.status_code < 500',
    row: { method: 'PATCH', path: '/rest/v1/todos', search: '?id=eq.1', status_code: 401 },
  }),
  page('postgres.logs', 'postgres_logs', {
    columns: ', parsed.error_severity, parsed.detail, parsed.hint',
    joins: PARSED,
    error: "parsed.error_severity IN ('ERROR', 'FATAL', 'PANIC')",
    warning: "parsed.error_severity IN ('WARNING')",
    row: { event_message: 'PostgreSQL init process complete', error_severity: 'LOG' },
  }),
  page('gotrue.logs.prod', 'auth_logs', {
    columns: ', metadata.level, metadata.status, metadata.path, metadata.msg as msg, metadata.error',
    joins: 'cross join unnest(metadata) as metadata',
    error: "metadata.level = 'error' OR SAFE_CAST(metadata.status AS INT64) >= 400",
    warning: "metadata.level = 'warning'",
    // Comparisons of lines that are no JSON are NULL.
    charted: ({ metadata }) => metadata !== undefined,
    row: { level: 'info', status: 400, path: '/token', msg: 'request completed', error: null },
  }),
  page('deno-relay-logs', 'function_edge_logs', {
    joins: `cross join unnest(metadata) as m ${RESPONSE} ${REQUEST}`,
    listed: '',
    error: 'response.status_code >= 500',
    warning: 'response.status_code >= 400 AND response.status_code < 500',
    // The lines say nothing of a request.
    counted: () => false,
    row: { event_message: 'serving the request with /home/deno/functions/hello' },
  }),
  page('realtime.logs.prod', 'realtime_logs', { row: { event_message: 'Subscribing to PostgreSQL failed' } }),
  page('storage.logs.prod.2', 'storage_logs', { row: { event_message: '[Server] started' } }),
  page('postgREST.logs.prod', 'postgrest_logs', {
    row: { event_message: 'Schema cache loaded', timestamp: 1_795_341_600_000_000 },
  }),
];

/** Pages of what nothing in a stock stack sends. */
export const EMPTY_PAGES: readonly Page[] = [
  page('', 'postgres_logs', {
    columns: ', parsed.error_severity, parsed.query',
    joins: PARSED,
    where: "where ( parsed.application_name = 'pg_cron' or event_message::text LIKE '%cron job%' )",
    error: "parsed.error_severity IN ('ERROR', 'FATAL', 'PANIC')",
  }),
  page('', 'function_logs', {
    columns: ', metadata.event_type, metadata.function_id, metadata.execution_id, metadata.level',
    joins: 'cross join unnest(metadata) as metadata',
    error: "metadata.level IN ('error', 'fatal')",
    warning: "metadata.level IN ('warning')",
  }),
  page('', 'pgbouncer_logs'),
];

export const single = (table: string, id: string): string =>
  `select id, timestamp, event_message, metadata from ${table} where id = '${id}' limit 1`;

/** What an assistant writes by the description of `query_logs`: a table for each service, nested fields by UNNEST. */
export const QUERY_LOGS: readonly string[] = [
  'select * from edge_logs limit 10',
  `select t.timestamp, t.event_message, m.level from auth_logs as t left join unnest(metadata) as m where m.level = 'error' or m.status >= 400`,
  `select r.method, s.status_code, count(*) as n from edge_logs cross join unnest(metadata) as m
  cross join unnest(m.request) as r cross join unnest(m.response) as s group by 1, 2 order by n desc`,
  "select timestamp, event_message from postgres_logs where regexp_contains(event_message, r'(?i)error') order by timestamp desc limit 20;",
  `with failed as (select p.error_severity as severity from postgres_logs cross join unnest(metadata) as m cross join unnest(m.parsed) as p)
  select severity, count(*) as n from failed group by severity`,
  "select id, event_message from storage_logs where strpos(lower(cast(event_message as string)), 'server] st') > 0",
];
