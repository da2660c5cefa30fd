/**
 * Adds our own scalar functions to a database. They run on the main thread of the process that adds them, one chunk of
 * rows at a time: never in the process that answers HTTP (docs/decisions/engine-process.md).
 */
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBScalarFunction,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import { SCALAR_FUNCTIONS } from './functions';
import type { ResultKind, ScalarFunction, Value } from './scalar-function';

const TYPES: Readonly<Record<ResultKind, DuckDBType>> = {
  text: VARCHAR,
  bytes: BLOB,
  integer: BIGINT,
  boolean: BOOLEAN,
  texts: LIST(VARCHAR),
};

export function registerScalarFunctions(connection: DuckDBConnection): void {
  for (const [name, definition] of Object.entries(SCALAR_FUNCTIONS))
    connection.registerScalarFunction(declared(name, definition));
}

function declared(name: string, definition: ScalarFunction): DuckDBScalarFunction {
  const { parameters, result } = definition;
  return DuckDBScalarFunction.create({
    name,
    parameterTypes: parameters.map((kind) => TYPES[kind]),
    returnType: TYPES[result],
    mainFunction: (_info, input, output) => {
      const columns = parameters.map((_, i) => input.getColumnVector(i));
      for (let row = 0; row < input.rowCount; row++) {
        const args = columns.map((column) => ofDuckDb(column.getItem(row)));
        output.setItem(row, args.includes(null) ? null : toDuckDb(definition.compute(...(args as Value[]))));
      }
      output.flush();
    },
  });
}

function ofDuckDb(value: DuckDBValue): Value | null {
  return value instanceof DuckDBBlobValue ? value.bytes : (value as Value | null);
}

function toDuckDb(value: ReturnType<ScalarFunction['compute']>): DuckDBValue {
  if (value instanceof Uint8Array) return new DuckDBBlobValue(value);
  return typeof value === 'object' && value !== null ? listValue(value) : value;
}
