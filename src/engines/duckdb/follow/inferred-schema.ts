/** The schema of a table that nobody has declared: it grows with the rows. */
import type { RestField } from '../../../googlesql/rest-schema';
import { timestampMicros } from '../../../googlesql/literals/timestamp';
import { dateText } from '../../../googlesql/literals/civil';
import { longNumber } from '../data/json-line';
import type { JsonObject } from '../data/strict-row';

/** Bounds of an inferred schema: a log whose keys are values must not become a table of a million columns. */
const MOST_FIELDS = 2_000;
const DEEPEST = 15;

/**
 * The fields with those that a row has and they have not. The type of a field is that of its first value: one that does
 * not fit later is NULL.
 *
 * @param widen whether no row is stored yet: a field takes the type that both values have
 * @returns `fields` itself where there is nothing new
 */
export function withFieldsOf(fields: readonly RestField[], row: JsonObject, widen: boolean): readonly RestField[] {
  if (countOf(fields) >= MOST_FIELDS) return fields;
  return grown(fields, row, 1, widen);
}

function grown(fields: readonly RestField[], record: JsonObject, depth: number, widen: boolean): readonly RestField[] {
  let changed: RestField[] | null = null;
  for (const [name, value] of Object.entries(record)) {
    const index = fields.findIndex((field) => field.name.toLowerCase() === name.toLowerCase());
    const known = index === -1 ? null : fields[index]!;
    if (known === null) {
      const field = name === '' ? null : fieldOf(name, value, depth);
      if (field !== null && !changed?.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
        (changed ??= [...fields]).push(field);
      }
    } else if (known.type === 'RECORD') {
      let inner = known.fields;
      for (const item of Array.isArray(value) ? value : [value]) {
        if (isObject(item)) inner = grown(inner, item, depth + 1, widen);
      }
      if (inner !== known.fields) (changed ??= [...fields])[index] = { ...known, fields: inner };
    } else if (widen) {
      const field = fieldOf(name, value, depth);
      if (field === null || (field.type === known.type && field.mode === known.mode)) continue;
      const type = field.mode === known.mode ? common([known, field]) : 'JSON';
      if (type === known.type) continue;
      const mode = type === 'JSON' ? 'NULLABLE' : known.mode;
      (changed ??= [...fields])[index] = { name: known.name, type, mode, fields: [] };
    }
  }
  return changed ?? fields;
}

/** null: the value does not tell. */
function fieldOf(name: string, value: unknown, depth: number): RestField | null {
  const leaf = (type: RestField['type']): RestField => ({ name, type, mode: 'NULLABLE', fields: [] });
  if (value === null) return null;
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== null);
    // BigQuery has no arrays of arrays.
    if (items.some((item) => Array.isArray(item))) return leaf('JSON');
    const types = items.flatMap((item) => fieldOf(name, item, depth) ?? []);
    const [first] = types;
    if (first === undefined) return null;
    if (first.type !== 'RECORD') {
      const type = types.every((item) => item.type === first.type) ? first.type : common(types);
      return { name, type, mode: type === 'JSON' ? 'NULLABLE' : 'REPEATED', fields: [] };
    }
    const fields = items.reduce<readonly RestField[]>(
      (known, item) => (isObject(item) ? grown(known, item, depth + 1, true) : known),
      [],
    );
    return { name, type: 'RECORD', mode: 'REPEATED', fields };
  }
  if (isObject(value)) {
    if (depth >= DEEPEST) return leaf('JSON');
    const fields = grown([], value, depth + 1, true);
    // Nothing is known of a record without fields.
    return fields.length === 0 ? null : { name, type: 'RECORD', mode: 'NULLABLE', fields };
  }
  if (typeof value === 'boolean') return leaf('BOOL');
  if (typeof value === 'number') return leaf(Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64');
  const long = longNumber(value);
  if (long !== null) return leaf(/^-?\d+$/.test(long) ? 'NUMERIC' : 'FLOAT64');
  return leaf(typeof value === 'string' ? textType(value) : 'STRING');
}

function common(types: readonly RestField[]): RestField['type'] {
  const found = new Set(types.map(({ type }) => type));
  if (found.has('RECORD') || found.has('JSON')) return 'JSON';
  return [...found].every((type) => type === 'INT64' || type === 'FLOAT64') ? 'FLOAT64' : 'STRING';
}

function textType(text: string): RestField['type'] {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return 'STRING';
  if (text.length === 10) return dateText(text) === null ? 'STRING' : 'DATE';
  return timestampMicros(text) === null ? 'STRING' : 'TIMESTAMP';
}

function countOf(fields: readonly RestField[]): number {
  return fields.reduce((sum, field) => sum + 1 + countOf(field.fields), 0);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
