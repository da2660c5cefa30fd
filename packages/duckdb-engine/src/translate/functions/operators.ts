/** Operators, comparisons and array subscripts. */
import {
  type Argument,
  type Call,
  type FunctionRow,
  type FunctionTable,
  arg,
  nullFirst,
  raising,
  sqlOf,
} from '../expressions/call';
import { byLength, equality, isComparedPlainly, listMembership } from '../expressions/membership';
import { joined, LIMITS } from '../expressions/makers';
import { ofBytesToo } from './latin1';
import { ownFunction } from './own-functions';
import { addedIntervals, dividedInterval, hasNoMonths, multipliedInterval } from './intervals';
import { BEYOND_CALENDAR, inYears } from './dates';
import { isSimple, quoteName, quoteText, structOf } from '../../sql';

function infix(call: Call, operator: string): string {
  return `(${sqlOf(call, 0)} ${operator} ${sqlOf(call, 1)})`;
}

/** Whether an operand may be NaN, which compares with nothing in GoogleSQL and with everything in DuckDB. */
function mayBeNaN(call: Call, i: number): boolean {
  const { type, constant, expr } = arg(call, i);
  if (type.kind !== 'FLOAT64') return false;
  if (constant !== null) return constant === 'NaN';
  return !(expr.kind === 'cast' && expr.input.type.kind !== 'STRING' && expr.input.type.kind !== 'FLOAT64');
}

function comparison(operator: '<' | '<=' | '>' | '>='): (call: Call) => string {
  return (call) => {
    if (arg(call, 0).type.kind === 'INTERVAL') return byLength(call.bind, sqlOf(call, 0), operator, sqlOf(call, 1));
    // DuckDB has NaN above all numbers: only a NaN on the greater side makes it say true.
    const greater = operator.startsWith('>') ? [0, 1] : [1, 0];
    const suspects = operator.endsWith('=') ? greater : [greater[0]!];
    const checks = suspects.filter((i) => mayBeNaN(call, i));
    if (checks.length === 0) return infix(call, operator);
    return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
      const sides = [a, b];
      return `(${a} ${operator} ${b}${checks.map((i) => ` AND (NOT isnan(${sides[i]}) OR ${sides[1 - i]} IS NULL)`).join('')})`;
    });
  };
}

/** `a = b` of the first two arguments. */
export function equals(call: Call): string {
  return equality(call.bind, sqlOf(call, 0), sqlOf(call, 1), arg(call, 0).type, mayBeNaN(call, 0) && mayBeNaN(call, 1));
}

/** An instant has no calendar: only days and shorter parts may be added to it. */
function addedToInstant(call: Call, operator: '+' | '-'): string {
  const [a, b] = arg(call, 0).type.kind === 'TIMESTAMP' ? [arg(call, 0), arg(call, 1)] : [arg(call, 1), arg(call, 0)];
  if (hasNoMonths(b)) return `(${a.sql} ${operator} ${b.sql})`;
  return call.bind(
    [a.sql, b.sql],
    (t, i) =>
      `CASE WHEN ${t} IS NOT NULL AND lq_interval_months(${i}) <> 0 THEN ${call.fail('argument')} ELSE ${t} ${operator} ${i} END`,
  );
}

function daysFrom(call: Call, date: Argument, operator: '+' | '-', days: Argument): string {
  // A literal that is too large would fail when DuckDB plans.
  if (days.constant !== null && Math.abs(Number(days.constant)) >= 2 ** 31)
    return `CAST(CASE WHEN ${date.sql} IS NOT NULL THEN ${call.fail('date')} END AS DATE)`;
  if (days.constant !== null) return `(${date.sql} ${operator} CAST(${days.sql} AS INTEGER))`;
  return call.bind(
    [date.sql, days.sql],
    (d, n) =>
      `CASE WHEN ${d} IS NOT NULL AND ${n} IS NOT NULL THEN ${d} ${operator} CAST(greatest(least(${n}, ${BEYOND_CALENDAR.days}), -${BEYOND_CALENDAR.days}) AS INTEGER) END`,
  );
}

function add(call: Call): string {
  const [a, b] = [arg(call, 0), arg(call, 1)];
  if (call.type.kind === 'INTERVAL') return addedIntervals(call, '+');
  if (call.type.kind === 'TIMESTAMP') return addedToInstant(call, '+');
  if (a.type.kind === 'DATE' && b.type.kind === 'INT64') return daysFrom(call, a, '+', b);
  if (a.type.kind === 'INT64' && b.type.kind === 'DATE') return daysFrom(call, b, '+', a);
  return arithmetic(call, '+');
}

