import { randomUUID } from 'node:crypto';

import { strictValue } from '../engines/duckdb/data/strict-value';
import { longNumber } from '../engines/duckdb/data/json-line';
import { readAccessLine } from './access-line';
import { isObject, type JsonObject, jsonText, shapedRecord, type Shape } from './shape';

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

/** Numbers since the epoch from here on are nanoseconds: as microseconds they would be after the year 9999. */
const NANOSECONDS = 253_402_300_800e6;

/**
 * An event, as Logflare takes it, as a row of its table.
 *
 * @param arrived time of an event that has none or none that can be read, ISO 8601
 * @returns null: it is no event
 */
export function rowOf(event: unknown, { table, shape }: Destination, arrived: string): Record<string, unknown> | null {
  if (!isObject(event)) return null;
  const { id, timestamp, message, event_message: eventMessage, project, metadata, ...rest } = event;
  const text = messageText(message) ?? messageText(eventMessage);
  const own = metadataOf(metadata);
  const field = PROJECT_FIELDS.get(table);
  const ref = plainText(project) ?? plainText(own[field ?? 'project']) ?? DEFAULT_PROJECT;
  const extended = {
    ...own,
    ...(field === undefined || plainText(own[field]) !== null ? {} : { [field]: ref }),
    ...(table === 'raw_edge_logs' ? withRequest(own, text ?? '', ref) : {}),
  };
  return {
    timestamp: timestampText(timestamp) ?? arrived,
    id: plainText(id) ?? randomUUID(),
    ...(text === undefined ? {} : { event_message: text }),
    project: ref,
    ...shapedRecord(shape, { metadata: extended, ...rest }),
  };
}

function messageText(message: unknown): string | undefined {
  if (message === undefined || message === null) return undefined;
  return typeof message === 'string' ? message : jsonText(message);
}

/** A text or number as text; null: anything else, or empty. */
function plainText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? (longNumber(value) ?? value) : null;
}

/** The metadata as one record, be it one or in a list as stored. What is no record is a field of one. */
function metadataOf(metadata: unknown): JsonObject {
  const only: unknown = Array.isArray(metadata) && metadata.length === 1 ? metadata[0] : metadata;
  if (isObject(only)) return only;
  return only === undefined || only === null ? {} : { value: only };
}

/** ISO 8601 in UTC with microseconds; null: it cannot be read. A number's unit is known by its size. */
function timestampText(value: unknown): string | null {
  const number = Number(longNumber(value) ?? (typeof value === 'number' ? value : NaN));
  const text = strictValue('TIMESTAMP', Math.abs(number) >= NANOSECONDS ? number / 1000 : value);
  return typeof text === 'string' ? text : null;
}

/**
 * What a gateway's event says of its request only in its line, in the fields where queries look: Vector's VRL sets neither method
 * nor path from a combined line, and never a URL. Without a host, the URL has the project for it, as on the platform.
 */
function withRequest(metadata: JsonObject, text: string, project: string): JsonObject {
  const request = oneRecord(metadata['request']);
  const response = oneRecord(metadata['response']);
  const headers = oneRecord(request['headers']);
  const line = plainText(request['path']) === null ? readAccessLine(text) : null;
  const target = plainText(request['path']) ?? line?.target ?? null;
  if (target === null || plainText(request['url']) !== null) return {};
  const host = plainText(request['host']) ?? project;
  const url = { url: /^[a-z]+:\/\//i.test(target) ? target : `http://${host}${target}` };
  if (line === null) return { request: { ...request, ...url } };
  const query = target.indexOf('?');
  return {
    request: {
      ...present(request),
      method: line.method,
      path: query === -1 ? target : target.slice(0, query),
      search: query === -1 ? null : target.slice(query),
      protocol: line.protocol,
      ...url,
      headers: { cf_connecting_ip: line.client, referer: line.referer, user_agent: line.agent, ...present(headers) },
    },
    response: { ...response, status_code: response['status_code'] ?? line.status },
  };
}

function oneRecord(value: unknown): JsonObject {
  const only: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(only) ? only : {};
}

function present(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}
