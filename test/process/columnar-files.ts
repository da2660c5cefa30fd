/** Reads Parquet files back as rows of NDJSON have their values. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from '@duckdb/node-api';

import { isoText, partsOf } from '../../packages/googlesql/src/time/calendar';

/** A value as in `rowsOfLines`; a record as its fields in their order. */
export type Plain = string | boolean | null | Plain[] | { [name: string]: Plain };

const DAY = 86_400_000_000n;

/** Rows of NDJSON, with numbers as text so that none loses a digit. */
export function rowsOfLines(text: string): Plain[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.filter((line) => !line.startsWith('{"$rows"')).map(exactly);
}

/** JSON text with its numbers as text. */
function exactly(json: string): Plain {
  const quoted = json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  return JSON.parse(quoted) as Plain;
}

const dateOf = (days: bigint): string => partsOf(days * DAY).date;
const datetimeOf = (micros: bigint): string => isoText(micros).slice(0, -1);
const timeOf = (micros: bigint): string => datetimeOf(micros).slice(11);

/** Units of 10^-9 as NUMERIC is written. */
function numericOf(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Names and types of a Parquet file's columns, those inside of records too. */
export async function columnsOfParquet(bytes: Uint8Array, folder: string): Promise<unknown[]> {
  const path = join(folder, `${randomUUID()}.parquet`);
  writeFileSync(path, bytes);
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  const reader = await connection.runAndReadAll(
    `SELECT name, type, converted_type, logical_type, repetition_type FROM parquet_schema('${path}') WHERE name <> 'duckdb_schema'`,
  );
  connection.closeSync();
  return reader.getRowObjects();
}

/** Rows of a Parquet file as DuckDB reads them. @param json columns of JSON, which DuckDB gives as text */
export async function rowsOfParquet(bytes: Uint8Array, folder: string, json: readonly string[] = []): Promise<Plain[]> {
  const path = join(folder, 'read.parquet');
  writeFileSync(path, bytes);
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  const reader = await connection.runAndReadAll(`SELECT * FROM '${path}'`);
  connection.closeSync();
  return reader.getRowObjects().map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        return [name, json.includes(name) && typeof value === 'string' ? exactly(value) : plainOf(value)];
      }),
    ),
  );
}

function plainOf(value: DuckDBValue): Plain {
  if (value === null || typeof value === 'boolean') return value;
  if (value instanceof DuckDBDecimalValue) {
    expect([value.width, value.scale]).toEqual([38, 9]);
    return numericOf(value.value);
  }
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
  if (value instanceof DuckDBDateValue) return dateOf(BigInt(value.days));
  if (value instanceof DuckDBTimeValue) return timeOf(value.micros);
  if (value instanceof DuckDBTimestampTZValue) return String(value.micros);
  if (value instanceof DuckDBTimestampValue) return datetimeOf(value.micros);
  if (value instanceof DuckDBListValue) return value.items.map(plainOf);
  if (value instanceof DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, field]) => [name, plainOf(field)]));
  }
  return String(value);
}

/** Of a Parquet file with numbers `n` and their texts, the numbers whose text is right, in their order. */
export async function numbersOfParquet(bytes: Uint8Array, folder: string): Promise<BigInt64Array> {
  const path = join(folder, 'read.parquet');
  writeFileSync(path, bytes);
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  const reader = await connection.runAndReadAll(`SELECT n FROM '${path}' WHERE text = repeat('x', 60) || n`);
  connection.closeSync();
  const [numbers = []] = reader.getColumns();
  return BigInt64Array.from(numbers as bigint[]);
}