function subtract(call: Call): string {
  const [a, b] = [arg(call, 0), arg(call, 1)];
  if (a.type.kind === 'INTERVAL') return addedIntervals(call, '-');
  if (call.type.kind === 'TIMESTAMP') return addedToInstant(call, '-');
  if (a.type.kind === 'DATE' && b.type.kind === 'INT64') return daysFrom(call, a, '-', b);
  if (call.type.kind === 'INTERVAL') {
    if (a.type.kind === 'DATE') return `to_days(CAST(${a.sql} - ${b.sql} AS INTEGER))`;
    if (a.type.kind === 'TIME') return `to_microseconds(date_diff('microsecond', ${b.sql}, ${a.sql}))`;
    const micros = `(epoch_us(${a.sql}) - epoch_us(${b.sql}))`;
    if (a.type.kind === 'TIMESTAMP') return `to_microseconds(${micros})`;
    return call.bind(
      [micros],
      (n) => `(to_days(CAST(${n} // 86400000000 AS INTEGER)) + to_microseconds(${n} % 86400000000))`,
    );
  }
  return arithmetic(call, '-');
}

function multiply(call: Call): string {
  if (call.type.kind === 'INTERVAL') return multipliedInterval(call);
  if (call.type.kind === 'FLOAT64' || call.type.kind === 'INT64') return arithmetic(call, '*');
  if (call.type.kind === 'NUMERIC') {
    const [a, b] = [arg(call, 0), arg(call, 1)];
    const [wholeA, wholeB] = [wholeDecimal(a), wholeDecimal(b)];
    if (wholeB !== null) return exactDecimal(call, `${a.sql} * ${wholeB}`);
    if (wholeA !== null) return exactDecimal(call, `${wholeA} * ${b.sql}`);
  }
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => product(call, a, b));
}

/** A NUMERIC that is a whole literal, or made of an INT64, without digits behind the point: its products need no rounding. */
function wholeDecimal({ expr, constant, sql }: Argument): string | null {
  if (constant !== null) return /^-?\d{1,18}$/.test(constant) ? `CAST(${constant} AS DECIMAL(19,0))` : null;
  if (expr.kind !== 'cast' || expr.input.type.kind !== 'INT64') return null;
  const [, integer] = /^CAST\(([^]*) AS DECIMAL\(38,9\)\)$/.exec(sql) ?? [];
  return integer === undefined ? null : `CAST(${integer} AS DECIMAL(19,0))`;
}

/** The product of two names; decimals exactly, rounded half away from zero. */
export function product(call: Call, a: string, b: string): string {
  return call.type.kind === 'NUMERIC' ? exactDecimal(call, `lq_numeric_product(${a}, ${b})`) : `${a} * ${b}`;
}

/** FLOAT64 that comes out infinite of finite numbers is an error; DuckDB lets it be. Other overflow DuckDB reports. */
function arithmetic(call: Call, operator: string): string {
  if (call.type.kind !== 'FLOAT64' || [0, 1].every((i) => isModest(arg(call, i)))) {
    return exactDecimal(call, infix(call, operator));
  }
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
    const result = `${a} ${operator} ${b}`;
    return `CASE WHEN isinf(${result}) AND isfinite(${a}) AND isfinite(${b}) THEN ${call.fail('overflow')} ELSE ${result} END`;
  });
}

/** Integers and literals of everyday size, whose sums and products stay finite. */
function isModest({ expr, constant }: Argument): boolean {
  if (constant !== null) return Math.abs(Number(constant)) < 1e150;
  return expr.kind === 'cast' && expr.input.type.kind === 'INT64';
}

/** DuckDB widens the scale of decimals; GoogleSQL keeps it. */
function exactDecimal(call: Call, text: string): string {
  return call.type.kind === 'NUMERIC' ? `CAST(${text} AS DECIMAL(38,9))` : text;
}

/** Of a NUMERIC: the digits of a larger one leave no room for nine more, and a function of our own divides by it. */
const LARGEST_DIVISOR = '100000000000000000000';

