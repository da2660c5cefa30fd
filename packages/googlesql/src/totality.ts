/**
 * Which expressions may fail while a query runs, by the table of functions. What is not known to be total may fail, so an oversight
 * costs speed and tells nobody anything (docs/sandbox.md, The fence). It holds for both engines: what either may raise an
 * error for may fail.
 */
import type { Relation, AggregateCall, Expr, FunctionCall, ResolvedCast, ResolvedQuery } from './resolved';
import { RE2JS } from 're2js';
import { functionOf } from './functions/catalogue';
import type { FailureRule } from './functions/function-table';
import { timestampMicros, isTemporal, temporalValue, inOrder } from './literals/temporal';
import { patternCost } from './pattern-cost';
import { callExpressions, operandsOf, relationExpressions, relationsBelow } from './resolved-walk';
import type { Span } from './tree';
import type { SqlType } from './types';

const ofOneRow = new WeakMap<Relation, boolean>();

/** Whether a relation has one row at most, whatever the tables hold. */
export function hasOneRowAtMost(relation: Relation): boolean {
  let found = ofOneRow.get(relation);
  if (found === undefined) ofOneRow.set(relation, (found = compute(relation)));
  return found;
}

function compute(relation: Relation): boolean {
  switch (relation.kind) {
    case 'single_row':
      return true;
    case 'aggregate':
      return relation.keys.length === 0 && relation.groupingSets === null;
    case 'compute':
    case 'filter':
    case 'sort':
    case 'window':
      return hasOneRowAtMost(relation.input);
    case 'limit':
      return isOneAtMost(relation) || hasOneRowAtMost(relation.input);
    case 'query':
      return hasOneRowAtMost(relation.query.relation);
    case 'cte':
      return hasOneRowAtMost(relation.cte.query.relation);
    case 'join':
      return relation.type !== 'full' && hasOneRowAtMost(relation.left) && hasOneRowAtMost(relation.right);
    case 'table':
    case 'unnest':
    case 'set':
      return false;
  }
}

function isOneAtMost({ count }: Extract<Relation, { kind: 'limit' }>): boolean {
  return count.kind === 'literal' && (count.value === '0' || count.value === '1');
}

type Kind = SqlType['kind'];

/** Parts whose first instant is never before the first of the type. */
const SAFE_TRUNCATIONS = new Set(['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR']);
/** Parts whose counts between any two values of a type stay far inside INT64. */
const SAFE_DIFFERENCES = new Set([...SAFE_TRUNCATIONS, 'QUARTER']);

/** Casts, without FORMAT and time zone, that take every value; `from>to`. */
const TOTAL_CASTS: ReadonlySet<string> = new Set([
  ...['BOOL>INT64', 'BOOL>STRING', 'INT64>BOOL', 'INT64>FLOAT64', 'INT64>STRING', 'INT64>NUMERIC', 'INT64>BIGNUMERIC'],
  ...[
    'NUMERIC>BIGNUMERIC',
    'NUMERIC>FLOAT64',
    'NUMERIC>STRING',
    'FLOAT64>STRING',
    'STRING>BYTES',
    'DATE>STRING',
    'DATE>DATETIME',
  ],
  ...['DATE>TIMESTAMP', 'DATETIME>DATE', 'DATETIME>TIME', 'DATETIME>TIMESTAMP', 'DATETIME>STRING', 'TIME>STRING'],
  ...['TIMESTAMP>DATE', 'TIMESTAMP>DATETIME', 'TIMESTAMP>TIME', 'TIMESTAMP>STRING', 'RANGE>STRING'],
]);

const known = new WeakMap<Expr, boolean>();

/** Whether the expression, or anything in it, may raise an error while a query runs. */
export function canFail(expr: Expr): boolean {
  let found = known.get(expr);
  if (found === undefined) known.set(expr, (found = failsSomewhere(expr)));
  return found;
}

function failsSomewhere(expr: Expr): boolean {
  if (failsItself(expr) || operandsOf(expr).some(canFail)) return true;
  return expr.kind === 'subquery' && queryCanFail(expr.query);
}

/** Whether anything that a query evaluates may fail, its aggregate and window functions included. */
export function queryCanFail(query: ResolvedQuery): boolean {
  return relationsBelow(query).some(relationCanFail);
}

