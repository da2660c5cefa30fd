/** Reads what is too much for the hot file into a sealed one, in a database of its own, which has memory of its own and may spill. */
import { appendFile, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, LIST, listValue, VARCHAR } from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import type { Watch } from '../data/conversion-progress';
import { storedValue } from '../data/field-sql';
import { ndjsonScan } from '../data/file-scan';
import { loadParquet } from '../data/load-parquet';
import { inferredColumns } from '../data/parquet-schema';
import { emptyRowsBehind } from '../data/row-values';
import { DECIDING } from '../data/time-column';
import { codeOf, kindOf, messageOf } from '../engine/native-error';
import { quoteName } from '../sql';
import { castColumns, ARRIVAL_COLUMN, SOURCE_COLUMN } from './segment';
import { isMoved } from './copies';
import { sameFields } from './inferred-schema';
import { LeftOutCount, NOTHING_LEFT_OUT, together } from './left-out';
import { type LiveTable, type Sealed, type SealedSource, type SourceEnd, VALUES_AT_ONCE, valuesOf } from './live-table';
import type { ReadBatch } from './reader';
import { RowTable } from './hot-relations';
import { SegmentFile } from './segment-file';
import { NOT_STORED, type Source } from './source';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
  /** Rows that are compressed together: each thread has so many in memory. Default: DuckDB's own. */
  readonly rowGroup?: number;
}

const ROW_GROUP = 122_880;
/** Milliseconds. */
export const INTERRUPTED_EVERY = 50;
/** Bytes of content whose rows are inserted together. */
const INSERTED_AT_ONCE = 2 * 1024 * 1024;
/** A value of a list counts as so many bytes of content, where that is more: as many as DuckDB takes for it, however short its text is. */
const VALUE = 16;
/** Rows that are copied when fields are added: more of them remain where they are. */
const FEW_ROWS = 5_000;
/** Digests of ids that are looked for at once. */
const DIGESTS_AT_ONCE = 20_000;
/** How many times smaller a Parquet file is taken to be than its rows. */
export const PARQUET = 3;

/** A database for one file. */
export interface Workshop {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  /** Of the file to write. */
  readonly path: string;
  readonly rowGroup: number;
}

/** Does something with a database of its own, of which nothing but the file at `path` is left. @param folder emptied before @param signal interrupts it */
export async function inWorkshop<T>(
  { threads, memory, rowGroup = ROW_GROUP }: Resources,
  folder: string,
  signal: AbortSignal,
  work: (workshop: Workshop) => Promise<T>,
): Promise<T> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    max_memory: memory,
    temp_directory: join(folder, 'spill'),
    preserve_insertion_order: 'false',
    // Freed memory goes back to the system soon.
    allocator_flush_threshold: '8MB',
    allocator_bulk_deallocation_flush_threshold: '8MB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  let interrupting: NodeJS.Timeout | undefined;
  try {
    const connection = await instance.connect();
    // Between two statements there is nothing to interrupt.
    interrupting = setInterval(() => signal.aborted && connection.interrupt(), INTERRUPTED_EVERY);
    await connection.run(`SET GLOBAL TimeZone = 'UTC'`);
    return await work({ instance, connection, path: join(folder, 'sealed.duckdb'), rowGroup });
  } finally {
    clearInterval(interrupting);
    instance.closeSync();
  }
}

export interface BacklogOptions {
  readonly table: LiveTable;
  /** In the order in which they are read. */
  readonly sources: readonly Source[];
  readonly dataDir: string;
  /** Bytes of content that are sorted at once, and to read at most. */
  readonly atOnce: number;
  readonly most: number;
  readonly watch: Watch;
  /** Whether lines that look exact are read closely where they are not: slower. */
  readonly closely: boolean;
  /** Of the store: looks for rows that there are. */
  readonly lookUp: DuckDBConnection;
  /** Aborted: nothing more is read. */
  readonly signal: AbortSignal;
}

/** @throws what DuckDB and the file system throw, of what is written */
export async function readBacklog(options: BacklogOptions, workshop: Workshop): Promise<Sealed> {
  const own = await workshop.instance.connect();
  const backlog = new Backlog(options, workshop);
  options.table.staged = { connection: own, relations: () => backlog.relations };
  try {
    return await backlog.read();
  } finally {
    await options.table.unstage();
    own.closeSync();
  }
}

