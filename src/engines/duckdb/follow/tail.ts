/** The newest rows of a table, in memory. */
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { storedType, storedValue } from '../data/field-sql';
import { quoteName, quoteText } from '../sql';
import { SOURCE_COLUMN } from './segment';

/** How `json_transform` is to read a field. */
type Structure = string | readonly Structure[] | { readonly [name: string]: Structure };

/** A row, and the number of its source. */
export interface TailRow {
  /** A JSON object with every list present and every value in the form of `strictValue`, or one that `ExactLines` takes. */
  readonly text: string;
  readonly source: number;
}

/**
 * Rows that are inserted as JSON texts that `fittedRow` made: their lists are never null, and their values fit, so that
 * they are read without a further look.
 */
export class Tail {
  /** `performance.now()` of the first insertion; null: it is empty. */
  since: number | null = null;
  /** `performance.now()` of the last insertion. */
  last = performance.now();
  /** Whether a row has an id that was counted over the rows there were. */
  hasGeneratedIds = false;
  #insert: DuckDBPreparedStatement | null = null;
  /** Rows of each source, and the bytes of their texts. */
  readonly #sources = new Map<number, { rows: number; bytes: number }>();
  readonly #dropped = new Set<number>();

  private constructor(
    readonly relation: string,
    readonly fields: readonly RestField[],
    private readonly connection: DuckDBConnection,
  ) {}

  /** @param name of a new table */
  static async create(connection: DuckDBConnection, name: string, fields: readonly RestField[]): Promise<Tail> {
    const columns = [
      ...fields.map((field) => `${quoteName(field.name)} ${storedType(field)}`),
      `${SOURCE_COLUMN} INTEGER`,
    ];
    await connection.run(`CREATE TABLE ${quoteName(name)} (${columns.join(', ')})`);
    return new Tail(quoteName(name), fields, connection);
  }

  get rows(): number {
    return [...this.#sources.values()].reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Bytes of the texts inserted. */
  get bytes(): number {
    return [...this.#sources.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Those that have rows here. */
  get sources(): Iterable<number> {
    return [...this.#sources.keys()];
  }

  /** Sources whose rows do not count, though they may be in the relation still. */
  get dropped(): ReadonlySet<number> {
    return this.#dropped;
  }

  /** Inserts all rows or none. */
  async insert(rows: readonly TailRow[]): Promise<void> {
    if (rows.length === 0) return;
    const statement = (this.#insert ??= await this.connection.prepare(this.#insertion()));
    statement.bindList(1, listValue(rows.map(({ text }) => text)), LIST(VARCHAR));
    statement.bindList(2, listValue(rows.map(({ source }) => source)), LIST(INTEGER));
    await statement.run();
    this.last = performance.now();
    this.since ??= this.last;
    for (const { text, source } of rows) {
      const count = this.#sources.get(source) ?? { rows: 0, bytes: 0 };
      count.rows++;
      count.bytes += text.length;
      this.#sources.set(source, count);
    }
  }

  /** Rows of the source do not count any more; `clean` removes them. */
  drop(source: number): void {
    if (this.#sources.delete(source)) this.#dropped.add(source);
  }

  /** Removes rows that do not count, when nobody reads them. */
  async clean(sources: readonly number[]): Promise<void> {
    await this.connection.run(`DELETE FROM ${this.relation} WHERE ${SOURCE_COLUMN} IN (${sources.join(', ')})`);
  }

  async remove(): Promise<void> {
    this.#insert?.destroySync();
    await this.connection.run(`DROP TABLE IF EXISTS ${this.relation}`);
  }

  #insertion(): string {
    // Base64 is text until then.
    const exact = !this.fields.some(holdsBytes);
    const structure = JSON.stringify(Object.fromEntries(this.fields.map((field) => [field.name, structureOf(field)])));
    const values = this.fields.map((field) => {
      const read = `r.${quoteName(field.name)}`;
      return exact ? read : storedValue(withoutZones(field), read, 'base64');
    });
    return `INSERT INTO ${this.relation} SELECT ${values.join(', ')}, s
      FROM (SELECT json_transform(u, ${quoteText(structure)}) AS r, s FROM (SELECT unnest($1) AS u, unnest($2) AS s))`;
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
