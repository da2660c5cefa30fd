/** A look at what DATA_DIR holds. */
import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Shard } from '../data/part';
import { codeOf } from '../engine/native-error';

/** A file that is read, as it is now. */
export interface FoundFile extends SourceName {
  /** Relative to DATA_DIR. */
  readonly path: string;
  /** Device and inode: the file, whatever its name. */
  readonly identity: string;
  /** Bytes. */
  readonly size: number;
  /** Of the last change, in nanoseconds since the epoch. */
  readonly modified: bigint;
  /** `performance.now()` when it was as it is here. */
  readonly lookedAt: number;
}

export interface FolderScan {
  readonly files: readonly FoundFile[];
  /** Why other files are not read, by path. */
  readonly refused: ReadonlyMap<string, string>;
  /** What could not be read now, with the error's code: nothing is known of these files, and of what is in these folders. */
  readonly unreadable: ReadonlyMap<string, string>;
}

const DEEPEST = 32;
const MOST_FILES = 200_000;
/** Files looked at at once. */
const AT_ONCE = 16;

/** Codes of errors for what is not there, or a circle of links. */
const GONE: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Names that begin with a dot or an underscore are others' bookkeeping, but for files that are tables (`_AllLogs.ndjson`) and folders of
 * declared ones.
 */
function isPrivate(entry: Dirent, folder: string, declared: (table: string) => boolean): boolean {
  if (!entry.name.startsWith('_') || folder !== '') return /^[._]/.test(entry.name);
  return !entry.isFile() && !declared(entry.name);
}

/** @param declared whether a table of that name is described */
export async function scanFolder(dataDir: string, declared: (table: string) => boolean): Promise<FolderScan> {
  const files: FoundFile[] = [];
  const refused = new Map<string, string>();
  const unreadable = new Map<string, string>();
  const seen = new Set<string>();
  const links: { readonly path: string; readonly depth: number }[] = [];

  async function scanFile(path: string): Promise<boolean> {
    const name = readSourceName(path, declared);
    if (typeof name === 'string') refused.set(path, name);
    else {
      try {
        const lookedAt = performance.now();
        const { dev, ino, size, mtimeNs } = await stat(join(dataDir, path), { bigint: true });
        files.push({ ...name, path, identity: `${dev}:${ino}`, size: Number(size), modified: mtimeNs, lookedAt });
      } catch (error) {
        noteFault(path, codeOf(error));
      }
    }
    return true;
  }

  async function scanEntry(folder: string, entry: Dirent, depth: number): Promise<unknown> {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (isPrivate(entry, folder, declared) || path === 'schema.json') return;
    if (entry.isFile()) return scanFile(path);
    if (entry.isDirectory()) return scanIn(path, depth + 1);
    if (!entry.isSymbolicLink()) return refused.set(path, 'not a file');
    return links.push({ path, depth });
  }

  async function scanLink(path: string, depth: number): Promise<unknown> {
    let target: Stats;
    try {
      target = await stat(join(dataDir, path));
    } catch (error) {
      const code = codeOf(error);
      if (GONE.has(code)) refused.set(path, `a link to nothing (${code})`);
      noteFault(path, code);
      return;
    }
    if (target.isDirectory()) return scanIn(path, depth + 1);
    return target.isFile() ? scanFile(path) : refused.set(path, 'not a file');
  }

  /** A file or folder may go while it is looked at. */
  function noteFault(path: string, code: string | null): void {
    if (!GONE.has(code)) unreadable.set(path, code ?? 'unknown');
  }

  async function scanIn(folder: string, depth: number): Promise<void> {
    if (depth > DEEPEST) return void refused.set(folder, `more than ${DEEPEST} folders deep`);
    try {
      // A link may lead back to where it is.
      const { dev, ino } = await stat(join(dataDir, folder), { bigint: true });
      if (seen.has(`${dev}:${ino}`)) return;
      seen.add(`${dev}:${ino}`);
      const entries = await readdir(join(dataDir, folder), { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (let i = 0; i < entries.length; i += AT_ONCE) {
        if (files.length > MOST_FILES) return void refused.set(folder, `more than ${MOST_FILES} files`);
        await Promise.all(entries.slice(i, i + AT_ONCE).map((entry) => scanEntry(folder, entry, depth)));
      }
    } catch (error) {
      // DATA_DIR itself does not go.
      if (folder === '') unreadable.set(folder, codeOf(error) ?? 'unknown');
      else noteFault(folder, codeOf(error));
    }
  }

  await scanIn('', 0);
  // After everything else: what a link shows once more is named by where it is.
  for (let found = links.splice(0); found.length > 0; found = links.splice(0)) {
    found.sort((a, b) => (a.path < b.path ? -1 : 1));
    for (const { path, depth } of found) await scanLink(path, depth);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, refused, unreadable };
}

/** The files of each table. */
export function filesByTable({ files }: FolderScan): ReadonlyMap<string, readonly FoundFile[]> {
  const byTable = new Map<string, FoundFile[]>();
  for (const file of files) {
    const others = byTable.get(file.table);
    if (others === undefined) byTable.set(file.table, [file]);
    else others.push(file);
  }
  return byTable;
}

/** Tables in the order in which their files have changed last: what a look does not come to is the oldest. */
export function newestFirst<T>(
  tables: ReadonlyMap<string, T>,
  files: ReadonlyMap<string, readonly FoundFile[]>,
): readonly (readonly [string, T])[] {
  const changed = new Map(
    [...files].map(([name, found]) => [
      name,
      found.reduce((newest, { modified }) => (modified > newest ? modified : newest), 0n),
    ]),
  );
  return [...tables].sort(([a], [b]) => ((changed.get(a) ?? 0n) < (changed.get(b) ?? 0n) ? 1 : -1));
}

/** Tells whether it is known that a path is not there, rather than that it could not be looked for. */
export function knownIn({ unreadable }: FolderScan): (path: string) => boolean {
  const places = [...unreadable.keys()];
  return (path) => !places.some((place) => place === '' || path === place || path.startsWith(`${place}/`));
}

/** What the name of a file in DATA_DIR says: its table, its format, and the family that it rotates in. */
export type SourceFormat = 'lines' | 'log' | 'json' | 'csv' | 'parquet';
export type Compression = 'none' | 'gzip' | 'zstd';

export interface SourceName {
  readonly table: string;
  readonly format: SourceFormat;
  readonly compression: Compression;
  /** The path without rotation and compression: `x.ndjson` of `x.ndjson.1.gz`. */
  readonly family: string;
  /** Whether the name differs from that. */
  readonly rotated: boolean;
}

const FORMATS: Readonly<Record<string, SourceFormat>> = {
  ndjson: 'lines',
  jsonl: 'lines',
  log: 'log',
  txt: 'log',
  json: 'json',
  csv: 'csv',
};
const COMPRESSIONS: Readonly<Record<string, Compression>> = { '': 'none', '.gz': 'gzip', '.zst': 'zstd' };

/** Stem, extension, rotation behind it, compression: `x`, `ndjson`, `.1`, `.gz`. */
const TEXT = /^(.+?)\.(ndjson|jsonl|log|txt|json|csv)([.-]\d[\dT:_.-]*)?(\.gz|\.zst)?$/;
const PARQUET = /^(.+)\.parquet$/;
/**
 * Rotation before the extension: `x.1.ndjson`, `x.2026-09-29.ndjson`, `x-20260929.ndjson`, `x_20260929.log`, with an hour
 * (`x-2026092910.log`) or as seconds or milliseconds since the epoch; of lumberjack and timberjack
 * (`x-2026-09-29T10-00-00.123-size.log`), of pm2 (`x__2026-09-29_10-00-00.log`).
 */
const STEM_ROTATION =
  /^(.+?)(?:\.\d[\dT:_.-]*|-\d{8}(?:-\d+)?|_20\d{6}|-(?:20\d{8}|1\d{9}|1\d{12})|(?:-|__)\d{4}-\d{2}-\d{2}(?:[T_]\d{2}-\d{2}-\d{2}(?:\.\d{3})?(?:-(?:size|time|manual))?)?(?:-\d+)?)$/;
/** BigQuery's own rule for table names, without the spaces. */
const TABLE = /^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}]{1,1024}$/u;

