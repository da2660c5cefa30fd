/** What a stock stack sends, and what asks it for its logs: Vector's batches, Studio's pages of logs, the tool `get_logs` of its MCP server. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

const ROOT = path.join(__dirname, '../../..');

export const PRIVATE = 'private-token-of-the-stack';
export const PUBLIC = 'public-token-of-the-stack';

export interface StackEvent {
  readonly event_message: string;
}

const read = (file: string): string => readFileSync(file, 'utf8');

/** By source: the events that Vector's transforms make of `lines.json` (`pipeline.py`). */
export const BATCHES = JSON.parse(read(path.join(__dirname, 'batches.json'))) as Record<string, StackEvent[]>;

/** Of the service in the override of the compose file. */
export const ANALYTICS = (
  parse(read(path.join(ROOT, 'docker-compose.supabase.yml'))) as {
    services: {
      analytics: { environment: Record<string, string>; healthcheck: { test: string[] }; volumes: string[] };
    };
  }
).services.analytics;

/** The environment that the service has in the stack, with a free port and with folders below that of the process. */
export const STACK: Readonly<Record<string, string>> = {
  ...ANALYTICS.environment,
  PORT: '0',
  HOST: '',
  DATA_DIR: 'logs',
  CACHE_DIR: 'cache',
  LOGFLARE_SINGLE_TENANT: 'true',
  LOGFLARE_SUPABASE_MODE: 'true',
  LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
  LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
};

/** As one of Vector's sinks sends. @returns the status */
export async function send(base: string, source: string, events: readonly StackEvent[]): Promise<number> {
  const response = await fetch(`${base}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  await response.arrayBuffer();
  return response.status;
}

/** As Studio's server asks. @throws where the status is not 200 */
export async function ask(
  base: string,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ project: 'default', ...parameters }).toString();
  const response = await fetch(`${base}/api/endpoints/query/${endpoint}?${query}`, {
    headers: { 'x-api-key': PRIVATE, 'Content-Type': 'application/json', Accept: 'application/json' },
  });
  if (response.status !== 200) throw new Error(`${endpoint} is answered ${String(response.status)}.`);
  return (await response.json()) as Record<string, unknown>;
}

/** The list of each page of logs, with something that one of its rows has to have. */
export const PAGES: readonly (readonly [source: string, sql: string, columns: object])[] = [
  [
    'cloudflare.logs.prod',
    `select id, edge_logs.timestamp, event_message, request.method, request.path, request.search, response.status_code
     from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
     order by timestamp desc limit 100`,
    { method: 'GET', path: '/rest/v1/todos', search: '?select=*', status_code: 200 },
  ],
  [
    'gotrue.logs.prod',
    `select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg
     from auth_logs left join unnest(metadata) as metadata order by timestamp desc limit 100`,
    { level: 'info', status: 400, path: '/token' },
  ],
  [
    'postgREST.logs.prod',
    'select id, postgrest_logs.timestamp, event_message, m.host from postgrest_logs cross join unnest(metadata) as m',
    { event_message: 'Schema cache loaded', timestamp: 1_795_341_600_000_000 },
  ],
  [
    'realtime.logs.prod',
    'select id, realtime_logs.timestamp, event_message, m.level from realtime_logs cross join unnest(metadata) as m',
    { event_message: 'Subscribing to PostgreSQL failed', level: 'error' },
  ],
  ['deno-relay-logs', 'select id, timestamp, event_message, metadata from function_edge_logs', {}],
  [
    'storage.logs.prod.2',
    `select id, storage_logs.timestamp, event_message, m.level, c.host from storage_logs
     cross join unnest(metadata) as m cross join unnest(m.context) as c`,
    { event_message: '[Server] started', level: 'info', host: 'storage' },
  ],
  [
    'postgres.logs',
    `select l.id, p.error_severity, l.event_message from postgres_logs as l
     cross join unnest(metadata) as m cross join unnest(m.parsed) as p order by l.timestamp`,
    { error_severity: 'ERROR' },
  ],
];

/** What `get_logs` asks for each of its services (supabase-community/supabase-mcp, in its own words), and which source has them. */
export const GET_LOGS: Readonly<Record<string, { readonly source: string; readonly sql: string }>> = {
  api: {
    source: 'cloudflare.logs.prod',
    sql: `select timestamp, identifier, id, event_message, response.status_code, request.path, request.method from edge_logs
      cross join unnest(metadata) as m cross join unnest(m.response) as response cross join unnest(m.request) as request`,
  },
  postgres: {
    source: 'postgres.logs',
    sql: `select postgres_logs.timestamp, identifier, event_message, id, parsed.error_severity from postgres_logs
      cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed`,
  },
  auth: {
    source: 'gotrue.logs.prod',
    sql: `select auth_logs.timestamp, id, event_message, metadata.error, metadata.msg as msg, metadata.path, metadata.status, metadata.level
      from auth_logs cross join unnest(metadata) as metadata`,
  },
  storage: {
    source: 'storage.logs.prod.2',
    sql: 'select storage_logs.timestamp, event_message, id from storage_logs',
  },
  realtime: {
    source: 'realtime.logs.prod',
    sql: 'select realtime_logs.timestamp, event_message, id from realtime_logs',
  },
};
