/** Columns of an Arrow record batch, made of values as JSON text. */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int64,
  List,
  makeData,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow';

import { DAY_SECONDS, daysOf } from '../../time/calendar';
import { readElements, readMembers, stringValue } from '../members';
import { type Column, type ColumnType, DECIMAL, type ScalarKind } from './column-type';

/** Values of one column, as many as have been appended since the batch before. */
export interface ArrowColumn {
  readonly field: Field;
  /** @param json the value's JSON text; `null` is null */
  append(json: string): void;
  /** What has been appended. It is valid until something is appended to the next batch. */
  take(): Data;
}

export function arrowColumn({ name, type }: Column): ArrowColumn {
  return columnFor(name, type);
}

function columnFor(name: string, type: ColumnType): ArrowColumn {
  switch (type.kind) {
    case 'list':
      return new ListColumn(name, columnFor('item', type.element));
    case 'record':
      return new RecordColumn(name, type.fields.map(arrowColumn));
    case 'text':
      return new BytesColumn(name, new Utf8(), textOf);
    case 'json':
      // The canonical extension type: readers that do not know it have the text.
      return new BytesColumn(name, new Utf8(), (json) => json, new Map([['ARROW:extension:name', 'arrow.json']]));
    case 'bytes':
      return new BytesColumn(name, new Binary(), (json) => Buffer.from(textOf(json), 'base64'));
    case 'bool':
      return new BoolColumn(name);
    case 'decimal':
      return new DecimalColumn(name);
    case 'float64':
      return new FixedColumn(name, new Float64(), (n) => new Float64Array(n), floatOf);
    case 'date':
      return new FixedColumn(
        name,
        new DateDay(),
        (n) => new Int32Array(n),
        (json) => daysOfDate(textOf(json)),
      );
    case 'int64':
    case 'time':
    case 'datetime':
    case 'timestamp':
      return new FixedColumn(name, WIDE[type.kind].type(), (n) => new BigInt64Array(n), WIDE[type.kind].read);
  }
}

/** Types of 64 bits. */
const WIDE = {
  int64: { type: () => new Int64(), read: BigInt },
  timestamp: { type: () => new TimestampMicrosecond('UTC'), read: BigInt },
  datetime: { type: () => new TimestampMicrosecond(null), read: (json: string) => microsOfDatetime(textOf(json)) },
  time: { type: () => new TimeMicrosecond(), read: (json: string) => BigInt(microsOfTime(textOf(json))) },
} as const satisfies Partial<Record<ScalarKind, { type: () => DataType; read: (json: string) => bigint }>>;

/** Rows that a column has room for at first. */
const ROWS = 1024;

/** How many values there are, and which of them are null. */
class Validity {
  length = 0;
  nulls = 0;
  #bits = new Uint8Array(ROWS / 8);

