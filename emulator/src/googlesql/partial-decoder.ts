import type { Message, ProtocolDefinition } from './protocol';

/**
 * Decodes the engine's resolved trees partially. Each column reference carries the whole type of its column, so most of a tree is
 * types: those, and positions in the text, stay bytes until they are needed.
 */

const LEFT_OUT = new Set(['column_list', 'signature', 'type_annotation_map', 'annotations', 'value']);
const LEFT_AS_BYTES = new Set(['type', 'parse_location_range']);

interface Field {
  readonly name: string;
  readonly kind: 'message' | 'string' | 'bytes' | 'number';
  readonly message: string;
  readonly repeated: boolean;
}

interface Plan {
  readonly fields: ReadonlyMap<number, Field>;
  /** An `Any...` message: its one field is named in `node`, as proto-loader does. */
  readonly any: boolean;
}

const text = new TextDecoder();

/** Where reading stands in the bytes of a message. */
interface Cursor {
  at: number;
}

/** Decodes messages of one protocol definition. */
export class PartialDecoder {
  private readonly plans = new Map<string, Plan>();

  constructor(private readonly protocol: ProtocolDefinition) {}

  /** The message `name` of package zetasql from its bytes, without the fields that are left out. */
  decode(name: string, bytes: Uint8Array): Message {
    const plan = this.planOf(name);
    const message: Record<string, unknown> = {};
    const cursor = { at: 0 };
    while (cursor.at < bytes.length) {
      const tag = varint(bytes, cursor);
      const field = plan.fields.get(tag >>> 3);
      const value = this.value(field, tag & 7, bytes, cursor);
      if (field === undefined || value === undefined) continue;
      if (plan.any) message['node'] = field.name;
      if (!field.repeated) message[field.name] = value;
      else {
        const list = (message[field.name] ??= []) as unknown[];
        if (Array.isArray(value)) for (const item of value as unknown[]) list.push(item);
        else list.push(value);
      }
    }
    return message;
  }

  /** A message whose bytes `decode` raw. */
  whole(name: string, bytes: Uint8Array): Message {
    const definition = this.protocol[`zetasql.${name}`];
    if (definition === undefined) throw new Error(`The protocol has no message ${name}`);
    return definition.deserialize(bytes);
  }

  private value(field: Field | undefined, wire: number, bytes: Uint8Array, cursor: Cursor): unknown {
    if (wire === 0) {
      const number = varint(bytes, cursor);
      return field === undefined ? undefined : number;
    }
    if (wire !== 2) {
      cursor.at += wire === 1 ? 8 : 4;
      return undefined;
    }
    const length = varint(bytes, cursor);
    const start = cursor.at;
    cursor.at += length;
    if (field === undefined) return undefined;
    const part = bytes.subarray(start, cursor.at);
    switch (field.kind) {
      case 'message':
        return this.decode(field.message, part);
      case 'string':
        return text.decode(part);
      case 'bytes':
        return part;
      case 'number':
        return packed(part);
    }
  }

  private planOf(name: string): Plan {
    const known = this.plans.get(name);
    if (known !== undefined) return known;
    const definition = this.protocol[`zetasql.${name}`] ?? this.protocol[`zetasql.local_service.${name}`];
    if (definition === undefined) throw new Error(`The protocol has no message ${name}`);
    const fields = new Map<number, Field>();
    for (const { name: field, number, label, type, typeName } of definition.type.field) {
      if (LEFT_OUT.has(field)) continue;
      const isRaw = LEFT_AS_BYTES.has(field) || type === 'TYPE_BYTES';
      const kind = isRaw ? 'bytes' : type === 'TYPE_MESSAGE' ? 'message' : type === 'TYPE_STRING' ? 'string' : 'number';
      const message = typeName.replace(/^\.?(zetasql\.)?/, '');
      fields.set(number, { name: field, kind, message, repeated: label === 'LABEL_REPEATED' });
    }
    const plan = { fields, any: definition.type.oneofDecl[0]?.name === 'node' };
    this.plans.set(name, plan);
    return plan;
  }
}

/** A variable-length integer; one beyond 53 bits (a negative one) is read past and comes out inexact. */
function varint(bytes: Uint8Array, cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[cursor.at++] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
}

function packed(bytes: Uint8Array): number[] {
  const cursor = { at: 0 };
  const numbers: number[] = [];
  while (cursor.at < bytes.length) numbers.push(varint(bytes, cursor));
  return numbers;
}
