/** What a column of a Parquet file holds: the natural type for each of GoogleSQL's (docs/querying.md). */
import type { NamedType, SqlType, StructField } from '@logquay/googlesql/types';
import { writeSync } from 'node:fs';
import { ServiceError } from '../contract/service-error';

export type ColumnType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'list'; readonly element: ColumnType }
  | { readonly kind: 'record'; readonly fields: readonly Column[] };

export type ScalarKind =
  | 'int64'
  | 'float64'
  | 'decimal'
  | 'bool'
  | 'text'
  | 'json'
  | 'bytes'
  | 'date'
  | 'time'
  | 'datetime'
  | 'timestamp';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Digits of a NUMERIC, and those behind its point. */
export const DECIMAL = { precision: 38, scale: 9 };

export function columnOf({ name, type }: NamedType): Column {
  return { name, type: typeOf(type) };
}

function typeOf(type: SqlType): ColumnType {
  switch (type.kind) {
    case 'INT64':
      return { kind: 'int64' };
    case 'FLOAT64':
      return { kind: 'float64' };
    case 'NUMERIC':
      return { kind: 'decimal' };
    case 'BOOL':
      return { kind: 'bool' };
    case 'BYTES':
      return { kind: 'bytes' };
    case 'DATE':
      return { kind: 'date' };
    case 'TIME':
      return { kind: 'time' };
    case 'DATETIME':
      return { kind: 'datetime' };
    case 'TIMESTAMP':
      return { kind: 'timestamp' };
    case 'JSON':
      return { kind: 'json' };
    case 'STRING':
    case 'INTERVAL':
    case 'RANGE':
    case 'GEOGRAPHY':
    // Up to 77 digits: Parquet's readers stop at 38.
    case 'BIGNUMERIC':
      return { kind: 'text' };
    case 'ARRAY':
      return { kind: 'list', element: typeOf(type.element) };
    case 'STRUCT':
      return recordOf(type.fields);
  }
}

/** Fields that no reader could tell apart by their names stay JSON. */
function recordOf(given: readonly StructField[]): ColumnType {
  const fields = given.flatMap(({ name, type }) => (name === null || name === '' ? [] : [columnOf({ name, type })]));
  const names = new Set(fields.map(({ name }) => name.toLowerCase()));
  return names.size === 0 || names.size < given.length ? { kind: 'json' } : { kind: 'record', fields };
}

/** What an encoder's process is to write: the first line of its input, as JSON. */
export interface Opening {
  readonly columns: readonly Column[];
  readonly file: ExportFile;
}

/** Where DuckDB writes, and the most bytes that it may be there. */
export interface ExportFile {
  readonly path: string;
  readonly maxBytes: number;
}

/** Behind the last row: an input without it was broken off. No JSON text holds this byte. */
export const END = 0x00;

/** The exit code of an encoder whose file would be larger than allowed. */
export const TOO_LARGE = 3;

/** The file of an export has more bytes than it may have. */
export function fileTooLarge(): ServiceError {
  const message = 'The file of the export is larger than the service allows.';
  return new ServiceError('resourcesExceeded', message, { hint: 'Export a shorter time range at a time.' });
}

/** A process's output. It waits until all of it has been taken, as `Incoming` waits for what comes. */
export class Outgoing {
  constructor(private readonly fd: number) {}

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
  }
}
