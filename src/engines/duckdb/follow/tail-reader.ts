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
import type { Source } from './source';
import type { TableFields } from './table-fields';
import type { TableParts } from './table-parts';
import type { Tails } from './tails';

/** Milliseconds until a file that cannot be read is tried again. */
export const TRY_AGAIN = 5_000;
/** Milliseconds until an archive that grows is read again, for each that it took: it is read from its beginning. */
const PATIENCE = 10;
/** Bytes of a file of which the rows are inserted together: planning an insertion takes as long as inserting a hundred rows of a wide table. */
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

/** Rows that are inserted together. */
interface NewRows {
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

export class TailReader {
  readonly #exact: ExactLines | null;

  constructor(private readonly options: TailReaderOptions) {
    const { fields } = options;
    this.#exact = fields.isDeclared ? new ExactLines(fields.all, fields.rules) : null;
  }

  /** @param source that may have something to read, and is not being converted */
  async read(source: Source): Promise<void> {
    const { file } = source;
    const seen = { size: file.size, modified: file.modified };
    const started = performance.now();
    try {
      source.waiting = await this.#readTo(source, file.compression === 'none' ? file.size : Infinity);
      source.fault = null;
    } catch (error) {
      if (error instanceof MovedFile || (await this.#isMoved(source))) return;
      if (error instanceof ChangedContent) {
        source.replaced = true;
        return;
      }
      const isFault = error instanceof ContentFault;
      source.fault = isFault ? error.message : `cannot be read (${faultKind(error)})`;
      source.notBefore = performance.now() + TRY_AGAIN;
      this.options.onFault(file.path, source.fault);
      if (!isFault) return;
    }
    if (file.compression !== 'none') {
      const now = performance.now();
      source.notBefore = Math.max(source.notBefore, now + PATIENCE * (now - started));
    }
    source.seen = seen;
    source.behindSince = null;
  }

  /** @returns whether its last record waits for its end */
  async #readTo(source: Source, to: number): Promise<boolean> {
    let waiting = false;
    const closed = (): boolean => {
      waiting = source.file.compression === 'none' && !source.isQuiet;
      return !waiting;
    };
    for await (const rows of this.#newRows(source, to, closed)) {
      await this.#insert(rows, source);
      source.read = rows.end;
    }
    return waiting;
  }

  /** New rows of a file, as many as are inserted at once. @throws after those that come before what cannot be read */
  async *#newRows(source: Source, to: number, closed: () => boolean): AsyncGenerator<NewRows> {
    const { compression, format } = source.file;
    const { fields } = this.options;
    const path = source.pathIn(this.options.dataDir);
    const digest = await resumeDigest({ path, compression, from: source.read });
    const { position } = source.read;
    let isSame = false;
    let next = null as NewRows | null;
    const pending: Buffer[] = [];
    let digested = position.offset;
    const blocks = keeping(readContent(path, compression, position.offset, to), pending);
    try {
      for await (const batch of readRecords(blocks, format, position, closed)) {
        // What is open by now is the file that was found, if that is still there.
        if (!isSame && (await this.#isMoved(source))) throw new MovedFile();
        isSame = true;
        const leftOut = new LeftOutCount(!fields.isDeclared);
        const parsed = this.#parsed(batch.records, path, next === null, leftOut);
        // Rows have every list of the fields there were.
        if (next !== null && next.fields !== fields.all) {
          yield next;
          next = null;
        }
        const rows = this.#fitted(parsed, path, leftOut);
        const bytes = digest.take(pending, batch.position.offset - digested);
        digested += bytes;
        const end = { position: batch.position, digest: digest.state() };
        next = together(next, { rows, fields: fields.all, leftOut, end, bytes });
        if (next.bytes < INSERTED_AT_ONCE) continue;
        yield next;
        next = null;
      }
    } catch (error) {
      if (next !== null) yield next;
      throw error;
    }
    if (next !== null) yield next;
  }

  #isMoved(source: Source): Promise<boolean> {
    return isMoved(source.pathIn(this.options.dataDir), source.file.identity);
  }

  /** The rows of records; inferred fields grow by them. @param first whether no other rows wait to be inserted */
  #parsed(
    records: readonly RawRecord[],
    path: string,
    first: boolean,
    leftOut: LeftOutCount,
  ): readonly (ParsedRow | ReadRow)[] {
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
      first && this.options.isEmpty(),
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

  /** Inserts all rows or none. */
  async #insert({ rows, fields, leftOut }: NewRows, source: Source): Promise<void> {
    if (rows.length > 0) {
      const tail = await this.options.tails.open(fields, source.id);
      tail.hasGeneratedIds ||= rows.some(({ digest }) => digest !== null);
      const texts = await this.#identified(rows);
      try {
        await tail.insert(texts, source.id);
      } catch {
        // Nothing that `ExactLines` has found may keep rows from being read.
        await tail.insert(this.#strict(texts, leftOut), source.id);
      }
    }
    if (leftOut.any) this.options.onLeftOut(leftOut.total);
  }

  /** The texts of rows, each read closely. */
  #strict(texts: readonly string[], leftOut: LeftOutCount): readonly string[] {
    const { all, rules } = this.options.fields;
    return texts.flatMap((text) => {
      try {
        return rowOf(text, parsedRow(text), all, rules, new LeftOutCount(leftOut.lenient)).json;
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

/** @param before null: there are none */
function together(before: NewRows | null, rows: NewRows): NewRows {
  if (before === null) return rows;
  rows.leftOut.addAll(before.leftOut);
  return { ...rows, rows: [...before.rows, ...rows.rows], bytes: before.bytes + rows.bytes };
}