/** Every place in the text that may fail, in the order of the text, a call before its arguments. */
export function placesThatCanFail(query: ResolvedQuery): Span[] {
  const places = relationsBelow(query).flatMap((relation) => [
    ...relationExpressions(relation).flatMap(placesIn),
    ...callsOf(relation).flatMap((call) => (aggregateFailsItself(call) ? [call.span] : [])),
  ]);
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

function placesIn(expr: Expr): Span[] {
  if (!canFail(expr)) return [];
  const own = failsItself(expr) ? [expr.span] : [];
  const inner = expr.kind === 'subquery' ? placesThatCanFail(expr.query) : [];
  return [...own, ...operandsOf(expr).flatMap(placesIn), ...inner];
}

function callsOf(relation: Relation): AggregateCall[] {
  if (relation.kind === 'aggregate') return relation.aggregates.map(({ call }) => call);
  return relation.kind === 'window' ? relation.functions.map(({ call }) => call.call) : [];
}

function relationCanFail(relation: Relation): boolean {
  return relationExpressions(relation).some(canFail) || callsOf(relation).some((call) => aggregateFailsItself(call));
}

/**
 * Whether the function itself may fail on the rows that it is given, on an overflow for one.
 *
 * @param bySize of all that it gathers, too: an engine may have no bound on that but its memory
 */
export function aggregateFailsItself(call: AggregateCall, bySize = true): boolean {
  const { fails } = functionOf(call);
  return fails !== 'never' && (bySize || fails !== 'size') && callExpressions(call).length > 0;
}

/** Whether the operation itself may raise an error, whatever its operands do. */
export function failsItself(expr: Expr): boolean {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
    case 'field':
    case 'case':
    case 'make_array':
    case 'make_struct':
      return false;
    case 'subquery':
      return expr.mode === 'scalar' && !hasOneRowAtMost(expr.query.relation);
    case 'cast':
      return !isTotalCast(expr);
    case 'call':
      return callFailsItself(expr);
  }
}

function isTotalCast({ input, type, safe, format, timeZone, parameters }: ResolvedCast): boolean {
  if (format !== null || timeZone !== null || parameters !== undefined) return false;
  if (safe || input.type.kind === type.kind) return !['ARRAY', 'STRUCT'].includes(type.kind);
  if (TOTAL_CASTS.has(`${input.type.kind}>${type.kind}`)) return true;
  return isTemporalText(input, type.kind);
}

/** A literal text that is a value of the type. */
function isTemporalText(expr: Expr, kind: Kind): boolean {
  if (expr.kind !== 'literal' || expr.type.kind !== 'STRING' || !isTemporal(kind)) return false;
  return expr.value === null || temporalValue(kind, expr.value) !== null;
}

/** SAFE. makes NULL of every error of a function but one of size. */
function callFailsItself(call: FunctionCall): boolean {
  const { fails, grows } = functionOf(call);
  if (fails === 'never') return false;
  if (fails === 'size') return true;
  if (call.safe) return grows !== 1;
  return fails === 'may' || !NEVER[fails](call);
}

type PatternRule = 'group' | 'groups' | 'pattern';

/** Patterns that fail on no text: of LIKE, and regular expressions with one group at most or any number. */
export const PATTERNS: Readonly<Record<PatternRule, (pattern: string) => boolean>> = {
  // It does not end in the middle of an escape.
  pattern: (pattern) => /^(?:[^\\]|\\[^])*$/.test(pattern),
  group: (pattern) => hasGroups(pattern, 1),
  groups: (pattern) => hasGroups(pattern, Infinity),
};

const withPattern =
  (rule: PatternRule) =>
  (call: FunctionCall): boolean => {
    const [, pattern, ...others] = call.args;
    if (!isStringCall(call) || others.length > 0 || pattern?.kind !== 'literal') return false;
    return pattern.value !== null && PATTERNS[rule](pattern.value);
  };