/** The exact quotient of two names, rounded half away from zero. @param orNull NULL where it is out of range */
export function quotient(call: Call, a: string, b: string, orNull = false): string {
  return call.bind(
    [
      structOf([
        ['a', a],
        ['b', b],
      ]),
    ],
    (x) => {
      const text = exactDecimal(call, `lq_numeric_quotient(${x}."a", ${x}."b")`);
      const digits = ['a', 'b'].map((name) => ({ sql: `CAST(${x}."${name}" AS VARCHAR)`, sized: 'text' as const }));
      const byLarge = exactDecimal(call, ownFunction(call, 'lq_numeric_quotient_by_large', digits, { text: true }));
      return `CASE WHEN abs(${x}."b") < ${LARGEST_DIVISOR} THEN ${orNull ? `TRY(${text})` : text} WHEN ${x}."b" IS NOT NULL THEN ${byLarge} END`;
    },
  );
}

function divide(call: Call): string {
  if (call.type.kind === 'INTERVAL') return dividedInterval(call);
  const [a, b] = [arg(call, 0), arg(call, 1)];
  const divisor = b.constant === null ? 0 : Math.abs(Number(b.constant));
  if (call.type.kind !== 'FLOAT64')
    return call.bind([a.sql, b.sql], (x, y) => quotient(call, x, divisor > 0 ? y : guarded(call, x, y)));
  // A quotient by one or more stays finite.
  if (divisor >= 1) return infix(call, '/');
  return call.bind([a.sql, b.sql], (x, y) => {
    const result = `${x} / ${y}`;
    const zero = divisor > 0 ? '' : `WHEN ${y} = 0 AND ${x} IS NOT NULL THEN ${call.fail('division')} `;
    return `CASE ${zero}WHEN isinf(${result}) AND isfinite(${x}) AND isfinite(${y}) THEN ${call.fail('overflow')} ELSE ${result} END`;
  });
}

/** A divisor that fails where it is nought, unless the dividend is NULL. */
export function guarded(call: Call, dividend: string, divisor: string): string {
  return `CASE WHEN ${divisor} = 0 AND ${dividend} IS NOT NULL THEN ${call.fail('division')} ELSE ${divisor} END`;
}

/**
 * LIKE, whose escape is the backslash. A pattern without one goes without ESCAPE, so that DuckDB can turn it into a
 * prefix, suffix or substring search. What it cannot, it matches by trying every place for every `%`, which takes the
 * text's length to the power of their number: with more than one of them it becomes a regular expression.
 */
function like(call: Call): string {
  const [value, pattern] = [arg(call, 0), arg(call, 1)];
  if (pattern.constant === null) return computedLike(call, value, pattern);
  if (!/[\\_]/.test(pattern.constant)) return `(${value.sql} LIKE ${pattern.sql})`;
  const parts = pattern.constant.match(/\\[^]|[^\\]/gu) ?? [];
  if (parts.join('') !== pattern.constant) return call.fail('argument');
  // `%text%` with escapes inside is a plain search for the text.
  const inner = parts.slice(1, -1);
  if (parts.length > 2 && parts[0] === '%' && parts.at(-1) === '%' && !inner.some((p) => p === '%' || p === '_')) {
    return `contains(${value.sql}, ${quoteText(inner.map((p) => (p.startsWith('\\') ? p.slice(1) : p)).join(''))})`;
  }
  if (parts.slice(0, -1).filter((p) => p === '%').length > 1) {
    const expression = parts.map((p) => (p === '%' ? '.*' : p === '_' ? '.' : quotedInPattern(p.at(-1)!)));
    return `regexp_full_match(${value.sql}, ${quoteText(`(?s)${expression.join('')}`)})`;
  }
  const escape = pattern.constant.includes('\\') ? " ESCAPE '\\'" : '';
  return `(${value.sql} LIKE ${pattern.sql}${escape})`;
}

function quotedInPattern(character: string): string {
  return /[\w\s]/.test(character) || character > '\x7f' ? character : `\\${character}`;
}

function computedLike(call: Call, value: Argument, pattern: Argument): string {
  return call.bind([value.sql, pattern.sql], (s, p) => {
    const wild = `strlen(${p}) - strlen(replace(${p}, '%', ''))`;
    const some = `${wild} > CASE WHEN suffix(${p}, '%') THEN 2 ELSE 1 END`;
    return (
      `CASE WHEN suffix(${p}, '\\') AND regexp_full_match(${p}, '(?s)(?:[^\\\\]|\\\\.)*\\\\') AND ${s} IS NOT NULL THEN ${call.fail('argument')} ` +
      `WHEN ${some} THEN regexp_full_match(${s}, lq_like_expression(${p})) ` +
      `ELSE ${s} LIKE ${p} ESCAPE '\\' END`
    );
  });
}

