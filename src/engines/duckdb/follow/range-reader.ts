/** Reads ranges of files for a segment, and writes their rows as lines that DuckDB takes exactly. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import type { RestField } from '../../../googlesql/rest-schema';
import type { Watch } from '../data/conversion-progress';
import { ExactLines, type LinePlace } from '../data/exact-lines';
import { type JsonObject, Unfit } from '../data/strict-row';
import { codeOf } from '../engine/native-error';
import { keeping, readContent } from './content';
import { ContentFault } from './content-fault';
import { UNNUMBERED } from './generated-ids';
import { withFieldsOf } from './inferred-schema';
import { LeftOutCount } from './left-out-count';
import { isMoved } from './moved-file';
import { PrintedLines } from './printed-lines';
import { type Position, type RawRecord, readRecords } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import { recordRow, type RowRules, rowOf, rulesOf } from './rows';
import { NOTHING_LEFT_OUT, together } from './segment';
import type { Progress, Range, RangeEnd, SegmentJob, SegmentResult } from './segment-job';

/** A file of printed rows. */
export interface PrintedRows {
  readonly path: string;
  readonly rows: number;
  /** Bytes of the longest. */
  readonly longest: number;
  /** Whether one has no id yet. */
  readonly unnumbered: boolean;
  /** Sources of rows that do not count. */
  readonly discarded: readonly number[];
  /** What has not been read, for there was too much. */
  readonly left: readonly Range[];
}

/** A row of a record, as JSON. */
interface ParsedRow {
  readonly text: string;
  readonly line: number;
  readonly row: JsonObject;
}

/** A row that is printed as it stands. */
interface ExactRow {
  readonly place: LinePlace;
  readonly values: number;
}

/** A value of a list counts as so many bytes of content, where that is more: as many as DuckDB takes for it, however short its text is. */
const VALUE = 16;

/** Rows as they are written. */
interface Output {
  /** What they count as. */
  size: number;
  readonly stream: Writable;
  rows: number;
  longest: number;
  unnumbered: boolean;
}

export class RangeReader {
  fields: readonly RestField[];
  /** What has been read: may be set to what it was before. */
  taken: Pick<SegmentResult, 'ends' | 'leftOut'> = { ends: {}, leftOut: NOTHING_LEFT_OUT };
  /** As of `SegmentResult`. */
  readonly changed: number[] = [];
  readonly faults: Record<number, string> = {};
  readonly #exact: ExactLines | null;
  /** No row has been printed yet: what is inferred of the first ones together. */
  #first: boolean;

  /**
   * @param trusting whether lines that look exact are left as they are
   */
  constructor(
    private readonly job: SegmentJob,
    private readonly watch: Watch,
    trusting: boolean,
  ) {
    this.fields = job.fields;
    this.#first = job.fields.length === 0;
    this.#exact = trusting && job.declared ? new ExactLines(job.fields, this.rules) : null;
  }

  get rules(): RowRules {
    return rulesOf(this.fields, this.job.declared);
  }

