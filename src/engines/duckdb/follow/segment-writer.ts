import { createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { storedType, storedValue } from '../data/field-sql';
import { linesOf, scanOf } from '../data/file-scan';
import { inferredColumns } from '../data/parquet-schema';
import { loadParquet } from '../data/load-parquet';
import { lossyLines } from '../data/lossy-lines';
import { findSingleLists, oneOfEach, singleType, singleValue } from '../data/single-lists';
import { Unfit } from '../data/strict-row';
import { messageOf } from '../engine/native-error';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { ContentFault, keeping, readContent } from './content';
import { numberGeneratedIds, UNNUMBERED } from './generated-ids';
import { withFieldsOf } from './inferred-schema';
import { LeftOutCount } from './left-out-count';
import { type Position, readRecords } from './records';
import { resumeDigest } from './resume-digest';
import { recordRow, type RowRules, rowOf, rulesOf } from './rows';
import { SOURCE_COLUMN, type Segment } from './segment';
import type { Progress, Range, SegmentJob, SegmentResult } from './segment-job';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
}

/** A range of fewer bytes is read record by record: to have DuckDB read it takes longer. */
const LARGE = 4 * 1024 * 1024;

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

/** A table with rows that are not sorted yet. */
interface Staged {
  readonly table: string;
  readonly fields: readonly RestField[];
}

class SegmentWriter {
  #fields: readonly RestField[];
  readonly #leftOut: LeftOutCount;
  readonly #ends: Record<number, Progress> = {};
  readonly #faults: Record<number, string> = {};
  #budget: number;

  constructor(
    private readonly job: SegmentJob,
    private readonly watch: Watch,
  ) {
    this.#fields = job.fields;
    this.#leftOut = new LeftOutCount(!job.declared);
    this.#budget = job.most;
  }

