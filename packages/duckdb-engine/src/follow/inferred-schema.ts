/** The schema of a table: declared, or growing with the rows. */
import { dateText, type RestField } from '@logquay/googlesql/types';
import { longNumber } from '../data/json-line';
import { hasRest, REST_FIELD } from '../data/rest';
import type { DeclaredTable } from '../data/schemas';
import { type JsonObject, isInt64, strictValue } from '../data/strict-row';
import { type ObservedTimes, TimeUnitsOfTable } from '../data/time-column';
import { type RowRules, rulesOf } from './rows';

const DEEPEST = 15;
/** A kind of value that fewer than one in so many are is odd: it does not decide on a type. */
const ODD = 100;
/** Rows whose values decide whether a column of integers is one of numbers. */
export const DECIDING_ROWS = 10_000;

type Kind = RestField['type'];

/** Where a value is, and what there is room for. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly room: Room;
  /** Whether all values are texts, of which some mean numbers and booleans: of CSV. */
  readonly texts: boolean;
  /** Whether a column of integers takes other numbers. */
  readonly widens: boolean;
}

/** For fields beside those that there are. */
interface Room {
  left: number;
  /** There was none for a field, or its name is none of a column's. */
  isFull: boolean;
  /** Takes the paths of the first few that there is none for. */
  readonly leftOut: Set<string>;
}

const indexes = new WeakMap<readonly RestField[], ReadonlyMap<string, number>>();

/** Places of fields by their names, ignoring case: a row may have more keys than there are fields. */
function indexOf(fields: readonly RestField[]): ReadonlyMap<string, number> {
  const index = indexes.get(fields) ?? new Map(fields.map(({ name }, i) => [name.toLowerCase(), i]));
  indexes.set(fields, index);
  return index;
}

/**
 * A record with its members as the fields spell them: names that differ in case alone are one column. Of several members of one column the
 * one in its spelling counts, else the first.
 */
function spelled(fields: readonly RestField[], record: JsonObject): JsonObject {
  let changed: JsonObject | null = null;
  const index = indexOf(fields);
  for (const [name, value] of Object.entries(record)) {
    const field = fields[index.get(name.toLowerCase()) ?? -1];
    if (field === undefined) continue;
    const own = (changed ?? record)[field.name] ?? null;
    const inner = field.type === 'RECORD' ? spelledItems(field.fields, value) : value;
    if (field.name === name ? inner === value : own !== null) continue;
    const others: [string, unknown][] = Object.entries(changed ?? record).filter(([one]) => one !== name);
    changed = Object.fromEntries([...others, [field.name, inner]]);
  }
  return changed ?? record;
}

function spelledItems(fields: readonly RestField[], value: unknown): unknown {
  if (!Array.isArray(value)) return isObject(value) ? spelled(fields, value) : value;
  const items = value.map((item: unknown) => (isObject(item) ? spelled(fields, item) : item));
  return items.some((item, i) => item !== value[i]) ? items : value;
}

/** A record, and what rows have in it beside its fields. */
class GrowingRecord {
  readonly #new = new Map<string, NewField>();
  readonly #records = new Map<number, GrowingRecord>();
  readonly #numbers = new Set<number>();

  constructor(private readonly fields: readonly RestField[]) {}

  observe(record: JsonObject, at: Place): void {
    for (const [name, value] of Object.entries(record)) {
      if (value === null) continue;
      if (!isName(name)) {
        if (tells(value, at.depth)) at.room.isFull = true;
        continue;
      }
      const index = indexOf(this.fields).get(name.toLowerCase());
      if (index === undefined) this.#observeNew(name, value, at);
      else this.#observeKnown(index, value, at);
    }
  }

