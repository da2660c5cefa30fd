/** Rows as a file for other programs. */
import { nameOf, ROW } from './field-values';
import { instantText, type NamedType, type SqlType } from '@logquay/googlesql/types';
import { isObject, type Json, type JsonObject, member, valueAt, writeExactly } from './exact-json';

import { microsOf } from './time-range';

/** CSV, NDJSON or JSON, part by part. */
export class RowFile {
  count = 0;
  readonly #parts: string[] = [];

  /** @param columns as paths; null: every field */
  constructor(
    private readonly form: string,
    private readonly types: readonly NamedType[],
    private readonly columns: readonly string[] | null,
  ) {
    const names = this.columns?.map(nameOf) ?? types.map(({ name }) => name);
    if (form === 'csv') this.#parts.push(`${names.map(csvCell).join(',')}\r\n`);
    if (form === 'json') this.#parts.push('[');
  }

  add(rows: readonly JsonObject[]): void {
    const lines = rows.map((row, i) => {
      const written = this.#rowOf(row);
      if (this.form === 'csv') return `${Object.values(written).map(csvCell).join(',')}\r\n`;
      const text = writeExactly(written);
      return this.form === 'json' ? `${this.count + i === 0 ? '' : ','}\n${text}` : `${text}\n`;
    });
    this.count += rows.length;
    this.#parts.push(lines.join(''));
  }

  finish(type: string): Blob {
    return new Blob([...this.#parts, this.form === 'json' ? '\n]\n' : ''], { type });
  }

  #rowOf(row: JsonObject): JsonObject {
    const whole = timesOf(row, { kind: 'STRUCT', fields: this.types }) as JsonObject;
    if (this.columns === null) {
      return Object.fromEntries(this.types.map(({ name }) => [name, member(whole, name) ?? null]));
    }
    return Object.fromEntries(
      this.columns.map((path) => {
        const own = member(whole, path);
        return [
          nameOf(path),
          path === ROW ? whole : own !== undefined ? own : (valueAt(whole, path.split('.')) ?? null),
        ];
      }),
    );
  }
}

/** The value with its times as ISO 8601. */
function timesOf(value: Json, type: SqlType): Json {
  if (type.kind === 'TIMESTAMP') {
    const micros = microsOf(value);
    return micros === null ? value : instantText(micros);
  }
  if (type.kind === 'ARRAY' && Array.isArray(value)) {
    return (value as readonly Json[]).map((one) => timesOf(one, type.element));
  }
  if (type.kind !== 'STRUCT' || !isObject(value)) return value;
  const types = new Map(type.fields.map((field) => [field.name, field.type]));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const known = types.get(name);
      return [name, known === undefined ? one : timesOf(one, known)];
    }),
  );
}

/** Texts that a spreadsheet would compute, as the service's own CSV has them; a number with its sign computes nothing. */
const FORMULA = /^(?![+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|-Infinity$)[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n\0]/;

function csvCell(value: Json): string {
  if (value === null) return '';
  if (value === '') return '""';
  if (typeof value !== 'string') return quoted(typeof value === 'object' ? writeExactly(value) : String(value));
  return quoted(FORMULA.test(value) ? `'${value}` : value);
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
