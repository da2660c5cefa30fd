import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../engine/native-error';
import { DataFault } from './data-fault';

export type SourceFormat = 'ndjson' | 'parquet';

export interface SourceFile {
  readonly path: string;
  readonly format: SourceFormat;
  /** What tells another version of the file from this one. */
  readonly size: bigint;
  readonly modified: bigint;
}

/** The files of one table, in name order. */
export interface Source {
  readonly table: string;
  /** The file or folder that names the table, for messages. */
  readonly path: string;
  readonly files: readonly SourceFile[];
}

const FILE = /^(.+?)\.(ndjson|ndjson\.gz|parquet)$/;
/** BigQuery's own rule for table names, without the spaces. */
const TABLE = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}]+$/u;

/**
 * The tables that DATA_DIR holds: `<table>.ndjson`, `<table>.ndjson.gz`, `<table>.parquet`, or a folder `<table>/` of
 * files with those endings, whatever their names. Everything else in the folder is left alone.
 *
 * @throws DataFault for a folder that cannot be read, a file whose name is no table name, and two sources for one table.
 */
export async function findSources(dataDir: string): Promise<Source[]> {
  const sources = new Map<string, Source>();
  for (const name of await namesIn(dataDir, 'DATA_DIR')) {
    const source = await sourceAt(dataDir, name);
    if (source === null) continue;
    if (!TABLE.test(source.table)) {
      throw new DataFault(`${source.path}: a table's name is letters, digits, "_" and "-"`);
    }
    const other = sources.get(source.table);
    if (other !== undefined) {
      throw new DataFault(`Table ${source.table} has two sources, ${other.path} and ${source.path}: leave one of them`);
    }
    sources.set(source.table, source);
  }
  return [...sources.values()];
}

async function sourceAt(dataDir: string, name: string): Promise<Source | null> {
  const path = join(dataDir, name);
  const file = FILE.exec(name);
  if (file !== null && (await stat(path)).isFile()) {
    return { table: file[1]!, path, files: [await sourceFile(path, file[2]!)] };
  }
  if (!(await stat(path)).isDirectory()) return null;
  const files: SourceFile[] = [];
  for (const inner of await namesIn(path, 'the folder')) {
    const match = FILE.exec(inner);
    if (match !== null) files.push(await sourceFile(join(path, inner), match[2]!));
  }
  return files.length === 0 ? null : { table: name, path, files };
}

async function sourceFile(path: string, ending: string): Promise<SourceFile> {
  const { size, mtimeNs } = await stat(path, { bigint: true });
  return { path, format: ending === 'parquet' ? 'parquet' : 'ndjson', size, modified: mtimeNs };
}

/** Names in a folder, sorted; names that start with a dot or an underscore are others' bookkeeping. */
async function namesIn(folder: string, what: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !/^[._]/.test(name)).sort();
  } catch (error) {
    throw new DataFault(`${what} ${folder} cannot be read (${codeOf(error)})`);
  }
}
