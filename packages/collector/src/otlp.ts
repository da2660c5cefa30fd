import type { Task } from '@logquay/duckdb-engine/concurrency';
import { exactNumber, longNumber, printLine } from '@logquay/duckdb-engine/rows';
import { instantText, type RestField } from '@logquay/googlesql/types';
import { type Batches, type BatchFault, identityOf, jsonOf, MOST_BYTES, MOST_EVENTS, Rows } from './batch';
import { ProtobufFault, readRequest } from './otlp-protobuf';
import { isObject, type JsonObject, shapeField } from './shape';

/** Where records of OpenTelemetry go (docs/data.md). */
export const OTEL_TABLE = 'otel_logs';

export type OtlpEncoding = 'json' | 'protobuf';

/** An ExportLogsServiceRequest that an exporter sent. Plain data. */
export interface OtlpInput {
  readonly body: Uint8Array;
  readonly encoding: OtlpEncoding;
  /** Of the table; null: nothing is declared of it. */
  readonly fields: readonly RestField[] | null;
  /** What the key says; null: the resource does. */
  readonly project: string | null;
  /** The attribute in which resources name their project; null: they do not. */
  readonly projectAttribute: string | null;
  /** When it arrived, ISO 8601. */
  readonly arrived: string;
}

/** Reads the records of a request. */
export function readOtlp(input: OtlpInput): Batches | BatchFault {
  const { body, encoding, fields, project } = input;
  try {
    const json = encoding === 'json' ? jsonOf(body) : { value: readRequest(body) };
    if ('fault' in json) return json.fault === 'not_json' ? { fault: 'malformed', what: 'it is not JSON' } : json;
    const rows = new Rows(OTEL_TABLE, fields);
    const fault = new Request(input, rows).add(json.value);
    if (fault !== null) return fault;
    return { batches: [rows.batch(body, identityOf(`${OTEL_TABLE}:${encoding}`, project))], refused: 0, strayed: 0 };
  } catch (error) {
    if (error instanceof Malformed)
      return { fault: 'malformed', what: `${error.path.join('.') || 'the body'} ${error.message}` };
    if (error instanceof ProtobufFault) return { fault: error.fault };
    throw error;
  }
}

/** `readOtlp` for a thread. */
export const OTLP_TASK: Task<OtlpInput, Batches | BatchFault> = { file: __filename, name: 'OTLP_TASK', run: readOtlp };

/** A value of another kind than OTLP has in its place. */
class Malformed extends Error {
  override readonly name = 'Malformed';
  /** From the outside in. */
  readonly path: string[] = [];
}

/** What records of one resource and scope have in common. */
interface Origin {
  readonly resource: JsonObject;
  readonly service: unknown;
  readonly project: string | null;
  readonly scope: string;
}

class Request {
  #records = 0;

  constructor(
    private readonly input: OtlpInput,
    private readonly rows: Rows,
  ) {}

  /** @throws Malformed */
  add(request: unknown): BatchFault | null {
    if (!isObject(request)) throw new Malformed('must be an object');
    each(request, 'resourceLogs', (resourceLogs) => {
      const resource = this.#resource(member(resourceLogs, 'resource'));
      each(resourceLogs, 'scopeLogs', (scopeLogs) => {
        const scope = text(member(scopeLogs, 'scope'), 'name');
        each(scopeLogs, 'logRecords', (record) => {
          if (++this.#records > MOST_EVENTS || this.rows.bytes > MOST_BYTES) return;
          this.rows.add(this.#row(record, { ...resource, scope }));
        });
      });
    });
    if (this.#records > MOST_EVENTS) return { fault: 'too_many' };
    return this.rows.bytes > MOST_BYTES ? { fault: 'too_long' } : null;
  }

  #resource(resource: JsonObject): Omit<Origin, 'scope'> {
    const { project, projectAttribute } = this.input;
    const attributes = attributesOf(resource);
    const named = projectAttribute === null ? undefined : attributes[projectAttribute];
    // Whoever looks for the project there finds the key's, too.
    if (project !== null && projectAttribute !== null) attributes[projectAttribute] = project;
    return { resource: attributes, service: attributes['service.name'], project: project ?? projectOf(named) };
  }

  #row(record: JsonObject, { resource, service, project, scope }: Origin): Record<string, unknown> {
    const time = nanoseconds(record, 'timeUnixNano');
    const observed = nanoseconds(record, 'observedTimeUnixNano');
    const severity = severityOf(record);
    const columns = {
      timestamp: time ?? observed ?? this.input.arrived,
      observed_timestamp: observed,
      trace_id: idOf(record, 'traceId', TRACE_ID),
      span_id: idOf(record, 'spanId', SPAN_ID),
      severity_text: text(record, 'severityText') || (SEVERITIES[severity] ?? null),
      severity_number: severity === 0 ? null : severity,
      body: textOf(valueOf(member(record, 'body'), 0)),
      service_name: textOf(service),
      resource_attributes: unlessEmpty(resource),
      scope_name: scope,
      log_attributes: unlessEmpty(attributesOf(record)),
      event_name: text(record, 'eventName'),
      project,
    };
    const row: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(columns)) shapeField(row, this.rows.shape, name, value, 1);
    return row;
  }
}

