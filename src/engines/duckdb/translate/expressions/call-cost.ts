/**
 * What a call costs, as an expression over the sizes of its arguments. DuckDB looks at an interrupt once for 2,048 rows: what
 * a call does for a row is bounded, so that all of them together end soon. Only arguments that a query makes are looked
 * at; what a table holds is as large as its owner lets it be.
 */
import type { ResolvedCast } from '../../../../googlesql/resolved';
import type { SqlType } from '../../../../googlesql/types';
import type { Argument, Call } from './call';
import type { Context } from '../context';
import { fail, physicalFieldNames, quoteText, sameType } from '../../sql';
import { MODEST, SMALL } from './size-estimate';

/** About nanoseconds on a busy machine: for the query, or for each of the rows that are worked on together. */
const STEPS = { once: 128 * 1024 * 1024, perRow: 128 * 1024 };
/** Steps more for values between that and what may be of any size. */
const ROOM_BETWEEN = 4;

/** An argument as a cost sees it. */
interface Sized {
  /** SQL of its bytes, a number for literals. */
  readonly bytes: string;
  readonly argument: Argument;
}

type Cost = (args: readonly Sized[]) => string;

/** So many steps for each byte of all arguments. */
const perByte =
  (steps: number): Cost =>
  (args) =>
    `(${args.map(({ bytes }) => bytes).join(' + ')}) * ${steps}`;

/** A search: what is looked for is compared at each place, sixty-four bytes at a time. */
const search =
  (steps: number): Cost =>
  ([text, wanted]) =>
    `${text!.bytes} * (${steps} + ${wanted?.bytes ?? '0'} / 64)`;

/** A match at each byte, for each of the groups that the replacement repeats: it writes them, and the next call reads them. */
const replacing =
  (steps: number): Cost =>
  (args) => {
    const replacement = args[2]?.argument.constant ?? null;
    const groups = replacement === null ? MOST_GROUPS : (replacement.match(/\\\d/g)?.length ?? 0);
    return perByte(steps * Math.min(MOST_GROUPS, Math.max(1, groups)))(args);
  };
/** That are counted. */
const MOST_GROUPS = 4;

/** So many steps for each byte, of a text, of an array of small values, each of which is written out, and of BYTES. */
const writing =
  (ofText: number, ofArray: number, ofBytes = ofText): Cost =>
  (args) =>
    args
      .map(({ bytes, argument: { type } }) => {
        const small = type.kind === 'ARRAY' && !hasSize(type.element);
        return `${bytes} * ${small ? ofArray : type.kind === 'BYTES' ? ofBytes : ofText}`;
      })
      .join(' + ');

/** Values are handed on, compared by their beginnings, or bounded by the printer of the function. */
const FREE: ReadonlySet<string> = new Set(
  `$and $or $not $is_null $is_true $is_false $is_distinct_from $equal $not_equal $less $less_or_equal $greater
   $greater_or_equal $between $in $concat $at $safe_at $with_lists $to_json ARRAY_FIRST ARRAY_LAST ARRAY_LENGTH BYTE_LENGTH COALESCE CONCAT
   EDIT_DISTANCE ERROR GREATEST IF IFNULL INSTR LEAST NULLIF REPEAT STARTS_WITH TYPEOF $like`.split(/\s+/),
);