  #observeNew(name: string, value: unknown, at: Place): void {
    const { room } = at;
    let field = this.#new.get(name.toLowerCase());
    const path = `${at.path}${name}`;
    if (field === undefined) {
      if (room.left <= 0) {
        room.isFull = true;
        if (room.leftOut.size < NAMED) room.leftOut.add(path);
        return;
      }
      if (!tells(value, at.depth)) return;
      room.left--;
      this.#new.set(name.toLowerCase(), (field = new NewField(name)));
    }
    field.observe(value, { ...at, path });
  }

  #observeKnown(index: number, value: unknown, at: Place): void {
    const { name, type, mode, fields } = this.fields[index]!;
    if (type === 'INT64' && mode !== 'REPEATED' && at.widens && kindOf(value, at) === 'FLOAT64') {
      this.#numbers.add(index);
    }
    if (type !== 'RECORD') return;
    let record = this.#records.get(index);
    if (record === undefined) this.#records.set(index, (record = new GrowingRecord(fields)));
    const inner = { ...at, path: `${at.path}${name}.`, depth: at.depth + 1 };
    for (const item of Array.isArray(value) ? value : [value]) if (isObject(item)) record.observe(item, inner);
  }

  /** With those that are new; the same where nothing is. */
  get grown(): readonly RestField[] {
    let changed: RestField[] | null = null;
    for (const [index, record] of this.#records) {
      const { grown } = record;
      if (grown !== record.fields) (changed ??= [...this.fields])[index] = { ...this.fields[index]!, fields: grown };
    }
    for (const index of this.#numbers)
      (changed ??= [...this.fields])[index] = { ...this.fields[index]!, type: 'FLOAT64' };
    for (const { field } of this.#new.values()) if (field !== null) (changed ??= [...this.fields]).push(field);
    return changed ?? this.fields;
  }
}

/** A field that rows have, whose type is what most of its values are. */
class NewField {
  readonly #kinds = new Map<Kind, number>();
  readonly #record = new GrowingRecord([]);
  #lists = 0;
  #plain = 0;

  constructor(readonly name: string) {}

  observe(value: unknown, at: Place): void {
    if (!Array.isArray(value)) {
      this.#plain++;
      return this.#observeItem(value, at);
    }
    const items = value.filter((item) => item !== null);
    // BigQuery has no arrays of arrays.
    if (items.some((item) => Array.isArray(item))) return this.#count('JSON');
    const telling = items.filter((item) => tells(item, at.depth));
    if (telling.length > 0) this.#lists++;
    for (const item of telling) this.#observeItem(item, at);
  }

  #observeItem(item: unknown, at: Place): void {
    const kind = kindOf(item, at);
    if (kind === null) return;
    this.#count(kind);
    const inner = { ...at, path: `${at.path}.`, depth: at.depth + 1 };
    if (kind === 'RECORD' && isObject(item)) this.#record.observe(item, inner);
  }

  #count(kind: Kind): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  /** null: nothing is known of it. */
  get field(): RestField | null {
    const { name } = this;
    const values = this.#lists + this.#plain;
    const [isList, isPlain] = [this.#lists, this.#plain].map((count) => count > 0 && count * ODD >= values);
    const type = this.#type;
    if (type === 'RECORD') {
      const fields = this.#record.grown;
      // What is no list is taken for one of one.
      return fields.length === 0 ? null : { name, type, mode: isList ? 'REPEATED' : 'NULLABLE', fields };
    }
    const isJson = type === 'JSON' || (isList && isPlain);
    if (isJson) return { name, type: 'JSON', mode: 'NULLABLE', fields: [] };
    return type === null ? null : { name, type, mode: isList ? 'REPEATED' : 'NULLABLE', fields: [] };
  }

  get #type(): Kind | null {
    const all = [...this.#kinds.values()].reduce((sum, count) => sum + count, 0);
    const usual = [...this.#kinds].flatMap(([kind, count]) => (count * ODD >= all ? kind : []));
    if (usual.length === 0) return null;
    const type = common(new Set(usual));
    // Nothing is lost by that.
    return type === 'INT64' && this.#kinds.has('FLOAT64') ? 'FLOAT64' : type;
  }
}

/** null: the value does not tell. */
function kindOf(value: unknown, { depth, texts }: Pick<Place, 'depth' | 'texts'>): Kind | null {
  if (value === null || Array.isArray(value)) return null;
  if (isObject(value)) return depth >= DEEPEST ? 'JSON' : 'RECORD';
  if (typeof value === 'boolean') return 'BOOL';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64';
  const long = longNumber(value);
  if (long !== null) return numberType(long);
  if (typeof value !== 'string') return 'STRING';
  if (texts && PLAIN_NUMBER.test(value)) return numberType(value);
  return texts && /^(?:true|false)$/i.test(value) ? 'BOOL' : textType(value);
}

/** A number as programs write it: what begins with a zero is a code. */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function numberType(text: string): Kind {
  return !/^-?\d+$/.test(text) ? 'FLOAT64' : isInt64(text) ? 'INT64' : 'NUMERIC';
}

/** Whether a value tells a type. */
function tells(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => Array.isArray(item) || tells(item, depth));
  if (!isObject(value)) return value !== null;
  return depth >= DEEPEST || Object.entries(value).some(([name, inner]) => isName(name) && tells(inner, depth + 1));
}

/** BigQuery's own bound on names. */
const LONGEST_NAME = 300;

/** Whether a column may be called so: DuckDB has no name with a NUL. */
function isName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_NAME && !name.includes('\0');
}

const NUMBERS = new Set<Kind>(['INT64', 'NUMERIC', 'FLOAT64']);
const TIMES = new Set<Kind>(['DATE', 'TIMESTAMP']);

function common(found: ReadonlySet<Kind>): Kind {
  const [first] = found;
  if (found.size === 1 && first !== undefined) return first;
  if (found.has('RECORD') || found.has('JSON')) return 'JSON';
  if ([...found].every((type) => TIMES.has(type))) return 'TIMESTAMP';
  if (![...found].every((type) => NUMBERS.has(type))) return 'STRING';
  return found.has('FLOAT64') ? 'FLOAT64' : 'NUMERIC';
}

