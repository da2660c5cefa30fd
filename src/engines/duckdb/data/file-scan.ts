import type { RestField } from '../../../googlesql/rest-schema';
import { quoteText } from '../sql';
import { jsonType } from './field-sql';

/** The longest line, in bytes. */
export const LONGEST_LINE = 16 * 1024 * 1024;

/** At least so many bytes of lines are read at once. */
const LEAST_BLOCK = 1024 * 1024;

interface SourceFile {
  readonly path: string;
  readonly format: 'ndjson' | 'parquet';
  /** Of NDJSON: bytes of the longest line, if it is known. */
  readonly longest?: number;
}

/** A table function that reads one file; its columns are the fields, or for null whatever the file holds. */
export function scanOf(file: SourceFile, fields: readonly RestField[] | null): string {
  const path = quoteText(exactPath(file.path));
  if (file.format === 'parquet')
    return `read_parquet(${path}, hive_partitioning = false, file_row_number = ${fields !== null})`;
  const common = `${path}, format = 'newline_delimited', maximum_object_size = ${objectSize(file.longest)}, hive_partitioning = false`;
  if (fields === null) {
    return `read_json(${common}, records = true, ignore_errors = true, sample_size = 100000, map_inference_threshold = -1, field_appearance_threshold = 0)`;
  }
  const columns = fields.map((field) => `${quoteText(field.name)}: ${quoteText(jsonType(field))}`).join(', ');
  return `read_json(${common}, columns = {${columns}})`;
}

/** DuckDB takes twice this of memory for each thread, before it reads anything. */
function objectSize(longest = LONGEST_LINE): number {
  return Math.min(LONGEST_LINE, Math.max(LEAST_BLOCK, 2 * longest));
}

/** DuckDB reads paths as patterns: a bracket class of one character is that character. */
function exactPath(path: string): string {
  return path.replace(/[*?[]/g, '[$&]');
}
