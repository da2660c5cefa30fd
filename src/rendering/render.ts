import { FORMULA_STARTS } from '@logquay/duckdb-engine/contract';
import { readMembers, stringValue } from '../json';
import { ServiceError } from '../errors';
import { EncodedResponse } from './encoded-response';
import type { Representation } from './representation';

const STARTS: ReadonlySet<number> = new Set(FORMULA_STARTS);

/** A number with its sign, as FLOAT64, NUMERIC and BIGNUMERIC are written; it computes nothing. */
const NUMBER = /^[+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^-Infinity$/;

/** The text of a CSV cell that no spreadsheet computes: with an apostrophe before what would be a formula. */
function withoutFormula(text: string): string {
  return STARTS.has(text.charCodeAt(0)) && !NUMBER.test(text) ? `'${text}` : text;
}

/**
 * The names of the columns, as RFC 4180 has them.
 *
 * @param escapeFormulas whether texts that a spreadsheet would compute get an apostrophe in front
 */
export function csvHeader(columns: readonly string[], escapeFormulas: boolean): string {
  return line(columns.map(escapeFormulas ? escaped : field));
}

/**
 * Rows as RFC 4180: CRLF, null as an empty field. An empty string is written `""`, so that a reader who cares can tell it from
 * null. Records and arrays stay JSON text; numbers keep every digit.
 *
 * @param rows texts of JSON objects whose members stand in the order of the columns
 * @param escapeFormulas as for the header
 */
function csvLines(rows: readonly string[], escapeFormulas: boolean): string[] {
  const text = escapeFormulas ? escaped : field;
  const cell = (json: string): string => {
    if (json === 'null') return '';
    // What is no string is a number, a Boolean, or JSON of a record or array: never a formula.
    return json.startsWith('"') ? text(stringValue(json)) : field(json);
  };
  return rows.map((row) => line(readMembers(row).map(({ json }) => cell(json))));
}

function line(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}

function escaped(text: string): string {
  return field(withoutFormula(text));
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface RenderableResult {
  /** Names in order, for a CSV header that stands without rows too. */
  readonly columns: readonly string[];
  /** Texts of JSON objects. */
  readonly rows: readonly string[];
  readonly truncated: boolean;
}

/**
 * Encodes a result in one format.
 *
 * @param escapeFormulas whether CSV keeps spreadsheets from computing texts of the result
 * @throws ServiceError resourcesExceeded when they are more than `limit`
 */
export function render(
  result: RenderableResult,
  representation: Representation,
  limit: number,
  escapeFormulas = true,
): EncodedResponse {
  const pieces = piecesOf(result, representation, limit, escapeFormulas);
  // A UTF-16 unit is at least one byte: most of what is too long is known before anything is joined or encoded.
  let units = 0;
  for (const piece of pieces) {
    units += piece.length;
    if (units > limit) throw tooLarge(limit);
  }
  const bytes = Buffer.from(pieces.join(''));
  if (bytes.length > limit) throw tooLarge(limit);
  return new EncodedResponse(bytes, representation, result.truncated);
}

function piecesOf(
  { columns, rows }: RenderableResult,
  representation: Representation,
  limit: number,
  escapeFormulas: boolean,
): string[] {
  // Reading values apart is the costly form: rows far beyond any answer are not begun with.
  const csv = representation === 'text/csv';
  if (csv && rows.reduce((sum, row) => sum + row.length, 0) > 8 * limit) throw tooLarge(limit);
  return [...linesOf({ columns, rows, representation, escapeFormulas, first: true }), closingOf(representation)];
}

/** Some rows of a result, in their order. */
export interface Part {
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  readonly representation: Representation;
  /** Whether CSV keeps spreadsheets from computing texts of the result. */
  readonly escapeFormulas: boolean;
  /** Whether nothing stands before them. */
  readonly first: boolean;
}

/** What a part is in its form; `closingOf` ends the last one. */
export function linesOf({ columns, rows, representation, escapeFormulas, first }: Part): string[] {
  switch (representation) {
    case 'application/json': {
      const separated = rows.map((row, i) => (first && i === 0 ? row : `,${row}`));
      return first ? [OPENING, ...separated] : separated;
    }
    case 'application/x-ndjson':
      return rows.map((row) => `${row}\n`);
    case 'text/csv': {
      const lines = csvLines(rows, escapeFormulas);
      return first ? [csvHeader(columns, escapeFormulas), ...lines] : lines;
    }
  }
}

/** Of JSON. */
export const OPENING = '{"result":[';

export function closingOf(representation: Representation): string {
  return representation === 'application/json' ? ']}' : '';
}

/** What an export ends with: in NDJSON the number of its rows, by which a stored file is known to be whole. */
export function closingOfExport(representation: Representation, rows: number): string {
  return representation === 'application/x-ndjson' ? `{"$rows":${String(rows)}}\n` : closingOf(representation);
}

export function tooLarge(limit: number): ServiceError {
  return new ServiceError('resourcesExceeded', `The answer is larger than ${String(limit)} bytes.`, {
    hint: 'Select fewer columns or rows, or a shorter time range.',
  });
}
