import type { ResolvedLiteral } from '../../../../googlesql/resolved';
import { bytesOfUnits, unitsOfText } from '../../scalar-functions/decimals';
import { duckType, quoteText } from '../../sql';

function bignumeric(value: string): string {
  return `unhex('${Buffer.from(bytesOfUnits(unitsOfText(value)!)).toString('hex')}')`;
}

/** A literal with exactly its GoogleSQL type: a bare number would be an INTEGER or a DECIMAL to DuckDB. */
export function printLiteral(literal: ResolvedLiteral): string {
  const { type, value } = literal;
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
    case 'BIGNUMERIC':
      return bignumeric(value);
    case 'INTERVAL':
      return interval(value);
    case 'RANGE':
      throw new Error('a RANGE');
    case 'FLOAT64':
    case 'NUMERIC':
    case 'TIME':
    case 'DATETIME':
    case 'JSON':
    case 'GEOGRAPHY':
    case 'ARRAY':
    case 'STRUCT':
      return `CAST(${quoteText(value)} AS ${duckType(type)})`;
  }
}

/** From the canonical text `Y-M D H:M:S[.F]`, each of the three groups with a sign of its own. */
function interval(text: string): string {
  const match = /^(-?)(\d+)-(\d+) (-?\d+) (-?)(\d+):(\d+):(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new Error('an INTERVAL literal that is not canonical');
  const [, yearSign, years, months, days, timeSign, hours, minutes, seconds, fraction = ''] = match;
  const micros =
    BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000n +
    BigInt(fraction.padEnd(6, '0'));
  return (
    `(to_months(${yearSign}${Number(years) * 12 + Number(months)}) + to_days(${days}) + ` +
    `to_microseconds(CAST(${timeSign}${micros} AS BIGINT)))`
  );
}
