import type { ResolvedLiteral } from '../../../googlesql/resolved';
import { duckType, quoteText } from './sql';

/** A literal with exactly its GoogleSQL type: a bare number would be an INTEGER or a DECIMAL to DuckDB. */
export function printLiteral({ type, value }: ResolvedLiteral): string {
  if (value === null) return `CAST(NULL AS ${duckType(type)})`;
  switch (type.kind) {
    case 'INT64':
      return value.startsWith('-') ? `CAST(${value} AS BIGINT)` : `${value}::BIGINT`;
    case 'BOOL':
      return value;
    case 'STRING':
      return quoteText(value);
    case 'TIMESTAMP':
      return `make_timestamp(CAST(${value} AS BIGINT))`;
    case 'DATE':
      return `DATE ${quoteText(value)}`;
    case 'BYTES':
      return `unhex('${Buffer.from(value, 'latin1').toString('hex')}')`;
    case 'FLOAT64':
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'TIME':
    case 'DATETIME':
    case 'JSON':
    case 'INTERVAL':
    case 'GEOGRAPHY':
    case 'ARRAY':
    case 'STRUCT':
      return `CAST(${quoteText(value)} AS ${duckType(type)})`;
  }
}
