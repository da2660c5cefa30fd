/**
 * Turns rows of BigQuery's REST form (`{f:[{v:...}]}`) into JSON text by the type table of service.md. A writer is made
 * once per schema; most values are digits or text already, so nothing is parsed that need not be.
 */
import type { RestField } from '../../googlesql/rest-schema';
import { MalformedRow } from './malformed';
import { timestampMicros } from './timestamp-text';

/** A row as the API sends it. */
export interface RestRow {
  readonly f: readonly { readonly v: unknown }[];
}

type ValueWriter = (value: unknown) => string;

/**
 * Rows of one schema to the texts of JSON objects. The writer throws MalformedRow for a row of another form.
 *
 * @param hideBytes render BYTES as null
 */
export function rowWriter(fields: readonly RestField[], hideBytes: boolean): (row: RestRow) => string {
  return recordWriter(fields, hideBytes);
}

function recordWriter(fields: readonly RestField[], hideBytes: boolean): ValueWriter {
  const heads = fields.map((field, i) => `${i === 0 ? '{' : ','}${JSON.stringify(field.name)}:`);
  const writers = fields.map((field) => fieldWriter(field, hideBytes));
  const count = fields.length;
  if (count === 0) return () => '{}';
  return (value) => {
    const cells = (value as RestRow | null)?.f;
    if (!Array.isArray(cells) || cells.length !== count) throw new MalformedRow();
    let text = '';
    for (let i = 0; i < count; i++) {
      const cell = cells[i] as { v?: unknown } | null;
      if (typeof cell !== 'object' || cell === null) throw new MalformedRow();
      text += (heads[i] as string) + (writers[i] as ValueWriter)(cell.v);
    }
    return text + '}';
  };
}

function fieldWriter(field: RestField, hideBytes: boolean): ValueWriter {
  const write = scalarWriter(field, hideBytes);
  if (field.mode !== 'REPEATED') return (value) => (value === null || value === undefined ? 'null' : write(value));
  return (value) => {
    if (value === null || value === undefined) return '[]';
    if (!Array.isArray(value)) throw new MalformedRow();
    let text = '[';
    for (let i = 0; i < value.length; i++) {
      const element = (value[i] as { v?: unknown } | null)?.v;
      if (i > 0) text += ',';
      text += element === null || element === undefined ? 'null' : write(element);
    }
    return text + ']';
  };
}

function scalarWriter(field: RestField, hideBytes: boolean): ValueWriter {
  switch (field.type) {
    case 'RECORD':
      return recordWriter(field.fields, hideBytes);
    case 'INT64':
      return writeInteger;
    case 'TIMESTAMP':
      return (value) => timestampMicros(textOf(value)).toString();
    case 'FLOAT64':
      return writeFloat;
    case 'BOOL':
      return writeBoolean;
    case 'JSON':
      return writeJson;
    case 'BYTES':
      return hideBytes ? () => 'null' : writeText;
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'STRING':
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
    case 'GEOGRAPHY':
    case 'INTERVAL':
      return writeText;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new MalformedRow();
}

const INTEGER = /^-?\d+$/;

/** Exact digits, never through a double. */
function writeInteger(value: unknown): string {
  const digits = textOf(value);
  if (!INTEGER.test(digits)) throw new MalformedRow();
  return digits;
}

function writeFloat(value: unknown): string {
  const text = textOf(value);
  const number = Number(text);
  if (text !== '' && Number.isFinite(number)) return String(Object.is(number, -0) ? 0 : number);
  if (/^nan$/i.test(text)) return '"NaN"';
  if (/^-inf(inity)?$/i.test(text)) return '"-Infinity"';
  if (/^\+?inf(inity)?$/i.test(text)) return '"Infinity"';
  throw new MalformedRow();
}

function writeBoolean(value: unknown): string {
  const text = textOf(value);
  if (text !== 'true' && text !== 'false') throw new MalformedRow();
  return text;
}

/** A JSON value is its own text; it is read once, so that a broken one cannot break the whole answer. */
function writeJson(value: unknown): string {
  const text = textOf(value);
  try {
    JSON.parse(text);
  } catch {
    throw new MalformedRow();
  }
  return text;
}

/** What JSON must escape, and surrogates, of which a lone one is no text. */
const NEEDS_ESCAPE = /["\\\p{Cc}\p{Cs}]/u;

function writeText(value: unknown): string {
  const text = textOf(value);
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}