/** What is stored as a time is one: nanoseconds too, which are cut off. */
function textType(text: string): Kind {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return 'STRING';
  if (text.length === 10) return dateText(text) === null ? 'STRING' : 'DATE';
  return strictValue('TIMESTAMP', text) === undefined ? 'STRING' : 'TIMESTAMP';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields that grow by what rows have beside them. */
export class GrowingFields {
  readonly #record: GrowingRecord;
  readonly #room: Room;

  /**
   * @param widens whether a column of integers takes other numbers
   * @param leftOut takes the paths of the first few fields beyond `MOST_FIELDS`
   */
  constructor(
    fields: readonly RestField[],
    private readonly widens: boolean,
    leftOut: Set<string>,
  ) {
    this.#record = new GrowingRecord(fields);
    this.#room = { left: MOST_FIELDS + (hasRest(fields) ? 1 : 0) - countOf(fields), leftOut, isFull: false };
  }

  /** @param texts whether all values are texts, as of CSV */
  observe(row: JsonObject, texts: boolean): void {
    this.#record.observe(row, { path: '', depth: 1, room: this.#room, texts, widens: this.widens });
  }

  /** A field has the type of most of its values. */
  get fields(): readonly RestField[] {
    const { grown } = this.#record;
    return this.#room.isFull && !hasRest(grown) ? [...grown, REST_FIELD] : grown;
  }
}

/** What the catalogue of a store knows of the fields of a table. */
export interface KnownFields {
  readonly fields: readonly RestField[];
  /** Which of its numbers are times. */
  readonly times: ObservedTimes;
  /** Rows that have decided on types, as far as they are counted. */
  readonly decided: number;
}

export const NO_FIELDS: KnownFields = { fields: [], times: {}, decided: 0 };

/** The fields of a table: declared, or inferred from its rows as they come. */
export class TableFields {
  #all: readonly RestField[];
  /** Which of its numbers are times. */
  readonly times: TimeUnitsOfTable;
  #decided: number;

  /** @param declared null: inferred */
  constructor(
    private readonly declared: DeclaredTable | null,
    before: KnownFields,
  ) {
    this.#all = declared?.fields ?? before.fields;
    this.times = new TimeUnitsOfTable(before.times);
    this.#decided = before.decided;
  }

  get all(): readonly RestField[] {
    return this.#all;
  }

  get isDeclared(): boolean {
    return this.declared !== null;
  }

  /** Whether the table takes nothing but what is declared. */
  get isStrict(): boolean {
    return this.declared !== null && !this.declared.open;
  }

  /** Whether lines of plain text are rows of it. */
  get takesText(): boolean {
    return !this.isStrict || this.#all.some(({ name, type }) => name === 'message' && type === 'STRING');
  }

  get rules(): RowRules {
    return rulesOf(this.#all, this.isStrict);
  }

  get known(): KnownFields {
    return { fields: this.#all, times: this.times.observed, decided: this.#decided };
  }

  /** Whether nothing is known yet of fields that are to be inferred. */
  get isUnknown(): boolean {
    return !this.isDeclared && this.#all.length === 0;
  }

  /** What the first rows tell, where nothing is known. */
  begin(fields: readonly RestField[]): void {
    if (this.isUnknown) this.#all = fields;
  }

  /** A row as the fields that are inferred spell it. */
  spelled(row: JsonObject): JsonObject {
    return this.isDeclared ? row : spelled(this.#all, row);
  }

  /** Takes note of values that may be times. */
  observeTimes(rows: () => readonly JsonObject[]): void {
    const columns = this.times.undecided(this.#all);
    if (columns.length === 0) return;
    const some = rows();
    for (const { name, type } of columns) {
      this.times.observe(
        name,
        some.map((row) => numberOf(type, row[name])),
      );
    }
  }

  /**
   * Takes over what rows have. The type of a field is that of most of its first values, for good, but that integers become numbers in the
   * first rows of the table: what does not fit is NULL.
   *
   * @param texts @param leftOut as of `GrowingFields`
   */
  grow(rows: readonly JsonObject[], texts: boolean, leftOut: Set<string>): void {
    if (this.isDeclared) return;
    const growing = new GrowingFields(this.#all, this.#decided < DECIDING_ROWS, leftOut);
    for (const row of rows) growing.observe(row, texts);
    this.#all = growing.fields;
    this.#decided = Math.min(DECIDING_ROWS, this.#decided + rows.length);
  }

  /** Takes over what a conversion has found. */
  unite(fields: readonly RestField[]): void {
    if (!this.isDeclared) this.#all = unitedFields(this.#all, fields, MOST_FIELDS);
  }
}

/** null or NaN: none. */
function numberOf(type: Kind, value: unknown): number | null {
  if (value === undefined || value === null || type === 'RECORD') return null;
  return Number(strictValue(type, value));
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