  push(isThere: boolean): void {
    if (this.length >= this.#bits.length * 8) this.#bits = grown(this.#bits, (n) => new Uint8Array(n));
    setBit(this.#bits, this.length++, isThere);
    if (!isThere) this.nulls++;
  }

  take(): { length: number; nullCount: number; nullBitmap: Uint8Array | null } {
    const { length, nulls } = this;
    [this.length, this.nulls] = [0, 0];
    return { length, nullCount: nulls, nullBitmap: nulls === 0 ? null : this.#bits.subarray(0, Math.ceil(length / 8)) };
  }
}

type Values = BigInt64Array | Float64Array | Int32Array;

class FixedColumn<V extends Values> implements ArrowColumn {
  readonly field: Field;
  readonly #validity = new Validity();
  #values: V;

  constructor(
    name: string,
    private readonly type: DataType,
    private readonly create: (length: number) => V,
    private readonly read: (json: string) => V[number],
  ) {
    this.field = new Field(name, type, true);
    this.#values = create(ROWS);
  }

  append(json: string): void {
    const at = this.#validity.length;
    if (at === this.#values.length) this.#values = grown(this.#values, this.create);
    const isThere = json !== 'null';
    if (isThere) this.#values[at] = this.read(json);
    this.#validity.push(isThere);
  }

  take(): Data {
    const validity = this.#validity.take();
    return makeData({ type: this.type, ...validity, data: this.#values.subarray(0, validity.length) } as never);
  }
}

class DecimalColumn implements ArrowColumn {
  readonly #type = new Decimal(DECIMAL.scale, DECIMAL.precision, 128);
  readonly field: Field;
  readonly #validity = new Validity();
  /** Two for each, the low half first. */
  #words = new BigInt64Array(2 * ROWS);

  constructor(name: string) {
    this.field = new Field(name, this.#type, true);
  }

  append(json: string): void {
    const at = 2 * this.#validity.length;
    if (at === this.#words.length) this.#words = grown(this.#words, (n) => new BigInt64Array(n));
    const isThere = json !== 'null';
    if (isThere) {
      const units = unitsOf(textOf(json));
      this.#words[at] = BigInt.asIntN(64, units);
      this.#words[at + 1] = units >> 64n;
    }
    this.#validity.push(isThere);
  }

  take(): Data {
    const validity = this.#validity.take();
    const data = new Uint32Array(this.#words.buffer, 0, 4 * validity.length);
    return makeData({ type: this.#type, ...validity, data });
  }
}

class BoolColumn implements ArrowColumn {
  readonly #type = new Bool();
  readonly field: Field;
  readonly #validity = new Validity();
  #bits = new Uint8Array(ROWS / 8);

  constructor(name: string) {
    this.field = new Field(name, this.#type, true);
  }

  append(json: string): void {
    const at = this.#validity.length;
    if (at >= this.#bits.length * 8) this.#bits = grown(this.#bits, (n) => new Uint8Array(n));
    setBit(this.#bits, at, json === 'true');
    this.#validity.push(json !== 'null');
  }

  take(): Data {
    return makeData({ type: this.#type, ...this.#validity.take(), data: this.#bits });
  }
}

/** Offsets into what the values of a column are made of. */
class Offsets {
  readonly validity = new Validity();
  #ends = new Int32Array(ROWS + 1);

  push(isThere: boolean, end: number): void {
    this.validity.push(isThere);
    const { length } = this.validity;
    if (length === this.#ends.length) this.#ends = grown(this.#ends, (n) => new Int32Array(n));
    this.#ends[length] = end;
  }

  take(): ReturnType<Validity['take']> & { valueOffsets: Int32Array } {
    const validity = this.validity.take();
    return { ...validity, valueOffsets: this.#ends.subarray(0, validity.length + 1) };
  }
}

class BytesColumn implements ArrowColumn {
  readonly field: Field;
  readonly #offsets = new Offsets();
  #bytes = Buffer.allocUnsafeSlow(64 * ROWS);
  #size = 0;

  constructor(
    name: string,
    private readonly type: Utf8 | Binary,
    private readonly read: (json: string) => string | Buffer,
    metadata: Map<string, string> | null = null,
  ) {
    this.field = new Field(name, type, true, metadata);
  }

  append(json: string): void {
    const isThere = json !== 'null';
    if (isThere) this.#write(this.read(json));
    this.#offsets.push(isThere, this.#size);
  }

  #write(value: string | Buffer): void {
    // A UTF-16 unit is three bytes at the most.
    const most = this.#size + value.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    this.#size +=
      typeof value === 'string' ? this.#bytes.write(value, this.#size) : value.copy(this.#bytes, this.#size);
  }

  take(): Data {
    const data = this.#bytes.subarray(0, this.#size);
    this.#size = 0;
    return makeData({ type: this.type, ...this.#offsets.take(), data } as never);
  }
}

class ListColumn implements ArrowColumn {
  readonly field: Field;
  readonly #type: List;
  readonly #offsets = new Offsets();
  #elements = 0;

  constructor(
    name: string,
    private readonly element: ArrowColumn,
  ) {
    this.#type = new List(element.field);
    this.field = new Field(name, this.#type, true);
  }

  append(json: string): void {
    const isThere = json !== 'null';
    for (const element of isThere ? readElements(json) : []) {
      this.element.append(element);
      this.#elements++;
    }
    this.#offsets.push(isThere, this.#elements);
  }

  take(): Data {
    this.#elements = 0;
    return makeData({ type: this.#type, ...this.#offsets.take(), child: this.element.take() });
  }
}

class RecordColumn implements ArrowColumn {
  readonly field: Field;
  readonly #type: Struct;
  readonly #validity = new Validity();

  constructor(
    name: string,
    private readonly columns: readonly ArrowColumn[],
  ) {
    this.#type = new Struct(columns.map(({ field }) => field));
    this.field = new Field(name, this.#type, true);
  }

  append(json: string): void {
    const isThere = json !== 'null';
    if (isThere) appendRow(this.columns, json);
    else for (const column of this.columns) column.append('null');
    this.#validity.push(isThere);
  }

  take(): Data {
    const validity = this.#validity.take();
    return makeData({ type: this.#type, ...validity, children: this.columns.map((column) => column.take()) });
  }
}

/** @param row the JSON text of an object whose members are the columns, in their order. @throws Error for another */
export function appendRow(columns: readonly ArrowColumn[], row: string): void {
  const members = readMembers(row);
  if (members.length !== columns.length) throw new Error('A row has other columns than its result.');
  for (let i = 0; i < columns.length; i++) columns[i]!.append(members[i]!.json);
}

function textOf(json: string): string {
  return json.startsWith('"') ? stringValue(json) : json;
}

function floatOf(json: string): number {
  const text = textOf(json);
  const number = Number(text);
  if (Number.isNaN(number) && text !== 'NaN') throw new Error('A value is no FLOAT64.');
  return number;
}

/** A NUMERIC in units of its last digit. */
function unitsOf(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = match(/^(-?)(\d+)(?:\.(\d{1,9}))?$/, text);
  return BigInt(`${sign}${whole}${fraction.padEnd(DECIMAL.scale, '0')}`);
}

function daysOfDate(text: string): number {
  const [, year, month, day] = match(/^(\d{4})-(\d\d)-(\d\d)$/, text);
  return daysOf(Number(year), Number(month), Number(day));
}

function microsOfTime(text: string): number {
  const [, hour, minute, second, fraction = ''] = match(/^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/, text);
  return ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1e6 + Number(fraction.padEnd(6, '0'));
}

function microsOfDatetime(text: string): bigint {
  const [date = '', time = ''] = text.split('T');
  return BigInt(daysOfDate(date)) * BigInt(DAY_SECONDS * 1e6) + BigInt(microsOfTime(time));
}

function match(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (found === null) throw new Error('A value is not of its type.');
  return found;
}

function setBit(bits: Uint8Array, at: number, value: boolean): void {
  const mask = 1 << (at & 7);
  if (value) bits[at >> 3]! |= mask;
  else bits[at >> 3]! &= ~mask;
}

function grown<V extends { readonly length: number; set(values: never): void }>(
  values: V,
  create: (length: number) => V,
): V {
  const larger = create(2 * values.length);
  larger.set(values as never);
  return larger;
}
