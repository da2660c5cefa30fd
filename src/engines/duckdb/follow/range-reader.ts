/** Reads ranges of files for a segment: copies their lines, or prints their rows one by one. */
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { LONGEST_LINE } from '../data/file-scan';
import { lossyLines } from '../data/lossy-lines';
import { Unfit } from '../data/strict-row';
import { codeOf } from '../engine/native-error';
import { keeping, readContent } from './content';
import { ContentFault } from './content-fault';
import { UNNUMBERED } from './generated-ids';
import { withFieldsOf } from './inferred-schema';
import { LeftOutCount } from './left-out-count';
import { LongestLine } from './longest-line';
import { isMoved } from './moved-file';
import { type Position, type RawRecord, readRecords, START } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import { recordRow, type RowRules, rowOf, rulesOf } from './rows';
import type { Progress, Range, RangeEnd, SegmentJob } from './segment-job';

const NEWLINE = 10;

/** The field of a printed row that has the number of its source. */
export const SOURCE_KEY = 'logquay:source';

/** Lines of a range that were copied. */
export interface Spooled {
  readonly range: Range;
  readonly path: string;
  readonly end: RangeEnd;
  /** Bytes of the longest. */
  readonly longest: number;
}

export class RangeReader {
  fields: readonly RestField[];
  readonly leftOut: LeftOutCount;
  /** By source: how far it has been read. */
  ends: Readonly<Record<number, RangeEnd>> = {};
  /** As of `SegmentResult`. */
  readonly changed: number[] = [];
  readonly faults: Record<number, string> = {};
  /** Sources of printed rows that do not count. */
  readonly discarded: number[] = [];
  /** Bytes of the longest row that has been printed. */
  longest = 0;
  /** No row has been printed yet: what is inferred of the first ones together. */
  #first: boolean;

  /** @param besideQueries as of `Resources` */
  constructor(
    private readonly job: SegmentJob,
    private readonly watch: Watch,
    private readonly besideQueries: boolean,
  ) {
    this.fields = job.fields;
    this.leftOut = new LeftOutCount(!job.declared);
    this.#first = job.fields.length === 0;
  }

  get rules(): RowRules {
    return rulesOf(this.fields, this.job.declared);
  }

  /** Whether DuckDB is to read a range, rather than it be read record by record, which is quicker for small ones. */
  async isRaw({ format, compression, from: { position }, to, path }: Range): Promise<boolean> {
    if (format !== 'lines' || !this.job.declared || position.tooLong) return false;
    if (lossyLines(this.fields) === null) return false;
    const size = async (): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;
    const end = to?.position.offset ?? (compression === 'none' ? await size() : Infinity);
    return end - position.offset >= this.job.large;
  }

  /**
   * Reads a range. What has been read of it does not count where its file turns out to be another one, or cannot be read.
   *
   * @param read gives where it has ended; false: it is to be read in another way
   * @returns as `read`; null: it does not count
   */
  async reading<E extends RangeEnd | false>(
    range: Range,
    read: (leftOut: LeftOutCount) => Promise<E>,
  ): Promise<E | null> {
    const { source, path, identity, to } = range;
    const leftOut = new LeftOutCount(!this.job.declared);
    if (await isMoved(path, identity)) return null;
    try {
      const end = await read(leftOut);
      if (end === false) return end;
      if (to !== null && !sameProgress(end, to)) throw new ChangedContent();
      if (await isMoved(path, identity)) return null;
      this.ends = { ...this.ends, [source]: end };
      this.leftOut.addAll(leftOut);
      return end;
    } catch (error) {
      if (!(error instanceof ChangedContent) && !(error instanceof ReadFault)) throw error;
      if (await isMoved(path, identity)) return null;
      if (error instanceof ReadFault) this.faults[source] = error.message;
      else this.changed.push(source);
      return null;
    }
  }

