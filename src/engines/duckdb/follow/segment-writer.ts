import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { storedType, storedValue } from '../data/field-sql';
import { scanOf } from '../data/file-scan';
import { inferredColumns } from '../data/parquet-schema';
import { loadParquet } from '../data/load-parquet';
import { findSingleLists, oneOfEach } from '../data/single-lists';
import { kindOf, messageOf } from '../engine/native-error';
import { bytesOf } from '../engine/sizes';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { numberGeneratedIds } from './generated-ids';
import type { LeftOutCount } from './left-out-count';
import { synced } from './manifest';
import { NO_SOURCE } from './printed-lines';
import { type PrintedRows, RangeReader, readingFile } from './range-reader';
import { areApart, isNotOf, latestFirst, singleOfAll, SOURCE_COLUMN, SOURCE_KEY } from './segment';
import { createRows, insertRows, orderOf, writeLists, writtenRows, type WrittenRows } from './segment-rows';
import type { Range, SegmentJob, SegmentResult } from './segment-job';
import { NOT_STORED } from './source';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
  /** Rows that are compressed together: each thread has so many in memory. Default: DuckDB's own. */
  readonly rowGroup?: number;
}

const ROW_GROUP = 122_880;
/** What the segment is attached as. */
const SEGMENT = 'segment';

/** Bytes of memory with less of which lines are read, and then sorted. */
const LEAST_FOR_CHUNKS = 192 * 1024 * 1024;

/** Rows of a file that show which of its lists have one element. */
const SAMPLE = 2_000;

/**
 * Writes a segment: rows of the ranges, and of the segments that it takes the place of, in order of `timestamp`.
 *
 * @throws what DuckDB and the file system throw; nothing else than `job.path` and `job.folder` is touched
 */
export async function writeSegment(job: SegmentJob, resources: Resources, watch: Watch): Promise<SegmentResult> {
  const write = (trusting: boolean): Promise<SegmentResult> =>
    new SegmentWriter(job, resources, watch, trusting).write();
  try {
    return await write(true);
  } catch (error) {
    if (isResourceFault(error) || !job.declared || job.merged.length > 0) throw error;
    // Nothing that `ExactLines` has found may keep rows from being stored.
    return await write(false);
  } finally {
    watch.end();
  }
}

/** A table with rows that are not sorted yet. */
interface Staged {
  readonly table: string;
  readonly fields: readonly RestField[];
}

class SegmentWriter {
  readonly #reader: RangeReader;

  constructor(
    private readonly job: SegmentJob,
    private readonly resources: Resources,
    private readonly watch: Watch,
    trusting: boolean,
  ) {
    this.#reader = new RangeReader(job, watch, trusting);
  }

