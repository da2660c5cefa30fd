/** The newest rows of a table: relations of the hot file, of which the last one grows, and those before it until they are sealed. */
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import { storedType, storedValue } from '../data/field-sql';
import { quoteName, quoteText } from '../sql';
import { sameFields } from './inferred-schema';
import { ARRIVAL_COLUMN, castColumns, SOURCE_COLUMN } from './segment';
import type { Put, Store } from './store';

/** What a row that was there at the start counts as, in bytes. */
const BYTES_OF_ROW = 512;

/** A relation with at most so many rows is copied where fields are added. */
const FEW_ROWS = 5_000;

interface RelationRecord {
  readonly fields: readonly RestField[];
}

export class HotRelation {
  /** `performance.now()` of the first insertion, and of the last. */
  since = performance.now();
  last = performance.now();
  /** Takes no more rows. */
  isClosed = false;
  /** Arrival of the first row. */
  first = Infinity;
  /** Rows of each source, and the bytes of their texts. */
  readonly #sources = new Map<number, { rows: number; bytes: number }>();
  readonly #dropped = new Set<number>();

  constructor(
    /** Its name in the hot file. */
    readonly id: string,
    private readonly table: RowTable,
  ) {}

  get relation(): string {
    return this.table.relation;
  }

  get fields(): readonly RestField[] {
    return this.table.fields;
  }

