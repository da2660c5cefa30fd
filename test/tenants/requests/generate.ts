/** Requests of all kinds that a key pinned to a project, or to a numeric tenant, can send. */
import type { Random } from '../../sandbox/fuzz/random';
import { PROJECT, TENANT } from '../data/rows';
import { generateQuery, generateRowQuery } from '../sql/generate';
import { generateLql } from './lql';
import type { TenantRequest } from './request';

const SQL_ENDPOINTS = [
  ...Array.from({ length: 8 }, () => 'logs.all'),
  ...Array.from({ length: 5 }, () => 'tenants.shapes'),
  ...Array.from({ length: 2 }, () => 'tenants.events'),
  'usage.api-counts',
];

/** Endpoints that have exports. */
const EXPORTED = ['tenants.shapes', 'tenants.events'];

const INTERVALS = ['minutely', 'hourly', 'daily', '1hr', '1day', '7day'];

const FORMS = ['application/json', 'application/json', 'application/json', 'text/csv', 'application/x-ndjson'];

export function generateRequest(random: Random): TenantRequest {
  const roll = random.below(100);
  if (roll < 86) return sqlRequest(random);
  if (roll < 92) return lqlRequest(random);
  if (roll < 98) return storedRun(random);
  return otherRequest(random);
}

/** A live tail, some with the rows that there are: of a query that takes each row by itself, of any, or of the endpoint's. */
export function generateTail(random: Random): TenantRequest {
  const endpoint = random.pick(['logs.all', 'logs.all', 'tenants.shapes', 'tenants.shapes', 'tenants.events']);
  const roll = random.below(100);
  const { sql, places, kinds } = (roll < 80 ? generateRowQuery : generateQuery)(endpoint, random);
  const history: Record<string, string> = random.chance(40) ? { history: 'true' } : {};
  const query: Record<string, string> = roll < 95 ? { sql } : {};
  return {
    ...sent(endpoint, { ...parametersOf(endpoint, random), ...history, ...query }, false, random),
    kind: 'tail',
    method: 'GET',
    path: `/api/endpoints/tail/${endpoint}`,
    headers: { Accept: 'text/event-stream' },
    again: 'no',
    places: ['tail', ...places],
    kinds,
  };
}

function sqlRequest(random: Random): TenantRequest {
  const endpoint = random.pick(SQL_ENDPOINTS);
  const { sql, ordered, places, kinds } = generateQuery(endpoint, random);
  const parameters = { ...parametersOf(endpoint, random), sql };
  const request: TenantRequest = { ...sent(endpoint, parameters, ordered, random), kind: 'sql', places, kinds };
  const roll = random.below(100);
  if (roll < 8 && EXPORTED.includes(endpoint)) return exported(request, random);
  if (roll < 12) return byTool(request, 'query_logs');
  if (roll < 14) return byTool(request, 'analyze');
  return roll < 16 ? analysed(request) : request;
}

/** All rows, sent as they are read: one that fails midway must not have sent any. */
function exported(request: TenantRequest, random: Random): TenantRequest {
  return {
    ...request,
    method: random.pick(['GET', 'POST']),
    parameters: { ...request.parameters, export: 'true' },
    headers: { Accept: random.pick(['application/x-ndjson', 'text/csv']) },
    again: 'no',
    places: [...request.places, 'export'],
  };
}

function byTool(request: TenantRequest, tool: NonNullable<TenantRequest['tool']>): TenantRequest {
  return { ...request, method: 'POST', headers: {}, again: 'no', tool, places: [...request.places, `tool ${tool}`] };
}

function analysed(request: TenantRequest): TenantRequest {
  const path = request.path.replace('/query/', '/analyze/');
  return {
    ...request,
    method: 'GET',
    path,
    headers: {},
    ordered: true,
    again: 'no',
    places: [...request.places, 'analyze'],
  };
}

function lqlRequest(random: Random): TenantRequest {
  const parameters = { ...parametersOf('logs.all', random), lql: generateLql(random) };
  return { ...sent('logs.all', parameters, false, random), kind: 'lql', places: ['lql'], kinds: [] };
}

function storedRun(random: Random): TenantRequest {
  const endpoint = random.pick(['logs.all', 'usage.api-counts', 'tenants.shapes', 'tenants.events']);
  const parameters = parametersOf(endpoint, random);
  const wrong = random.chance(10) ? { [endpoint === 'tenants.events' ? 'tenant' : 'project']: '8' } : {};
  const request = sent(endpoint, { ...parameters, ...wrong }, true, random);
  const run: TenantRequest = { ...request, kind: 'stored', places: ['stored'], kinds: [] };
  const roll = random.below(100);
  if (roll < 40) return paged(run, random);
  return roll < 55 ? byTool(run, 'run_endpoint') : run;
}

function paged(request: TenantRequest, random: Random): TenantRequest {
  return {
    ...request,
    method: random.pick(['GET', 'POST']),
    parameters: { ...request.parameters, page_size: String(1 + random.below(60)) },
    headers: {},
    again: 'pages',
    places: ['pages'],
  };
}

function otherRequest(random: Random): TenantRequest {
  const path = random.pick([
    '/api/endpoints',
    '/api/endpoints/logs.all',
    '/api/endpoints/query/absent',
    '/openapi.json',
    '/ready',
    '/metrics',
    '/api/endpoints/query/logs.all?dry_run=true',
  ]);
  return {
    kind: 'other',
    key: 'project',
    method: 'GET',
    path,
    tool: null,
    parameters: {},
    headers: {},
    ordered: true,
    again: 'no',
    places: [path],
    kinds: [],
  };
}

function sent(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  ordered: boolean,
  random: Random,
): Omit<TenantRequest, 'kind' | 'places' | 'kinds'> {
  return {
    key: endpoint === 'tenants.events' ? 'tenant' : 'project',
    method: random.chance(5) ? 'HEAD' : random.chance(50) ? 'GET' : 'POST',
    path: `/api/endpoints/query/${endpoint}`,
    tool: null,
    parameters,
    headers: {
      Accept: random.pick(FORMS),
      ...(random.chance(5) ? { 'LF-ENDPOINT-REDACT-PII': 'true' } : {}),
      ...(random.chance(10) ? { 'Accept-Encoding': 'gzip' } : {}),
    },
    ordered,
    again: random.chance(5) ? random.pick(['same', 'conditional'] as const) : 'no',
  };
}

/** Values for what the endpoint declares; the pinned one is sent or left out. */
function parametersOf(endpoint: string, random: Random): Record<string, string> {
  const pinned = random.chance(50);
  if (endpoint === 'tenants.events') return pinned ? { tenant: String(TENANT) } : {};
  const project: Record<string, string> = pinned ? { project: PROJECT } : {};
  if (endpoint === 'usage.api-counts') return { ...project, interval: random.pick(INTERVALS) };
  if (endpoint !== 'logs.all' || random.chance(60)) return project;
  return {
    ...project,
    iso_timestamp_start: random.pick(['', '2026-09-30T11:00:00Z', '2026-09-29T00:00:00Z', '0001-01-01T00:00:00Z']),
    iso_timestamp_end: random.pick(['', '2026-09-30T11:55:00Z', '2026-09-30T12:00:00Z', '9999-12-31T23:59:59.999999Z']),
  };
}
