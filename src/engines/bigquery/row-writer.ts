/**
 * Turns rows of BigQuery's REST form (`{f:[{v:...}]}`) into JSON text by the type table of docs/querying.md. A writer is made
 * once per schema. It makes plain objects and leaves the text to `JSON.stringify`: putting the text together by hand
 * costs half as much again (npm run bench -- bigquery).
 */
import { randomUUID } from 'node:crypto';

import { type RestField, isInCalendar, instantText, readInstant } from '@logquay/googlesql/types';

/** Random and never sent: no value can contain it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/**
 * JSON that `JSON.stringify` has to write verbatim, such as integers beyond a double: each is a marked string in the value,
 * replaced in the text afterwards.
 */
class VerbatimJson {
  readonly #texts: string[] = [];

  /** The placeholder of a JSON text in a value. */
  insert(json: string): string {
    this.#texts.push(json);
    return `${MARK}:${this.#texts.length - 1}`;
  }

  /** `JSON.stringify`, with every placeholder replaced. */
  stringify(value: unknown): string {
    const json = JSON.stringify(value);
    if (this.#texts.length === 0) return json;
    return json.replace(MARKED, (_, index: string) => this.#texts[Number(index)] as string);
  }

  /** Forgets the texts of the last value. */
  clear(): void {
    this.#texts.length = 0;
  }
}

/** A value or a row in BigQuery's answer does not have the form that its schema says. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

/**
 * A TIMESTAMP of the REST API as microseconds since the epoch. Asked for integers, BigQuery sends integers; services
 * beside it send seconds with a fraction or an exponent, or a date and time as text inside records.
 */

const INTEGER = /^-?\d{1,20}$/;
const SECONDS = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,12})?(\s*(Z|UTC)|\s*[+-]\d{2}(:?\d{2})?)?$/;

/** @throws MalformedRow for text of none of these forms. */
export function timestampMicros(text: string): bigint {
  if (INTEGER.test(text)) return BigInt(text);
  const seconds = SECONDS.exec(text);
  if (seconds !== null) return fromSeconds(seconds);
  const micros = DATE_TIME.test(text) ? readInstant(text.replace(/\s+(?=[+\-ZU])/, '')) : 'spelling';
  if (typeof micros !== 'bigint') throw new MalformedRow();
  return micros;
}

/** ISO 8601 text in UTC with six digits of a fraction. @throws MalformedRow beyond the years 1 to 9999 */
function isoOfMicros(micros: bigint): string {
  if (!isInCalendar(micros)) throw new MalformedRow();
  return instantText(micros);
}