  async write(): Promise<SegmentResult> {
    const { threads, memory, rowGroup = ROW_GROUP } = this.resources;
    const { path, folder } = this.job;
    // A process that was killed over the same job has left them.
    for (const left of [path, `${path}.wal`, stagedIn(folder)]) await rm(left, { force: true });
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
      // Nobody reads a segment before it is whole.
      wal_autocheckpoint: '1TB',
    });
    let segment: WrittenRows | null;
    try {
      const connection = await instance.connect();
      await connection.run(`SET TimeZone = 'UTC'`);
      const attach = (file: string, name: string): Promise<unknown> =>
        connection.run(
          `ATTACH ${quoteText(file)} AS ${name} (ROW_GROUP_SIZE ${rowGroup}, RECOVERY_MODE NO_WAL_WRITES)`,
        );
      await attach(path, SEGMENT);
      await attach(stagedIn(folder), 'staging');
      await this.watch.prepare(connection);
      segment = await this.#fill(connection);
      if (segment !== null) await this.watch.statement('Writing', connection, connection.run(`CHECKPOINT ${SEGMENT}`));
      connection.closeSync();
    } finally {
      instance.closeSync();
    }
    const { fields, changed, faults, taken } = this.#reader;
    const rest = { fields, changed, faults, ...taken };
    if (segment === null) return { segment: null, ...rest };
    await synced(path);
    return { segment: { ...segment, bytes: (await stat(path)).size }, ...rest };
  }

  async #fill(connection: DuckDBConnection): Promise<WrittenRows | null> {
    if (this.job.merged.length > 0) return this.watch.statement('Merging', connection, this.#merge(connection));
    const { ranges, atOnce } = this.job;
    const lines = ranges.filter(({ format }) => format !== 'parquet');
    const first = await this.#reader.print(lines, this.#printedPath, atOnce);
    const single = await this.#singleLists(connection, first);
    if (single !== null && (await this.#writeChunk(connection, first, single, true))) {
      await this.#writeRest(connection, first, single);
      return writtenRows(connection, SEGMENT, this.#reader.fields, single, 0);
    }
    return this.#sort(connection, await this.#stage(connection, first));
  }

  get #printedPath(): string {
    return join(this.job.folder, 'printed.ndjson');
  }

  /**
   * Lists that hold one element in each of the first rows, of a job whose rows can be written as they are read, chunk by chunk, each
   * sorted by itself; null: they cannot.
   */
  async #singleLists(connection: DuckDBConnection, printed: PrintedRows): Promise<ReadonlySet<string> | null> {
    const { declared, ranges, others } = this.job;
    if (!declared || printed.rows === 0 || printed.unnumbered) return null;
    if (bytesOf(this.resources.memory) < LEAST_FOR_CHUNKS || ranges.some(({ format }) => format === 'parquet'))
      return null;
    // As in the last segment, so behind the first rows.
    if ((others.at(-1)?.segment.odd ?? 0) > 0) return null;
    const first = `(FROM ${this.#scanOf(printed)}${counted(printed)} LIMIT ${SAMPLE})`;
    const { single, everywhere } = await findSingleLists(connection, first, this.#reader.fields);
    return everywhere ? single : null;
  }

  /** What is left of the ranges, up to a chunk that cannot be written like that: the next conversion begins with it. */
  async #writeRest(connection: DuckDBConnection, first: PrintedRows, single: ReadonlySet<string>): Promise<void> {
    const { atOnce, most } = this.job;
    let read = atOnce;
    for (let { left } = first; left.length > 0 && read < most; read += atOnce) {
      const { taken } = this.#reader;
      const chunk = await this.#reader.print(left, this.#printedPath, atOnce);
      if (chunk.unnumbered || !(await this.#writeChunk(connection, chunk, single, false))) {
        this.#reader.taken = taken;
        return;
      }
      ({ left } = chunk);
    }
  }

  /** Writes printed rows into table `rows`. @returns false: a list has another length */
  async #writeChunk(
    connection: DuckDBConnection,
    printed: PrintedRows,
    single: ReadonlySet<string>,
    isFirst: boolean,
  ): Promise<boolean> {
    const { fields } = this.#reader;
    const condition = oneOfEach(fields, single);
    const values = fields.map(
      (field) => `${storedValue(field, quoteName(field.name), 'base64', single)} AS ${quoteName(field.name)}`,
    );
    // One expression with the values: a condition of the query would have the lists taken apart once more.
    const checked =
      condition === null
        ? SOURCE_COLUMN
        : `CASE WHEN ${condition} THEN ${SOURCE_COLUMN} ELSE error('another length') END`;
    if (isFirst) await createRows(connection, SEGMENT, fields, single);
    try {
      const inserting = insertRows(
        connection,
        SEGMENT,
        `SELECT ${[...values, `${checked} AS ${SOURCE_COLUMN}`].join(', ')} FROM ${this.#scanOf(printed)}${counted(printed)}${orderOf(fields)}`,
      );
      await this.watch.statement('Converting', connection, inserting);
      return true;
    } catch {
      // Reading and sorting one after the other may need less memory, too.
      if (isFirst) await connection.run(`DROP TABLE ${SEGMENT}.rows`);
      return false;
    }
  }

  /** Brings the rows of the ranges into tables. */
  async #stage(connection: DuckDBConnection, printed: PrintedRows): Promise<readonly Staged[]> {
    const staged: Staged[] = [];
    for (const [i, range] of this.job.ranges.entries()) {
      if (range.format !== 'parquet') continue;
      const table = await this.#loadParquet(connection, range, i);
      if (table !== null) staged.push({ table, fields: this.#reader.fields });
    }
    if (printed.rows > 0) {
      staged.push({ table: await this.#loadPrinted(connection, printed), fields: this.#reader.fields });
    }
    await rm(printed.path, { force: true });
    return staged;
  }

  async #loadPrinted(connection: DuckDBConnection, printed: PrintedRows): Promise<string> {
    const table = 'staging.printed';
    await this.#create(connection, table);
    const values = this.#reader.fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
    const insert = connection.run(
      `INSERT INTO ${table} SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${this.#scanOf(printed)}${counted(printed)}`,
    );
    await this.watch.statement('Converting', connection, insert);
    return table;
  }

  #scanOf({ path, longest }: PrintedRows): string {
    const source: RestField = { name: SOURCE_KEY, type: 'INT64', mode: 'NULLABLE', fields: [] };
    return scanOf({ path, format: 'ndjson', longest }, [...this.#reader.fields, source]);
  }

  /** @returns the table; null: its rows do not count */
  async #loadParquet(connection: DuckDBConnection, range: Range, index: number): Promise<string | null> {
    const table = `staging.parquet_${index}`;
    const end = await this.#reader.reading(range, async (leftOut) => {
      const { size } = await readingFile(stat(range.path));
      await this.#copyParquet(connection, range, table, leftOut);
      const position = { ...range.from.position, offset: size, array: false };
      return { position, digest: range.from.digest, whole: true };
    });
    return end === null ? null : table;
  }

  async #copyParquet(
    connection: DuckDBConnection,
    { path, source }: Range,
    table: string,
    leftOut: LeftOutCount,
  ): Promise<void> {
    try {
      if (!this.job.declared)
        this.#reader.fields = await inferredColumns(connection, path, this.#reader.fields, leftOut.fields);
      await this.#create(connection, table);
      const target = { table, source, rules: this.#reader.rules, watch: this.watch };
      const outcome = await loadParquet(connection, { path }, this.#reader.fields, target);
      for (const { reason, count, first } of outcome) leftOut.addRows(reason, count, first);
    } catch (error) {
      const isLarge = /Out of Memory|failed to allocate/i.test(messageOf(error));
      if (isResourceFault(error) && !isLarge) throw error;
      // However little else is read with it: it keeps no other file of the table from being stored.
      const fault = isLarge ? NOT_STORED : 'not a whole Parquet file';
      this.#reader.faults[source] = `${fault} (${kindOf(error)})`;
      await connection.run(`DROP TABLE IF EXISTS ${table}`);
      await this.#create(connection, table);
    }
  }

  async #create(connection: DuckDBConnection, table: string): Promise<void> {
    await connection.run(`CREATE TABLE ${table} (${this.#columns().join(', ')})`);
  }

  #columns(): string[] {
    return [
      ...this.#reader.fields.map((field) => `${quoteName(field.name)} ${storedType(field)}`),
      `${SOURCE_COLUMN} INTEGER`,
    ];
  }

  /** Brings staged rows together in time order; null: there are none. */
  async #sort(connection: DuckDBConnection, staged: readonly Staged[]): Promise<WrittenRows | null> {
    const { fields, rules } = this.#reader;
    if (staged.length === 0) return null;
    if (rules.identified) {
      const stored = this.job.others.map((one, i) => ({
        ...one,
        attached: () => this.#attached(connection, one.path, `other_${i}`),
      }));
      await numberGeneratedIds(
        connection,
        staged.map(({ table }) => table),
        stored,
        rules.timed,
      );
    }
    const inputs = staged.map(
      ({ table, fields: before }) => `SELECT ${castColumns(before, fields)}, ${SOURCE_COLUMN} FROM ${table}`,
    );
    return this.watch.statement('Sorting', connection, writeLists(connection, SEGMENT, fields, unionOf(inputs)));
  }

  /** Writes the rows of segments as one; null: none of them counts. */
  async #merge(connection: DuckDBConnection): Promise<WrittenRows | null> {
    const { fields } = this.#reader;
    const { merged } = this.job;
    const segments = merged.map(({ segment }) => segment);
    const single = singleOfAll(segments, fields);
    const names = fields.map(({ name }) => quoteName(name)).join(', ');
    const inputs: string[] = [];
    for (const [i, { path, segment, dropped }] of [...merged]
      .sort((a, b) => latestFirst(a.segment, b.segment))
      .entries()) {
      const name = await this.#attached(connection, path, `merged_${i}`);
      const where = dropped.length === 0 ? '' : ` WHERE ${isNotOf(dropped)}`;
      const before = (paths: readonly string[]): string => castColumns(segment.fields, fields, new Set(paths));
      const columns = single === null ? before(segment.single) : names;
      inputs.push(`SELECT ${columns}, ${SOURCE_COLUMN} FROM ${name}.rows${where}`);
      if (segment.odd > 0) inputs.push(`SELECT ${before([])}, ${SOURCE_COLUMN} FROM ${name}.odd${where}`);
    }
    if (single === null) return writeLists(connection, SEGMENT, fields, unionOf(inputs));
    await createRows(connection, SEGMENT, fields, single);
    // One behind the other they are in order already, for which no memory is needed.
    if (areApart(segments)) for (const input of inputs) await insertRows(connection, SEGMENT, input);
    else await insertRows(connection, SEGMENT, `FROM ${unionOf(inputs)}${orderOf(fields)}`);
    return writtenRows(connection, SEGMENT, fields, single, 0);
  }

  async #attached(connection: DuckDBConnection, path: string, name: string): Promise<string> {
    await connection.run(`ATTACH IF NOT EXISTS ${quoteText(path)} AS ${name} (READ_ONLY)`);
    return name;
  }
}

function unionOf(queries: readonly string[]): string {
  return `(${queries.join(' UNION ALL ')})`;
}

/** SQL: of printed rows those that count. */
function counted({ discarded }: PrintedRows): string {
  return ` WHERE ${isNotOf([NO_SOURCE, ...discarded])}`;
}

/** What more room or another moment may mend. */
function isResourceFault(error: unknown): boolean {
  return /Out of Memory|failed to allocate|No space left|ENOSPC|Could not write|could not be written/i.test(
    messageOf(error),
  );
}

function stagedIn(folder: string): string {
  return join(folder, 'staged.duckdb');
}
