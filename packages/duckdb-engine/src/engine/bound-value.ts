import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import { type BoundParameter, elementOf } from '@logquay/googlesql/types';

/** A value with its type, which an empty list does not show. */
export interface BoundValue {
  readonly value: DuckDBValue;
  readonly type: DuckDBType;
}

const SCALARS = {
  STRING: { type: VARCHAR, read: (text: string): DuckDBValue => text },
  INT64: { type: BIGINT, read: (text: string): DuckDBValue => BigInt(text) },
  FLOAT64: { type: DOUBLE, read: (text: string): DuckDBValue => Number(text) },
  BOOL: { type: BOOLEAN, read: (text: string): DuckDBValue => text === 'true' },
} as const;

export function boundValue({ type, value }: BoundParameter): BoundValue {
  const element = elementOf(type);
  if (element !== null) {
    const { type: elementType, read } = SCALARS[element];
    return { value: listValue([value].flat().map(read)), type: LIST(elementType) };
  }
  const { type: own, read } = SCALARS[type as keyof typeof SCALARS];
  return { value: read(String(value)), type: own };
}

/** @param micros since the epoch; null: NULL */
export function boundInstant(micros: bigint | null): BoundValue {
  return { value: micros, type: BIGINT };
}

/** Binds the values of `$1`, `$2`, ... */
export function bindValues(statement: DuckDBPreparedStatement, values: readonly BoundValue[]): void {
  statement.bind(
    values.map(({ value }) => value),
    values.map(({ type }) => type),
  );
}
