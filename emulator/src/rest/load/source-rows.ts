import { parse } from 'csv-parse/sync';
import { parseExact } from '../../exact-json';
import { BigQueryError, invalid } from '../../query/error';
import { record, smallInteger, text } from '../read';

/** Rows of an uploaded file as JSON objects; an `Error` in place of one that cannot be read. */
export type SourceRow = Readonly<Record<string, unknown>> | Error;

/**
 * Reads what was uploaded, by `configuration.load`.
 *
 * @param names columns of the table, for CSV; null: taken from the header line or generated
 * @throws BigQueryError for a format or an option that the local BigQuery does not take
 */
export function sourceRows(
  media: Buffer,
  load: Readonly<Record<string, unknown>>,
  names: readonly string[] | null,
): SourceRow[] {
  const format = text(load['sourceFormat']) ?? 'CSV';
  if (format === 'NEWLINE_DELIMITED_JSON') return jsonRows(media.toString('utf8'));
  if (format === 'CSV') return csvRows(media.toString('utf8'), load, names);
  throw new BigQueryError('notImplemented', `The local BigQuery loads NEWLINE_DELIMITED_JSON and CSV, not ${format}`);
}

function jsonRows(source: string): SourceRow[] {
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, i) => {
    try {
      const row = parseExact(line);
      if (typeof row === 'object' && row !== null && !Array.isArray(row)) return record(row);
    } catch {
      // Answered below.
    }
    return new Error(`Error while reading data, error message: JSON parsing error in row ${i + 1}.`);
  });
}

function csvRows(
  source: string,
  load: Readonly<Record<string, unknown>>,
  names: readonly string[] | null,
): SourceRow[] {
  const delimiter = text(load['fieldDelimiter']) ?? ',';
  const quote = typeof load['quote'] === 'string' ? load['quote'] : '"';
  const skipped = smallInteger(load['skipLeadingRows'], 'skipLeadingRows') ?? 0;
  let cells: string[][];
  try {
    cells = parse(source, {
      delimiter: delimiter === '\\t' ? '\t' : delimiter,
      quote: quote === '' ? null : quote,
      relax_column_count: true,
      skip_empty_lines: true,
      bom: true,
    });
  } catch (error) {
    throw invalid(`Error while reading data, error message: ${error instanceof Error ? error.message : String(error)}`);
  }
  const header = names === null && cells.length > 0 ? (cells[Math.max(0, skipped - 1)] ?? null) : null;
  const columns = names ?? header ?? [];
  const marker = text(load['nullMarker']) ?? '';
  return cells.slice(names === null ? Math.max(1, skipped) : skipped).map((row, i) => {
    if (row.length > columns.length)
      return new Error(`Error while reading data, error message: Too many values in row ${i + 1}.`);
    return Object.fromEntries(row.map((cell, at) => [columns[at] ?? '', cell === marker ? null : cell]));
  });
}