  /**
   * Copies whole lines of a range.
   *
   * @param most bytes, of a range without an end
   * @returns null: they do not count; false: they cannot be read like that
   */
  async spool(range: Range, path: string, most: number): Promise<Spooled | null | false> {
    const output = writing(path);
    const longest = new LongestLine();
    let end: RangeEnd | false | null;
    try {
      end = await this.reading(range, () => this.#copyLines(range, output, most, longest));
    } finally {
      await ended(output);
    }
    if (end) return { range, path, end, longest: longest.bytes };
    await rm(path, { force: true });
    return end;
  }

  /** false: there is a line that is too long, or longer than what is read at once. */
  async #copyLines(range: Range, output: Writable, most: number, longest: LongestLine): Promise<RangeEnd | false> {
    const { from, to, compression } = range;
    const digest = await readingFile(resumeDigest(range));
    let { offset, records, open } = from.position;
    const end = to?.position.offset ?? offset + most;
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
          if (length > LONGEST_LINE) return false;
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
      if (offset === from.position.offset && seen >= end && to === null) return false;
    } catch (error) {
      this.#fault(range, error);
    }
    const position = { ...from.position, offset, records, array: false, open };
    return { position, digest: digest.state(), whole: seen < end };
  }

  /**
   * Prints the rows of a range, as DuckDB reads them exactly.
   *
   * @param most bytes to read, of a range without an end
   * @returns how many
   */
  async print(range: Range, output: Writable, most: number): Promise<number> {
    const { from, to, compression, path } = range;
    let rows = 0;
    const end = await this.reading(range, async (leftOut) => {
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
          if (this.besideQueries) await sleep(performance.now() - began);
          digest.take(pending, batch.position.offset - position.offset);
          position = batch.position;
          whole = position.offset - from.position.offset < most || to !== null;
          if (!whole) break;
        }
      } catch (error) {
        this.#fault(range, error);
      }
      return { position, digest: digest.state(), whole };
    });
    if (end === null) this.discarded.push(range.source);
    return rows;
  }

  /** The same of lines that were copied. */
  async printSpool({ range, path }: Spooled, output: Writable): Promise<number> {
    let rows = 0;
    for await (const { records } of readRecords(readContent(path, 'none'), 'lines', START, () => true)) {
      rows += await this.#printBatch(range, records, output, this.leftOut, range.from.position.records);
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
      for (const { row } of parsed) this.fields = withFieldsOf(this.fields, row, this.#first);
      if (parsed.length > 0) this.#first = false;
    }
    const rules = this.rules;
    const printed = parsed.flatMap(({ text, line, row }) => {
      const read = leaveOut(line, () => rowOf(text, row, this.fields, rules, leftOut));
      if (read === null) return [];
      const id = read.digest === null ? {} : { id: `${UNNUMBERED}${read.digest}` };
      const start = read.json === '{}' ? '{' : `${read.json.slice(0, -1)},`;
      return `${start}${JSON.stringify({ [SOURCE_KEY]: source, ...id }).slice(1)}`;
    });
    for (const line of printed) this.longest = Math.max(this.longest, Buffer.byteLength(line));
    if (printed.length > 0 && !output.write(`${printed.join('\n')}\n`)) await once(output, 'drain');
    return printed.length;
  }

  /** A fault of a file's content is reported; others end the job. */
  #fault({ source }: Range, error: unknown): void {
    if (!(error instanceof ContentFault)) throw error;
    this.faults[source] = error.message;
  }
}

/** Whether nothing follows what has been read to its end. */
function isClosed({ closed, compression }: Range): boolean {
  return closed || compression !== 'none';
}

/** A file of DATA_DIR cannot be read, which is no fault of what is written. */
class ReadFault extends Error {}

/** @throws ReadFault for what reading a file throws */
export async function readingFile<T>(reading: Promise<T>): Promise<T> {
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
export function writing(path: string): Writable {
  return createWriteStream(path).on('error', () => undefined);
}

export async function ended(output: Writable): Promise<void> {
  output.end();
  await finished(output);
}
