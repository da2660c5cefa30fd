import type { RestField } from '../../../googlesql/rest-schema';
import { strictValue } from './strict-value';
import { parseLine, printLine } from './json-line';

/** Why a line is no row of its table. Names fields, never a value. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A line of a data file as DuckDB's reader takes it exactly: fields in the schema's spelling, records that should be
 * lists as lists of one, null arrays as empty ones, numbers and timestamps in one form. Fields that the schema does not
 * know are left out.
 *
 * @throws Unfit where the line is not JSON or a value does not fit.
 */
export function strictLine(fields: readonly RestField[], line: string): string {
  let row: unknown;
  try {
    row = parseLine(line);
  } catch {
    throw new Unfit('not valid JSON');
  }
  if (!isObject(row)) throw new Unfit('not a JSON object');
  return printLine(fittingRecord(fields, row, ''));
}

function fittingRecord(fields: readonly RestField[], record: JsonObject, path: string): JsonObject {
  const fitted: Record<string, unknown> = {};
  for (const field of fields) {
    const value = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
    const at = `${path}${field.name}`;
    if (field.mode === 'REPEATED') fitted[field.name] = fittingList(field, value, at);
    else if (value !== undefined && value !== null) fitted[field.name] = fittingItem(field, value, at);
    else if (field.mode === 'REQUIRED') throw new Unfit(`${at} is required`);
  }
  return fitted;
}

function fittingList(field: RestField, value: unknown, path: string): unknown[] {
  if (value === undefined || value === null) return [];
  // Log shippers send records as plain objects where the tables have lists.
  const items: unknown[] | null = Array.isArray(value) ? value : field.type === 'RECORD' ? [value] : null;
  if (items === null) throw new Unfit(`${path} is not a list`);
  return items.map((item, i) => {
    if (item === null) throw new Unfit(`${path}[${i}] is null`);
    return fittingItem(field, item, `${path}[${i}]`);
  });
}

function fittingItem(field: RestField, value: unknown, path: string): unknown {
  if (field.type === 'RECORD') {
    if (!isObject(value)) throw new Unfit(`${path} is not a record`);
    return fittingRecord(field.fields, value, `${path}.`);
  }
  const fitted = strictValue(field.type, value);
  if (fitted === undefined) throw new Unfit(`${path} is not a ${field.type}`);
  return fitted;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
