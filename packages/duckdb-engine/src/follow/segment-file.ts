/**
 * Writes a sealed file (`segment.ts`): rows in time order, the last first, and lists of one as their element
 * (docs/decisions/resolved-tree.md).
 */
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import { findSingleLists, oneOfEach, singleType, singleValue } from '../data/single-lists';
import { latestRowsFirst, microsOf, type TimeColumn } from '../data/time-column';
import { quoteName, quoteText } from '../sql';
import { ARRIVAL_COLUMN, type Segment, SOURCE_COLUMN } from './segment';

/** What is known of a file before it has its name. */
export type WrittenFile = Omit<Segment, 'file' | 'before'>;

/** What the file is attached as: never the connection's own one, for DuckDB could not be rid of it when the disk is full. */
const DATABASE = 'unfinished';
const HIDDEN = `${SOURCE_COLUMN}, ${ARRIVAL_COLUMN}`;

export class SegmentFile {
  #single: ReadonlySet<string> | null = null;
  #odd = 0;

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly path: string,
    readonly fields: readonly RestField[],
    private readonly time: TimeColumn | null,
  ) {}

  /** That have its rows, until it is finished. */
  get relations(): readonly string[] {
    return [...(this.#single === null ? [] : ['rows']), ...(this.#odd > 0 ? ['odd'] : [])].map(
      (table) => `${DATABASE}.${table}`,
    );
  }

  /** Begins a file. @param time what its rows are ordered by; null: nothing @param rowGroup rows that are compressed together: each thread has so many in memory */
  static async create(
    connection: DuckDBConnection,
    path: string,
    fields: readonly RestField[],
    time: TimeColumn | null,
    rowGroup: number,
  ): Promise<SegmentFile> {
    await mkdir(dirname(path), { recursive: true });
    await remove(path);
    // Nobody reads it before it is whole.
    const options = `ROW_GROUP_SIZE ${rowGroup}, RECOVERY_MODE NO_WAL_WRITES`;
    await connection.run(`ATTACH ${quoteText(path)} AS ${DATABASE} (${options})`);
    return new SegmentFile(connection, path, fields, time);
  }

  /** Adds rows of a relation with lists, in time order among themselves. */
  async add(rows: string): Promise<void> {
    this.#single ??= await this.#begin(await findSingleLists(this.connection, rows, this.fields));
    const condition = oneOfEach(this.fields, this.#single);
    const values = this.fields.map((field) => `${singleValue(field, this.#single!)} AS ${quoteName(field.name)}`);
    const order = latestRowsFirst(this.time);
    const where = condition === null ? '' : ` WHERE ${condition}`;
    await this.#insert('rows', `SELECT ${[...values, HIDDEN].join(', ')} FROM ${rows}${where}${order}`);
    if (condition === null) return;
    if ((await this.#count(`${rows} WHERE NOT (${condition})`)) === 0) return;
    if (this.#odd === 0) await this.#create('odd', new Set());
    await this.#insert('odd', `FROM ${rows} WHERE NOT (${condition})${order}`);
    this.#odd = await this.#count(`${DATABASE}.odd`);
  }

  /** Adds rows of a query that has `single` as elements, in its order. @param single the same every time */
  async append(query: string, single: ReadonlySet<string>): Promise<void> {
    this.#single ??= await this.#begin(single);
    await this.#insert('rows', query);
  }

  /** @returns null: there are no rows, and no file */
  async finish(): Promise<WrittenFile | null> {
    const written = this.#single === null ? null : await this.#written(this.#single);
    if (written !== null) await this.connection.run(`CHECKPOINT ${DATABASE}`);
    await this.connection.run(`DETACH ${DATABASE}`);
    if (written === null) {
      await remove(this.path);
      return null;
    }
    await synced(this.path);
    return { ...written, bytes: (await stat(this.path)).size };
  }

  async abandon(): Promise<void> {
    await this.connection.run(`DETACH ${DATABASE}`).catch(() => undefined);
    await remove(this.path);
  }

  async #begin(single: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    await this.#create('rows', single);
    return single;
  }

  async #create(table: string, single: ReadonlySet<string>): Promise<void> {
    const columns = this.fields.map((field) => `${quoteName(field.name)} ${singleType(field, single)}`);
    const all = [...columns, `${SOURCE_COLUMN} INTEGER`, `${ARRIVAL_COLUMN} BIGINT`];
    await this.connection.run(`CREATE TABLE ${DATABASE}.${table} (${all.join(', ')})`);
  }

  async #insert(table: string, query: string): Promise<void> {
    await this.connection.run(`INSERT INTO ${DATABASE}.${table} ${query}`);
  }

  async #count(from: string): Promise<number> {
    return Number((await this.connection.runAndReadAll(`SELECT count(*) FROM ${from}`)).getRows()[0]![0]);
  }

  /** What is known of the rows; null: there are none. */
  async #written(single: ReadonlySet<string>): Promise<Omit<WrittenFile, 'bytes'> | null> {
    const time = this.time === null ? 'CAST(NULL AS BIGINT)' : microsOf(this.time);
    const all = ['rows', ...(this.#odd > 0 ? ['odd'] : [])].map(
      (table) => `SELECT ${SOURCE_COLUMN} AS s, ${ARRIVAL_COLUMN} AS a, ${time} AS t FROM ${DATABASE}.${table}`,
    );
    const found = await this.connection.runAndReadAll(
      `SELECT s, count(*), count(*) = count(t), min(t), max(t), min(a)::DOUBLE, max(a)::DOUBLE
        FROM (${all.join(' UNION ALL ')}) GROUP BY GROUPING SETS ((), (s)) ORDER BY s NULLS FIRST`,
    );
    type Group = [number | null, bigint, boolean, bigint | null, bigint | null, number | null, number | null];
    const [[, rows, timed, earliest, latest, first, last], ...sources] = found.getRows() as [Group, ...Group[]];
    if (rows === 0n) return null;
    return {
      rows: Number(rows),
      odd: this.#odd,
      time: this.time,
      earliest: timed ? String(earliest) : null,
      latest: timed ? String(latest) : null,
      sources: Object.fromEntries(sources.map(([source, count]) => [Number(source), Number(count)] as const)),
      fields: this.fields,
      single: [...single],
      arrived: first === null || last === null ? null : [first, last],
    };
  }
}

async function remove(path: string): Promise<void> {
  for (const file of [path, `${path}.wal`]) await rm(file, { force: true });
}

/** Resolves when a file remains there through a crash. */
async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
