import { NotAValue, NULL, scalarCell, timestampCell, type Cell } from '../googlesql/values';
import { type TableField } from './schema';
import { type NamedType, type ScalarName, type SqlType } from '../googlesql/types';

/** Why a JSON row does not fit its table. `location` is the path of the field. */
export class BadRow extends Error {
  constructor(
    readonly location: string,
    message: string,
  ) {
    super(message);
    this.name = 'BadRow';
  }
}

export interface IngestOptions {
  readonly ignoreUnknown: boolean;
}

/** A row of cells from a JSON object, fields matched without regard to case. Throws `BadRow`. */
export function rowOf(columns: readonly NamedType[], json: unknown, options: IngestOptions): Cell[] {
  return recordCells(columns, json, '', options);
}

/** @throws BadRow for a row without a value for a REQUIRED column */
export function withRequired(fields: readonly TableField[], row: Cell[]): Cell[] {
  fields.forEach((field, i) => {
    if (field.mode?.toUpperCase() === 'REQUIRED' && Object.keys(row[i] ?? {}).length === 0)
      throw new BadRow(field.name, `Missing required field: Msg_0_CLOUD_QUERY_TABLE.${field.name}.`);
  });
  return row;
}

function recordCells(
  fields: readonly { name: string | null; type: SqlType }[],
  json: unknown,
  path: string,
  options: IngestOptions,
) {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new BadRow(path, 'This field is not a record.');
  const values = new Map<string, [string, unknown]>();
  for (const [key, value] of Object.entries(json)) values.set(key.toLowerCase(), [key, value]);
  const cells = fields.map((field) => {
    const name = field.name ?? '';
    const found = values.get(name.toLowerCase());
    values.delete(name.toLowerCase());
    return cellOf(field.type, found?.[1], path === '' ? name : `${path}.${name}`, options);
  });
  const [unknown] = values.values();
  if (unknown !== undefined && !options.ignoreUnknown) {
    const location = path === '' ? unknown[0] : `${path}.${unknown[0]}`;
    throw new BadRow(location, `no such field: ${location}.`);
  }
  return cells;
}

function cellOf(type: SqlType, json: unknown, path: string, options: IngestOptions): Cell {
  if (type.kind === 'ARRAY') {
    if (json === undefined || json === null) return { array_value: { element: [] } };
    if (!Array.isArray(json)) throw new BadRow(path, 'Array specified for non-repeated field.');
    const element = json.map((item: unknown) => {
      if (item === null || item === undefined) throw new BadRow(path, 'Only optional fields can be set to NULL.');
      return cellOf(type.element, item, path, options);
    });
    return { array_value: { element } };
  }
  if (json === undefined || json === null) return NULL;
  if (type.kind === 'STRUCT') return { struct_value: { field: recordCells(type.fields, json, path, options) } };
  if (type.kind === 'RANGE') throw new BadRow(path, 'The local BigQuery takes no RANGE in a row.');
  return scalar(type.kind, json, path);
}

function scalar(kind: ScalarName, json: unknown, path: string): Cell {
  try {
    if (kind === 'JSON')
      return scalarCell(kind, typeof json === 'string' && isJson(json) ? json : JSON.stringify(json));
    // A bare number is seconds since the epoch.
    if (kind === 'TIMESTAMP' && typeof json === 'number') return timestampCell(BigInt(Math.round(json * 1e6)));
    if (typeof json === 'object') throw new BadRow(path, 'This field: ' + path + ' is not a record.');
    const text = String(json);
    if (kind === 'TIMESTAMP' && /^-?\d+(\.\d+)?$/.test(text))
      return timestampCell(BigInt(Math.round(Number(text) * 1e6)));
    return scalarCell(kind, text);
  } catch (error) {
    if (error instanceof NotAValue) throw new BadRow(path, error.message);
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
