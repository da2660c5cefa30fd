import type { RestField } from '@logquay/googlesql/types';
import { quoteText } from '../sql';
import { jsonType } from './field-sql';

/** The longest line, in bytes. */
export const LONGEST_LINE = 16 * 1024 * 1024;

/** At least so many bytes of lines are read at once. */
const LEAST_BLOCK = 1024 * 1024;

/** A table function that reads a Parquet file. @param numbered whether it has a column `file_row_number` */
export function parquetScan(path: string, numbered: boolean): string {
  return `read_parquet(${quoteText(exactPath(path))}, hive_partitioning = false, file_row_number = ${numbered})`;
}

/** A table function that reads the fields from NDJSON. @param longest bytes of the longest line */
export function ndjsonScan(path: string, fields: readonly RestField[], longest: number): string {
  // DuckDB takes twice this of memory for each thread, before it reads anything.
  const most = Math.min(LONGEST_LINE, Math.max(LEAST_BLOCK, 2 * longest));
  const columns = fields.map((field) => `${quoteText(field.name)}: ${quoteText(jsonType(field))}`).join(', ');
  return `read_json(${quoteText(exactPath(path))}, format = 'newline_delimited', maximum_object_size = ${most}, hive_partitioning = false, columns = {${columns}})`;
}

/** DuckDB reads paths as patterns: a bracket class of one character is that character. */
function exactPath(path: string): string {
  return path.replace(/[*?[]/g, '[$&]');
}
