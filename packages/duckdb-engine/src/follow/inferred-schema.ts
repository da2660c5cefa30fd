/** The schema of a table: declared, or growing with the rows. */
import { dateText, timestampMicros, type RestField } from '@logquay/googlesql/types';
import { longNumber } from '../data/json-line';
import { type JsonObject, isInt64 } from '../data/strict-row';
import { type ObservedTimes, TimeUnitsOfTable } from '../data/time-column';
import { type RowRules, rulesOf } from './rows';

const DEEPEST = 15;

/** A record whose fields are inferred. */
interface Place {
  readonly path: string;
  readonly depth: number;
  /** Fields that may be added. */
  readonly room: number;
  /** Takes the paths of the first few fields that there is no room for. */
  readonly leftOut: Set<string>;
}

/** Only the type is of interest. */
const ANYWHERE: Place = { path: '', depth: 1, room: Infinity, leftOut: new Set() };

/**
 * The fields with those that a row has and they have not. The type of a field is that of its first value: one that does
 * not fit later is NULL.
 *
 * @param widen whether no row is stored yet: a field takes the type that both values have
 * @param leftOut takes the paths of the first few fields beyond `MOST_FIELDS`
 * @returns `fields` itself where there is nothing new
 */
export function withFieldsOf(
  fields: readonly RestField[],
  row: JsonObject,
  widen: boolean,
  leftOut: Set<string>,
): readonly RestField[] {
  return grown(fields, row, widen, { path: '', depth: 1, room: MOST_FIELDS - countOf(fields), leftOut });
}

const indexes = new WeakMap<readonly RestField[], ReadonlyMap<string, number>>();

/** Places of fields by their names, ignoring case: a row may have more keys than there are fields. */
function indexOf(fields: readonly RestField[]): ReadonlyMap<string, number> {
  const index = indexes.get(fields) ?? new Map(fields.map(({ name }, i) => [name.toLowerCase(), i]));
  indexes.set(fields, index);
  return index;
}

function grown(fields: readonly RestField[], record: JsonObject, widen: boolean, place: Place): readonly RestField[] {
  const { path, depth, leftOut } = place;
  let { room } = place;
  let changed: RestField[] | null = null;
  const added = new Set<string>();
  for (const [name, value] of Object.entries(record)) {
    const key = name.toLowerCase();
    const index = indexOf(fields).get(key);
    const at = { ...place, path: `${path}${name}`, room };
    if (index === undefined) {
      if (name === '' || value === null || added.has(key)) continue;
      const field = room > 0 ? fieldOf(name, value, { ...at, room: room - 1 }) : null;
      if (room <= 0 && leftOut.size < NAMED) leftOut.add(at.path);
      if (field === null) continue;
      (changed ??= [...fields]).push(field);
      added.add(key);
      room -= countOf([field]);
      continue;
    }
    const known = changed?.[index] ?? fields[index]!;
    if (known.type === 'RECORD') {
      const inner = grownBy(known.fields, Array.isArray(value) ? value : [value], widen, at);
      if (inner === known.fields) continue;
      room -= countOf(inner) - countOf(known.fields);
      (changed ??= [...fields])[index] = { ...known, fields: inner };
    } else if (widen) {
      const field = fieldOf(name, value, { ...ANYWHERE, depth });
      if (field === null || (field.type === known.type && field.mode === known.mode)) continue;
      const type = field.mode === known.mode ? common([known, field]) : 'JSON';
      if (type === known.type) continue;
      const mode = type === 'JSON' ? 'NULLABLE' : known.mode;
      (changed ??= [...fields])[index] = { name: known.name, type, mode, fields: [] };
    }
  }
  return changed ?? fields;
}

/** The fields of a record with those that values of it have. @param at the place of the record */
function grownBy(
  fields: readonly RestField[],
  values: readonly unknown[],
  widen: boolean,
  at: Place,
): readonly RestField[] {
  const before = countOf(fields);
  let all = fields;
  for (const item of values) {
    if (!isObject(item)) continue;
    const room = at.room - (all === fields ? 0 : countOf(all) - before);
    all = grown(all, item, widen, { ...at, path: `${at.path}.`, depth: at.depth + 1, room });
  }
  return all;
}

