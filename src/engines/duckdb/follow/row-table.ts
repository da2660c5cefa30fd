/** A table that takes rows as they are read: of the hot file, or one in memory that is written to a sealed file. */
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
import { ARRIVAL_COLUMN, SOURCE_COLUMN } from './segment';

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
    return `INSERT INTO ${this.relation} SELECT ${[...values, 's', 'a'].join(', ')}
      FROM (SELECT json_transform(u, ${quoteText(structure)}) AS r, s, a
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
