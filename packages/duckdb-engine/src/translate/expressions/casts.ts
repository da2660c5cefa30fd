/** CAST and SAFE_CAST with GoogleSQL's rules; see macros.ts for the conversions from text. */
import type { SqlType, TypeParameters } from '@logquay/googlesql/types';
import type { Bind } from './call';
import { toCivil } from './time-zones';
import type { ResolvedCast, ResolvedLiteral } from '@logquay/googlesql';
import { bytesOfUnits, unitsOfText } from '../../scalar-functions/decimals';
import type { Context } from '../context';
import { LONGEST_NUMBER } from './makers';
import { duckType, fail, physicalFieldNames, quoteText, sameType, structOf, typeName, type Failure } from '../../sql';

/** NUMERIC and BIGNUMERIC: exact, without trailing zeros. */
export function numericText(x: string, kind: SqlType['kind']): string {
  if (kind === 'BIGNUMERIC') return `lq_bignumeric_rounded_text(${x}, 38)`;
  return `regexp_replace(CAST(${x} AS VARCHAR), '\\.?0+$', '')`;
}

/** Nothing, three or six digits after the second, as many as are needed. */
function fraction(x: string): string {
  return `lq_fraction(${x})`;
}

export function datetimeText(x: string, separator: ' ' | 'T'): string {
  return `(strftime(${x}, '%Y-%m-%d${separator}%H:%M:%S') || ${fraction(x)})`;
}

export function timeText(x: string): string {
  return `(strftime(DATE '1970-01-01' + ${x}, '%H:%M:%S') || ${fraction(x)})`;
}

/** `2026-09-30 11:00:00+00`, the offset with minutes only where it has some. */
export function timestampText(bind: Bind, x: string, zone: string | null): string {
  if (zone === null) return bind([x], (t) => `(${datetimeText(t, ' ')} || '+00')`);
  return bind([x], (t) =>
    // Offsets of long ago have seconds, which neither the offset nor the time shows.
    bind([`(epoch_us(${toCivil(t, zone)}) - epoch_us(${t})) // 60000000`], (minutes) =>
      bind([`${t} + to_minutes(${minutes})`], (civil) => `(${datetimeText(civil, ' ')} || lq_zone_suffix(${minutes}))`),
    ),
  );
}

export function printCast(ctx: Context, cast: ResolvedCast, input: string): string {
  const impossible = (): never =>
    ctx.unsupported(`CAST from ${typeName(cast.input.type)} to ${typeName(cast.type)}`, cast.span);
  ctx.castPlace = cast.span;
  if (cast.format !== null)
    ctx.unsupported('CAST ... FORMAT', cast.span, 'FORMAT_TIMESTAMP, PARSE_TIMESTAMP, FORMAT or TO_HEX');
  const text = convert(ctx, input, cast.input.type, cast.type, cast.safe);
  return constrained(ctx, text ?? impossible(), cast.type, cast.parameters ?? null);
}

/** A value as the parameters of its type have it, rounded or refused: under SAFE_CAST as well, as in Google's engine. */
function constrained(ctx: Context, value: string, type: SqlType, parameters: TypeParameters | null): string {
  if (parameters === null) return value;
  const failing = fail('cast', ctx.castPlace);
  if (type.kind === 'ARRAY') {
    const variable = ctx.variable();
    ctx.lambdas++;
    const element = constrained(ctx, variable, type.element, parameters.inner[0] ?? null);
    ctx.lambdas--;
    return `list_transform(${value}, lambda ${variable}: ${element})`;
  }
  if (type.kind === 'STRUCT') {
    const names = physicalFieldNames(type.fields);
    return ctx.bind([value], (x) => {
      const fields = type.fields.map((field, i): [string, string] => {
        const text = `struct_extract(${x}, ${quoteText(names[i]!)})`;
        return [names[i]!, constrained(ctx, text, field.type, parameters.inner[i] ?? null)];
      });
      return `CASE WHEN ${x} IS NOT NULL THEN ${structOf(fields)} END`;
    });
  }
  const [first = NaN, scale = 0] = parameters.own.map(Number);
  if (Number.isNaN(first)) return value;
  switch (type.kind) {
    case 'STRING':
      return ctx.bind([value], (x) => `CASE WHEN length(${x}) > ${first} THEN ${failing} ELSE ${x} END`);
    case 'BYTES':
      return ctx.bind([value], (x) => `CASE WHEN octet_length(${x}) > ${first} THEN ${failing} ELSE ${x} END`);
    case 'NUMERIC': {
      // Every NUMERIC is one.
      if (first === DIGITS_OF_NUMERIC) return value;
      const beyond = `CAST('1${'0'.repeat(first - scale)}' AS DECIMAL(38,${scale}))`;
      const rounded = `CAST(round(${value}, ${scale}) AS DECIMAL(38,${scale}))`;
      return ctx.bind(
        [rounded],
        (x) => `CASE WHEN abs(${x}) >= ${beyond} THEN ${failing} ELSE CAST(${x} AS ${duckType(type)}) END`,
      );
    }
    case 'BIGNUMERIC': {
      const whole = (text: string): string => `regexp_extract(${text}, '^-?0*([0-9]*)', 1)`;
      return ctx.bind(
        [`lq_bignumeric_rounded_text(${value}, ${scale})`],
        (text) =>
          `CASE WHEN strlen(${whole(text)}) > ${first - scale} THEN ${failing} ELSE lq_bignumeric_of_text(${text}) END`,
      );
    }
    default:
      throw new Error(`${type.kind} with parameters`);
  }
}

const DIGITS_OF_NUMERIC = 38;

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
    if (element === null) return null;
    const converted = (x: string): string => `list_transform(${x}, lambda ${variable}: ${element})`;
    if (!safe) return converted(input);
    // An element that cannot be converted makes the whole array NULL.
    const i = ctx.variable();
    return ctx.bind([input], (x) =>
      ctx.bind(
        [converted(x)],
        (y) =>
          `CASE WHEN len(list_filter(range(1, len(${x}) + 1), lambda ${i}: ${isLost(`${x}[${i}]`, `${y}[${i}]`, from.element, to.element)})) = 0 THEN ${y} END`,
      ),
    );
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
    case 'INTERVAL':
      return from.kind === 'STRING' ? checked((x) => `lq_interval(${x})`) : null;
    case 'JSON':
    case 'GEOGRAPHY':
    case 'RANGE':
    case 'ARRAY':
    case 'STRUCT':
      return null;
  }
}

/** Whether a conversion under SAFE_CAST has left out a value, or a field of it. */
function isLost(before: string, after: string, from: SqlType, to: SqlType): string {
  if (from.kind !== 'STRUCT' || to.kind !== 'STRUCT') return `${before} IS NOT NULL AND ${after} IS NULL`;
  const [sources, targets] = [physicalFieldNames(from.fields), physicalFieldNames(to.fields)];
  const field = (value: string, name: string): string => `struct_extract(${value}, ${quoteText(name)})`;
  const fields = from.fields.map(({ type }, i) =>
    isLost(field(before, sources[i]!), field(after, targets[i]!), type, to.fields[i]!.type),
  );
  return `(${fields.join(' OR ')})`;
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
    default:
      return null;
  }
}

/** A decimal as the closest double: DuckDB's own conversion of many digits may give one beside it. */
export function doubleOfDecimal(x: string): string {
  return `CAST(CAST(${x} AS VARCHAR) AS DOUBLE)`;
}

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