/** When a call never fails. */
const NEVER: Readonly<Record<FailureRule, (call: FunctionCall) => boolean>> = {
  conversion: isTotalConversion,
  count: (call) => isStringCall(call) && isCount(call.args[1], 0),
  difference: ({ part }) => SAFE_DIFFERENCES.has(part ?? ''),
  ends: hasOrderedEnds,
  float: ({ args }) => args[0]?.type.kind === 'FLOAT64',
  group: withPattern('group'),
  groups: withPattern('groups'),
  interval: ({ args, part }) => isShortInterval(args[0], part),
  near: (call) => isNear(call),
  pattern: withPattern('pattern'),
  place: (call) => isStringCall(call) && isCount(call.args[1], 1) && (call.args.length < 3 || isCount(call.args[2], 0)),
  separator: (call) => isStringCall(call) && call.args.slice(1).every((by) => by.kind === 'literal' && by.value !== ''),
  series: ({ args }) => isSmallSeries(args),
  truncation: (call) => (SAFE_TRUNCATIONS.has(call.part ?? '') && isUtc(call.args[1])) || isNear(call),
  zone: ({ args }) => isUtc(args.find(({ type }) => type.kind === 'STRING')),
};

/** RANGE(a, b) of literals that may be the ends of one, or open on a side. */
function hasOrderedEnds({ args, type }: FunctionCall): boolean {
  if (type.kind !== 'RANGE') return false;
  const ends = args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined));
  if (ends.includes(null)) return true;
  const [start, end] = ends;
  if (start === undefined || end === undefined || start === null || end === null) return false;
  return inOrder(type.element.kind, start, end);
}

/** DATE(x), DATETIME(x), TIME(x), TIMESTAMP(x) of UTC, of a value that has one of the type. */
function isTotalConversion({ function: name, args }: FunctionCall): boolean {
  const [value, zone] = args;
  if (value === undefined || args.length > 2) return false;
  if (isTemporalText(value, name as Kind)) return zone === undefined;
  return isUtc(zone) && (value.type.kind === name || TOTAL_CASTS.has(`${value.type.kind}>${name}`));
}

function isStringCall({ args }: FunctionCall): boolean {
  return args[0]?.type.kind === 'STRING';
}

/** Whether a time zone argument is left out or UTC. */
function isUtc(zone: Expr | undefined): boolean {
  return zone === undefined || (zone.kind === 'literal' && zone.value === 'UTC');
}

const LONGEST_SERIES = 100_000;
/** Larger positions and lengths DuckDB refuses. */
const LARGEST_COUNT = 2 ** 31;

function isCount(expr: Expr | undefined, least: number): boolean {
  if (expr?.kind !== 'literal' || expr.value === null) return false;
  return Number(expr.value) >= least && Number(expr.value) < LARGEST_COUNT;
}

/** Integers from literals, fewer than either engine refuses. */
function isSmallSeries(args: readonly Expr[]): boolean {
  const [from, to, step = 1] = args.map((arg) =>
    arg.kind === 'literal' && arg.type.kind === 'INT64' && arg.value !== null ? Number(arg.value) : NaN,
  );
  if (from === undefined || to === undefined || step === 0) return false;
  return (to - from) / step < LONGEST_SERIES;
}

/** Of a pattern that people write, as `patternCost` reckons: more is only compiled where it is used. */
const SMALL_PATTERN = 500;

function hasGroups(pattern: string, most: number): boolean {
  if (patternCost(pattern) > SMALL_PATTERN) return false;
  try {
    return RE2JS.compile(pattern).groupCount() <= most;
  } catch {
    return false;
  }
}

// ---------------------------------------------------------------------------- times near the present

const MICROS_PER_DAY = 86_400_000_000;
/** Days that one step may go. */
const LONGEST_STEP = 36_525;
/** Steps that may follow each other: all of them together stay within the calendar. */
const MOST_STEPS = 10;
const DAYS_OF_PART: Readonly<Record<string, number>> = {
  MICROSECOND: 1 / MICROS_PER_DAY,
  MILLISECOND: 1000 / MICROS_PER_DAY,
  SECOND: 1 / 86_400,
  MINUTE: 1 / 1440,
  HOUR: 1 / 24,
  DAY: 1,
  WEEK: 7,
  MONTH: 31,
  QUARTER: 92,
  YEAR: 366,
};
const FIRST_MICROS = timestampMicros('1500-01-01');
const LAST_MICROS = timestampMicros('8000-01-01');

