import { randomUUID } from 'node:crypto';

import { longNumber, strictValue } from '@logquay/duckdb-engine/rows';
import { instantText, readInstant } from '@logquay/googlesql/types';
import { asText, columnName, isObject, type Shape, shapeField } from './shape';

/** What a line of an access log in the combined format says of a request, as gateways write it (nginx, Kong, Envoy). */
export interface AccessLine {
  readonly client: string;
  readonly method: string;
  /** Path and query, as requested. */
  readonly target: string;
  readonly protocol: string;
  readonly status: number;
  readonly referer: string | null;
  readonly agent: string | null;
}

const COMBINED = /^(\S+) \S+ \S+ \[[^\]]*\] "([A-Z]+) (\S+) ([^"\s]+)" (\d{3}) (?:\d+|-)(?: "([^"]*)")?(?: "([^"]*)")?/;

/** Characters of a line that are looked at. */
const LONGEST = 16_384;

/** null: the text is another one. */
function readAccessLine(text: string): AccessLine | null {
  const match = COMBINED.exec(text.slice(0, LONGEST));
  if (match === null) return null;
  const [, client = '', method = '', target = '', protocol = '', status, referer, agent] = match;
  return { client, method, target, protocol, status: Number(status), referer: given(referer), agent: given(agent) };
}

/** A minus is how these logs write that there is none. */
function given(text: string | undefined): string | null {
  return text === undefined || text === '' || text === '-' ? null : text;
}

type Fields = Record<string, unknown>;

/** Where an event goes. */
export interface Destination {
  readonly table: string;
  readonly shape: Shape;
}

/** The project of a self-hosted stack, for events that name none. */
const DEFAULT_PROJECT = 'default';

/** Tables whose stored queries look for the project inside `metadata`, and under which name. */
const PROJECT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['raw_function_edge_logs', 'project_ref'],
  ['raw_function_logs', 'project_ref'],
  ['raw_realtime_logs', 'project'],
  ['raw_storage_logs', 'project'],
]);

/** Fields of an event that are not taken as they are. */
const HANDLED: ReadonlySet<string> = new Set(['id', 'timestamp', 'message', 'event_message', 'project', 'metadata']);

/**
 * An event, as Logflare takes it, as a row of its table.
 *
 * @param event fresh from JSON: its metadata may be changed
 * @param arrived time of an event that has none or none that can be read, ISO 8601
 * @param owner the project of whoever sends it, whatever the event says; null: the event says it
 * @returns null: it is no event
 */
export function rowOf(
  event: unknown,
  { table, shape }: Destination,
  arrived: string,
  owner: string | null = null,
): Record<string, unknown> | null {
  if (!isObject(event)) return null;
  const text = messageText(event['message']) ?? messageText(event['event_message']);
  const metadata = metadataOf(event['metadata']);
  if (owner !== null) claim(metadata, owner);
  if (owner !== null && table === 'raw_edge_logs') claimUrls(metadata, owner);
  const field = PROJECT_FIELDS.get(table);
  const project = owner ?? plainText(event['project']) ?? plainText(metadata[field ?? 'project']) ?? DEFAULT_PROJECT;
  if (field !== undefined && plainText(metadata[field]) === null) metadata[field] = project;
  if (table === 'raw_edge_logs') completeRequest(metadata, text ?? '', project, owner);
  if (table === 'raw_postgres_logs') completeSeverity(metadata, text ?? '');
  const row: Record<string, unknown> = {
    timestamp: timestampText(event['timestamp']) ?? arrived,
    id: plainText(event['id']) ?? randomUUID(),
  };
  const column = shape?.has('message') === true && !shape.has('event_message') ? 'message' : 'event_message';
  if (shape?.get(column)?.type === 'JSON')
    shapeField(row, shape, column, event['message'] ?? event['event_message'], 1);
  else if (text !== undefined) row[column] = text;
  row['project'] = project;
  shapeField(row, shape, 'metadata', metadata, 1);
  // Pages join every event with its metadata: one that has none would be on no page.
  if (shape?.get('metadata')?.repeated === true) row['metadata'] ??= [{}];
  for (const name of Object.keys(event)) {
    // Where nothing is declared, names that differ in case alone are one column.
    if (HANDLED.has(owner === null ? name : name.toLowerCase())) continue;
    if (owner === null || !isOwner(name)) shapeField(row, shape, name, event[name], 1);
    else row[columnName(name).toLowerCase()] = owner;
  }
  return row;
}

