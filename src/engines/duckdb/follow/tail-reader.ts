/** Reads what is new of a table's files into its tails. */
import { type DuckDBConnection, listValue } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { ExactLines } from '../data/exact-lines';
import { type JsonObject, parsedRow, Unfit } from '../data/strict-row';
import { quoteText } from '../sql';
import { keeping, readContent } from './content';
import { ContentFault } from './content-fault';
import { faultKind } from './fault-kind';
import { ORDINAL } from './generated-ids';
import { LeftOutCount } from './left-out-count';
import { isMoved } from './moved-file';
import { type RawRecord, readRecords } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import { generatedId, type ReadRow, recordRow, rowOf, rulesOf } from './rows';
import { isNotOf, type LeftOut } from './segment';
import type { Progress } from './segment-job';
import { NOT_STORED, type Source } from './source';
import type { TableFields } from './table-fields';
import type { TableParts } from './table-parts';
import type { TailRow } from './tail';
import type { Tails } from './tails';

/** Milliseconds until a file that cannot be read is tried again. */
export const TRY_AGAIN = 5_000;
/** Milliseconds until an archive that grows is read again, for each that it took: it is read from its beginning. */
const PATIENCE = 10;
/** Bytes of files whose rows are inserted together: planning an insertion takes as long as inserting a hundred rows of a wide table. */
const INSERTED_AT_ONCE = 2 * 1024 * 1024;

export interface TailReaderOptions {
  readonly dataDir: string;
  readonly connection: DuckDBConnection;
  readonly fields: TableFields;
  readonly tails: Tails;
  readonly parts: TableParts;
  /** Whether the table has no rows yet. */
  readonly isEmpty: () => boolean;
  /** Takes what was left out of a batch of rows. */
  readonly onLeftOut: (leftOut: LeftOut) => void;
  /** Takes why a file is set aside. */
  readonly onFault: (file: string, fault: string) => void;
}

/** A row of a record, as JSON, that is to be fitted. */
interface ParsedRow {
  readonly text: string;
  readonly line: number;
  readonly row: JsonObject;
}

/** Rows of a file that wait to be inserted. */
interface NewRows {
  readonly source: Source;
  readonly rows: readonly ReadRow[];
  readonly fields: readonly RestField[];
  /** What was left out among them. */
  readonly leftOut: LeftOutCount;
  /** Behind the last of them. */
  readonly end: Progress;
  /** Of the file. */
  readonly bytes: number;
}

/** The file was moved before it was opened: the next look at the folder shows it. */
class MovedFile extends Error {}

/** Rows could not be inserted, which has been noted of their files. */
class NotInserted extends Error {}

export class TailReader {
  readonly #exact: ExactLines | null;
  /** What has been read of one file after the other. */
  #waiting: NewRows[] = [];
  /** What is to be noted of files that have been read to their end, once their rows are inserted. */
  readonly #ended = new Map<Source, () => void>();

  constructor(private readonly options: TailReaderOptions) {
    const { fields } = options;
    this.#exact = fields.isDeclared ? new ExactLines(fields.all, fields.rules) : null;
  }

  /**
   * Reads what is new of a file, once: its rows wait for `insertRead`, unless there are many.
   *
   * @param source that may have something to read, and is not being converted
   */
  async read(source: Source): Promise<void> {
    const { file } = source;
    const seen = { size: file.size, modified: file.modified };
    const started = performance.now();
    let waiting = false;
    let fault: string | null = null;
    try {
      waiting = await this.#readTo(source, file.compression === 'none' ? file.size : Infinity);
    } catch (error) {
      if (error instanceof MovedFile || error instanceof NotInserted || (await this.#isMoved(source))) return;
      if (error instanceof ChangedContent) {
        source.replaced = true;
        return;
      }
      if (!(error instanceof ContentFault)) {
        this.#setAside(source, `cannot be read (${faultKind(error)})`);
        return;
      }
      fault = error.message;
    }
    const now = performance.now();
    const notBefore = file.compression === 'none' ? 0 : now + PATIENCE * (now - started);
    this.#ended.set(source, () => {
      source.waiting = waiting;
      source.fault = null;
      if (fault !== null) this.#setAside(source, fault);
      source.notBefore = Math.max(source.notBefore, notBefore);
      source.seen = seen;
      source.behindSince = null;
    });
  }

