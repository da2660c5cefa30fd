/** CAST and SAFE_CAST with GoogleSQL's rules; see macros.ts for the conversions from text. */
import type { ResolvedCast } from '../../../../googlesql/resolved';
import type { SqlType } from '../../../../googlesql/types';
import type { Context } from '../context';
import { withinCastCost } from './call-cost';
import { LONGEST_NUMBER } from './size-limits';
import { numericText, timeText, timestampText, datetimeText } from './value-texts';
import { duckType, fail, physicalFieldNames, quoteText, sameType, typeName, type Failure } from '../../sql';
import { formattedCast } from './cast-format';
import { rangeOfText, rangeText } from './range-values';

export function printCast(ctx: Context, cast: ResolvedCast, input: string): string {
  const impossible = (): never =>
    ctx.unsupported(`CAST from ${typeName(cast.input.type)} to ${typeName(cast.type)}`, cast.span);
  if (cast.format !== null) return withinCastCost(ctx, cast, input, (x) => formattedCast(ctx, cast, x)) ?? impossible();
  ctx.castPlace = cast.span;
  const text = withinCastCost(ctx, cast, input, (x) => convert(ctx, x, cast.input.type, cast.type, cast.safe));
  return text ?? impossible();
}

/** `input` of type `from` as `to`; null where there is no such cast. What needs a time zone is of UTC. */
function convert(ctx: Context, input: string, from: SqlType, to: SqlType, safe: boolean): string | null {
  if (sameType(from, to)) return input;
  const target = duckType(to);
  const failing = (failure: Failure = 'cast'): string => (safe ? 'NULL' : fail(failure, ctx.castPlace));
  /** `tried` is NULL where the value cannot be converted. */
  const checked = (tried: (x: string) => string): string =>
    safe
      ? tried(input)
      : ctx.bind([input], (x) => `coalesce(${tried(x)}, CASE WHEN ${x} IS NOT NULL THEN ${failing()} END)`);

  if (from.kind === 'ARRAY' && to.kind === 'ARRAY') {
    const variable = ctx.variable();
    ctx.lambdas++;
    const element = convert(ctx, variable, from.element, to.element, safe);
    ctx.lambdas--;
    return element === null ? null : `list_transform(${input}, lambda ${variable}: ${element})`;
  }
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    if (from.fields.length !== to.fields.length) return null;
    const [sources, targets] = [physicalFieldNames(from.fields), physicalFieldNames(to.fields)];
    return ctx.bind([input], (x) => {
      const fields = from.fields.map((field, i) => {
        const value = `struct_extract(${x}, ${quoteText(sources[i]!)})`;
        const text = convert(ctx, value, field.type, to.fields[i]!.type, safe);
        return `${quoteText(targets[i]!)}: ${text ?? fail('cast', ctx.castPlace)}`;
      });
      return `CASE WHEN ${x} IS NULL THEN NULL ELSE {${fields.join(', ')}} END`;
    });
  }

  switch (to.kind) {
    case 'INT64':
      switch (from.kind) {
        case 'BOOL':
          return `CAST(${input} AS BIGINT)`;
        case 'FLOAT64':
          return checked((x) => `TRY_CAST(round(${x}) AS BIGINT)`);
        case 'BIGNUMERIC':
          return checked((x) => `TRY_CAST(lq_bignumeric_rounded_text(${x}, 0) AS BIGINT)`);
        case 'NUMERIC':
          // Not by itself: compared with a constant, DuckDB would compare the decimal, and find no NULL where the value does not fit.
          return checked((x) => `coalesce(TRY_CAST(round(${x}, 0) AS BIGINT), NULL)`);
        case 'STRING':
          return checked((x) => `lq_int64(${x})`);
        default:
          return null;
      }
    case 'FLOAT64':
      switch (from.kind) {
        case 'INT64':
          return `CAST(${input} AS DOUBLE)`;
        case 'NUMERIC':
          return doubleOfDecimal(input);
        case 'BIGNUMERIC':
          return `CAST(${ctx.bind([input], (x) => numericText(x, 'BIGNUMERIC'))} AS DOUBLE)`;
        case 'STRING':
          return checked((x) => `lq_float64(${x})`);
        default:
          return null;
      }
    case 'BIGNUMERIC':
      return bignumericOf(ctx, input, from, checked);
    case 'NUMERIC':
      switch (from.kind) {
        case 'FLOAT64':
          return checked((x) => `lq_numeric_of_float(${x})`);
        case 'INT64':
          return `CAST(${input} AS ${target})`;
        case 'BIGNUMERIC':
          return checked((x) => `TRY_CAST(lq_bignumeric_rounded_text(${x}, 9) AS ${target})`);
        case 'STRING':
          return checked((x) => `TRY_CAST(lq_numeric(${x}) AS ${target})`);
        default:
          return null;
      }
    case 'BOOL':
      if (from.kind === 'INT64') return ctx.bind([input], (x) => `(${x} <> 0)`);
      if (from.kind === 'STRING') {
        return checked((x) => `CASE lower(${x}) WHEN 'true' THEN true WHEN 'false' THEN false END`);
      }
      return null;
    case 'STRING':
      return stringOf(ctx, input, from, safe);
    case 'BYTES':
      return from.kind === 'STRING' ? `encode(${input})` : null;
    case 'DATE':
      if (from.kind === 'STRING') return checked((x) => `lq_date(${x})`);
      if (from.kind === 'DATETIME') return `CAST(${input} AS DATE)`;
      if (from.kind === 'TIMESTAMP') return `CAST(${input} AS DATE)`;
      return null;
    case 'DATETIME':
      if (from.kind === 'STRING') return checked((x) => `lq_datetime(${x})`);
      if (from.kind === 'DATE') return `CAST(${input} AS TIMESTAMP)`;
      if (from.kind === 'TIMESTAMP') return input;
      return null;
    case 'TIME':
      if (from.kind === 'STRING') return checked((x) => `lq_time(${x})`);
      if (from.kind === 'DATETIME') return `CAST(${input} AS TIME)`;
      if (from.kind === 'TIMESTAMP') return `CAST(${input} AS TIME)`;
      return null;
    case 'TIMESTAMP':
      if (from.kind === 'STRING' && !safe) return ctx.bind([input], (x) => `lq_timestamp_or_fail(${x})`);
      if (from.kind === 'STRING') return checked((x) => `lq_timestamp(${x})`);
      if (from.kind === 'DATE') return `CAST(${input} AS TIMESTAMP)`;
      if (from.kind === 'DATETIME') return input;
      return null;
    case 'RANGE': {
      if (from.kind !== 'STRING') return null;
      const read = (text: string): string => `lq_${to.element.kind.toLowerCase()}(${text})`;
      return rangeOfText((values, body) => ctx.bind(values, body), input, to, read, failing());
    }
    case 'INTERVAL':
      return from.kind === 'STRING' ? checked((x) => `lq_interval(${x})`) : null;
    case 'JSON':
    case 'GEOGRAPHY':
    case 'ARRAY':
    case 'STRUCT':
      return null;
  }
}