/** Steps measured on texts and arrays at their worst, per byte; an element of an array has eight bytes, a text sixteen more. */
const COSTS: Readonly<Record<string, Cost>> = {
  $in_unnest: ([value, list]) => `${list!.bytes} * ${value!.argument.type.kind === 'STRUCT' ? 8 : 0.5}`,
  ARRAY_CONCAT: perByte(1),
  ARRAY_INCLUDES: ([list, value]) => `${list!.bytes} * ${value!.argument.type.kind === 'STRUCT' ? 8 : 0.5}`,
  ARRAY_REVERSE: perByte(4),
  ARRAY_SLICE: perByte(4),
  ARRAY_TO_STRING: perByte(1),
  CHAR_LENGTH: perByte(0.5),
  CODE_POINTS_TO_BYTES: perByte(40),
  CODE_POINTS_TO_STRING: perByte(20),
  CONTAINS_SUBSTR: perByte(192),
  COSINE_DISTANCE: perByte(2),
  ENDS_WITH: perByte(8),
  EUCLIDEAN_DISTANCE: perByte(2),
  FORMAT: writing(8, 16, 32),
  FROM_BASE64: perByte(48),
  FROM_HEX: perByte(4),
  INITCAP: perByte(120),
  JSON_EXTRACT: perByte(16),
  JSON_EXTRACT_ARRAY: perByte(64),
  JSON_EXTRACT_SCALAR: perByte(24),
  JSON_EXTRACT_STRING_ARRAY: perByte(120),
  JSON_QUERY: perByte(16),
  JSON_QUERY_ARRAY: perByte(64),
  JSON_VALUE: perByte(24),
  JSON_VALUE_ARRAY: perByte(120),
  LEFT: perByte(4),
  LENGTH: perByte(0.5),
  LOWER: perByte(32),
  LTRIM: perByte(16),
  MD5: perByte(4),
  'NET.HOST': perByte(200),
  'NET.PUBLIC_SUFFIX': perByte(200),
  'NET.REG_DOMAIN': perByte(200),
  NORMALIZE: perByte(64),
  NORMALIZE_AND_CASEFOLD: perByte(192),
  PARSE_JSON: perByte(16),
  PARSE_NUMERIC: perByte(192),
  RANGE_BUCKET: ([, list]) => `${list!.bytes} * 16`,
  REGEXP_CONTAINS: perByte(8),
  REGEXP_EXTRACT: perByte(16),
  REGEXP_EXTRACT_ALL: perByte(128),
  REGEXP_INSTR: perByte(16),
  REGEXP_REPLACE: replacing(256),
  REPLACE: search(32),
  REVERSE: perByte(128),
  RIGHT: perByte(4),
  RTRIM: perByte(16),
  SHA1: perByte(8),
  SHA256: perByte(8),
  SPLIT: search(80),
  STRPOS: search(0.25),
  SUBSTR: perByte(4),
  TO_BASE64: perByte(4),
  TO_CODE_POINTS: perByte(128),
  TO_HEX: perByte(4),
  TO_JSON: writing(6, 8),
  TO_JSON_STRING: writing(6, 8),
  TRANSLATE: perByte(16),
  TRIM: perByte(16),
  UPPER: perByte(128),
};

/**
 * The call as `print` writes it, unless what it may cost is over the bound, which fails.
 *
 * @param times more than the table says
 */
export function withinCost(call: Call, print: (call: Call) => string, times = 1): string {
  const cost = FREE.has(call.name) ? null : (COSTS[call.name] ?? perByte(4));
  const largest = Math.max(0, ...call.args.map((a) => (hasSize(a.type) ? call.estimate(a) : 0)));
  const constant = call.args.every(isWritten);
  if (cost === null || constant || (largest <= MODEST && !repeatsGroup(call))) return print(call);
  return call.bind(
    call.args.filter((a) => !isWritten(a)).map((a) => a.sql),
    (...names) => {
      const next = names.values();
      const args = call.args.map((a) => (isWritten(a) ? a : { ...a, sql: next.next().value! }));
      const each = cost(args.map((argument) => ({ bytes: bytesOfArgument(argument), argument })));
      const steps = times === 1 ? each : `(${each}) * ${times}`;
      const most = (call.once ? STEPS.once : STEPS.perRow) * (largest <= SMALL ? ROOM_BETWEEN : 1);
      return `CASE WHEN ${steps} > ${most} THEN ${call.fail('size')} ELSE ${print({ ...call, args })} END`;
    },
  );
}

/** Whether a conversion is bounded, so that it may fail. */
export function isBoundedCast(ctx: Context, { input, type }: Pick<ResolvedCast, 'input' | 'type'>): boolean {
  return hasSize(input.type) && ctx.estimates.of(input) > MODEST && !sameType(input.type, type);
}

