/** Reads what is new of a source as rows that its table takes. */
import type { RestField } from '@logquay/googlesql/types';
import { ExactLines } from '../data/exact-lines';
import { type JsonObject, parsedRow, Unfit } from '../data/strict-row';
import { MOST_OBSERVED } from '../data/time-column';
import { readContent, resumeDigest, type Progress } from './content';
import { isMoved } from './copies';
import { LeftOutCount } from './left-out';
import { type RawRecord, readRecords } from './records';
import { type ReadRow, recordRow, rowOf } from './rows';
import type { Source } from './source';
import type { TableFields } from './inferred-schema';

/** Rows of a source, one behind the other. */
export interface ReadBatch {
  readonly source: Source;
  readonly rows: readonly ReadRow[];
  /** What they have been fitted to. */
  readonly fields: readonly RestField[];
  /** What was left out among them. */
  readonly leftOut: LeftOutCount;
  /** Behind the last of them. */
  readonly end: Progress;
  /** Of the content. */
  readonly bytes: number;
}

/** A row of a record, as JSON, that is to be fitted. */
interface ParsedRow {
  readonly text: string;
  readonly line: number;
  readonly row: JsonObject;
}

/** The file was moved before it was opened: the next look at the folder shows it. */
export class MovedFile extends Error {}

export class SourceReader {
  readonly #exact: ExactLines | null;

  constructor(
    private readonly dataDir: string,
    private readonly fields: TableFields,
  ) {
    this.#exact = fields.isDeclared ? new ExactLines(fields.all, fields.rules) : null;
  }

  /**
   * Reads from where the table's rows of the source end.
   *
   * @returns whether its last record waits for its end
   * @throws MovedFile; ChangedContent where the file does not hold (any more) what was read of it; ContentFault; what reading a file
   *   throws; each after the rows that come before
   */
  async *read(source: Source): AsyncGenerator<ReadBatch, boolean> {
    const { compression, format, size, modified, identity } = source.file;
    const path = source.pathIn(this.dataDir);
    const { position } = source.read;
    const digest = await resumeDigest({ path, compression, from: source.read });
    let isSame = false;
    let waiting = false;
    const complete = (isLine: boolean): boolean => {
      source.endsWithLine = isLine;
      // What has been written while a backlog was read may belong to it.
      const isAsRead = source.file.size === size && source.file.modified === modified;
      waiting = compression === 'none' && !(isAsRead && source.isQuiet);
      return !waiting;
    };
    const pending: Buffer[] = [];
    const content = readContent(path, compression, position.offset, compression === 'none' ? size : Infinity);
    let digested = position.offset;
    const text = this.fields.takesText ? { written: Number(modified / 1_000_000n) } : null;
    const all = readRecords(keeping(content, pending), format, position, text, complete);
    for await (const { records, position: end } of all) {
      // What is open by now is the file that was found, if that is still there.
      if (!isSame && (await isMoved(path, identity))) throw new MovedFile();
      isSame = true;
      const leftOut = new LeftOutCount(!this.fields.isStrict);
      const rows = this.#rows(records, path, leftOut, format === 'csv');
      const bytes = digest.take(pending, end.offset - digested);
      digested += bytes;
      yield { source, rows, fields: this.fields.all, leftOut, end: { position: end, digest: digest.state() }, bytes };
    }
    return waiting;
  }

  /** The rows of records; inferred fields grow by them. */
  #rows(records: readonly RawRecord[], file: string, leftOut: LeftOutCount, texts: boolean): readonly ReadRow[] {
    const parsed: (ParsedRow | ReadRow)[] = [];
    for (const record of records) {
      const { place, line } = record;
      if (place !== null && this.#exact?.has(place) === true) {
        parsed.push({ json: this.#exact.withLists(place), digest: null, time: null, values: this.#exact.values });
        continue;
      }
      leavingOut(file, line, leftOut, () => {
        const { text, fault } = record;
        const row = recordRow({ text, fault }, this.fields.isStrict);
        if (row !== null) parsed.push({ text, line, row });
      });
    }
    leftOut.ignored += this.#exact?.takeIgnored() ?? 0;
    const objects = parsed.flatMap((one) => ('row' in one ? [one.row] : []));
    this.fields.grow(objects, texts, leftOut.fields);
    const { all, rules } = this.fields;
    const rows: ReadRow[] = [];
    for (const one of parsed) {
      if ('json' in one) rows.push(one);
      else {
        const { text, line, row } = one;
        leavingOut(file, line, leftOut, () => rows.push(rowOf(text, this.fields.spelled(row), all, rules, leftOut)));
      }
    }
    this.fields.observeTimes(() => rows.slice(0, MOST_OBSERVED).map(({ json }) => parsedRow(json)));
    return rows;
  }
}

/** Does something with a record; one that is no row is counted. */
function leavingOut(file: string, line: number, leftOut: LeftOutCount, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    leftOut.add(file, line, error);
  }
}

/** The blocks, each kept until it is digested. */
async function* keeping(content: AsyncIterable<Buffer>, pending: Buffer[]): AsyncGenerator<Buffer> {
  for await (const block of content) {
    pending.push(block);
    yield block;
  }
}