function bignumericOf(
  ctx: Context,
  input: string,
  from: SqlType,
  checked: (tried: (x: string) => string) => string,
): string | null {
  switch (from.kind) {
    case 'INT64':
    case 'NUMERIC':
      return ctx.bind([`CAST(${input} AS VARCHAR)`], (text) => `lq_bignumeric_of_text(${text})`);
    case 'FLOAT64':
      return checked((x) => `lq_bignumeric_of_double(${x})`);
    case 'STRING': {
      const isLong = (x: string): string => `strlen(${x}) > ${LONGEST_NUMBER}`;
      return checked(
        (x) =>
          `CASE WHEN ${isLong(x)} THEN ${fail('size', ctx.castPlace)} ELSE lq_bignumeric_of_text(lq_numeric(${x})) END`,
      );
    }
    default:
      return null;
  }
}

function stringOf(ctx: Context, input: string, from: SqlType, safe: boolean): string | null {
  switch (from.kind) {
    case 'BOOL':
    case 'INT64':
    case 'DATE':
      return `CAST(${input} AS VARCHAR)`;
    case 'FLOAT64':
      return ctx.bind([input], (x) => `lq_float_string(${x})`);
    case 'NUMERIC':
      return numericText(input, from.kind);
    case 'BIGNUMERIC':
      return ctx.bind([input], (x) => numericText(x, from.kind));
    case 'BYTES': {
      const failing = safe ? 'NULL' : fail('cast', ctx.castPlace);
      return ctx.bind(
        [input],
        (x) => `CASE WHEN ${x} IS NULL THEN NULL ELSE coalesce(TRY(decode(${x})), ${failing}) END`,
      );
    }
    case 'TIME':
      return ctx.bind([input], timeText);
    case 'DATETIME':
      return ctx.bind([input], (x) => datetimeText(x, ' '));
    case 'TIMESTAMP':
      return timestampText((v, body) => ctx.bind(v, body), input, null);
    case 'INTERVAL':
      return ctx.bind([input], (x) => `lq_interval_text(${x})`);
    case 'RANGE':
      return ctx.bind([input], (x) => rangeText(x, (end) => stringOf(ctx, end, from.element, safe) ?? end));
    default:
      return null;
  }
}

/** A decimal as the closest double: DuckDB's own conversion of many digits may give one beside it. */
export function doubleOfDecimal(x: string): string {
  return `CAST(CAST(${x} AS VARCHAR) AS DOUBLE)`;
}