function membership(call: Call): string {
  const [operand, ...items] = call.args;
  if (operand === undefined) throw new Error('$in without an operand');
  const { type } = operand;
  if (isComparedPlainly(type)) return `(${operand.sql} IN (${items.map((i) => i.sql).join(', ')}))`;
  return call.bind([operand.sql, ...items.map((i) => i.sql)], (x, ...names) => {
    return `(${names.map((name) => equality(call.bind, x, name, type)).join(' OR ')})`;
  });
}

/** `array[OFFSET(i)]`: fails outside the array; NULL for a NULL array or index. */
function at(call: Call): string {
  const [array, index] = [arg(call, 0), arg(call, 1)];
  const body = (list: string, i: string): string => {
    const outside =
      index.constant !== null && !index.constant.startsWith('-')
        ? `${i} >= len(${list})`
        : `${i} < 0 OR ${i} >= len(${list})`;
    return `CASE WHEN ${outside} THEN ${call.fail('subscript')} ELSE list_extract(${list}, ${i} + 1) END`;
  };
  return call.bind([array.sql, index.sql], (list, i) => body(list, i));
}

function safeAt(call: Call): string {
  const [array, index] = [arg(call, 0), arg(call, 1)];
  if (index.constant !== null) {
    return index.constant.startsWith('-')
      ? `CASE WHEN false THEN ${array.sql}[1] END`
      : `list_extract(${array.sql}, ${BigInt(index.constant) + 1n})`;
  }
  return call.bind([array.sql, index.sql], (list, i) => `CASE WHEN ${i} >= 0 THEN list_extract(${list}, ${i} + 1) END`);
}

function concat(call: Call): string {
  return call.type.kind === 'ARRAY' ? concatArrays(call) : concatTexts(call);
}

/** Of STRING and BYTES. */
export function concatTexts(call: Call): string {
  const text = joined(call, concatenated);
  // With a NULL as it stands DuckDB's has no type, of which it has no octet_length.
  return call.type.kind === 'BYTES' ? `CAST(${text} AS BLOB)` : text;
}

/** DuckDB copies what `||` has put together so far: as a tree, twenty texts are copied five times each, the first of a chain nineteen times. */
function concatenated(texts: readonly string[]): string {
  if (texts.length <= 4) return `(${texts.join(' || ')})`;
  const half = Math.ceil(texts.length / 2);
  return `(${concatenated(texts.slice(0, half))} || ${concatenated(texts.slice(half))})`;
}

/** A NULL array makes the whole NULL; DuckDB would leave it out. */
export function concatArrays(call: Call): string {
  return call.bind(
    call.args.map((a) => a.sql),
    (...names) => {
      const all = `list_concat(${names.join(', ')})`;
      const length = names.map((n) => `len(${n})`).join(' + ');
      const over = call.isLarge ? ` WHEN ${length} > ${LIMITS.elements} THEN ${call.fail('size')}` : '';
      return `CASE WHEN ${names.map((n) => `${n} IS NULL`).join(' OR ')} THEN NULL${over} ELSE ${all} END`;
    },
  );
}

function logic(operator: 'AND' | 'OR'): (call: Call) => string {
  return (call) => `(${call.args.map((a) => a.sql).join(` ${operator} `)})`;
}

function inUnnest(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (x, list) =>
    listMembership(call.bind, x, list, arg(call, 0).type),
  );
}

/** Elements that are NULL are equal to nothing. */
function arrayIncludes(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (list, x) => {
    const args = [
      { ...arg(call, 1), sql: x },
      { ...arg(call, 0), sql: list },
    ];
    return `CASE WHEN ${list} IS NOT NULL AND ${x} IS NOT NULL THEN coalesce(${inUnnest({ ...call, args })}, false) END`;
  });
}

function jsonMember(call: Call): string {
  const { constant, sql } = arg(call, 1);
  if (constant !== null) return `json_extract(${sqlOf(call, 0)}, ${quoteText(jsonKey(constant))})`;
  // In a JSON pointer a number is the index of an array, too.
  return call.bind(
    [sqlOf(call, 0), sql],
    (json, key) =>
      `CASE WHEN json_type(${json}) = 'OBJECT' THEN json_extract(${json}, '/' || replace(replace(${key}, '~', '~0'), '/', '~1')) END`,
  );
}

