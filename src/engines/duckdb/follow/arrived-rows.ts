/** Rows of a table that have arrived, read from its files again, as a relation of their own. */
import { stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';

import { ServiceError } from '../../../errors';
import type { ArrivedRange } from '../../contract';
import { type Part, unknownPart } from '../data/part';
import { Unfit } from '../data/strict-row';
import { codeOf } from '../engine/native-error';
import { type Arrival, type Arrivals, endOf } from './arrivals';
import { readContent } from './content';
import { ContentFault } from './content-fault';
import { LeftOutCount } from './left-out-count';
import type { LiveTable } from './live-table';
import { type Position, readRecords } from './records';
import { generatedId, type ReadRow, recordRow, rowOf, rulesOf } from './rows';
import type { Source } from './source';
import { Tail } from './tail';

/** Characters of records that are read at once; from an archive, which is read from its beginning, more. */
const AT_ONCE = { plain: 4 * 1024 * 1024, compressed: 16 * 1024 * 1024 };
/** The same in rows. */
const MOST_ROWS = 10_000;

export interface ArrivedRows {
  readonly part: Part;
  /** Records that had arrived when the last of them had. */
  readonly upTo: number;
  /** Gives the relation back. */
  remove(): Promise<void>;
}

/**
 * The rows of a range, or of its beginning where that is longer than what is read at once.
 *
 * @param name of a new relation
 * @throws ServiceError invalidParameter where the range begins before what is remembered
 */
export async function arrivedRows(
  connection: DuckDBConnection,
  name: string,
  table: LiveTable,
  arrivals: Arrivals,
  { after, upTo, whole }: Omit<ArrivedRange, 'table' | 'epoch'>,
): Promise<ArrivedRows> {
  if (!arrivals.reaches(after) || upTo > arrivals.count) throw unknownPosition();
  const rows: ReadRow[] = [];
  const bySource: { readonly source: number; readonly end: number }[] = [];
  let at = after;
  let characters = 0;
  for (const arrival of [...arrivals.behind(after)]) {
    if (at >= upTo) break;
    const { source } = arrival.from;
    const end = Math.min(upTo, endOf(arrival));
    const most = source?.file.compression === 'none' ? AT_ONCE.plain : AT_ONCE.compressed;
    const isFull = (read: number, count: number): boolean =>
      !whole && (characters + read >= most || rows.length + count >= MOST_ROWS);
    if (isFull(0, 0)) break;
    // The rows of a file that is gone are gone with it.
    if (source === null) {
      at = end;
      continue;
    }
    const read = await readArrival(table, source, arrival, { after: at, upTo: end, isFull });
    for (const row of read.rows) rows.push(row);
    characters += read.characters;
    at = read.upTo;
    arrivals.split(arrival, read.position);
    bySource.push({ source: source.id, end: rows.length });
    if (at < end) break;
  }
  const texts = await withIds(table, rows);
  const tail = await Tail.create(connection, name, table.fields);
  await tail.insert(
    bySource.flatMap(({ source, end }, i) =>
      texts.slice(bySource[i - 1]?.end ?? 0, end).map((text) => ({ text, source })),
    ),
  );
  return {
    part: { ...unknownPart(tail.relation), rows: rows.length, grows: true },
    upTo: at,
    remove: () => tail.remove(),
  };
}

export function unknownPosition(): ServiceError {
  return new ServiceError('invalidParameter', 'The position is not known any more.', {
    parameter: 'Last-Event-ID',
    hint: 'Begin without it, and query what may have been missed.',
  });
}

interface ReadArrival {
  readonly rows: readonly ReadRow[];
  readonly characters: number;
  /** Records that had arrived when the last of them had. */
  readonly upTo: number;
  /** Behind it. */
  readonly position: Position;
}

async function readArrival(
  table: LiveTable,
  source: Source,
  arrival: Arrival,
  {
    after,
    upTo,
    isFull,
  }: {
    readonly after: number;
    readonly upTo: number;
    /** Whether so many characters and rows are enough. */
    readonly isFull: (characters: number, rows: number) => boolean;
  },
): Promise<ReadArrival> {
  const { start, end } = arrival;
  const lineOf = (count: number): number => start.records + count - arrival.after;
  const [first, last] = [lineOf(after), lineOf(upTo)];
  const rows: ReadRow[] = [];
  let position = start;
  let characters = 0;
  const { fields, declared } = table;
  const rules = rulesOf(fields, declared);
  const ignored = new LeftOutCount(!declared);
  const content = readContent(table.pathOf(source), source.file.compression, start.offset, end.offset);
  try {
    for await (const batch of readRecords(content, source.file.format, start, () => true)) {
      for (const { text, line } of batch.records) {
        if (line <= first || line > last) continue;
        characters += text?.length ?? 0;
        try {
          const row = recordRow(text);
          if (row !== null && text !== null) rows.push(rowOf(text, row, fields, rules, ignored));
        } catch (error) {
          if (!(error instanceof Unfit)) throw error;
        }
      }
      ({ position } = batch);
      if (position.records >= last || (isFull(characters, rows.length) && position.records > first)) break;
    }
  } catch (error) {
    if (codeOf(error) !== null) throw moved(error);
    if (!(error instanceof ContentFault)) throw error;
    // What was read of an archive that is damaged by now is in the table, and nowhere else.
    return { rows, characters, upTo, position };
  }
  // Rotation has put another file here, or truncated this one: the next look at the folder tells where it is.
  const isWhole = position.records >= last || isFull(characters, rows.length);
  if (!isWhole || !(await isStill(table.pathOf(source), source.file.identity))) throw moved();
  return { rows, characters, upTo: arrival.after + Math.min(last, position.records) - start.records, position };
}

async function isStill(path: string, identity: string): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found !== null && `${String(found.dev)}:${String(found.ino)}` === identity;
}

function moved(cause?: unknown): ServiceError {
  return new ServiceError('backendUnavailable', 'A file of the data folder is being replaced.', {}, { cause });
}

/** The texts of rows, those without an id with the one that they have in the table: they are the last of all equal rows. */
async function withIds(table: LiveTable, rows: readonly ReadRow[]): Promise<readonly string[]> {
  const next = await table.nextOrdinals(rows);
  const left = new Map<string, number>();
  for (const { digest } of rows) if (digest !== null) left.set(digest, (left.get(digest) ?? 0) + 1);
  return rows.map(({ json, digest }) => {
    if (digest === null) return json;
    const behind = left.get(digest) ?? 0;
    left.set(digest, behind - 1);
    const ordinal = Math.max(0, (next.get(digest) ?? behind) - behind);
    const start = json === '{}' ? '{' : `${json.slice(0, -1)},`;
    return `${start}"id":"${generatedId(digest, ordinal)}"}`;
  });
}