/** Whether stored queries look there for whose an event is, in whatever spelling. */
function isOwner(field: string): boolean {
  const name = columnName(field).toLowerCase();
  return name === 'project' || name === 'project_ref';
}

/** Whatever an event's metadata say of whose it is, it is the owner's. */
function claim(metadata: Fields, owner: string): void {
  for (const field of Object.keys(metadata)) {
    if (!isOwner(field)) continue;
    metadata[field] = null;
    metadata[columnName(field).toLowerCase()] = owner;
  }
}

/** `usage.api-counts` finds the requests of a project by their URLs: those of a known owner have it for a host. */
function claimUrls(metadata: Fields, owner: string): void {
  for (const request of [metadata['request']].flat()) {
    if (!isObject(request)) continue;
    const { url }: Fields = request;
    if (url !== undefined) (request as Fields)['url'] = urlOf(owner, plainText(url) ?? '');
  }
}

/** A URL of a host, with the path and query of another or those given. */
function urlOf(host: string, target: string): string {
  const path = target.replace(ORIGIN, '');
  return `http://${host}${path.startsWith('/') ? '' : '/'}${path}`;
}

/** Of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

function messageText(message: unknown): string | undefined {
  if (message === undefined || message === null) return undefined;
  return asText(message);
}

/** A text or number as text; null: anything else, or empty. */
function plainText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? (longNumber(value) ?? value) : null;
}

/** The metadata as one record, be it one or in a list as stored. What is no record is a field of one. */
function metadataOf(metadata: unknown): Fields {
  const only: unknown = Array.isArray(metadata) && metadata.length === 1 ? metadata[0] : metadata;
  if (isObject(only)) return only;
  return only === undefined || only === null ? {} : { value: only };
}

/** What shippers send as a rule. */
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** ISO 8601 in UTC with microseconds; null: it cannot be read. A number's unit is known by its size. */
function timestampText(value: unknown): string | null {
  const micros = typeof value === 'string' && UTC.test(value) ? readInstant(value) : null;
  if (typeof micros === 'bigint') return instantText(micros);
  const text = strictValue('TIMESTAMP', value);
  return typeof text === 'string' ? text : null;
}

/**
 * What a gateway's event says of its request only in its line, in the fields where queries look: Vector's VRL sets neither method
 * nor path from a combined line, and never a URL. Without a host, the URL has the project for it, as on the platform.
 */
function completeRequest(metadata: Fields, text: string, project: string, owner: string | null): void {
  const known = recordIn(metadata, 'request');
  const path = plainText(known?.['path']);
  const line = path === null ? readAccessLine(text) : null;
  const target = path ?? line?.target ?? null;
  if (target === null || plainText(known?.['url']) !== null) return;
  const request = known ?? (metadata['request'] = {});
  if (line !== null) {
    const query = target.indexOf('?');
    request['method'] = line.method;
    request['path'] = query === -1 ? target : target.slice(0, query);
    if (query !== -1) request['search'] = target.slice(query);
    request['protocol'] = line.protocol;
    const headers = recordIn(request, 'headers') ?? (request['headers'] = {});
    headers['cf_connecting_ip'] ??= line.client;
    headers['referer'] ??= line.referer;
    headers['user_agent'] ??= line.agent;
    const response = recordIn(metadata, 'response') ?? (metadata['response'] = {});
    response['status_code'] ??= line.status;
  }
  const host = plainText(request['host']) ?? project;
  request['url'] =
    owner !== null ? urlOf(owner, target) : /^[a-z]+:\/\//i.test(target) ? target : `http://${host}${target}`;
}

/** In a line of Postgres. */
const SEVERITY = /\b(INFO|NOTICE|WARNING|ERROR|LOG|FATAL|PANIC):/;

/** Vector's VRL fails on lines without a level, such as statements, and sends them bare; pages join each event with what is parsed of it. */
function completeSeverity(metadata: Fields, text: string): void {
  const parsed = recordIn(metadata, 'parsed') ?? (metadata['parsed'] = {});
  if (plainText(parsed['error_severity']) === null) parsed['error_severity'] = SEVERITY.exec(text)?.[1] ?? 'LOG';
}

/** The record of a field, be it one or the first of a list; null: there is none. */
function recordIn(record: Fields, field: string): Fields | null {
  const value = record[field];
  const only: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(only) ? only : null;
}
