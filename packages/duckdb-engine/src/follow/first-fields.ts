/** What the first rows of a table's files tell of its fields. */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import { inferredColumns } from '../data/parquet-schema';
import { type JsonObject, Unfit } from '../data/strict-row';
import { readContent, START } from './content';
import type { FoundFile } from './folder-scan';
import { DECIDING_ROWS, GrowingFields, type TableFields } from './inferred-schema';
import { readRecords } from './records';
import { recordRow } from './rows';

/** Bytes of a file that are read. */
const READ = 8 * 1024 * 1024;
/** Rows whose fields are added at once. */
const AT_ONCE = 1_000;

/** The files in the order in which they were written. */
export function oldestFirst(files: readonly FoundFile[]): readonly FoundFile[] {
  const isBefore = (a: FoundFile, b: FoundFile): boolean =>
    a.modified === b.modified ? a.path < b.path : a.modified < b.modified;
  return [...files].sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

/**
 * The fields of a table that is new: types are what most of the first rows of the oldest file have, of those behind it where it is short.
 * A file that cannot be read tells nothing.
 */
export async function firstFields(dataDir: string, files: readonly FoundFile[]): Promise<readonly RestField[]> {
  let growing = new GrowingFields([], true, new Set());
  let [rows, bytes] = [0, 0];
  for (const file of oldestFirst(files)) {
    if (rows >= DECIDING_ROWS || bytes >= READ) break;
    if (file.format === 'parquet') {
      const { fields } = growing;
      growing = new GrowingFields(await withColumns(dataDir, file, fields), true, new Set());
      continue;
    }
    for await (const { row, size } of rowsOf(dataDir, file)) {
      growing.observe(row, file.format === 'csv');
      bytes += size;
      if (++rows >= DECIDING_ROWS || bytes >= READ) break;
    }
  }
  return growing.fields;
}

/** Has fields take over what the rows at the beginning of a file have, in their order. */
export async function addFields(dataDir: string, file: FoundFile, fields: TableFields): Promise<void> {
  if (file.format === 'parquet') {
    fields.unite(await withColumns(dataDir, file, fields.all));
    return;
  }
  const rows: JsonObject[] = [];
  const take = (): void => {
    fields.grow(rows, file.format === 'csv', new Set());
    fields.observeTimes(() => rows);
    rows.length = 0;
  };
  for await (const { row } of rowsOf(dataDir, file)) if (rows.push(row) === AT_ONCE) take();
  take();
}

interface SizedRow {
  readonly row: JsonObject;
  readonly size: number;
}

async function* rowsOf(dataDir: string, { path, format, compression, modified }: FoundFile): AsyncGenerator<SizedRow> {
  try {
    const text = { written: Number(modified / 1_000_000n) };
    const content = readContent(join(dataDir, path), compression, 0, READ);
    // Half a line of JSON is none; of CSV it would be taken for a whole one.
    const complete = (): boolean => format !== 'csv' || compression !== 'none';
    for await (const { records } of readRecords(content, format, START, text, complete)) {
      for (const { text, fault } of records) {
        try {
          const row = recordRow({ text, fault }, false);
          if (row !== null) yield { row, size: text.length };
        } catch (error) {
          if (!(error instanceof Unfit)) throw error;
        }
      }
    }
  } catch {
    // What can be read has been.
  }
}

/** With the columns of a Parquet file; the same where it is none. */
async function withColumns(
  dataDir: string,
  { path }: FoundFile,
  fields: readonly RestField[],
): Promise<readonly RestField[]> {
  const instance = await DuckDBInstance.create(':memory:');
  try {
    return await inferredColumns(await instance.connect(), join(dataDir, path), fields, new Set());
  } catch {
    return fields;
  } finally {
    instance.closeSync();
  }
}