/**
 * Reads the name of a file.
 *
 * @param path relative to DATA_DIR, `/` between its parts
 * @param declared whether a table of that name is described: a date in its name is not rotation then
 * @returns or the reason why the file is not read
 */
export function readSourceName(path: string, declared: (table: string) => boolean): SourceName | string {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const folder = parts.length > 1 ? `${parts.slice(0, -1).join('/')}/` : '';
  const parquet = PARQUET.exec(name);
  const text = parquet === null ? TEXT.exec(name) : null;
  const stem = (parquet ?? text)?.[1];
  if (stem === undefined) return 'the name needs an ending that is read, such as .log or .txt';
  const before = declared(stem) ? null : STEM_ROTATION.exec(stem);
  const base = before?.[1] ?? stem;
  const table = parts.length > 1 ? parts[0]! : base;
  if (!TABLE.test(table)) return 'no name of a table: letters, digits, "_" and "-"';
  if (text === null) return { table, format: 'parquet', compression: 'none', family: path, rotated: false };
  const [, , extension = '', rotation, compression = ''] = text;
  return {
    table,
    format: FORMATS[extension]!,
    compression: COMPRESSIONS[compression]!,
    family: `${folder}${base}.${extension}`,
    rotated: before !== null || rotation !== undefined || compression !== '',
  };
}

/**
 * The table of its own that a file with a day in its name is to wildcards, as BigQuery names them: `events_20260917` of
 * `events_20260917.json.gz`; null: its table's.
 */
function shardOf({ path, table }: Pick<FoundFile, 'path' | 'table'>): string | null {
  const [stem = ''] = path.slice(path.lastIndexOf('/') + 1).split('.', 1);
  return stem.startsWith(table) && /^_20\d{6}$/.test(stem.slice(table.length)) ? stem : null;
}

/** The shards of a table's files, by the numbers of these; undefined: there are none. */
export function shardsOf(
  table: string,
  files: Iterable<readonly [number: number, file: Pick<FoundFile, 'path' | 'table'>]>,
): readonly Shard[] | undefined {
  const sources = new Map<string, number[]>();
  for (const [number, file] of files) {
    const name = shardOf(file) ?? table;
    const known = sources.get(name);
    if (known === undefined) sources.set(name, [number]);
    else known.push(number);
  }
  if ([...sources.keys()].every((name) => name === table)) return undefined;
  return Array.from(sources, ([name, numbers]) => ({ name, sources: numbers }));
}