function jsonKey(name: string): string {
  return /^[^"\\]+$/.test(name) ? `$.${quoteName(name)}` : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function jsonElement(call: Call): string {
  const index = arg(call, 1);
  if (index.type.kind === 'STRING') return jsonMember(call);
  if (index.constant === null) {
    return call.bind(
      [sqlOf(call, 0), index.sql],
      (json, i) => `CASE WHEN ${i} >= 0 THEN json_extract(${json}, '$[' || CAST(${i} AS VARCHAR) || ']') END`,
    );
  }
  return index.constant.startsWith('-')
    ? 'CAST(NULL AS JSON)'
    : `json_extract(${sqlOf(call, 0)}, '$[${index.constant}]')`;
}

/** Bits shifted out are gone; the right shift fills with noughts, as of an unsigned number. */
const shift = (left: boolean): FunctionRow => ({ ...raising((call) => shifted(call, left)), notOf: 'BYTES' });

function shifted(call: Call, left: boolean): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (x, n) => {
    const bits = `CAST(CAST(${x} AS BIT) ${left ? '<<' : '>>'} CAST(greatest(least(${n}, 63), 0) AS INTEGER) AS BIGINT)`;
    return `CASE WHEN ${x} IS NULL OR ${n} IS NULL THEN NULL WHEN ${n} < 0 THEN ${call.fail('argument')} WHEN ${n} >= 64 THEN CAST(0 AS BIGINT) ELSE ${bits} END`;
  });
}

function bitwise(print: (a: string, b: string) => string): FunctionRow {
  return { emit: (call) => print(sqlOf(call, 0), sqlOf(call, 1)), notOf: 'BYTES' };
}

export const OPERATORS = {
  $add: raising((call) => inYears(call, add(call))),
  $subtract: raising((call) => inYears(call, subtract(call))),
  $multiply: raising(multiply),
  $divide: raising(divide),
  $negate: raising((call) => `(-${isSimple(sqlOf(call, 0)) ? sqlOf(call, 0) : `(${sqlOf(call, 0)})`})`),
  $equal: equals,
  $not_equal: (call) => `(NOT ${equals(call)})`,
  $less: comparison('<'),
  $less_or_equal: comparison('<='),
  $greater: comparison('>'),
  $greater_or_equal: comparison('>='),
  $and: { emit: logic('AND'), lazy: true, chained: true },
  $or: { emit: logic('OR'), lazy: true, chained: true },
  $not: (call) => `(NOT ${sqlOf(call, 0)})`,
  $like: ofBytesToo(like),
  $between: (call) => {
    if (arg(call, 0).type.kind === 'INTERVAL')
      return call.bind(
        call.args.map((a) => a.sql),
        (x, low, high) => `(${byLength(call.bind, x, '>=', low)} AND ${byLength(call.bind, x, '<=', high)})`,
      );
    if (![0, 2].some((i) => mayBeNaN(call, i))) {
      return `(${sqlOf(call, 0)} BETWEEN ${sqlOf(call, 1)} AND ${sqlOf(call, 2)})`;
    }
    return call.bind(
      call.args.map((a) => a.sql),
      (x, low, high) =>
        `(${x} BETWEEN ${low} AND ${high} AND (NOT isnan(${x}) OR ${low} IS NULL) AND (NOT isnan(${high}) OR ${x} IS NULL))`,
    );
  },
  $in: { emit: membership, writtenOut: true },
  $in_unnest: inUnnest,
  ARRAY_INCLUDES: arrayIncludes,
  $is_null: (call) => `(${sqlOf(call, 0)} IS NULL)`,
  $is_true: (call) => `(${sqlOf(call, 0)} IS TRUE)`,
  $is_false: (call) => `(${sqlOf(call, 0)} IS FALSE)`,
  $is_distinct_from: (call) =>
    arg(call, 0).type.kind === 'INTERVAL'
      ? byLength(call.bind, sqlOf(call, 0), 'IS DISTINCT FROM', sqlOf(call, 1))
      : infix(call, 'IS DISTINCT FROM'),
  $concat: { emit: concat, chained: true },
  $bit_and: bitwise((a, b) => `(${a} & ${b})`),
  $bit_or: bitwise((a, b) => `(${a} | ${b})`),
  $bit_xor: bitwise((a, b) => `xor(${a}, ${b})`),
  $bit_not: { emit: (call) => `(~${sqlOf(call, 0)})`, notOf: 'BYTES' },
  $shift_left: nullFirst(shift(true)),
  $shift_right: nullFirst(shift(false)),
  $at: nullFirst(at),
  $safe_at: safeAt,
  $json_member: jsonMember,
  $json_element: jsonElement,
} satisfies FunctionTable;
