/** Messages of OTLP in protobuf: those that come, as the JSON that OTLP has for them, and those that are sent. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

import { MOST_VALUES } from './batch';

/** How the value of a field is written in JSON; a function: a message of these fields. */
type Kind = 'text' | 'hex' | 'base64' | 'bool' | 'int64' | 'double' | 'uint32' | 'fixed64' | (() => Message);

interface Field {
  readonly name: string;
  readonly kind: Kind;
  /** Whether it is a list of these. */
  readonly list?: true;
}

/** Fields by their numbers. What is not named here is skipped. */
type Message = Readonly<Record<number, Field>>;

const ANY_VALUE: Message = {
  1: { name: 'stringValue', kind: 'text' },
  2: { name: 'boolValue', kind: 'bool' },
  3: { name: 'intValue', kind: 'int64' },
  4: { name: 'doubleValue', kind: 'double' },
  5: { name: 'arrayValue', kind: () => ARRAY },
  6: { name: 'kvlistValue', kind: () => KEY_VALUES },
  7: { name: 'bytesValue', kind: 'base64' },
};
const ARRAY: Message = { 1: { name: 'values', kind: () => ANY_VALUE, list: true } };
const KEY_VALUE: Message = { 1: { name: 'key', kind: 'text' }, 2: { name: 'value', kind: () => ANY_VALUE } };
const KEY_VALUES: Message = { 1: { name: 'values', kind: () => KEY_VALUE, list: true } };
const RESOURCE: Message = { 1: { name: 'attributes', kind: () => KEY_VALUE, list: true } };
const SCOPE: Message = { 1: { name: 'name', kind: 'text' } };
const LOG_RECORD: Message = {
  1: { name: 'timeUnixNano', kind: 'fixed64' },
  2: { name: 'severityNumber', kind: 'uint32' },
  3: { name: 'severityText', kind: 'text' },
  5: { name: 'body', kind: () => ANY_VALUE },
  6: { name: 'attributes', kind: () => KEY_VALUE, list: true },
  9: { name: 'traceId', kind: 'hex' },
  10: { name: 'spanId', kind: 'hex' },
  11: { name: 'observedTimeUnixNano', kind: 'fixed64' },
  12: { name: 'eventName', kind: 'text' },
};
const SCOPE_LOGS: Message = {
  1: { name: 'scope', kind: () => SCOPE },
  2: { name: 'logRecords', kind: () => LOG_RECORD, list: true },
};
const RESOURCE_LOGS: Message = {
  1: { name: 'resource', kind: () => RESOURCE },
  2: { name: 'scopeLogs', kind: () => SCOPE_LOGS, list: true },
};
const REQUEST: Message = { 1: { name: 'resourceLogs', kind: () => RESOURCE_LOGS, list: true } };

/** Messages within messages: more than the deepest value that is stored has (otlp.ts). */
const DEEPEST = 128;

/** Bytes that are no message, or one that is larger than may be. */
export class ProtobufFault extends Error {
  override readonly name = 'ProtobufFault';

  constructor(readonly fault: 'malformed' | 'too_many_values') {
    super(fault);
  }
}

/** An ExportLogsServiceRequest as its JSON. @throws ProtobufFault */
export function readRequest(body: Uint8Array): unknown {
  const reading = new Reading(body);
  try {
    return reading.message(REQUEST, body.length, 0);
  } catch (error) {
    // The reader has no errors of its own: RangeError, TypeError and Error, each for bytes that are no message.
    throw error instanceof ProtobufFault ? error : new ProtobufFault('malformed');
  }
}

class Reading {
  readonly #reader: BinaryReader;
  #values = 0;

  constructor(body: Uint8Array) {
    this.#reader = new BinaryReader(body);
  }

  message(fields: Message, end: number, depth: number): Record<string, unknown> {
    const reader = this.#reader;
    if (depth > DEEPEST || end > reader.len) throw new ProtobufFault('malformed');
    const message: Record<string, unknown> = {};
    while (reader.pos < end) {
      if (++this.#values > MOST_VALUES) throw new ProtobufFault('too_many_values');
      const [number, type] = reader.tag();
      const field = Object.hasOwn(fields, number) ? fields[number] : undefined;
      if (field === undefined) {
        reader.skip(type, number);
        continue;
      }
      if (type !== wireTypeOf(field.kind)) throw new ProtobufFault('malformed');
      const value = this.#value(field.kind, depth);
      const { name, list } = field;
      if (list !== true) message[name] = value;
      else if (message[name] === undefined) message[name] = [value];
      else (message[name] as unknown[]).push(value);
    }
    if (reader.pos !== end) throw new ProtobufFault('malformed');
    return message;
  }

  #value(kind: Kind, depth: number): unknown {
    const reader = this.#reader;
    switch (kind) {
      case 'text':
        return reader.string(true);
      case 'hex':
        return Buffer.from(reader.bytes()).toString('hex');
      case 'base64':
        return Buffer.from(reader.bytes()).toString('base64');
      case 'bool':
        return reader.bool();
      case 'int64':
        return String(reader.int64());
      case 'uint32':
        return reader.uint32();
      case 'fixed64':
        return String(reader.fixed64());
      case 'double':
        return reader.double();
      default: {
        const length = reader.uint32();
        return this.message(kind(), reader.pos + length, depth + 1);
      }
    }
  }
}

function wireTypeOf(kind: Kind): WireType {
  switch (kind) {
    case 'bool':
    case 'int64':
    case 'uint32':
      return WireType.Varint;
    case 'fixed64':
    case 'double':
      return WireType.Bit64;
    default:
      return WireType.LengthDelimited;
  }
}

/** An ExportLogsServiceResponse. @param rejected records that are not stored */
export function writeResponse(rejected: number, message: string): Uint8Array {
  if (rejected === 0) return new Uint8Array();
  const partial = new BinaryWriter()
    .uint32(1 << 3)
    .int64(rejected)
    .uint32((2 << 3) | WireType.LengthDelimited);
  const success = partial.string(message).finish();
  return new BinaryWriter()
    .uint32((1 << 3) | WireType.LengthDelimited)
    .bytes(success)
    .finish();
}

/** A google.rpc.Status. */
export function writeStatus(code: number, message: string): Uint8Array {
  const status = new BinaryWriter().uint32(1 << 3).int32(code);
  return status
    .uint32((2 << 3) | WireType.LengthDelimited)
    .string(message)
    .finish();
}