  /** Those that count. */
  get rows(): number {
    return [...this.#sources.values()].reduce((sum, { rows }) => sum + rows, 0);
  }

  get bytes(): number {
    return [...this.#sources.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Sources whose rows do not count, though they are in the relation. */
  get dropped(): readonly number[] {
    return [...this.#dropped];
  }

  async create(): Promise<void> {
    await this.table.create();
  }

  /** In a transaction: `count` when that has succeeded. @param arrived how many rows of the table have arrived before */
  insert(rows: readonly PlacedRow[], arrived: number): Promise<void> {
    return this.table.insert(rows, arrived);
  }

  /** @param arrived as of `insert` */
  count(rows: readonly PlacedRow[], arrived: number): void {
    for (const { text, source } of rows) this.add(source, 1, text.length);
    this.first = Math.min(this.first, arrived + 1);
    this.last = performance.now();
  }

  add(source: number, rows: number, bytes: number): void {
    const count = this.#sources.get(source) ?? { rows: 0, bytes: 0 };
    this.#sources.set(source, { rows: count.rows + rows, bytes: count.bytes + bytes });
  }

  takeOver(before: HotRelation): void {
    this.since = before.since;
    this.first = before.first;
    for (const [source, { rows, bytes }] of before.#sources) this.add(source, rows, bytes);
  }

  /** Rows of a source are no part of the table any more. */
  drop(source: number): void {
    if (this.#sources.delete(source)) this.#dropped.add(source);
  }

  /** When nobody reads it. */
  async remove(connection: DuckDBConnection): Promise<void> {
    await this.table.drop(connection);
  }
}

/** A relation that takes rows, and the one whose rows it has taken over. */
export interface OpenedRelation {
  readonly relation: HotRelation;
  readonly before: HotRelation | null;
}

export class HotRelations {
  #all: readonly HotRelation[] = [];
  #next: number;

  constructor(
    private readonly store: Store,
    private readonly connection: DuckDBConnection,
    private readonly name: string,
    /** As of `RowTable`. */
    private readonly complete: boolean,
    next: number,
  ) {
    this.#next = next;
  }

  /** Number of a relation that has not been used. */
  get next(): number {
    return this.#next;
  }

  /** Takes over what the hot file has of the table. @param isSource whether rows of a source, by its number, count */
  async open(isSource: (source: number) => boolean): Promise<void> {
    for (const { id, record } of this.store.of<RelationRecord>('relation', this.name)) {
      const relation = this.#relation(id, record.fields);
      // Rows that were there before take more memory behind others than in a relation of their own.
      relation.isClosed = true;
      const found = await this.connection.runAndReadAll(
        `SELECT ${SOURCE_COLUMN}, count(*)::DOUBLE, min(${ARRIVAL_COLUMN})::DOUBLE FROM ${relation.relation} GROUP BY 1`,
      );
      for (const [source, rows, first] of found.getRows() as [number, number, number][]) {
        relation.add(source, rows, rows * BYTES_OF_ROW);
        relation.first = Math.min(relation.first, first);
        if (!isSource(source)) relation.drop(source);
      }
      this.#next = Math.max(this.#next, Number(id.slice(id.lastIndexOf(' ') + 1)) + 1);
      this.#all = [...this.#all, relation];
    }
  }

  get all(): readonly HotRelation[] {
    return this.#all;
  }

  get rows(): number {
    return this.#all.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Bytes of the texts. */
  get bytes(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Milliseconds since the oldest of them came. */
  get age(): number {
    const now = performance.now();
    return Math.max(0, ...this.#all.map(({ since }) => now - since));
  }

  /** Milliseconds since the last insertion. */
  get rest(): number {
    const now = performance.now();
    return Math.min(Infinity, ...this.#all.map(({ last }) => now - last));
  }

  /**
   * The relation that takes rows with these fields, in a transaction: `add` when that has succeeded. It takes over the rows of the one
   * before where they are few, as each column of a relation takes memory for itself.
   */
  async opened(fields: readonly RestField[], put: Put): Promise<OpenedRelation> {
    const last = this.#all.at(-1);
    const isOpen = last !== undefined && !last.isClosed;
    if (isOpen && sameFields(last.fields, fields)) return { relation: last, before: null };
    const id = `${this.name} ${this.#next++}`;
    const relation = this.#relation(id, fields);
    await relation.create();
    put('relation', this.name, id, { fields } satisfies RelationRecord);
    if (!isOpen || last.rows > FEW_ROWS || last.dropped.length > 0) return { relation, before: null };
    const columns = [...castColumns(last.fields, fields), SOURCE_COLUMN, ARRIVAL_COLUMN].join(', ');
    await this.connection.run(`INSERT INTO ${relation.relation} SELECT ${columns} FROM ${last.relation}`);
    put('relation', this.name, last.id, null);
    return { relation, before: last };
  }

  /** Rows have been inserted. @param arrived as of `HotRelation` */
  add({ relation, before }: OpenedRelation, rows: readonly PlacedRow[], arrived: number): void {
    if (before !== null) {
      relation.takeOver(before);
      this.remove([before]);
    }
    relation.count(rows, arrived);
    if (!this.#all.includes(relation)) this.#all = [...this.#all, relation];
  }

  /** Takes no more rows into what there is: who reads it must not see what comes in the place of rows that have gone. */
  close(): readonly HotRelation[] {
    for (const relation of this.#all) relation.isClosed = true;
    return this.#all;
  }

  remove(relations: readonly HotRelation[]): void {
    this.#all = this.#all.filter((relation) => !relations.includes(relation));
  }

  /** Rows of a source are no part of the table any more. */
  drop(source: number): void {
    for (const relation of this.#all) relation.drop(source);
  }

  #relation(id: string, fields: readonly RestField[]): HotRelation {
    return new HotRelation(id, new RowTable(this.connection, `hot.${quoteName(id)}`, fields, this.complete));
  }
}

/** So many times as much text as is stored may be in memory before nothing more is read. */
const MOST_TEXTS = 3;
/** Of the memory beyond which nothing more is read: beyond this part rows are stored. */
const STORED = 1 / 2;
/** Each column of a table takes 40 KB with its first row: the texts say little of that. */
const IN_MEMORY = `SELECT coalesce(sum(memory_usage_bytes), 0)::DOUBLE FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'`;

export interface TailBounds {
  /** Bytes of texts in memory beyond which they are stored; with three times as many nothing more is read until then. */
  readonly tailBytes: number;
  /** Bytes of DuckDB's memory in which they are, beyond which nothing more is read; they are stored from half of it on. */
  readonly tailMemory: number;
}

/** `full`: rows are to be stored; `over`: nothing more is to be read before that. */
export type TailRoom = 'free' | 'full' | 'over';

/** @param texts bytes of the texts of all rows that are in memory */
export async function tailRoom(
  connection: DuckDBConnection,
  texts: number,
  { tailBytes, tailMemory }: TailBounds,
): Promise<TailRoom> {
  if (texts === 0) return 'free';
  if (texts > MOST_TEXTS * tailBytes) return 'over';
  const memory = Number((await connection.runAndReadAll(IN_MEMORY)).getRows()[0]![0]);
  if (memory > tailMemory) return 'over';
  return texts > tailBytes || memory > tailMemory * STORED ? 'full' : 'free';
}

/** How `json_transform` is to read a field. */
type Structure = string | readonly Structure[] | { readonly [name: string]: Structure };

/** A row, and the number of its source. */
export interface PlacedRow {
  /** A JSON object with every list present and every value in the form of `strictValue`, or one that `ExactLines` takes. */
  readonly text: string;
  readonly source: number;
}

export class RowTable {
  #insert: DuckDBPreparedStatement | null = null;

  /**
   * @param relation as SQL names it
   * @param complete whether texts have every list of the fields: those that were read before some fields were known have not
   */
  constructor(
    private readonly connection: DuckDBConnection,
    readonly relation: string,
    readonly fields: readonly RestField[],
    private readonly complete: boolean,
  ) {}

  async create(): Promise<void> {
    const columns = this.fields.map((field) => `${quoteName(field.name)} ${storedType(field)}`);
    const all = [...columns, `${SOURCE_COLUMN} INTEGER`, `${ARRIVAL_COLUMN} BIGINT`];
    await this.connection.run(`CREATE TABLE ${this.relation} (${all.join(', ')})`);
  }

  /** Inserts all rows or none. @param arrived how many have arrived before them */
  async insert(rows: readonly PlacedRow[], arrived: number): Promise<void> {
    if (rows.length === 0) return;
    const statement = (this.#insert ??= await this.connection.prepare(this.#insertion()));
    statement.bindList(1, listValue(rows.map(({ text }) => text)), LIST(VARCHAR));
    statement.bindList(2, listValue(rows.map(({ source }) => source)), LIST(INTEGER));
    statement.bindBigInt(3, BigInt(arrived + 1));
    await statement.run();
  }

  async drop(connection = this.connection): Promise<void> {
    this.#insert?.destroySync();
    await connection.run(`DROP TABLE IF EXISTS ${this.relation}`);
  }

  #insertion(): string {
    // Base64 is text until then.
    const exact = this.complete && !this.fields.some(holdsBytes);
    const structure = JSON.stringify(Object.fromEntries(this.fields.map((field) => [field.name, structureOf(field)])));
    const values = this.fields.map((field) => {
      const read = `r.${quoteName(field.name)}`;
      return exact ? read : storedValue(withoutZones(field), read, 'base64');
    });
    // DuckDB refuses a structure without fields: rows of `{}` in a table that has none yet.
    const row = values.length === 0 ? 'NULL' : `json_transform(u, ${quoteText(structure)})`;
    return `INSERT INTO ${this.relation} SELECT ${[...values, 's', 'a'].join(', ')}
      FROM (SELECT ${row} AS r, s, a
        FROM (SELECT unnest($1) AS u, unnest($2) AS s, unnest(range($3, $3 + len($1))) AS a))`;
  }
}

function structureOf(field: RestField): Structure {
  const item: Structure =
    field.type === 'RECORD'
      ? Object.fromEntries(field.fields.map((inner) => [inner.name, structureOf(inner)]))
      : field.type === 'BYTES'
        ? 'VARCHAR'
        : storedType({ ...field, mode: 'NULLABLE' });
  return field.mode === 'REPEATED' ? [item] : item;
}

function holdsBytes(field: RestField): boolean {
  return field.type === 'BYTES' || field.fields.some(holdsBytes);
}

/** Timestamps have been read as what is stored: nothing is to be done about them. */
function withoutZones(field: RestField): RestField {
  const type = field.type === 'TIMESTAMP' ? 'DATETIME' : field.type;
  return { ...field, type, fields: field.fields.map(withoutZones) };
}
