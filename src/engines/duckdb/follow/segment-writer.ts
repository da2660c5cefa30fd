import { createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { storedType, storedValue } from '../data/field-sql';
import { linesOf, LONGEST_LINE, scanOf } from '../data/file-scan';
import { inferredColumns } from '../data/parquet-schema';
import { loadParquet } from '../data/load-parquet';
import { lossyLines } from '../data/lossy-lines';
import { findSingleLists, oneOfEach, singleType, singleValue } from '../data/single-lists';
import { Unfit } from '../data/strict-row';
import { codeOf, kindOf, messageOf } from '../engine/native-error';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { keeping, readContent } from './content';
import { ContentFault } from './content-fault';
import { numberGeneratedIds, UNNUMBERED } from './generated-ids';
import { withFieldsOf } from './inferred-schema';
import { LeftOutCount } from './left-out-count';
import { LongestLine } from './longest-line';
import { isMoved } from './moved-file';
import { type Position, type RawRecord, readRecords, START } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import { recordRow, type RowRules, rowOf, rulesOf } from './rows';
import { isNotOf, SOURCE_COLUMN, type Segment } from './segment';
import type { Progress, Range, RangeEnd, SegmentJob, SegmentResult } from './segment-job';

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

const NEWLINE = 10;

const TIMES = new Set(['TIMESTAMP', 'DATETIME', 'DATE']);
const SOURCE_KEY = 'logquay:source';

/**
 * Writes a segment: rows of the ranges, and of the segments that it takes the place of, in order of `timestamp`.
 *
 * @throws what DuckDB and the file system throw; nothing else than `job.path` and `job.folder` is touched
 */
export async function writeSegment(job: SegmentJob, resources: Resources, watch: Watch): Promise<SegmentResult> {
  const writer = new SegmentWriter(job, watch);
  try {
    return await writer.write(resources);
  } finally {
    watch.end();
  }
}

/** Lines of a range that were copied. */
interface Spooled {
  readonly range: Range;
  readonly path: string;
  readonly lines: number;
  /** Bytes of the longest. */
  readonly longest: number;
}

/** A table with rows that are not sorted yet. */
interface Staged {
  readonly table: string;
  readonly fields: readonly RestField[];
}

class SegmentWriter {
  #fields: readonly RestField[];
  readonly #leftOut: LeftOutCount;
  readonly #ends: Record<number, RangeEnd> = {};
  readonly #changed: number[] = [];
  readonly #faults: Record<number, string> = {};
  /** Sources of printed rows that do not count. */
  readonly #discarded: number[] = [];
  /** No row has been printed yet: what is inferred of the first ones together. */
  #first: boolean;
  #budget: number;
  /** Bytes of the longest row that has been printed. */
  #longest = 0;
  #besideQueries = false;

  constructor(
    private readonly job: SegmentJob,
    private readonly watch: Watch,
  ) {
    this.#fields = job.fields;
    this.#leftOut = new LeftOutCount(!job.declared);
    this.#budget = job.most;
    this.#first = job.fields.length === 0;
  }

  async write(resources: Resources): Promise<SegmentResult> {
    const { threads, memory, rowGroup = ROW_GROUP, besideQueries = false } = resources;
    const { path, folder } = this.job;
    this.#besideQueries = besideQueries;
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
    });
    let segment: Omit<Segment, 'file' | 'bytes'> | null;
    try {
      const connection = await instance.connect();
      await connection.run(`SET TimeZone = 'UTC'`);
      const attach = (file: string, name: string): Promise<unknown> =>
        connection.run(`ATTACH ${quoteText(file)} AS ${name} (ROW_GROUP_SIZE ${rowGroup})`);
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
    const { total: leftOut } = this.#leftOut;
    const rest = { fields: this.#fields, ends: this.#ends, changed: this.#changed, faults: this.#faults, leftOut };
    if (segment === null) return { segment: null, ...rest };
    await synced(path);
    return { segment: { ...segment, bytes: (await stat(path)).size }, ...rest };
  }

  async #fill(connection: DuckDBConnection): Promise<Omit<Segment, 'file' | 'bytes'> | null> {
    const { job } = this;
    const staged: Staged[] = [];
    const raw: Spooled[] = [];
    const strict = join(job.folder, 'strict.ndjson');
    const output = writing(strict);
    let printed = 0;
    for (const [i, range] of job.ranges.entries()) {
      if (range.format === 'parquet') continue;
      if (this.#budget <= 0 && range.to === null) continue;
      const spooled = (await this.#isRaw(range))
        ? await this.#spool(range, join(job.folder, `raw-${i}.ndjson`))
        : false;
      if (spooled === false) printed += await this.#print(range, output);
      else if (spooled !== null) raw.push(spooled);
    }
    // Decided one after the other: what DuckDB would not read exactly is printed as well.
    for (const [i, spooled] of raw.entries()) {
      const table = await this.#loadRaw(connection, spooled, i);
      if (table !== null) staged.push({ table, fields: this.#fields });
      else printed += await this.#printSpool(spooled, output);
      await rm(spooled.path, { force: true });
    }
    await ended(output);
    for (const [i, range] of job.ranges.entries()) {
      if (range.format !== 'parquet') continue;
      const table = await this.#loadParquet(connection, range, i);
      if (table !== null) staged.push({ table, fields: this.#fields });
    }
    if (printed > 0) staged.push({ table: await this.#loadPrinted(connection, strict), fields: this.#fields });
    await rm(strict, { force: true });
    return this.#sort(connection, staged);
  }

  /** Whether DuckDB is to read a range, rather than it be read record by record, which is quicker for small ones. */
  async #isRaw({ format, compression, from: { position }, to, path }: Range): Promise<boolean> {
    if (format !== 'lines' || !this.job.declared || position.tooLong) return false;
    if (lossyLines(this.#fields) === null) return false;
    const size = async (): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;
    const end = to?.position.offset ?? (compression === 'none' ? await size() : Infinity);
    return end - position.offset >= this.job.large;
  }

  /**
   * Reads a range. What has been read of it does not count where its file turns out to be another one, or cannot be read.
   *
   * @param read gives where it has ended; null: it is to be read in another way
   * @returns whether it counts
   */
  async #reading(range: Range, read: (leftOut: LeftOutCount) => Promise<RangeEnd | null>): Promise<boolean> {
    const { source, path, identity, to } = range;
    const leftOut = new LeftOutCount(!this.job.declared);
    if (await isMoved(path, identity)) return false;
    try {
      const end = await read(leftOut);
      if (end === null) return true;
      if (to !== null && !sameProgress(end, to)) throw new ChangedContent();
      if (await isMoved(path, identity)) return false;
      this.#ends[source] = end;
      this.#leftOut.addAll(leftOut);
      return true;
    } catch (error) {
      if (!(error instanceof ChangedContent) && !(error instanceof ReadFault)) throw error;
      if (await isMoved(path, identity)) return false;
      if (error instanceof ReadFault) this.#faults[source] = error.message;
      else this.#changed.push(source);
      return false;
    }
  }

  /** Copies whole lines of a range; null: they do not count; false: they cannot be read like that. */
  async #spool(range: Range, path: string): Promise<Spooled | null | false> {
    const output = writing(path);
    const longest = new LongestLine();
    let counts: boolean;
    try {
      counts = await this.#reading(range, () => this.#copyLines(range, output, longest));
    } finally {
      await ended(output);
    }
    const end = this.#ends[range.source];
    if (counts && end !== undefined) {
      const lines = end.position.records - range.from.position.records;
      return { range, path, lines, longest: longest.bytes };
    }
    await rm(path, { force: true });
    return counts ? false : null;
  }

  /** null: there is a line that is too long, or longer than what is read at once. */
  async #copyLines(range: Range, output: Writable, longest: LongestLine): Promise<RangeEnd | null> {
    const { from, to, compression } = range;
    const digest = await readingFile(resumeDigest(range));
    let { offset, records, open } = from.position;
    const end = to?.position.offset ?? offset + this.#budget;
    const size = Math.max(to?.position.offset ?? (await readingFile(stat(range.path))).size, offset);
    let seen = offset;
    let rest: Buffer[] = [];
    let length = 0;
    const write = async (lines: Buffer): Promise<void> => {
      offset += lines.length;
      digest.update(lines);
      if (!output.write(lines)) await once(output, 'drain');
    };
    try {
      for await (const block of readingBlocks(readContent(range.path, compression, offset, end))) {
        seen += block.length;
        const last = block.lastIndexOf(NEWLINE);
        if (last === -1) {
          rest.push(block);
          length += block.length;
          if (length > LONGEST_LINE) return null;
          continue;
        }
        const lines = Buffer.concat([...rest, block.subarray(0, last + 1)]);
        rest = last + 1 < block.length ? [block.subarray(last + 1)] : [];
        length = block.length - last - 1;
        records += longest.countIn(lines);
        open = false;
        await write(lines);
        this.watch.bytes('Reading', offset - from.position.offset, size - from.position.offset);
      }
      const line = Buffer.concat(rest);
      if ((isClosed(range) || to?.position.open === true) && line.length > 0 && (to !== null || seen < end)) {
        records++;
        open = true;
        longest.see(line.length);
        await write(line);
        output.write('\n');
      }
      // Nothing would ever be read behind it.
      if (offset === from.position.offset && seen >= end && to === null) return null;
    } catch (error) {
      this.#fault(range, error);
    }
    this.#budget -= offset - from.position.offset;
    const position = { ...from.position, offset, records, array: false, open };
    return { position, digest: digest.state(), whole: seen < end };
  }

  /** Prints the rows of a range, as DuckDB reads them exactly. @returns how many */
  async #print(range: Range, output: Writable): Promise<number> {
    const { from, to, compression, path } = range;
    let rows = 0;
    const counts = await this.#reading(range, async (leftOut) => {
      const digest = await readingFile(resumeDigest(range));
      const pending: Buffer[] = [];
      const blocks = readingBlocks(readContent(path, compression, from.position.offset, to?.position.offset));
      let { position }: { position: Position } = from;
      let whole = true;
      try {
        const complete = (): boolean => to?.position.open ?? isClosed(range);
        for await (const batch of readRecords(keeping(blocks, pending), range.format, position, complete)) {
          const began = performance.now();
          rows += await this.#printBatch(range, batch.records, output, leftOut);
          if (this.#besideQueries) await sleep(performance.now() - began);
          this.#budget -= digest.take(pending, batch.position.offset - position.offset);
          position = batch.position;
          whole = this.#budget > 0 || to !== null;
          if (!whole) break;
        }
      } catch (error) {
        this.#fault(range, error);
      }
      return { position, digest: digest.state(), whole };
    });
    if (!counts) this.#discarded.push(range.source);
    return rows;
  }

  /** The same of lines that were copied. */
  async #printSpool({ range, path }: Spooled, output: Writable): Promise<number> {
    let rows = 0;
    for await (const { records } of readRecords(readContent(path, 'none'), 'lines', START, () => true)) {
      rows += await this.#printBatch(range, records, output, this.#leftOut, range.from.position.records);
    }
    return rows;
  }

  /** @param before records of the file that came before those of which lines are counted */
  async #printBatch(
    { path, source }: Range,
    records: readonly RawRecord[],
    output: Writable,
    leftOut: LeftOutCount,
    before = 0,
  ): Promise<number> {
    const leaveOut = <T>(line: number, work: () => T): T | null => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        leftOut.add(path, line + before, error);
        return null;
      }
    };
    const parsed = records.flatMap(({ text, line }) => {
      const row = leaveOut(line, () => recordRow(text));
      return row === null || text === null ? [] : { text, line, row };
    });
    if (!this.job.declared) {
      for (const { row } of parsed) this.#fields = withFieldsOf(this.#fields, row, this.#first);
      if (parsed.length > 0) this.#first = false;
    }
    const rules = this.#rules;
    const printed = parsed.flatMap(({ text, line, row }) => {
      const read = leaveOut(line, () => rowOf(text, row, this.#fields, rules, leftOut));
      if (read === null) return [];
      const id = read.digest === null ? {} : { id: `${UNNUMBERED}${read.digest}` };
      const start = read.json === '{}' ? '{' : `${read.json.slice(0, -1)},`;
      return `${start}${JSON.stringify({ [SOURCE_KEY]: source, ...id }).slice(1)}`;
    });
    for (const line of printed) this.#longest = Math.max(this.#longest, Buffer.byteLength(line));
    if (printed.length > 0 && !output.write(`${printed.join('\n')}\n`)) await once(output, 'drain');
    return printed.length;
  }

  get #rules(): RowRules {
    return rulesOf(this.#fields, this.job.declared);
  }

  /** Has DuckDB read copied lines. @returns the table; null: a line needs a closer look */
  async #loadRaw(
    connection: DuckDBConnection,
    { range: { source }, path, lines, longest }: Spooled,
    index: number,
  ): Promise<string | null> {
    const lossy = lossyLines(this.#fields);
    if (lossy === null) return null;
    const table = `staging.raw_${index}`;
    try {
      const search = connection.runAndReadAll(
        `SELECT 1 FROM ${linesOf(path, longest)} WHERE regexp_matches(json, ${quoteText(lossy)}) LIMIT 1`,
      );
      if ((await this.watch.statement('Checking', connection, search)).currentRowCount > 0) return null;
      await this.#create(connection, table);
      const values = this.#fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
      const insert = connection.run(
        `INSERT INTO ${table} SELECT ${[...values, source].join(', ')} FROM ${scanOf({ path, format: 'ndjson', longest }, this.#fields)}`,
      );
      const { rowsChanged } = await this.watch.statement('Converting', connection, insert);
      const { timed, identified } = this.#rules;
      const missing = [...(timed ? ['timestamp IS NULL'] : []), ...(identified ? [`coalesce(id, '') = ''`] : [])];
      if (missing.length === 0 || rowsChanged > lines) return table;
      const found = await connection.runAndReadAll(`SELECT 1 FROM ${table} WHERE ${missing.join(' OR ')} LIMIT 1`);
      if (found.currentRowCount === 0) return table;
    } catch (error) {
      if (isResourceFault(error)) throw error;
    }
    await connection.run(`DROP TABLE IF EXISTS ${table}`);
    return null;
  }

  async #loadPrinted(connection: DuckDBConnection, path: string): Promise<string> {
    const table = 'staging.printed';
    await this.#create(connection, table);
    const source: RestField = { name: SOURCE_KEY, type: 'INT64', mode: 'NULLABLE', fields: [] };
    const values = this.#fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
    const where = this.#discarded.length === 0 ? '' : ` WHERE ${isNotOf(this.#discarded)}`;
    const insert = connection.run(
      `INSERT INTO ${table} SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${scanOf({ path, format: 'ndjson', longest: this.#longest }, [...this.#fields, source])}${where}`,
    );
    await this.watch.statement('Converting', connection, insert);
    return table;
  }

  /** @returns the table; null: its rows do not count */
  async #loadParquet(connection: DuckDBConnection, range: Range, index: number): Promise<string | null> {
    const table = `staging.parquet_${index}`;
    const counts = await this.#reading(range, async (leftOut) => {
      const { size } = await readingFile(stat(range.path));
      await this.#copyParquet(connection, range, table, leftOut);
      const position = { ...range.from.position, offset: size, array: false };
      return { position, digest: range.from.digest, whole: true };
    });
    return counts ? table : null;
  }

  async #copyParquet(
    connection: DuckDBConnection,
    { path, source }: Range,
    table: string,
    leftOut: LeftOutCount,
  ): Promise<void> {
    try {
      if (!this.job.declared) this.#fields = await inferredColumns(connection, path, this.#fields);
      await this.#create(connection, table);
      const target = { table, source, rules: this.#rules, watch: this.watch };
      const outcome = await loadParquet(connection, { path }, this.#fields, target);
      for (const { reason, count, first } of outcome) leftOut.addRows(reason, count, first);
    } catch (error) {
      if (isResourceFault(error)) throw error;
      this.#faults[source] = `not a whole Parquet file (${kindOf(error)})`;
      await connection.run(`DROP TABLE IF EXISTS ${table}`);
      await this.#create(connection, table);
    }
  }

  async #create(connection: DuckDBConnection, table: string): Promise<void> {
    await connection.run(`CREATE TABLE ${table} (${this.#columns().join(', ')})`);
  }

  #columns(): string[] {
    return [
      ...this.#fields.map((field) => `${quoteName(field.name)} ${storedType(field)}`),
      `${SOURCE_COLUMN} INTEGER`,
    ];
  }

  /** Brings everything together in time order; null: there are no rows. */
  async #sort(
    connection: DuckDBConnection,
    staged: readonly Staged[],
  ): Promise<Omit<Segment, 'file' | 'bytes'> | null> {
    const { job } = this;
    const attached = [...job.merged, ...job.others].map((stored, i) => ({ ...stored, name: `segment_${i}` }));
    for (const { name, path } of attached) await connection.run(`ATTACH ${quoteText(path)} AS ${name} (READ_ONLY)`);
    if (this.#rules.identified)
      await numberGeneratedIds(
        connection,
        staged.map(({ table }) => table),
        attached,
        this.#rules.timed,
      );
    const select = (table: string, fields: readonly RestField[], single: readonly string[] = []): string =>
      `SELECT ${castColumns(fields, this.#fields, new Set(single))}, ${SOURCE_COLUMN} FROM ${table}`;
    const inputs = staged.map(({ table, fields }) => select(table, fields));
    for (const [i, { segment, dropped }] of job.merged.entries()) {
      const where = dropped.length === 0 ? '' : ` WHERE ${isNotOf(dropped)}`;
      inputs.push(`${select(`segment_${i}.rows`, segment.fields, segment.single)}${where}`);
      if (segment.odd > 0) inputs.push(`${select(`segment_${i}.odd`, segment.fields)}${where}`);
    }
    if (inputs.length === 0) return null;
    const writing = this.#writeSorted(connection, `(${inputs.join(' UNION ALL ')})`);
    const { odd, single, time } = await this.watch.statement('Sorting', connection, writing);
    const all = ['rows', ...(odd > 0 ? ['odd'] : [])].map(
      (table) => `SELECT ${SOURCE_COLUMN} AS s, ${time} AS t FROM ${table}`,
    );
    const groups = await connection.runAndReadAll(
      `SELECT s, count(*), count(t), epoch_us(min(t)), epoch_us(max(t)) FROM (${all.join(' UNION ALL ')}) GROUP BY 1`,
    );
    const sources = groups.getRows() as [number, bigint, bigint, bigint | null, bigint | null][];
    if (sources.length === 0) return null;
    const timed = sources.every(([, rows, times]) => rows === times);
    const bound = (values: readonly (bigint | null)[]): string | null =>
      timed ? String(values.reduce((best, value) => (value! < best! ? value : best))) : null;
    return {
      rows: sources.reduce((sum, [, count]) => sum + Number(count), 0),
      odd,
      earliest: bound(sources.map(([, , , earliest]) => earliest)),
      latest: timed ? String(-BigInt(bound(sources.map(([, , , , latest]) => -latest!))!)) : null,
      sources: Object.fromEntries(sources.map(([source, count]) => [source, Number(count)])),
      fields: this.#fields,
      single,
    };
  }

  /** Writes tables `rows` and `odd` from a relation with lists. */
  async #writeSorted(
    connection: DuckDBConnection,
    from: string,
  ): Promise<{ readonly odd: number; readonly single: readonly string[]; readonly time: string }> {
    const fields = this.#fields;
    const timestamp = fields.find(
      ({ name, type, mode }) => name === 'timestamp' && mode !== 'REPEATED' && TIMES.has(type),
    );
    // The last first: those that are read most are found soonest.
    const order = timestamp === undefined ? '' : ` ORDER BY ${quoteName(timestamp.name)} DESC NULLS LAST`;
    const single = await findSingleLists(connection, from, fields);
    const condition = oneOfEach(fields, single);
    const types = fields.map((field) => `${quoteName(field.name)} ${singleType(field, single)}`);
    await connection.run(`CREATE TABLE rows (${[...types, `${SOURCE_COLUMN} INTEGER`].join(', ')})`);
    const values = fields.map((field) => `${singleValue(field, single)} AS ${quoteName(field.name)}`);
    const where = condition === null ? '' : ` WHERE ${condition}`;
    await connection.run(
      `INSERT INTO rows SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${from}${where}${order}`,
    );
    let odd = 0;
    if (condition !== null) {
      await connection.run(`CREATE TABLE odd AS FROM ${from} WHERE NOT (${condition})${order}`);
      odd = Number((await connection.runAndReadAll('SELECT count(*) FROM odd')).getRows()[0]![0]);
      if (odd === 0) await connection.run('DROP TABLE odd');
    }
    const time = timestamp?.type === 'TIMESTAMP' ? quoteName(timestamp.name) : 'CAST(NULL AS TIMESTAMP)';
    return { odd, single: [...single], time };
  }

  /** A fault of a file's content is reported; others end the job. */
  #fault({ source }: Range, error: unknown): void {
    if (!(error instanceof ContentFault)) throw error;
    this.#faults[source] = error.message;
  }
}

/** Whether nothing follows what has been read to its end. */
function isClosed({ closed, compression }: Range): boolean {
  return closed || compression !== 'none';
}

/** What more room or another moment may mend. */
function isResourceFault(error: unknown): boolean {
  return /Out of Memory|failed to allocate|No space left|ENOSPC|Could not write|could not be written/i.test(
    messageOf(error),
  );
}

/** A file of DATA_DIR cannot be read, which is no fault of what is written. */
class ReadFault extends Error {}

/** @throws ReadFault for what reading a file throws */
async function readingFile<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw ofReading(error);
  }
}

async function* readingBlocks(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw ofReading(error);
  }
}

function ofReading(error: unknown): unknown {
  const code = codeOf(error);
  return code === null ? error : new ReadFault(`cannot be read (${code})`);
}

function sameProgress(a: Progress, b: Progress): boolean {
  return (
    a.position.offset === b.position.offset && a.digest.chain === b.digest.chain && a.digest.rest === b.digest.rest
  );
}

/** A file to write; what goes wrong is thrown by `ended`. */
function writing(path: string): Writable {
  return createWriteStream(path).on('error', () => undefined);
}

async function ended(output: Writable): Promise<void> {
  output.end();
  await finished(output);
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