/** Whether a replacement has one group more than once: it makes much of any text, a table's as well. */
function repeatsGroup({ name, args }: Call): boolean {
  const groups = name === 'REGEXP_REPLACE' ? (args[2]?.constant?.match(/\\\d/g) ?? []) : [];
  return new Set(groups).size < groups.length;
}

/** A conversion as `print` writes it, unless the value that the query makes is too large for one. */
export function withinCastCost(
  ctx: Context,
  { input, type, safe, span }: ResolvedCast,
  text: string,
  print: (text: string) => string | null,
): string | null {
  const estimate = ctx.estimates.of(input);
  if (!isBoundedCast(ctx, { input, type })) return print(text);
  const steps = ctx.estimates.isSingle(input) && ctx.lambdas === 0 ? STEPS.once : STEPS.perRow;
  const most = steps * (estimate <= SMALL ? ROOM_BETWEEN : 1);
  let possible = true;
  const bounded = ctx.bind([text], (x) => {
    const converted = print(x);
    possible = converted !== null;
    const over = `${bytesOfValue(x, input.type)} * ${converting(input.type, type)} > ${most}`;
    return `CASE WHEN ${over} THEN ${safe ? 'NULL' : fail('size', span)} ELSE ${converted ?? 'NULL'} END`;
  });
  return possible ? bounded : null;
}

/** Steps for each byte of a value that is converted: a text is read by a regular expression first, that of numbers by its slow way. */
function converting(from: SqlType, to: SqlType): number {
  if (from.kind !== 'STRING') return 4;
  switch (to.kind) {
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return 192;
    case 'INT64':
      return 128;
    case 'BYTES':
      return 4;
    default:
      return 32;
  }
}

/** Steps that one call may take. */
export function mostSteps({ once }: Pick<Call, 'once'>): number {
  return once ? STEPS.once : STEPS.perRow;
}

/** Literals and parameters stay where they are written: DuckDB compiles a constant pattern once. */
function isWritten({ expr }: Argument): boolean {
  return expr.kind === 'literal' || expr.kind === 'parameter';
}

function bytesOfArgument(argument: Argument): string {
  const { sql, type, constant, expr } = argument;
  if (!hasSize(type)) return '8';
  if (constant !== null) return String(Buffer.byteLength(constant));
  return expr.kind === 'make_array' && expr.elements.every((e) => e.kind === 'literal')
    ? String(expr.elements.reduce((sum, e) => sum + 16 + Buffer.byteLength((e.kind === 'literal' && e.value) || ''), 0))
    : bytesOfValue(sql, type);
}

/** SQL of about how many bytes a value takes. `x` may be repeated. */
function bytesOfValue(x: string, type: SqlType, depth = 0): string {
  switch (type.kind) {
    case 'STRING':
    case 'GEOGRAPHY':
      return `coalesce(strlen(${x}), 0)`;
    case 'JSON':
      return `coalesce(strlen(CAST(${x} AS VARCHAR)), 0)`;
    case 'BYTES':
      return `coalesce(octet_length(${x}), 0)`;
    case 'ARRAY': {
      if (!hasSize(type.element)) return `coalesce(len(${x}), 0) * 8`;
      const element = `e${depth}`;
      const each = bytesOfValue(element, type.element, depth + 1);
      return `coalesce(list_sum(list_transform(${x}, lambda ${element}: 16 + ${each})), 0)`;
    }
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) =>
        bytesOfValue(`struct_extract(${x}, ${quoteText(names[i]!)})`, f.type, depth),
      );
      return `(${fields.join(' + ')})`;
    }
    default:
      return '8';
  }
}

/** Whether values of the type differ in size. */
function hasSize(type: SqlType): boolean {
  return ['STRING', 'BYTES', 'JSON', 'ARRAY', 'STRUCT', 'GEOGRAPHY'].includes(type.kind);
}
