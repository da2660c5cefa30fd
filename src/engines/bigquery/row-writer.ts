/**
 * Turns rows of BigQuery's REST form (`{f:[{v:...}]}`) into JSON text by the type table of service.md. A writer is made
 * once per schema. Values arrive as text and most of them leave as the same text, so nothing is parsed that need not be:
 * integers never pass through a double.
 */
import type { RestField } from '../../googlesql/rest-schema';
import { MalformedRow } from './malformed';
import { timestampMicros } from './timestamp-text';

/** Appends the JSON text of a value to `out`; an array that is joined once is cheaper than many short strings. */
type ValueWriter = (value: unknown, out: string[]) => void;

/**
 * A row of one schema to the text of a JSON object without line breaks.
 *
 * @param hideBytes render BYTES as null
 * @throws MalformedRow (the writer) for a row of another form
 */
export function rowWriter(fields: readonly RestField[], hideBytes: boolean): (row: unknown) => string {
  const write = recordWriter(fields, hideBytes);
  return (row) => {
    const out: string[] = [];
    write(row, out);
    return out.join('');
  };
}

function recordWriter(fields: readonly RestField[], hideBytes: boolean): ValueWriter {
  const heads = fields.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const writers = fields.map((field) => fieldWriter(field, hideBytes));
  const count = fields.length;
  return (value, out) => {
    const cells: unknown = (value as { f?: unknown } | null)?.f;
    if (!Array.isArray(cells) || cells.length !== count) throw new MalformedRow();
    for (let i = 0; i < count; i++) {
      out.push(heads[i] as string);
      (writers[i] as ValueWriter)(valueOf(cells[i]), out);
    }
    out.push('}');
  };
}

function fieldWriter(field: RestField, hideBytes: boolean): ValueWriter {
  const write = scalarWriter(field, hideBytes);
  const writeNullable: ValueWriter = (value, out) => {
    if (value === null || value === undefined) out.push('null');
    else write(value, out);
  };
  if (field.mode !== 'REPEATED') return writeNullable;
  return (value, out) => {
    if (value === null || value === undefined) {
      out.push('[]');
      return;
    }
    if (!Array.isArray(value)) throw new MalformedRow();
    out.push('[');
    for (let i = 0; i < value.length; i++) {
      if (i > 0) out.push(',');
      writeNullable(valueOf(value[i]), out);
    }
    out.push(']');
  };
}

function valueOf(cell: unknown): unknown {
  if (typeof cell !== 'object' || cell === null) throw new MalformedRow();
  return (cell as { v?: unknown }).v;
}

function scalarWriter(field: RestField, hideBytes: boolean): ValueWriter {
  switch (field.type) {
    case 'RECORD':
      return recordWriter(field.fields, hideBytes);
    case 'INT64':
      return textWriter(integerText);
    case 'TIMESTAMP':
      return textWriter((text) => (DIGITS.test(text) ? text : timestampMicros(text).toString()));
    case 'FLOAT64':
      return textWriter(floatText);
    case 'BOOL':
      return textWriter(booleanText);
    case 'JSON':
      return textWriter(jsonText);
    case 'BYTES':
      return hideBytes ? (_, out) => void out.push('null') : writeString;
    case 'DATETIME':
      return textWriter(datetimeText);
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'STRING':
    case 'DATE':
    case 'TIME':
    case 'GEOGRAPHY':
    case 'INTERVAL':
      return writeString;
  }
}

/** Most services send every scalar as text, some send numbers and booleans as such. */
function textWriter(toJson: (text: string) => string): ValueWriter {
  return (value, out) => {
    if (typeof value === 'string') out.push(toJson(value));
    else if (typeof value === 'number' || typeof value === 'boolean') out.push(toJson(String(value)));
    else throw new MalformedRow();
  };
}

/** `JSON.stringify` also escapes surrogates that stand alone. */
function writeString(value: unknown, out: string[]): void {
  if (typeof value === 'object') throw new MalformedRow();
  out.push(JSON.stringify(typeof value === 'string' ? value : String(value)));
}

const DIGITS = /^-?(?:0|[1-9]\d*)$/;

function integerText(text: string): string {
  if (DIGITS.test(text)) return text;
  throw new MalformedRow();
}

const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

function floatText(text: string): string {
  if (DECIMAL.test(text)) {
    const number = Number(text);
    // A double is finite in every notation that BigQuery writes.
    if (Number.isFinite(number)) return String(number);
  }
  if (/^nan$/i.test(text)) return '"NaN"';
  if (/^-inf(inity)?$/i.test(text)) return '"-Infinity"';
  if (/^\+?inf(inity)?$/i.test(text)) return '"Infinity"';
  throw new MalformedRow();
}

function booleanText(text: string): string {
  if (text === 'true' || text === 'false') return text;
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower;
  throw new MalformedRow();
}

/** A JSON value is its own text, digits and all; it is read once, so that a broken one cannot break the whole answer. */
function jsonText(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    throw new MalformedRow();
  }
  // In valid JSON these stand between tokens alone; a line break would end a line of NDJSON.
  return /[\n\r\t]/.test(text) ? text.replace(/[\n\r\t]/g, ' ') : text;
}

/** ISO has a `T` where SQL's own form has a space. */
function datetimeText(text: string): string {
  return JSON.stringify(text.replace(' ', 'T'));
}