/** Seconds in decimal notation, shifted by its exponent and cut at the microsecond. */
function fromSeconds([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): bigint {
  const point = Math.max(whole.length + Number(exponent) + 6, 0);
  const digits = (whole + fraction).padEnd(point, '0').slice(0, point);
  const micros = BigInt(digits === '' ? '0' : digits);
  return sign === '-' ? -micros : micros;
}

/** A value that is there, as what `JSON.stringify` makes its text of. */
type Reader = (value: unknown) => unknown;

/** How values are written where there is a choice. */
export interface ValueForm {
  /** BYTES as null. */
  readonly hideBytes: boolean;
  /** TIMESTAMP as ISO 8601 text rather than as microseconds. */
  readonly isoTimestamps: boolean;
}

/**
 * A row of one schema to the text of a JSON object without line breaks.
 *
 * @throws MalformedRow (the writer) for a row of another form
 */
export function rowWriter(fields: readonly RestField[], form: ValueForm): (row: unknown) => string {
  const verbatim = new VerbatimJson();
  const read = recordReader(fields, { ...form, verbatim });
  return (row) => {
    verbatim.clear();
    return verbatim.stringify(read(row));
  };
}

interface Context extends ValueForm {
  readonly verbatim: VerbatimJson;
}

/** Names that an object would not keep in their place, or not at all. */
const UNORDERED = /^(?:\d+|__proto__)$/;

function recordReader(fields: readonly RestField[], context: Context): Reader {
  const names = fields.map(({ name }) => name);
  const readers = fields.map((field) => fieldReader(field, context));
  const isRepeated = fields.map(({ mode }) => mode === 'REPEATED');
  const count = fields.length;
  const read = (value: unknown): Record<string, unknown> => {
    const cells = cellsOf(value, count);
    const record: Record<string, unknown> = {};
    for (let i = 0; i < count; i++) {
      const cell = valueOf(cells[i]);
      const isThere = cell !== null && cell !== undefined;
      record[names[i] as string] = isThere ? (readers[i] as Reader)(cell) : isRepeated[i] ? [] : null;
    }
    return record;
  };
  if (!names.some((name) => UNORDERED.test(name))) return read;
  const aliases = names.map((_, i) => `_${i}`);
  const readAliased = recordReader(
    fields.map((field, i) => ({ ...field, name: aliases[i] as string })),
    context,
  );
  return (value) => {
    const record = readAliased(value) as Record<string, unknown>;
    const pairs = aliases.map((alias, i) => `${JSON.stringify(names[i])}:${context.verbatim.stringify(record[alias])}`);
    return context.verbatim.insert(`{${pairs.join(',')}}`);
  };
}

function fieldReader(field: RestField, context: Context): Reader {
  const read = scalarReader(field, context);
  if (field.mode !== 'REPEATED') return read;
  return (value) => {
    if (!Array.isArray(value)) throw new MalformedRow();
    return value.map((cell) => {
      const element = valueOf(cell);
      return element === null || element === undefined ? null : read(element);
    });
  };
}

function cellsOf(value: unknown, count: number): readonly unknown[] {
  const cells: unknown = (value as { f?: unknown } | null)?.f;
  if (!Array.isArray(cells) || cells.length !== count) throw new MalformedRow();
  return cells;
}

function valueOf(cell: unknown): unknown {
  if (typeof cell !== 'object' || cell === null) throw new MalformedRow();
  return (cell as { v?: unknown }).v;
}

function scalarReader(field: RestField, context: Context): Reader {
  const { hideBytes, isoTimestamps, verbatim } = context;
  switch (field.type) {
    case 'RECORD':
      return recordReader(field.fields, context);
    case 'INT64':
      return (value) => readInteger(textOf(value), verbatim);
    case 'TIMESTAMP':
      if (isoTimestamps) return (value) => isoOfMicros(timestampMicros(textOf(value)));
      return (value) => readInteger(microsOf(textOf(value)), verbatim);
    case 'FLOAT64':
      return (value) => readFloat(textOf(value));
    case 'BOOL':
      return (value) => readBoolean(textOf(value));
    case 'JSON':
      return (value) => verbatim.insert(jsonText(textOf(value)));
    case 'DATETIME':
      return (value) => isoDateTime(textOf(value));
    case 'RANGE':
      return rangeReader(field, context);
    case 'BYTES':
      return hideBytes ? () => null : textOf;
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'STRING':
    case 'DATE':
    case 'TIME':
    case 'GEOGRAPHY':
    case 'INTERVAL':
      return textOf;
  }
}

/** Its ends are written as values of their type are. */
function rangeReader({ name, element }: RestField, { isoTimestamps }: ValueForm): Reader {
  if (element === undefined) throw new Error(`${name} is a RANGE of nothing`);
  const instant = isoTimestamps ? (text: string) => isoOfMicros(timestampMicros(text)) : microsOf;
  const write = { DATE: (text: string) => text, DATETIME: isoDateTime, TIMESTAMP: instant }[element];
  return (value) => {
    const [, ...ends] = RANGE.exec(textOf(value)) ?? [];
    if (ends.length === 0) throw new MalformedRow();
    return `[${ends.map((end) => (end === 'UNBOUNDED' ? end : write(end))).join(', ')})`;
  };
}

const RANGE = /^\[([^,]+), ([^,]+)\)$/;

/** ISO has a `T` where SQL's own form has a space. */
function isoDateTime(text: string): string {
  return text.replace(' ', 'T');
}

function microsOf(text: string): string {
  return DIGITS.test(text) ? text : timestampMicros(text).toString();
}

/** BigQuery sends every scalar as text; services beside it may send numbers and booleans as such. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new MalformedRow();
}

const DIGITS = /^-?(?:0|[1-9]\d*)$/;

function readInteger(text: string, verbatim: VerbatimJson): number | string {
  if (!DIGITS.test(text)) throw new MalformedRow();
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : verbatim.insert(text);
}

const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

function readFloat(text: string): number | string {
  if (DECIMAL.test(text)) {
    const number = Number(text);
    // A double is finite in every notation that BigQuery writes.
    if (Number.isFinite(number)) return number;
  }
  if (/^nan$/i.test(text)) return 'NaN';
  if (/^-inf(inity)?$/i.test(text)) return '-Infinity';
  if (/^\+?inf(inity)?$/i.test(text)) return 'Infinity';
  throw new MalformedRow();
}

function readBoolean(text: string): boolean {
  if (text === 'true' || /^true$/i.test(text)) return true;
  if (text === 'false' || /^false$/i.test(text)) return false;
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