  /**
   * Reads a range. What has been read of it does not count where its file turns out to be another one, or cannot be read.
   *
   * @param read gives where it has ended
   * @returns as `read`; null: it does not count
   */
  async reading(range: Range, read: (leftOut: LeftOutCount) => Promise<RangeEnd>): Promise<RangeEnd | null> {
    const { source, path, identity, to } = range;
    const leftOut = new LeftOutCount(!this.job.declared);
    if (await isMoved(path, identity)) return null;
    try {
      const end = await read(leftOut);
      if (to !== null && !sameProgress(end, to)) throw new ChangedContent();
      if (await isMoved(path, identity)) return null;
      const { ends, leftOut: before } = this.taken;
      this.taken = { ends: { ...ends, [source]: end }, leftOut: together(before, leftOut.total) };
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
   * Prints the rows of ranges, as DuckDB reads them exactly: of those with an end all, of the others about as many as there are in so
   * many bytes.
   */
  async print(ranges: readonly Range[], path: string, most: number): Promise<PrintedRows> {
    const output: Output = { stream: writing(path), size: 0, rows: 0, longest: 0, unnumbered: false };
    const discarded: number[] = [];
    const left: Range[] = [];
    try {
      for (const range of ranges) {
        if (output.size >= most && range.to === null) {
          left.push(range);
          continue;
        }
        const end = await this.#printRange(range, output, most);
        if (end === null) discarded.push(range.source);
        else if (!end.whole) left.push({ ...range, from: end });
      }
    } finally {
      await ended(output.stream);
    }
    const { rows, longest, unnumbered } = output;
    return { path, rows, longest, unnumbered, discarded, left };
  }

  #printRange(range: Range, output: Output, most: number): Promise<RangeEnd | null> {
    const { from, to, compression, path } = range;
    return this.reading(range, async (leftOut) => {
      const digest = await readingFile(resumeDigest(range));
      const pending: Buffer[] = [];
      const { offset } = from.position;
      const blocks = readingBlocks(readContent(path, compression, offset, to?.position.offset));
      const size = compression === 'none' ? (await readingFile(stat(path))).size : null;
      let { position }: { position: Position } = from;
      let whole = true;
      try {
        const complete = (): boolean => to?.position.open ?? isClosed(range);
        for await (const batch of readRecords(keeping(blocks, pending), range.format, position, complete)) {
          const bytes = batch.position.offset - position.offset;
          digest.take(pending, bytes);
          output.size += Math.max(bytes, VALUE * (await this.#printBatch(range, batch.records, output, leftOut)));
          position = batch.position;
          if (size !== null)
            this.watch.bytes('Reading', position.offset - offset, (to?.position.offset ?? size) - offset);
          whole = output.size < most || to !== null;
          if (!whole) break;
        }
      } catch (error) {
        this.#fault(range, error);
      }
      return { position, digest: digest.state(), whole };
    });
  }

  /** @returns values in the lists of the rows */
  async #printBatch(
    { path, source }: Range,
    records: readonly RawRecord[],
    output: Output,
    leftOut: LeftOutCount,
  ): Promise<number> {
    const leaveOut = (line: number, work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        leftOut.add(path, line, error);
      }
    };
    const read: (ExactRow | ParsedRow)[] = [];
    for (const record of records) {
      const { place, line } = record;
      if (place !== null && this.#exact?.has(place) === true) {
        read.push({ place, values: this.#exact.values });
        continue;
      }
      leaveOut(line, () => {
        const { text } = record;
        const row = recordRow(text);
        if (row !== null && text !== null) read.push({ text, line, row });
      });
    }
    this.#infer(read, leftOut.fields);
    const rules = this.rules;
    const lines = new PrintedLines(source);
    for (const one of read) {
      if ('place' in one) {
        lines.copy(one.place, one.values);
        continue;
      }
      leaveOut(one.line, () => {
        const { json, digest } = rowOf(one.text, one.row, this.fields, rules, leftOut);
        output.unnumbered ||= digest !== null;
        lines.add(json, leftOut.values, digest === null ? {} : { id: `${UNNUMBERED}${digest}` });
      });
    }
    leftOut.ignored += this.#exact?.takeIgnored() ?? 0;
    output.rows += lines.count;
    output.longest = Math.max(output.longest, lines.longest);
    if (lines.count > 0 && !output.stream.write(lines.bytes)) await once(output.stream, 'drain');
    return lines.values;
  }

  /** Fields that nobody has declared grow with the rows. */
  #infer(read: readonly (ExactRow | ParsedRow)[], leftOut: Set<string>): void {
    if (this.job.declared || read.length === 0) return;
    for (const one of read) if ('row' in one) this.fields = withFieldsOf(this.fields, one.row, this.#first, leftOut);
    this.#first = false;
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
function writing(path: string): Writable {
  return createWriteStream(path).on('error', () => undefined);
}

async function ended(output: Writable): Promise<void> {
  output.end();
  await finished(output);
}
