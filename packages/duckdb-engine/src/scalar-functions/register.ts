/**
 * Adds our own scalar functions to a database. They run on the main thread of the process that adds them, one chunk of
 * rows at a time: never in the process that answers HTTP (docs/decisions/engine-process.md).
 *
 * NULL in the result of a function means that the chunk's budget was used up before this row, an empty text or empty bytes
 * that the function has no value: no error is raised here, where no place in the query is known.
 */
import { BIGNUMERIC_FUNCTIONS, numericQuotient } from './decimals';
import { editDistance } from './edit-distance';
import { farmFingerprint, sha512 } from './hashes';
import { intervalParts } from './interval-reading';
import { jsonKeys, prettyJson } from './json';
import { bytesOfLatin1, hexOfLatin1Texts, latin1PatternText, latin1Text } from './latin1';
import { regexpPlace } from './regexp-place';
import { ipFromString, ipNetMask, ipToString, ipTrunc, publicSuffix, registeredDomain } from './net';
import { type ScalarFunction, type ArgumentKind, type Value, ChunkBudget } from './scalar-function';
import { initcap, isTimeZone, normalized } from './texts';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DuckDBBlobValue,
  DuckDBBlobVector,
  type DuckDBConnection,
  DuckDBScalarFunction,
  type DuckDBType,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';

const SCALAR_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  ...BIGNUMERIC_FUNCTIONS,
  lq_bytes_of_latin1: bytesOfLatin1,
  lq_edit_distance: editDistance,
  lq_farm_fingerprint: farmFingerprint,
  lq_hex_of_latin1_texts: hexOfLatin1Texts,
  lq_initcap: initcap,
  lq_interval_parts: intervalParts,
  lq_ip_from_string: ipFromString,
  lq_ip_net_mask: ipNetMask,
  lq_ip_to_string: ipToString,
  lq_ip_trunc: ipTrunc,
  lq_is_time_zone: isTimeZone,
  lq_json_keys: jsonKeys,
  lq_latin1: latin1Text,
  lq_latin1_pattern: latin1PatternText,
  lq_normalized: normalized,
  lq_numeric_quotient_by_large: numericQuotient,
  lq_pretty_json: prettyJson,
  lq_public_suffix: publicSuffix,
  lq_regexp_place: regexpPlace,
  lq_registered_domain: registeredDomain,
  lq_sha512: sha512,
};

const TYPES: Readonly<Record<ArgumentKind, DuckDBType>> = {
  text: BLOB,
  bytes: BLOB,
  integer: BIGINT,
  boolean: BOOLEAN,
};

export function registerScalarFunctions(connection: DuckDBConnection): void {
  for (const [name, definition] of Object.entries(SCALAR_FUNCTIONS))
    connection.registerScalarFunction(declared(name, definition));
  connection.registerScalarFunction(yielding());
}

function declared(name: string, definition: ScalarFunction): DuckDBScalarFunction {
  const { parameters, result } = definition;
  return DuckDBScalarFunction.create({
    name,
    parameterTypes: parameters.map((kind) => TYPES[kind]),
    returnType: TYPES[result],
    mainFunction: (_info, input, output) => {
      const columns = parameters.map((kind, i) => [input.getColumnVector(i), kind] as const);
      const budget = new ChunkBudget();
      for (let row = 0; row < input.rowCount; row++) {
        const args = argumentsOf(columns, row, budget);
        const value = args === null || budget.isSpent ? null : definition.compute(...args, budget);
        output.setItem(row, args === null || budget.isSpent ? null : toDuckDb(value));
      }
      output.flush();
    },
  });
}

/** @returns null: one of them is NULL, or the budget is used up */
function argumentsOf(
  columns: readonly (readonly [DuckDBVector, ArgumentKind])[],
  row: number,
  budget: ChunkBudget,
): Value[] | null {
  const args: Value[] = [];
  for (const [column, kind] of columns) {
    if (budget.isSpent) return null;
    const value = column instanceof DuckDBBlobVector ? column.getItemBytes(row) : (column.getItem(row) as Value | null);
    if (value === null) return null;
    if (value instanceof Uint8Array) budget.spend(value.length);
    if (kind === 'text') {
      const text = textOf(value as Uint8Array);
      budget.spend(FOR_DECODING * ((value as Uint8Array).length - text.length));
      args.push(text);
    } else args.push(value);
  }
  return args;
}

/** Node 20 takes 9 ns for a byte of text outside of ASCII. */
const FOR_DECODING = 3;

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

const NOTHING = new DuckDBBlobValue(new Uint8Array());

function toDuckDb(value: Value | null): DuckDBValue {
  if (value === null) return NOTHING;
  if (typeof value === 'string') return new DuckDBBlobValue(Buffer.from(value));
  return value instanceof Uint8Array ? new DuckDBBlobValue(value) : value;
}

/**
 * `lq_yield()`, false, which every call of the others comes after. A thread of DuckDB waits here until the event loop has
 * gone round: Node calls a function again and again in one turn of the loop as long as calls of it are waiting, and with
 * two threads one always is.
 */
function yielding(): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: 'lq_yield',
    parameterTypes: [],
    returnType: BOOLEAN,
    volatile: true,
    mainFunction: (_info, input, output) => {
      for (let row = 0; row < input.rowCount; row++) output.setItem(row, false);
      output.flush();
    },
  });
}