/**
 * Whether an expression of literals and the clock is a time that stays centuries away from both ends of the calendar
 * (`TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)`): what is reckoned with it cannot leave the range of its type.
 */
function isNear(expr: Expr, steps = 0): boolean {
  if (steps > MOST_STEPS) return false;
  if (expr.kind === 'literal') return expr.value !== null && isNearValue(expr.type.kind, expr.value);
  if (expr.kind === 'cast') {
    if (!isTotalCast(expr) || expr.safe) return false;
    if (expr.input.kind === 'literal' && expr.input.type.kind === 'STRING')
      return isNearText(expr.input, expr.type.kind);
    return expr.type.kind !== 'TIME' && isNear(expr.input, steps + 1);
  }
  if (expr.kind !== 'call' || expr.safe) return false;
  const { function: name, args, part } = expr;
  const [value, amount] = args;
  switch (name) {
    case 'CURRENT_TIMESTAMP':
      return true;
    case 'CURRENT_DATE':
    case 'CURRENT_DATETIME':
      return isUtc(value);
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
      if (value === undefined || !isTotalConversion(expr)) return false;
      return value.type.kind === 'STRING' ? isNearText(value, name) : isNear(value, steps + 1);
    case 'TIMESTAMP_TRUNC':
    case 'DATETIME_TRUNC':
    case 'DATE_TRUNC':
      return value !== undefined && isUtc(amount) && isNear(value, steps + 1);
    case 'TIMESTAMP_ADD':
    case 'TIMESTAMP_SUB':
    case 'DATETIME_ADD':
    case 'DATETIME_SUB':
    case 'DATE_ADD':
    case 'DATE_SUB':
      return value !== undefined && isShortInterval(amount, part) && isNear(value, steps + 1);
    case '$add':
    case '$subtract':
      if (value === undefined || amount?.kind !== 'call' || amount.function !== '$interval') return false;
      return !failsItself(amount) && isNear(value, steps + 1);
    case 'TIMESTAMP_MICROS':
    case 'TIMESTAMP_MILLIS':
    case 'TIMESTAMP_SECONDS':
      return value?.kind === 'literal' && value.value !== null && isNearCount(value.value, name);
    default:
      return false;
  }
}

function isShortInterval(amount: Expr | undefined, part: string | null): boolean {
  const days = DAYS_OF_PART[part ?? ''];
  return days !== undefined && amount !== undefined && largestAmount(amount) * days <= LONGEST_STEP;
}

/** The largest absolute value that an amount can have: of a literal, or of the literals that CASE and IF choose from. */
function largestAmount(amount: Expr): number {
  switch (amount.kind) {
    case 'literal':
      return amount.value === null ? Infinity : Math.abs(Number(amount.value));
    case 'case': {
      const results = amount.whens.map(({ then }) => then);
      if (amount.else !== null) results.push(amount.else);
      return Math.max(...results.map(largestAmount));
    }
    case 'call': {
      const [, then, otherwise] = amount.args;
      if (amount.function !== 'IF' || then === undefined || otherwise === undefined) return Infinity;
      return Math.max(largestAmount(then), largestAmount(otherwise));
    }
    default:
      return Infinity;
  }
}

function isNearText(expr: Expr, kind: Kind): boolean {
  if (expr.kind !== 'literal' || expr.value === null || !isTemporal(kind)) return false;
  const value = temporalValue(kind, expr.value);
  return value !== null && isNearValue(kind, value);
}

/** @param value as in `ResolvedLiteral` */
function isNearValue(kind: Kind, value: string): boolean {
  if (kind === 'TIMESTAMP') return isNearMicros(BigInt(value));
  if (kind !== 'DATE' && kind !== 'DATETIME') return false;
  const year = Number(value.slice(0, 4));
  return year >= 1500 && year < 8000;
}

function isNearCount(digits: string, name: string): boolean {
  if (!/^-?\d{1,18}$/.test(digits)) return false;
  const factor = { TIMESTAMP_MICROS: 1n, TIMESTAMP_MILLIS: 1_000n }[name] ?? 1_000_000n;
  return isNearMicros(BigInt(digits) * factor);
}

function isNearMicros(micros: bigint): boolean {
  return FIRST_MICROS !== null && LAST_MICROS !== null && micros >= FIRST_MICROS && micros <= LAST_MICROS;
}
