import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { storedType, storedValue } from '../data/field-sql';
import { linesOf, scanOf } from '../data/file-scan';
import { inferredColumns } from '../data/parquet-schema';
import { loadParquet } from '../data/load-parquet';
import { lossyLines } from '../data/lossy-lines';
import { findSingleLists, oneOfEach } from '../data/single-lists';
import { kindOf, messageOf } from '../engine/native-error';
import { bytesOf } from '../engine/sizes';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { numberGeneratedIds, UNNUMBERED } from './generated-ids';
import type { LeftOutCount } from './left-out-count';
import { ended, RangeReader, readingFile, SOURCE_KEY, type Spooled, writing } from './range-reader';
import { areApart, isNotOf, latestFirst, singleOfAll, SOURCE_COLUMN } from './segment';
import { createRows, insertRows, orderOf, writeLists, writtenRows, type WrittenRows } from './segment-rows';
import type { Range, RangeEnd, SegmentJob, SegmentResult } from './segment-job';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
  /** Rows that are compressed together: each thread has so many in memory. Default: DuckDB's own. */
  readonly rowGroup?: number;
  /** Queries run on the same thread: half of its time is theirs. */
  readonly besideQueries?: boolean;
}

const ROW_GROUP = 122_880;

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
  const writer = new SegmentWriter(job, resources, watch);
  try {
    return await writer.write();
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
  ) {
    this.#reader = new RangeReader(job, watch, resources.besideQueries ?? false);
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
      await attach(path, 'segment');
      await attach(stagedIn(folder), 'staging');
      await connection.run('USE segment');
      await this.watch.prepare(connection);
      segment = await this.#fill(connection);
      if (segment !== null) await this.watch.statement('Writing', connection, connection.run('CHECKPOINT'));
      connection.closeSync();
    } finally {
      instance.closeSync();
    }
    const { fields, ends, changed, faults, leftOut } = this.#reader;
    const rest = { fields, ends, changed, faults, leftOut: leftOut.total };
    if (segment === null) return { segment: null, ...rest };
    await synced(path);
    return { segment: { ...segment, bytes: (await stat(path)).size }, ...rest };
  }

  async #fill(connection: DuckDBConnection): Promise<WrittenRows | null> {
    if (this.job.merged.length > 0) return this.watch.statement('Merging', connection, this.#merge(connection));
    const written = await this.#writeChunks(connection);
    return 'rows' in written ? written.rows : this.#sort(connection, await this.#stage(connection, written.left));
  }

  /**
   * Writes large ranges of lines as they are read, chunk by chunk, each sorted by itself: where the lists that have one element
   * in the first rows have one in every row, and no line needs a closer look.
   *
   * @returns left: lines that have been copied; nothing of the job can be written like that
   */
  async #writeChunks(
    connection: DuckDBConnection,
  ): Promise<{ readonly rows: WrittenRows | null } | { readonly left: readonly Spooled[] }> {
    const reader = this.#reader;
    const { ranges, most } = this.job;
    if (bytesOf(this.resources.memory) < LEAST_FOR_CHUNKS) return { left: [] };
    for (const range of ranges) if (!(await reader.isRaw(range))) return { left: [] };
    let single: ReadonlySet<string> | null = null;
    let read = 0;
    for (let queue: readonly Range[] = ranges; queue.length > 0 && read < most;) {
      const { ends } = reader;
      const { chunk, rest } = await this.#spoolChunk(queue);
      if (chunk.length === 0) break;
      const shape: ReadonlySet<string> | null = single ?? (await this.#singleLists(connection, chunk));
      const isWritten = shape !== null && (await this.#writeChunk(connection, chunk, shape, single === null));
      if (!isWritten && single === null) return { left: chunk };
      for (const { path } of chunk) await rm(path, { force: true });
      if (!isWritten) {
        // The next conversion begins with these lines.
        reader.ends = ends;
        break;
      }
      single = shape;
      queue = rest;
      read += chunk.reduce((sum, { range, end }) => sum + readOf(range, end), 0);
    }
    return single === null ? { left: [] } : { rows: await writtenRows(connection, reader.fields, single, 0) };
  }

  /** Copies as many lines of ranges as are sorted at once. @returns rest: what is left, up to one that cannot be read like that */
  async #spoolChunk(
    ranges: readonly Range[],
  ): Promise<{ readonly chunk: readonly Spooled[]; readonly rest: readonly Range[] }> {
    const chunk: Spooled[] = [];
    let budget = this.job.atOnce;
    for (const [i, range] of ranges.entries()) {
      if (budget <= 0 && range.to === null) return { chunk, rest: ranges.slice(i) };
      const lines = await this.#reader.spool(range, this.#rawOf(range), budget);
      if (lines === false) return { chunk, rest: [] };
      if (lines === null) continue;
      chunk.push(lines);
      const { end } = lines;
      budget -= readOf(range, end);
      if (range.to === null && !end.whole) return { chunk, rest: [{ ...range, from: end }, ...ranges.slice(i + 1)] };
    }
    return { chunk, rest: [] };
  }

  /** Brings the rows of the ranges into tables. @param copied lines of the first ones */
  async #stage(connection: DuckDBConnection, copied: readonly Spooled[]): Promise<readonly Staged[]> {
    const reader = this.#reader;
    const { ranges, folder, atOnce } = this.job;
    const staged: Staged[] = [];
    const raw = [...copied];
    const strict = join(folder, 'strict.ndjson');
    const output = writing(strict);
    let printed = 0;
    let budget = atOnce - raw.reduce((sum, { range, end }) => sum + readOf(range, end), 0);
    for (const range of ranges) {
      if (range.format === 'parquet' || raw.some((lines) => lines.range.source === range.source)) continue;
      if (budget <= 0 && range.to === null) continue;
      const spooled = (await reader.isRaw(range)) ? await reader.spool(range, this.#rawOf(range), budget) : false;
      if (spooled === false) printed += await reader.print(range, output, budget);
      else if (spooled !== null) raw.push(spooled);
      budget -= readOf(range, reader.ends[range.source]);
    }
    // Decided one after the other: what DuckDB would not read exactly is printed as well.
    for (const [i, spooled] of raw.entries()) {
      const table = await this.#loadRaw(connection, spooled, i);
      if (table !== null) staged.push({ table, fields: reader.fields });
      else printed += await reader.printSpool(spooled, output);
      await rm(spooled.path, { force: true });
    }
    await ended(output);
    for (const [i, range] of ranges.entries()) {
      if (range.format !== 'parquet') continue;
      const table = await this.#loadParquet(connection, range, i);
      if (table !== null) staged.push({ table, fields: reader.fields });
    }
    if (printed > 0) staged.push({ table: await this.#loadPrinted(connection, strict), fields: reader.fields });
    await rm(strict, { force: true });
    return staged;
  }

  #rawOf({ source }: Range): string {
    return join(this.job.folder, `raw-${source}.ndjson`);
  }

  /** Whether DuckDB takes each of the copied lines for what it is. */
  async #isExact(connection: DuckDBConnection, { path, longest }: Spooled): Promise<boolean> {
    const lossy = lossyLines(this.#reader.fields);
    if (lossy === null) return false;
    const search = connection.runAndReadAll(
      `SELECT 1 FROM ${linesOf(path, longest)} WHERE regexp_matches(json, ${quoteText(lossy)}) LIMIT 1`,
    );
    try {
      return (await this.watch.statement('Checking', connection, search)).currentRowCount === 0;
    } catch (error) {
      if (isResourceFault(error)) throw error;
      return false;
    }
  }

  /** Writes copied lines into table `rows`. @returns false: a list has another length, or a line needs a closer look */
  async #writeChunk(
    connection: DuckDBConnection,
    chunk: readonly Spooled[],
    single: ReadonlySet<string>,
    isFirst: boolean,
  ): Promise<boolean> {
    const { fields } = this.#reader;
    for (const lines of chunk) if (!(await this.#isExact(connection, lines))) return false;
    const condition = oneOfEach(fields, single);
    const values = fields.map(
      (field) => `${storedValue(field, quoteName(field.name), 'base64', single)} AS ${quoteName(field.name)}`,
    );
    const inputs = chunk.map((lines) => {
      const { source } = lines.range;
      // One expression with the values: a condition of the query would have the lists taken apart once more.
      const checked =
        condition === null ? source : `CASE WHEN ${condition} THEN ${source} ELSE error('another length') END`;
      return `SELECT ${[...values, `${checked} AS ${SOURCE_COLUMN}`].join(', ')} FROM ${this.#scanOf(lines)}`;
    });
    if (isFirst) await createRows(connection, fields, single);
    await connection.run('BEGIN');
    try {
      const inserting = insertRows(connection, `FROM ${unionOf(inputs)}${orderOf(fields)}`);
      await this.watch.statement('Converting', connection, inserting);
      const isComplete = !(await this.#isIncomplete(connection, 'rows'));
      await connection.run(isComplete ? 'COMMIT' : 'ROLLBACK');
      if (isComplete) return true;
    } catch {
      // Reading and sorting one after the other may need less memory, too.
      await connection.run('ROLLBACK');
    }
    if (isFirst) await connection.run('DROP TABLE rows');
    return false;
  }

  #scanOf({ path, longest }: Spooled): string {
    return scanOf({ path, format: 'ndjson', longest }, this.#reader.fields);
  }

  /** The lists that have one element in each of the first lines; null: the rows are not all alike, or lack something. */
  async #singleLists(connection: DuckDBConnection, chunk: readonly Spooled[]): Promise<ReadonlySet<string> | null> {
    // As in the last segment, so behind the first lines.
    if ((this.job.others.at(-1)?.segment.odd ?? 0) > 0) return null;
    const first = unionOf(chunk.map((lines) => `(FROM ${this.#scanOf(lines)} LIMIT ${SAMPLE})`));
    try {
      const { single, everywhere } = await findSingleLists(connection, first, this.#reader.fields);
      return everywhere && !(await this.#isIncomplete(connection, first)) ? single : null;
    } catch (error) {
      if (isResourceFault(error)) throw error;
      return null;
    }
  }

  /** Has DuckDB read copied lines. @returns the table; null: a line needs a closer look */
  async #loadRaw(connection: DuckDBConnection, lines: Spooled, index: number): Promise<string | null> {
    if (!(await this.#isExact(connection, lines))) return null;
    const table = `staging.raw_${index}`;
    try {
      await this.#create(connection, table);
      const values = this.#reader.fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
      const insert = connection.run(
        `INSERT INTO ${table} SELECT ${[...values, lines.range.source].join(', ')} FROM ${this.#scanOf(lines)}`,
      );
      await this.watch.statement('Converting', connection, insert);
      if (!(await this.#isIncomplete(connection, table))) return table;
    } catch (error) {
      if (isResourceFault(error)) throw error;
    }
    await connection.run(`DROP TABLE IF EXISTS ${table}`);
    return null;
  }

  /** Whether a row lacks what each must have. */
  async #isIncomplete(connection: DuckDBConnection, table: string): Promise<boolean> {
    const { timed, identified } = this.#reader.rules;
    const missing = [
      ...(timed ? ['timestamp IS NULL'] : []),
      ...(identified ? [`coalesce(id, '') = ''`, `starts_with(id, ${quoteText(UNNUMBERED)})`] : []),
    ];
    if (missing.length === 0) return false;
    const found = await connection.runAndReadAll(`SELECT 1 FROM ${table} WHERE ${missing.join(' OR ')} LIMIT 1`);
    return found.currentRowCount > 0;
  }

  async #loadPrinted(connection: DuckDBConnection, path: string): Promise<string> {
    const table = 'staging.printed';
    await this.#create(connection, table);
    const source: RestField = { name: SOURCE_KEY, type: 'INT64', mode: 'NULLABLE', fields: [] };
    const values = this.#reader.fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
    const where = this.#reader.discarded.length === 0 ? '' : ` WHERE ${isNotOf(this.#reader.discarded)}`;
    const insert = connection.run(
      `INSERT INTO ${table} SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${scanOf({ path, format: 'ndjson', longest: this.#reader.longest }, [...this.#reader.fields, source])}${where}`,
    );
    await this.watch.statement('Converting', connection, insert);
    return table;
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
      if (!this.job.declared) this.#reader.fields = await inferredColumns(connection, path, this.#reader.fields);
      await this.#create(connection, table);
      const target = { table, source, rules: this.#reader.rules, watch: this.watch };
      const outcome = await loadParquet(connection, { path }, this.#reader.fields, target);
      for (const { reason, count, first } of outcome) leftOut.addRows(reason, count, first);
    } catch (error) {
      if (isResourceFault(error)) throw error;
      this.#reader.faults[source] = `not a whole Parquet file (${kindOf(error)})`;
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
    return this.watch.statement('Sorting', connection, writeLists(connection, fields, unionOf(inputs)));
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
    if (single === null) return writeLists(connection, fields, unionOf(inputs));
    await createRows(connection, fields, single);
    // One behind the other they are in order already, for which no memory is needed.
    if (areApart(segments)) for (const input of inputs) await insertRows(connection, input);
    else await insertRows(connection, `FROM ${unionOf(inputs)}${orderOf(fields)}`);
    return writtenRows(connection, fields, single, 0);
  }

  async #attached(connection: DuckDBConnection, path: string, name: string): Promise<string> {
    await connection.run(`ATTACH IF NOT EXISTS ${quoteText(path)} AS ${name} (READ_ONLY)`);
    return name;
  }
}

function unionOf(queries: readonly string[]): string {
  return `(${queries.join(' UNION ALL ')})`;
}

/** Bytes of content from where a range begins. */
function readOf({ from }: Range, end: RangeEnd | undefined): number {
  return (end?.position.offset ?? from.position.offset) - from.position.offset;
}

/** What more room or another moment may mend. */
function isResourceFault(error: unknown): boolean {
  return /Out of Memory|failed to allocate|No space left|ENOSPC|Could not write|could not be written/i.test(
    messageOf(error),
  );
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function stagedIn(folder: string): string {
  return join(folder, 'staged.duckdb');
}
