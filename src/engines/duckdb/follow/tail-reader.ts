/** Reads what is new of a table's files into its tails. */
import { type DuckDBConnection, listValue } from '@duckdb/node-api';

import { type JsonObject, Unfit } from '../data/strict-row';
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
import type { Source } from './source';
import type { TableFields } from './table-fields';
import type { TableParts } from './table-parts';
import type { Tails } from './tails';

/** Milliseconds until a file that cannot be read is tried again. */
export const TRY_AGAIN = 5_000;
/** Milliseconds until an archive that grows is read again, for each that it took: it is read from its beginning. */
const PATIENCE = 10;

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

/** The file was moved before it was opened: the next look at the folder shows it. */
class MovedFile extends Error {}

export class TailReader {
  constructor(private readonly options: TailReaderOptions) {}

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
    const { compression, format } = source.file;
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
      await this.#insert(batch.records, source);
      digested = digest.take(pending, batch.position.offset - digested) + digested;
      source.read = { position: batch.position, digest: digest.state() };
    }
    return waiting;
  }

  #isMoved(source: Source): Promise<boolean> {
    return isMoved(source.pathIn(this.options.dataDir), source.file.identity);
  }

  /** Inserts rows of records, all or none: what has been read moves on with them. */
  async #insert(records: readonly RawRecord[], source: Source): Promise<void> {
    const { fields, tails, dataDir } = this.options;
    const count = new LeftOutCount(!fields.isDeclared);
    const parsed: { readonly text: string; readonly line: number; readonly row: JsonObject }[] = [];
    const leaveOut = (line: number, work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        count.add(source.pathIn(dataDir), line, error);
      }
    };
    for (const { text, line } of records) {
      leaveOut(line, () => {
        const row = recordRow(text);
        if (row !== null && text !== null) parsed.push({ text, line, row });
      });
    }
    fields.grow(
      parsed.map(({ row }) => row),
      this.options.isEmpty(),
    );
    const { all, rules } = fields;
    const rows: ReadRow[] = [];
    for (const { text, line, row } of parsed) {
      leaveOut(line, () => rows.push(rowOf(text, row, all, rules, count)));
    }
    if (rows.length > 0) {
      const tail = await tails.open(all, source.id);
      tail.hasGeneratedIds ||= rows.some(({ digest }) => digest !== null);
      await tail.insert(await this.#identified(rows), source.id);
    }
    if (count.any) this.options.onLeftOut(count.total);
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
