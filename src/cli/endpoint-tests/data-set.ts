import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { MOST_OF_LIST, readBounded, systemCode } from '@logquay/duckdb-engine/files';
import { DECLARED_TABLES } from '../../engines/log-schema';
import { type RestField, parseRestSchema, RestSchemaError } from '@logquay/googlesql/types';
import { writeExact } from '../../json';
import { type EndpointTest, type Tables, type TestFile, TestFileError } from './test-file';

/** The tables and the present that tests run on. */
export interface DataSet {
  /** The folder that file names are relative to. */
  readonly base: string;
  readonly schema: ReadonlyMap<string, readonly RestField[]>;
  readonly tables: Tables;
  /** An ISO 8601 instant; null: the real present. */
  readonly clock: string | null;
}

/**
 * What one test of a file runs on: its own tables replace the file's of the same name.
 *
 * @throws TestFileError for a schema that is not one, and rows of a table without one
 */
export async function dataSetOf(file: TestFile, test: EndpointTest): Promise<DataSet> {
  const base = path.dirname(file.path);
  const { content } = file;
  const schema = new Map(DECLARED_TABLES);
  for (const [table, fields] of await describedTables(content.schema, base)) schema.set(table, fields);
  const tables = { ...content.tables, ...test.tables };
  const unknown = Object.keys(tables).find((table) => !schema.has(table));
  if (unknown !== undefined) {
    throw new TestFileError(
      `${file.path}: table ${unknown} has no columns: describe it under schema, as {"fields": [{name, type, mode}]}`,
    );
  }
  return { base, schema, tables, clock: test.clock ?? content.clock ?? null };
}

async function describedTables(
  written: TestFile['content']['schema'],
  base: string,
): Promise<[table: string, fields: readonly RestField[]][]> {
  if (written === undefined) return [];
  const file = typeof written === 'string' ? path.join(base, written) : null;
  try {
    const tables: unknown = file === null ? written : JSON.parse((await readBounded(file, MOST_OF_LIST)).toString());
    return Object.entries(tables ?? {}).map(([table, schema]) => [table, parseRestSchema(schema, table)]);
  } catch (error) {
    if (error instanceof RestSchemaError) throw new TestFileError(`schema: ${error.message}`);
    if (error instanceof SyntaxError) throw new TestFileError(`${file ?? 'schema'}: is not valid JSON`);
    throw new TestFileError(`${file ?? 'schema'}: cannot be read (${systemCode(error) ?? String(error)})`);
  }
}

/** Equal for tests that can share an engine. */
export function identityOf({ base, tables, clock }: DataSet): string {
  return `${base}\n${clock ?? ''}\n${writeExact(tables)}`;
}

/**
 * Writes the tables as a DATA_DIR, `schema.json` included, in a temporary folder of its own; `folder/data` holds them, the
 * rest is free for caches.
 */
export async function writeDataSet({ base, schema, tables }: DataSet): Promise<{
  readonly folder: string;
  readonly remove: () => Promise<void>;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'logquay-test-'));
  const data = path.join(folder, 'data');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await mkdir(data);
    const described = Object.fromEntries([...schema].map(([table, fields]) => [table, { fields }]));
    await writeFile(path.join(data, 'schema.json'), JSON.stringify(described));
    for (const [table, rows] of Object.entries(tables)) {
      const target = path.join(data, `${table}.ndjson`);
      if (Array.isArray(rows)) await writeFile(target, rows.map((row) => `${writeExact(row)}\n`).join(''));
      else await copyRows(path.join(base, rows.file), target);
    }
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function copyRows(source: string, target: string): Promise<void> {
  await copyFile(source, target).catch((error: unknown) => {
    throw new TestFileError(`${source}: cannot be read (${systemCode(error) ?? String(error)})`);
  });
}