/** Columns of printed rows beside their fields. */
const HIDDEN: readonly RestField[] = ['logquay:source', 'logquay:arrival'].map((name) => ({
  name,
  type: 'INT64',
  mode: 'NULLABLE',
  fields: [],
}));
/** A row that is none (`emptyRowsBehind`). */
const EMPTY_ROW = '{"logquay:source":-1}\n';

/** A relation with rows that are not sorted yet. */
interface Staged {
  readonly table: RowTable;
  rows: number;
}

class Backlog {
  #file: SegmentFile | null = null;
  #staged: Staged[] = [];
  #waiting: ReadBatch[] = [];
  /** Rows that are printed, and bytes of the longest. */
  #printed = { rows: 0, longest: 0 };
  #next = 0;
  /** What has been read into the relations, and at all. */
  #unsorted = 0;
  #total = 0;
  #arrived = 0;
  #leftOut = NOTHING_LEFT_OUT;
  readonly #read: SealedSource[] = [];

  constructor(
    private readonly options: BacklogOptions,
    private readonly workshop: Workshop,
  ) {}

  /** Of rows that have been read. */
  get relations(): readonly string[] {
    return [...this.#staged.map(({ table }) => table.relation), ...(this.#file?.relations ?? [])];
  }

  async read(): Promise<Sealed> {
    const { sources, watch, signal } = this.options;
    await watch.prepare(this.workshop.connection);
    for (const source of sources) {
      if (this.#isEnough) break;
      await (source.file.format === 'parquet' ? this.#readParquet(source) : this.#readText(source));
    }
    signal.throwIfAborted();
    await this.#insert();
    await this.#sort();
    const written = await watch.statement('Writing', this.workshop.connection, this.#finish());
    watch.end();
    const more = { relations: [], merged: [], sources: this.#read, leftOut: this.#leftOut };
    return { written, path: this.workshop.path, ...more };
  }

  async #finish(): Promise<Sealed['written']> {
    return (await this.#file?.finish()) ?? null;
  }

  get #isEnough(): boolean {
    return this.#total >= this.options.most || this.options.signal.aborted;
  }

  async #readText(source: Source): Promise<void> {
    const { table, watch, atOnce } = this.options;
    const from = source.read.position.offset;
    let { read } = source;
    const end = await table.readThrough(source, async (batch) => {
      const all = [...this.#waiting, batch];
      const isMuch =
        all.reduce((sum, { bytes }) => sum + bytes, 0) > INSERTED_AT_ONCE || valuesOf(all) > VALUES_AT_ONCE;
      if (this.#waiting.length > 0 && isMuch) await this.#insert();
      this.#waiting.push(batch);
      read = batch.end;
      const size = Math.max(batch.bytes, VALUE * valuesOf([batch]));
      this.#unsorted += size;
      this.#total += size;
      if (source.file.compression === 'none') {
        watch.bytes('Reading', read.position.offset - from, source.file.size - from);
      }
      if (this.#unsorted >= atOnce) {
        await this.#insert();
        await this.#sort();
      }
      return this.#isEnough;
    });
    this.#read.push({ source, read, end });
  }

  /** Has the rows that wait in a relation. */
  async #insert(): Promise<void> {
    const { table, lookUp } = this.options;
    const batches = this.#waiting;
    this.#waiting = [];
    const [last] = batches.slice(-1);
    if (last === undefined) return;
    const isNumbered = batches.every(({ rows }) => rows.every(({ digest }) => digest === null));
    if (table.declared && isNumbered && !this.options.closely) return this.#print(batches);
    await this.#load();
    const insert = (of: readonly ReadBatch[]): Promise<void> =>
      table.numbered(lookUp, of, async (rows) => {
        const staged = await this.#relation(last.fields);
        await staged.table.insert(rows, this.#arrived);
        staged.rows += rows.length;
        this.#arrived += rows.length;
      });
    await insert(batches).catch((error: unknown) => {
      if (isResourceFault(error) || !table.declared) throw error;
      return insert(batches.map((batch) => table.strictly(batch)));
    });
    for (const { leftOut } of batches) this.#leaveOut(leftOut);
  }

  /** Prints rows for DuckDB's own reader, which takes half of the time of an insertion. */
  async #print(batches: readonly ReadBatch[]): Promise<void> {
    let text = '';
    for (const { source, rows, leftOut } of batches) {
      for (const { json, values } of rows) {
        const hidden = `{"logquay:source":${source.id},"logquay:arrival":${++this.#arrived}`;
        const line = `${hidden}${json === '{}' ? '' : ','}${json.slice(1)}\n`;
        this.#printed.longest = Math.max(this.#printed.longest, 3 * line.length);
        text += line + EMPTY_ROW.repeat(emptyRowsBehind(values));
      }
      this.#printed.rows += rows.length;
      this.#leaveOut(leftOut);
    }
    await appendFile(this.#printedPath, text);
  }

  get #printedPath(): string {
    return `${this.workshop.path}.ndjson`;
  }

  /** Has printed rows in a relation. */
  async #load(): Promise<void> {
    const { rows, longest } = this.#printed;
    if (rows === 0) return;
    const { fields } = this.options.table;
    const { connection } = this.workshop;
    const staged = await this.#relation(fields);
    const values = fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
    const scan = ndjsonScan(this.#printedPath, [...fields, ...HIDDEN], longest);
    const inserting = connection.run(
      `INSERT INTO ${staged.table.relation} SELECT ${[...values, SOURCE_COLUMN, ARRIVAL_COLUMN].join(', ')} FROM ${scan} WHERE ${SOURCE_COLUMN} >= 0`,
    );
    await this.options.watch.statement('Converting', connection, inserting);
    staged.rows += rows;
    this.#printed = { rows: 0, longest: 0 };
    await rm(this.#printedPath);
  }

  #leaveOut(leftOut: LeftOutCount): void {
    if (!leftOut.any) return;
    this.#leftOut = together(this.#leftOut, leftOut.total);
    this.options.table.onLeftOut(leftOut.total);
  }

  /** The relation that takes rows with these fields. */
  async #relation(fields: readonly RestField[]): Promise<Staged> {
    const last = this.#staged.at(-1);
    if (last !== undefined && sameFields(last.table.fields, fields)) return last;
    const { connection } = this.workshop;
    const table = new RowTable(connection, `staged_${this.#next++}`, fields, this.options.table.declared);
    await table.create();
    const staged = { table, rows: 0 };
    if (last !== undefined && last.rows < FEW_ROWS) {
      await connection.run(`INSERT INTO ${table.relation} ${inForm(last.table, fields)}`);
      staged.rows = last.rows;
      this.#staged.pop();
      await last.table.drop();
    }
    this.#staged.push(staged);
    return staged;
  }

  /** Has the rows of the relations in the file, in time order among themselves. */
  async #sort(): Promise<void> {
    const { connection, path, rowGroup } = this.workshop;
    const { table, watch } = this.options;
    this.#unsorted = 0;
    await this.#load();
    if (this.#staged.length === 0) return;
    const fields = this.#file?.fields ?? table.fields;
    this.#file ??= await SegmentFile.create(connection, path, fields, table.time, rowGroup);
    const all = this.#staged.map((staged) => inForm(staged.table, fields));
    await watch.statement('Sorting', connection, this.#file.add(`(${all.join(' UNION ALL ')})`));
    for (const staged of this.#staged.splice(0)) await staged.table.drop();
    // Other fields are for another file.
    if (!table.declared) this.#total = Infinity;
  }

  async #readParquet(source: Source): Promise<void> {
    const { table, dataDir, watch } = this.options;
    const { connection } = this.workshop;
    const path = source.pathIn(dataDir);
    const { size, modified, identity } = source.file;
    const leftOut = new LeftOutCount(!table.isStrict);
    let fault: string | null = null;
    let staged: Staged | null = null;
    try {
      await stat(path);
      const names = new Set<string>();
      const fields = await inferredColumns(connection, path, table.fields, names);
      if (!table.declared) {
        table.unite(fields);
        for (const name of names) leftOut.fields.add(name);
      }
      const rows = new RowTable(connection, `staged_${this.#next++}`, table.fields, true);
      await rows.create();
      staged = { table: rows, rows: FEW_ROWS };
      this.#staged.push(staged);
      const target = { table: rows.relation, source: source.id, rules: table.rules, lenient: leftOut.lenient, watch };
      const loaded = await loadParquet(connection, path, table.fields, target);
      for (const { reason, count, first } of loaded.leftOut) leftOut.addRows(reason, count, first);
      leftOut.nulled += loaded.nulled;
      if (table.rules.identified) await this.#number(rows.relation);
      await this.#observeTimes(rows);
    } catch (error) {
      const isLarge = /Out of Memory|failed to allocate/i.test(messageOf(error));
      if (codeOf(error) !== null) fault = `cannot be read (${codeOf(error)})`;
      else if (isResourceFault(error) && !isLarge) throw error;
      // However little else is read with it: it keeps no other file of the table from being stored.
      else fault = `${isLarge ? NOT_STORED : 'not a whole Parquet file'} (${kindOf(error)})`;
    }
    const moved = await isMoved(path, identity);
    if (staged !== null && (fault !== null || moved)) {
      this.#staged = this.#staged.filter((one) => one !== staged);
      await staged.table.drop();
    }
    if (moved) return;
    this.#leaveOut(leftOut);
    this.#total += PARQUET * size * (this.options.most / this.options.atOnce);
    const position = { ...source.read.position, offset: size, array: false };
    const isRead = fault === null || !fault.startsWith('cannot be read');
    const notBefore = fault === null ? 0 : performance.now() + 5_000;
    const end: SourceEnd = { seen: isRead ? { size, modified } : null, waiting: false, fault, notBefore };
    this.#read.push({ source, read: isRead ? { ...source.read, position } : source.read, end });
  }

  async #observeTimes({ relation, fields }: RowTable): Promise<void> {
    const { connection } = this.workshop;
    const { times } = this.options.table;
    for (const { name } of times.undecided(fields)) {
      const column = quoteName(name);
      const values = `SELECT CAST(${column} AS DOUBLE) FROM ${relation} WHERE ${column} IS NOT NULL LIMIT ${DECIDING}`;
      const found = await connection.runAndReadAll(values);
      times.observe(
        name,
        found.getRows().map(([value]) => Number(value)),
      );
    }
  }

  /** Gives rows without an id one: as `LiveTable.numbered`. */
  async #number(relation: string): Promise<void> {
    const { connection } = this.workshop;
    const { table, lookUp } = this.options;
    const marked = 'starts_with(id, chr(1))';
    const found = await connection.runAndReadAll(`SELECT DISTINCT substr(id, 2) FROM ${relation} WHERE ${marked}`);
    const digests = found.getRows().map(([digest]) => String(digest));
    if (digests.length === 0) return;
    const next = new Map<string, number>();
    for (let i = 0; i < digests.length; i += DIGESTS_AT_ONCE) {
      const some = await table.ordinals(lookUp, digests.slice(i, i + DIGESTS_AT_ONCE), []);
      for (const [digest, ordinal] of some) next.set(digest, ordinal);
    }
    await connection.run(
      `UPDATE ${relation} SET id = numbered.id FROM (
        SELECT row, digest || CASE WHEN n = 0 THEN '' ELSE '-' || n END AS id FROM (
          SELECT row, digest, coalesce(next, 0) + row_number() OVER (PARTITION BY digest ORDER BY row) - 1 AS n
          FROM (SELECT rowid AS row, substr(id, 2) AS digest FROM ${relation} WHERE ${marked})
          LEFT JOIN (SELECT unnest($1) AS digest, CAST(unnest($2) AS BIGINT) AS next) USING (digest)))
        AS numbered WHERE ${relation}.rowid = numbered.row`,
      [listValue([...next.keys()]), listValue([...next.values()].map(String))],
      [LIST(VARCHAR), LIST(VARCHAR)],
    );
  }
}

/** SQL: the rows of a relation with other fields. */
function inForm({ relation, fields }: Pick<RowTable, 'relation' | 'fields'>, form: readonly RestField[]): string {
  return `SELECT ${[...castColumns(fields, form), SOURCE_COLUMN, ARRIVAL_COLUMN].join(', ')} FROM ${relation}`;
}

/** What more room or another moment may mend. */
function isResourceFault(error: unknown): boolean {
  return /Out of Memory|failed to allocate|No space left|ENOSPC|Could not write|could not be written/i.test(
    messageOf(error),
  );
}