/** null: the value does not tell, or there is no room for what it holds. @param at the place of the field */
function fieldOf(name: string, value: unknown, at: Place): RestField | null {
  const leaf = (type: RestField['type']): RestField => ({ name, type, mode: 'NULLABLE', fields: [] });
  if (value === null) return null;
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== null);
    // BigQuery has no arrays of arrays.
    if (items.some((item) => Array.isArray(item))) return leaf('JSON');
    const first: unknown = items.find((item) => tells(item, at.depth));
    if (first === undefined) return null;
    if (isObject(first) && at.depth < DEEPEST) {
      const fields = grownBy([], items, true, at);
      return fields.length === 0 ? null : { name, type: 'RECORD', mode: 'REPEATED', fields };
    }
    const typesOf = (item: unknown): RestField | [] =>
      isObject(item) ? leaf('JSON') : (fieldOf(name, item, at) ?? []);
    const types = items.flatMap((item) => (tells(item, at.depth) ? typesOf(item) : []));
    const type = types.every((item) => item.type === types[0]!.type) ? types[0]!.type : common(types);
    return { name, type, mode: type === 'JSON' ? 'NULLABLE' : 'REPEATED', fields: [] };
  }
  if (isObject(value)) {
    if (at.depth >= DEEPEST) return leaf('JSON');
    const fields = grownBy([], [value], true, at);
    // Nothing is known of a record without fields.
    return fields.length === 0 ? null : { name, type: 'RECORD', mode: 'NULLABLE', fields };
  }
  if (typeof value === 'boolean') return leaf('BOOL');
  if (typeof value === 'number') return leaf(Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64');
  const long = longNumber(value);
  if (long !== null) return leaf(!/^-?\d+$/.test(long) ? 'FLOAT64' : isInt64(long) ? 'INT64' : 'NUMERIC');
  return leaf(typeof value === 'string' ? textType(value) : 'STRING');
}

/** Whether a value tells a type. */
function tells(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => Array.isArray(item) || tells(item, depth));
  if (!isObject(value)) return value !== null;
  return depth >= DEEPEST || Object.entries(value).some(([name, inner]) => name !== '' && tells(inner, depth + 1));
}

const NUMBERS = new Set<RestField['type']>(['INT64', 'NUMERIC', 'FLOAT64']);

function common(types: readonly RestField[]): RestField['type'] {
  const found = new Set(types.map(({ type }) => type));
  if (found.has('RECORD') || found.has('JSON')) return 'JSON';
  if (![...found].every((type) => NUMBERS.has(type))) return 'STRING';
  return found.has('FLOAT64') ? 'FLOAT64' : 'NUMERIC';
}

function textType(text: string): RestField['type'] {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return 'STRING';
  if (text.length === 10) return dateText(text) === null ? 'STRING' : 'DATE';
  return timestampMicros(text) === null ? 'STRING' : 'TIMESTAMP';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a table: declared, or inferred from its rows as they come. */
export class TableFields {
  #all: readonly RestField[];
  /** Which of its numbers are times. */
  readonly times: TimeUnitsOfTable;

  /** @param declared null: inferred */
  constructor(
    private readonly declared: readonly RestField[] | null,
    before: readonly RestField[] | null,
    times: ObservedTimes = {},
  ) {
    this.#all = declared ?? before ?? [];
    this.times = new TimeUnitsOfTable(times);
  }

  get all(): readonly RestField[] {
    return this.#all;
  }

  get isDeclared(): boolean {
    return this.declared !== null;
  }

  get rules(): RowRules {
    return rulesOf(this.#all, this.isDeclared);
  }

  /**
   * Takes over what rows have.
   *
   * @param first whether the table has no rows yet
   * @param leftOut as of `withFieldsOf`
   */
  grow(rows: readonly JsonObject[], first: boolean, leftOut: Set<string>): void {
    if (this.isDeclared) return;
    for (const row of rows) this.#all = withFieldsOf(this.#all, row, first, leftOut);
  }

  /** Takes over what a conversion has found. */
  unite(fields: readonly RestField[]): void {
    if (!this.isDeclared) this.#all = unitedFields(this.#all, fields, MOST_FIELDS);
  }
}

/** So many rows or fields that are left out are named. */
export const NAMED = 10;
/** Fields of an inferred schema at all depths: a log whose keys are values must not become a table of a million columns. */
export const MOST_FIELDS = 1_000;

/** Fields, and those of their records at all depths. */
export function countOf(fields: readonly RestField[]): number {
  return fields.reduce((sum, field) => sum + 1 + countOf(field.fields), 0);
}

/**
 * The fields of both, where both describe the same table at two moments.
 *
 * @param most so many fields at all depths; what is beyond is left out
 */
export function unitedFields(
  fields: readonly RestField[],
  others: readonly RestField[],
  most: number,
): readonly RestField[] {
  let room = most - countOf(fields);
  let changed: RestField[] | null = null;
  for (const other of others) {
    const index = fields.findIndex(({ name }) => name.toLowerCase() === other.name.toLowerCase());
    const known = fields[index];
    if (known === undefined) {
      const inner = unitedFields([], other.fields, room - 1);
      if (room <= 0 || (other.type === 'RECORD' && inner.length === 0)) continue;
      (changed ??= [...fields]).push({ ...other, fields: inner });
      room -= 1 + countOf(inner);
    } else if (known.type === 'RECORD' && other.type === 'RECORD') {
      const before = countOf(known.fields);
      const inner = unitedFields(known.fields, other.fields, before + Math.max(0, room));
      if (inner === known.fields) continue;
      (changed ??= [...fields])[index] = { ...known, fields: inner };
      room -= countOf(inner) - before;
    }
  }
  return changed ?? fields;
}

export function sameFields(a: readonly RestField[], b: readonly RestField[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
