/** What the name of a file in DATA_DIR says: its table, its format, and the family that it rotates in. */
export type SourceFormat = 'lines' | 'json' | 'csv' | 'parquet';
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
  log: 'lines',
  json: 'json',
  csv: 'csv',
};
const COMPRESSIONS: Readonly<Record<string, Compression>> = { '': 'none', '.gz': 'gzip', '.zst': 'zstd' };

/** Stem, extension, rotation behind it, compression: `x`, `ndjson`, `.1`, `.gz`. */
const TEXT = /^(.+?)\.(ndjson|jsonl|log|json|csv)([.-]\d[\dT:_.-]*)?(\.gz|\.zst)?$/;
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
  if (stem === undefined) return 'not a format that is read';
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
