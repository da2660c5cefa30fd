import type { RestField } from '../../../googlesql/rest-schema';
import type { LeftOutReason } from '../../contract';
import { strictValue } from './strict-value';
import { parseLine } from './json-line';
import { MOST_ROW_VALUES, TOO_WIDE, valuesOfRow } from './row-values';

/** Why a line is no row of its table. Names fields, never a value. */
export class Unfit extends Error {
  override readonly name = 'Unfit';

  constructor(
    message: string,
    readonly reason: LeftOutReason = 'does_not_fit',
  ) {
    super(message);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** What was met while rows were fitted to a schema. */
export interface Fitting {
  /** A value that does not fit becomes NULL, and is counted, rather than its row be left out. */
  readonly lenient: boolean;
  /** Fields that the schema does not know. */
  ignored: number;
  /** Values that became NULL. */
  nulled: number;
  /** Values in the lists of the row (`MOST_ROW_VALUES`). */
  values: number;
}

/** @throws Unfit where the line is no JSON object */
export function parsedRow(line: string): JsonObject {
  let row: unknown;
  try {
    row = parseLine(line);
  } catch {
    throw new Unfit('not valid JSON', 'not_json');
  }
  if (!isObject(row)) throw new Unfit('not a JSON object', 'not_json');
  return row;
}

/**
 * The row in the form that `printLine` prints for DuckDB's reader: fields in the schema's spelling, records that should be
 * lists as lists of one, null arrays as empty ones, numbers and timestamps in one form. Fields that the schema does not
 * know are left out.
 *
 * @throws Unfit where a value does not fit
 */
export function fittedRow(fields: readonly RestField[], row: JsonObject, fitting: Fitting): Record<string, unknown> {
  fitting.values = valuesOfRow(fields, row);
  if (fitting.values > MOST_ROW_VALUES) throw new Unfit(TOO_WIDE, 'too_wide');
  return fittedRecord(fields, row, '', fitting);
}

function fittedRecord(
  fields: readonly RestField[],
  record: JsonObject,
  path: string,
  fitting: Fitting,
): Record<string, unknown> {
  const fitted: Record<string, unknown> = {};
  let known = 0;
  for (const field of fields) {
    const present = Object.hasOwn(record, field.name);
    if (present) known++;
    const value = present ? record[field.name] : undefined;
    const at = `${path}${field.name}`;
    if (field.mode === 'REPEATED') fitted[field.name] = fittedList(field, value, at, fitting);
    else if (value !== undefined && value !== null) fitted[field.name] = fittedItem(field, value, at, fitting);
    else if (field.mode === 'REQUIRED') {
      throw new Unfit(`${at} is required`, at === 'timestamp' ? 'no_timestamp' : 'does_not_fit');
    }
  }
  fitting.ignored += Object.keys(record).length - known;
  return fitted;
}

function fittedList(field: RestField, value: unknown, path: string, fitting: Fitting): unknown[] {
  if (value === undefined || value === null) return [];
  // Log shippers send records as plain objects where the tables have lists.
  const items: unknown[] | null = Array.isArray(value) ? value : field.type === 'RECORD' ? [value] : null;
  if (items === null) {
    unfit(`${path} is not a list`, fitting);
    return [];
  }
  const fitted = items.map((item, i) => {
    if (item === null) return unfit(`${path}[${i}] is null`, fitting);
    return fittedItem(field, item, `${path}[${i}]`, fitting);
  });
  return fitting.lenient ? fitted.filter((item) => item !== null) : fitted;
}

function fittedItem(field: RestField, value: unknown, path: string, fitting: Fitting): unknown {
  if (field.type === 'RECORD') {
    if (!isObject(value)) return unfit(`${path} is not a record`, fitting);
    return fittedRecord(field.fields, value, `${path}.`, fitting);
  }
  const fitted = strictValue(field.type, value);
  return fitted === undefined ? unfit(`${path} is not a ${field.type}`, fitting) : fitted;
}

function unfit(message: string, fitting: Fitting): null {
  if (!fitting.lenient) throw new Unfit(message);
  fitting.nulled++;
  return null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