  async write({ threads, memory }: Resources): Promise<SegmentResult> {
    const { path, folder } = this.job;
    // A process that was killed over the same job has left them.
    for (const left of [path, `${path}.wal`, stagedIn(folder)]) await rm(left, { force: true });
    const instance = await DuckDBInstance.create(path, {
      threads: String(threads),
      max_memory: memory,
      temp_directory: join(folder, 'spill'),
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    let segment: Omit<Segment, 'file' | 'bytes'> | null;
    try {
      const connection = await instance.connect();
      await connection.run(`SET TimeZone = 'UTC'`);
      await this.watch.prepare(connection);
      segment = await this.#fill(connection);
      if (segment !== null) await this.watch.statement('Writing', connection, connection.run('CHECKPOINT'));
      connection.closeSync();
    } finally {
      instance.closeSync();
    }
    const { total: leftOut } = this.#leftOut;
    const rest = { fields: this.#fields, ends: this.#ends, faults: this.#faults, leftOut };
    if (segment === null) return { segment: null, ...rest };
    await synced(path);
    return { segment: { ...segment, bytes: (await stat(path)).size }, ...rest };
  }

  async #fill(connection: DuckDBConnection): Promise<Omit<Segment, 'file' | 'bytes'> | null> {
    const { job } = this;
    await connection.run(`ATTACH ${quoteText(stagedIn(job.folder))} AS staging`);
    const staged: Staged[] = [];
    const raw: { readonly range: Range; readonly path: string; readonly lines: number }[] = [];
    const strict = join(job.folder, 'strict.ndjson');
    const output = createWriteStream(strict);
    let printed = 0;
    for (const [i, range] of job.ranges.entries()) {
      if (range.format === 'parquet') continue;
      if (this.#budget <= 0 && range.to === null) continue;
      if (await this.#isRaw(range)) {
        const path = join(job.folder, `raw-${i}.ndjson`);
        raw.push({ range, path, lines: await this.#spool(range, path) });
      } else printed += await this.#print(range, output);
    }
    // Decided one after the other: what DuckDB would not read exactly is printed as well.
    for (const [i, { range, path, lines }] of raw.entries()) {
      const table = await this.#loadRaw(connection, range, path, lines, i);
      if (table !== null) staged.push({ table, fields: this.#fields });
      else printed += await this.#printSpool(range, path, output);
      await rm(path, { force: true });
    }
    output.end();
    await finished(output);
    for (const [i, range] of job.ranges.entries()) {
      if (range.format === 'parquet')
        staged.push({ table: await this.#loadParquet(connection, range, i), fields: this.#fields });
    }
    if (printed > 0) staged.push({ table: await this.#loadPrinted(connection, strict), fields: this.#fields });
    await rm(strict, { force: true });
    return this.#sort(connection, staged);
  }

  /** Whether DuckDB is to read a range, rather than it be read record by record. */
  async #isRaw({ format, compression, from, to, path }: Range): Promise<boolean> {
    if (format !== 'lines' || !this.job.declared || from.position.array === true) return false;
    if (lossyLines(this.#fields) === null) return false;
    const end = to ?? (compression === 'none' ? (await stat(path)).size : Infinity);
    return end - from.position.offset >= LARGE;
  }

  /** Copies whole lines of a range. @returns how many */
  async #spool(range: Range, path: string): Promise<number> {
    const { from, to, compression } = range;
    const digest = await resumeDigest(range);
    const output = createWriteStream(path);
    const size = Math.max(to ?? (await stat(range.path)).size, from.position.offset);
    let { offset, records } = from.position;
    const first = records;
    const end = to ?? offset + this.#budget;
    let rest: Buffer[] = [];
    try {
      for await (const block of readContent(range.path, compression, offset, end)) {
        const last = block.lastIndexOf(10);
        if (last === -1) {
          rest.push(block);
          continue;
        }
        const lines = Buffer.concat([...rest, block.subarray(0, last + 1)]);
        rest = last + 1 < block.length ? [block.subarray(last + 1)] : [];
        for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) records++;
        offset += lines.length;
        digest.update(lines);
        if (!output.write(lines)) await once(output, 'drain');
        this.watch.bytes('Reading', offset - from.position.offset, size - from.position.offset);
      }
      const line = Buffer.concat(rest);
      if (isClosed(range) && to === null && line.length > 0 && offset + line.length < end) {
        records++;
        offset += line.length;
        digest.update(line);
        output.write(Buffer.concat([line, Buffer.from('\n')]));
      }
    } catch (error) {
      this.#fault(range, error);
    } finally {
      output.end();
      await finished(output);
    }
    this.#ends[range.source] = {
      position: { ...from.position, offset, records, array: false },
      digest: digest.state(),
    };
    this.#budget -= offset - from.position.offset;
    return records - first;
  }

  /** Prints the rows of a range, as DuckDB reads them exactly. @returns how many */
  async #print(range: Range, output: NodeJS.WritableStream): Promise<number> {
    const { from, to, compression, path } = range;
    const digest = await resumeDigest(range);
    const pending: Buffer[] = [];
    const content = keeping(readContent(path, compression, from.position.offset, to ?? Infinity), pending);
    let rows = 0;
    let { position }: { position: Position } = from;
    try {
      const end = (): boolean => to !== null || isClosed(range);
      for await (const batch of readRecords(content, range.format, position, end)) {
        rows += await this.#printBatch(range, batch.records, output);
        this.#budget -= digest.take(pending, batch.position.offset - position.offset);
        position = batch.position;
        if (this.#budget <= 0 && to === null) break;
      }
    } catch (error) {
      this.#fault(range, error);
    }
    this.#ends[range.source] = { position, digest: digest.state() };
    return rows;
  }

  /** The same of lines that were copied. */
  async #printSpool(range: Range, path: string, output: NodeJS.WritableStream): Promise<number> {
    const from = { ...range.from.position, offset: 0 };
    let rows = 0;
    for await (const { records } of readRecords(readContent(path, 'none'), 'lines', from, () => true)) {
      rows += await this.#printBatch(range, records, output);
    }
    return rows;
  }

  async #printBatch(
    { path, source }: Range,
    records: readonly { readonly text: string | null; readonly line: number }[],
    output: NodeJS.WritableStream,
  ): Promise<number> {
    const printed: string[] = [];
    for (const { text, line } of records) {
      try {
        const row = recordRow(text);
        if (row === null || text === null) continue;
        if (!this.job.declared) this.#fields = withFieldsOf(this.#fields, row, this.#isFirst);
        const { json, digest } = rowOf(text, row, this.#fields, this.#rules, this.#leftOut);
        const more = { [SOURCE_KEY]: source, ...(digest === null ? {} : { id: `${UNNUMBERED}${digest}` }) };
        const start = json === '{}' ? '{' : `${json.slice(0, -1)},`;
        printed.push(`${start}${JSON.stringify(more).slice(1)}`);
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        this.#leftOut.add(path, line, error);
      }
    }
    if (printed.length > 0 && !output.write(`${printed.join('\n')}\n`)) await once(output, 'drain');
    return printed.length;
  }

  get #rules(): RowRules {
    return rulesOf(this.#fields, this.job.declared);
  }

  /** No row of the table has been stored before. */
  get #isFirst(): boolean {
    return this.job.fields.length === 0;
  }

  /** Has DuckDB read copied lines. @returns the table; null: a line needs a closer look */
  async #loadRaw(
    connection: DuckDBConnection,
    { source }: Range,
    path: string,
    lines: number,
    index: number,
  ): Promise<string | null> {
    const lossy = lossyLines(this.#fields);
    if (lossy === null) return null;
    const table = `staging.raw_${index}`;
    try {
      const search = connection.runAndReadAll(
        `SELECT 1 FROM ${linesOf(path)} WHERE regexp_matches(json, ${quoteText(lossy)}) LIMIT 1`,
      );
      if ((await this.watch.statement('Checking', connection, search)).currentRowCount > 0) return null;
      await this.#create(connection, table);
      const values = this.#fields.map((field) => storedValue(field, quoteName(field.name), 'base64'));
      const insert = connection.run(
        `INSERT INTO ${table} SELECT ${[...values, source].join(', ')} FROM ${scanOf({ path, format: 'ndjson' }, this.#fields)}`,
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
    const insert = connection.run(
      `INSERT INTO ${table} SELECT ${[...values, SOURCE_COLUMN].join(', ')} FROM ${scanOf({ path, format: 'ndjson' }, [...this.#fields, source])}`,
    );
    await this.watch.statement('Converting', connection, insert);
    return table;
  }

  async #loadParquet(connection: DuckDBConnection, range: Range, index: number): Promise<string> {
    const table = `staging.parquet_${index}`;
    const { path, source } = range;
    const { size } = await stat(path);
    this.#ends[source] = {
      position: { ...range.from.position, offset: size, array: false },
      digest: range.from.digest,
    };
    try {
      if (!this.job.declared) this.#fields = await inferredColumns(connection, path, this.#fields);
      await this.#create(connection, table);
      const rules = this.#rules;
      const outcome = await loadParquet(connection, { path }, this.#fields, {
        table,
        source,
        rules,
        watch: this.watch,
      });
      for (const { reason, count, first } of outcome) this.#leftOut.addRows(reason, count, first);
    } catch (error) {
      if (isResourceFault(error)) throw error;
      this.#faults[source] = `not a whole Parquet file (${kindOf(error)})`;
      await connection.run(`DROP TABLE IF EXISTS ${table}`);
      await this.#create(connection, table);
    }
    return table;
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
    const attached = [...job.merged, ...job.others].map(({ path, segment }, i) => ({
      name: `segment_${i}`,
      path,
      segment,
    }));
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
      const where = dropped.length === 0 ? '' : ` WHERE ${SOURCE_COLUMN} NOT IN (${dropped.join(', ')})`;
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

/** DuckDB's messages may hold values of the file: only their kind is reported. */
function kindOf(error: unknown): string {
  return /^[A-Z][\w -]*? Error/.exec(messageOf(error))?.[0] ?? 'unknown';
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
