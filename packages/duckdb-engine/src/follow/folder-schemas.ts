/** The schemas of a data folder without its rows, for who checks queries and serves none. */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import type { Shard } from '../data/part';
import { inferredColumns } from '../data/parquet-schema';
import { describedTables } from '../data/schemas';
import { Unfit } from '../data/strict-row';
import type { DuckDbOptions } from '../engine/options';
import { readContent, START } from './content';
import { filesByTable, type FoundFile, scanFolder, shardsOf } from './folder-scan';
import { withFieldsOf } from './inferred-schema';
import { readRecords } from './records';
import { recordRow } from './rows';

/** Bytes of each file that are read. */
const READ = 8 * 1024 * 1024;

export interface FolderSchemas {
  readonly schemas: ReadonlyMap<string, readonly RestField[]>;
  /** Of tables that have some. */
  readonly shards: ReadonlyMap<string, readonly Shard[]>;
}

/**
 * The described tables, and those that only their files describe. A file that cannot be read tells nothing.
 *
 * @throws DataFault for an invalid `schema.json`
 */
export async function folderSchemas(dataDir: string, declared: DuckDbOptions['declared']): Promise<FolderSchemas> {
  const schemas = await describedTables(dataDir, declared);
  const described = new Set(schemas.keys());
  const scan = await scanFolder(dataDir, (table) => described.has(table));
  for (const file of scan.files) {
    if (described.has(file.table)) continue;
    const before = schemas.get(file.table) ?? [];
    const fields = await fieldsOf(dataDir, file, before).catch(() => before);
    if (fields.length > 0) schemas.set(file.table, fields);
  }
  const shards = new Map<string, readonly Shard[]>();
  for (const [table, files] of filesByTable(scan)) {
    const own = shardsOf(table, files.entries());
    if (own !== undefined) shards.set(table, own);
  }
  return { schemas, shards };
}

async function fieldsOf(
  dataDir: string,
  { path, format, compression }: FoundFile,
  before: readonly RestField[],
): Promise<readonly RestField[]> {
  const file = join(dataDir, path);
  if (format === 'parquet') return parquetFields(file, before);
  let fields = before;
  const content = readContent(file, compression, 0, READ);
  for await (const { records } of readRecords(content, format, START, () => true)) {
    for (const { text } of records) {
      try {
        const row = recordRow(text);
        if (row !== null) fields = withFieldsOf(fields, row, true, new Set());
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
      }
    }
  }
  return fields;
}

async function parquetFields(file: string, before: readonly RestField[]): Promise<readonly RestField[]> {
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const connection = await instance.connect();
    return await inferredColumns(connection, file, before, new Set());
  } finally {
    instance.closeSync();
  }
}