/** Visits a list of messages. @throws Malformed */
function each(parent: JsonObject, name: string, visit: (item: JsonObject) => void): void {
  for (const [i, item] of list(parent, name).entries()) {
    try {
      if (!isObject(item)) throw new Malformed('must be an object');
      visit(item);
    } catch (error) {
      if (error instanceof Malformed) error.path.unshift(`${name}[${String(i)}]`);
      throw error;
    }
  }
}

/** A member with a list; null and none are an empty one. */
function list(parent: JsonObject, name: string): readonly unknown[] {
  const value = parent[name] ?? [];
  if (Array.isArray(value)) return value;
  throw malformed(name, 'must be a list');
}

/** A member with a message; null and none are an empty one. */
function member(parent: JsonObject, name: string): JsonObject {
  const value = parent[name] ?? {};
  if (isObject(value)) return value;
  throw malformed(name, 'must be an object');
}

function text(parent: JsonObject, name: string): string {
  const value = parent[name] ?? '';
  if (typeof value === 'string' && longNumber(value) === null) return value;
  throw malformed(name, 'must be a text');
}

function malformed(name: string, message: string): Malformed {
  const error = new Malformed(message);
  error.path.push(name);
  return error;
}

/** An integer, as a number or as digits in a text; 0 where there is none. */
function integer(parent: JsonObject, name: string, least: bigint, most: bigint): bigint {
  const value = parent[name] ?? 0;
  const digits = typeof value === 'number' ? integral(value) : (longNumber(value) ?? value);
  if (typeof digits === 'string' && /^-?\d{1,20}$/.test(digits)) {
    const number = BigInt(digits);
    if (number >= least && number <= most) return number;
  }
  throw malformed(name, `must be an integer from ${String(least)} to ${String(most)}`);
}

function integral(value: number): string | null {
  return Number.isInteger(value) ? String(BigInt(value)) : null;
}

const UINT64 = 2n ** 64n - 1n;

/** A time, cut to microseconds; null: it is not known. */
function nanoseconds(record: JsonObject, name: string): string | null {
  const time = integer(record, name, 0n, UINT64);
  return time === 0n ? null : instantText(time / 1000n);
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** In lower case; null: an id that is none counts as absent, as OTLP says. */
function idOf(record: JsonObject, name: string, form: RegExp): string | null {
  const id = text(record, name).toLowerCase();
  return form.test(id) ? id : null;
}

/** What OpenTelemetry calls severities, by their numbers. */
const SEVERITIES = [
  null,
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => [name, `${name}2`, `${name}3`, `${name}4`]),
];

function severityOf(record: JsonObject): number {
  return Number(integer(record, 'severityNumber', 0n, 2n ** 31n - 1n));
}

/** Lists within lists, and records in records. */
const DEEPEST = 32;

/** Attributes as one record: of a key that comes twice, the last one. */
function attributesOf(parent: JsonObject): Record<string, unknown> {
  return recordOf(parent, 'attributes', 0);
}

function recordOf(parent: JsonObject, name: string, depth: number): Record<string, unknown> {
  // Without a prototype: any text may be a key.
  const record = Object.create(null) as Record<string, unknown>;
  each(parent, name, (entry) => {
    record[text(entry, 'key')] = valueOf(member(entry, 'value'), depth);
  });
  return record;
}

/** An AnyValue as JSON. @throws Malformed */
function valueOf(any: JsonObject, depth: number): unknown {
  if (depth > DEEPEST) throw new Malformed(`is nested deeper than ${String(DEEPEST)} levels`);
  const has = (name: string): boolean => any[name] !== undefined && any[name] !== null;
  if (has('stringValue')) return text(any, 'stringValue');
  if (has('intValue')) return exact(any['intValue']);
  if (has('doubleValue')) return double(any['doubleValue']);
  if (has('boolValue')) {
    if (typeof any['boolValue'] === 'boolean') return any['boolValue'];
    throw malformed('boolValue', 'must be true or false');
  }
  if (has('kvlistValue')) return recordOf(member(any, 'kvlistValue'), 'values', depth + 1);
  if (has('arrayValue')) {
    const values: unknown[] = [];
    each(member(any, 'arrayValue'), 'values', (item) => values.push(valueOf(item, depth + 1)));
    return values;
  }
  return has('bytesValue') ? text(any, 'bytesValue') : null;
}

/** Every digit of an integer. Exporters send whole numbers beyond 64 bits here, too. */
function exact(value: unknown): unknown {
  if (typeof value === 'number') return value;
  const digits = longNumber(value) ?? value;
  if (typeof digits !== 'string' || !/^-?(?:0|[1-9]\d*)$/.test(digits))
    throw malformed('intValue', 'must be an integer');
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : exactNumber(digits);
}

/** What JSON has no number for is a text, as in JSON of protobuf. */
function double(value: unknown): unknown {
  const digits = longNumber(value) ?? value;
  if (
    typeof digits !== 'number' &&
    !(typeof digits === 'string' && /^(?:NaN|-?Infinity|-?\d[\d.eE+-]*)$/.test(digits))
  ) {
    throw malformed('doubleValue', 'must be a number');
  }
  const number = Number(digits);
  if (Object.is(number, -0)) return exactNumber('-0.0');
  return Number.isFinite(number) ? number : String(number);
}

/** A value as a text; null: there is none. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && longNumber(value) === null ? value : printLine(value);
}

/** The project that an attribute names: a text or a number. */
function projectOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? textOf(value) || null : null;
}

function unlessEmpty(record: JsonObject): JsonObject | null {
  for (const _any in record) return record;
  return null;
}