  /** Inserts the rows that wait; files whose rows cannot be inserted are set aside. */
  async insertRead(): Promise<void> {
    try {
      await this.#insertWaiting();
    } catch (error) {
      if (!(error instanceof NotInserted)) throw error;
    }
  }

  /** @throws NotInserted after the files have been set aside */
  async #insertWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    let failed = false;
    try {
      await this.#insert(waiting);
    } catch {
      // The rows of one file keep no other's from being read.
      for (const source of new Set(waiting.map((rows) => rows.source))) {
        try {
          await this.#insert(waiting.filter((rows) => rows.source === source));
        } catch (error) {
          failed = true;
          this.#ended.delete(source);
          this.#setAside(source, `${NOT_STORED} (${faultKind(error)})`);
        }
      }
    }
    for (const note of this.#ended.values()) note();
    this.#ended.clear();
    if (failed) throw new NotInserted();
  }

  #setAside(source: Source, fault: string): void {
    source.fault = fault;
    source.notBefore = performance.now() + TRY_AGAIN;
    this.options.onFault(source.file.path, fault);
  }

  /** @returns whether its last record waits for its end. @throws after the rows that come before what cannot be read */
  async #readTo(source: Source, to: number): Promise<boolean> {
    const { compression, format } = source.file;
    const { fields } = this.options;
    const path = source.pathIn(this.options.dataDir);
    const digest = await resumeDigest({ path, compression, from: source.read });
    const { position } = source.read;
    let isSame = false;
    let waiting = false;
    const closed = (): boolean => {
      waiting = compression === 'none' && !source.isQuiet;
      return !waiting;
    };
    const pending: Buffer[] = [];
    let digested = position.offset;
    const blocks = keeping(readContent(path, compression, position.offset, to), pending);
    for await (const batch of readRecords(blocks, format, position, closed)) {
      // What is open by now is the file that was found, if that is still there.
      if (!isSame && (await this.#isMoved(source))) throw new MovedFile();
      isSame = true;
      const leftOut = new LeftOutCount(!fields.isDeclared);
      const parsed = this.#parsed(batch.records, path, leftOut);
      // Rows have every list of the fields there were.
      if (this.#waiting.some((rows) => rows.fields !== fields.all)) await this.#insertWaiting();
      const rows = this.#fitted(parsed, path, leftOut);
      const bytes = digest.take(pending, batch.position.offset - digested);
      digested += bytes;
      const end = { position: batch.position, digest: digest.state() };
      this.#waiting.push({ source, rows, fields: fields.all, leftOut, end, bytes });
      const all = this.#waiting.reduce((sum, one) => sum + one.bytes, 0);
      if (all >= INSERTED_AT_ONCE) await this.#insertWaiting();
    }
    return waiting;
  }

  #isMoved(source: Source): Promise<boolean> {
    return isMoved(source.pathIn(this.options.dataDir), source.file.identity);
  }

  /** The rows of records; inferred fields grow by them. */
  #parsed(records: readonly RawRecord[], path: string, leftOut: LeftOutCount): readonly (ParsedRow | ReadRow)[] {
    const { fields } = this.options;
    const parsed: (ParsedRow | ReadRow)[] = [];
    for (const record of records) {
      const { place, line } = record;
      if (place !== null && this.#exact?.has(place) === true) {
        parsed.push({ json: this.#exact.withLists(place), digest: null, time: null });
        continue;
      }
      leavingOut(path, line, leftOut, () => {
        const { text } = record;
        const row = recordRow(text);
        if (row !== null && text !== null) parsed.push({ text, line, row });
      });
    }
    leftOut.ignored += this.#exact?.takeIgnored() ?? 0;
    fields.grow(
      parsed.flatMap((one) => ('row' in one ? [one.row] : [])),
      this.#waiting.length === 0 && this.options.isEmpty(),
      leftOut.fields,
    );
    return parsed;
  }

  #fitted(parsed: readonly (ParsedRow | ReadRow)[], path: string, leftOut: LeftOutCount): readonly ReadRow[] {
    const { all, rules } = this.options.fields;
    const rows: ReadRow[] = [];
    for (const one of parsed) {
      if ('json' in one) rows.push(one);
      else leavingOut(path, one.line, leftOut, () => rows.push(rowOf(one.text, one.row, all, rules, leftOut)));
    }
    return rows;
  }

  /** Inserts all rows or none. @param waiting of the same fields */
  async #insert(waiting: readonly NewRows[]): Promise<void> {
    const [first] = waiting;
    if (first === undefined) return;
    const rows = waiting.flatMap((one) => one.rows);
    if (rows.length > 0) {
      const sources = waiting.flatMap(({ source: { id }, rows: own }) => own.map(() => id));
      const tail = await this.options.tails.open(first.fields, new Set(sources));
      tail.hasGeneratedIds ||= rows.some(({ digest }) => digest !== null);
      const texts = await this.#identified(rows);
      const inserted = texts.map((text, i) => ({ text, source: sources[i]! }));
      try {
        await tail.insert(inserted);
      } catch {
        // Nothing that `ExactLines` has found may keep rows from being read.
        await tail.insert(this.#strict(inserted, first.leftOut));
      }
    }
    for (const { source, end, leftOut } of waiting) {
      source.read = end;
      if (leftOut.any) this.options.onLeftOut(leftOut.total);
    }
  }

  /** Rows, each read closely. */
  #strict(rows: readonly TailRow[], leftOut: LeftOutCount): readonly TailRow[] {
    const { all, rules } = this.options.fields;
    return rows.flatMap(({ text, source }) => {
      try {
        return { text: rowOf(text, parsedRow(text), all, rules, new LeftOutCount(leftOut.lenient)).json, source };
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        leftOut.addRows(error.reason, 1, []);
        return [];
      }
    });
  }

  /** The texts of rows, those without an id with one that no equal row has. */
  async #identified(rows: readonly ReadRow[]): Promise<string[]> {
    const digests = [...new Set(rows.flatMap(({ digest }) => digest ?? []))];
    if (digests.length === 0) return rows.map(({ json }) => json);
    const next = await this.nextOrdinals(digests, rows);
    return rows.map(({ json, digest }) => {
      if (digest === null) return json;
      const ordinal = next.get(digest) ?? 0;
      next.set(digest, ordinal + 1);
      const start = json === '{}' ? '{' : `${json.slice(0, -1)},`;
      return `${start}"id":"${generatedId(digest, ordinal)}"}`;
    });
  }

  /** The next ordinal of each digest that a row has already. Equal rows have equal times. */
  async nextOrdinals(digests: readonly string[], rows: readonly ReadRow[]): Promise<Map<string, number>> {
    const { connection, fields, parts, tails } = this.options;
    const times = rows.flatMap(({ digest, time }) => (digest === null || time === null ? [] : time)).sort();
    const timed = fields.rules.timed && times.length > 0;
    const within = timed ? ` AND timestamp BETWEEN ${quoteText(times[0]!)} AND ${quoteText(times.at(-1)!)}` : '';
    const known = (relation: string, where = ''): string =>
      `SELECT id FROM ${relation} WHERE substr(id, 1, 32) IN (SELECT unnest($1))${within}${where}`;
    const stored = parts.table.parts.filter(({ grows }) => !grows).map(({ relation }) => known(relation));
    const recent = tails.all
      .filter((tail) => rulesOf(tail.fields, fields.isDeclared).identified)
      .map(({ relation, dropped }) => known(relation, dropped.size === 0 ? '' : ` AND ${isNotOf(dropped)}`));
    if (stored.length + recent.length === 0) return new Map();
    const statement = await connection.prepare(
      `SELECT substr(id, 1, 32), max(${ORDINAL}) + 1 FROM (${[...stored, ...recent].join(' UNION ALL ')}) GROUP BY 1`,
    );
    try {
      statement.bind([listValue([...digests])]);
      const found = await statement.runAndReadAll();
      return new Map(found.getRows().map(([digest, next]) => [String(digest), Number(next)]));
    } finally {
      statement.destroySync();
    }
  }
}

/** Does something with a record; one that is no row is counted. */
function leavingOut(path: string, line: number, leftOut: LeftOutCount, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    leftOut.add(path, line, error);
  }
}
