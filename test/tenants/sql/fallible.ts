/** Expressions that fail on some values: by the kind of the column that they read. `{c}` is the column. */
import type { Random } from '../../sandbox/fuzz/random';
import type { Kind } from '../data/value-kinds';
import type { Column, ColumnType } from './relations';

/** What an expression gives. `LIST`: an array of INT64 or STRING. */
export type ValueType = ColumnType | 'DATE' | 'BYTES' | 'LIST' | 'NUMERIC';

export interface Fallible {
  readonly sql: string;
  readonly type: ValueType;
  /** For the counts of a run: division, cast, ... */
  readonly kind: string;
}

type Template = readonly [kind: string, type: ValueType, sql: string];

const MOMENT = "timestamp '2026-09-30 11:00:00+00'";

export const BY_KIND: Readonly<Record<Exclude<Kind, 'truth' | 'other'>, readonly Template[]>> = {
  words: [
    ['division', 'INT64', 'div(100, length({c}))'],
    ['division', 'FLOAT64', '1 / length({c})'],
    ['modulo', 'INT64', 'mod(100, length({c}))'],
    ['negative length', 'STRING', 'substr({c}, 1, length({c}) - 2)'],
    ['negative length', 'STRING', 'left({c}, length({c}) - 2)'],
    ['negative length', 'STRING', 'right({c}, length({c}) - 2)'],
    ['negative length', 'STRING', "repeat('a', length({c}) - 2)"],
    ['negative length', 'STRING', "lpad('a', length({c}) - 2)"],
    ['negative length', 'STRING', "rpad('abc', length({c}) - 2, 'x')"],
    ['empty pad', 'STRING', "lpad('abc', 10, {c})"],
    ['position', 'INT64', "instr('abcabc', 'a', length({c}))"],
    ['position', 'INT64', "instr('abcabc', 'a', 1, length({c}))"],
    ['subscript', 'STRING', "split({c}, ' ')[offset(1)]"],
    ['subscript', 'STRING', "split({c}, ' ')[ordinal(2)]"],
    ['subscript', 'INT64', 'to_code_points({c})[offset(1)]'],
    ['code point', 'STRING', 'chr(length({c}) - 2)'],
    ['code point', 'STRING', 'code_points_to_string([length({c}) - 2])'],
    ['domain', 'FLOAT64', 'ln(length({c}))'],
    ['domain', 'FLOAT64', 'log(length({c}), 2)'],
    ['domain', 'FLOAT64', 'sqrt(length({c}) - 2)'],
    ['domain', 'FLOAT64', 'acos(length({c}) / 200)'],
    ['float overflow', 'FLOAT64', 'exp(length({c}) * 6)'],
    ['float overflow', 'FLOAT64', 'pow(10.0, length({c}) * 5)'],
    ['int overflow', 'INT64', 'length({c}) * 100000000000000000'],
    ['array step', 'LIST', 'generate_array(1, 3, length({c}))'],
    ['date arithmetic', 'DATE', "date_add(date '2026-01-01', interval length({c}) * 100 year)"],
    ['cast', 'INT64', 'cast({c} as int64)'],
    ['split delimiter', 'LIST', "split('a', {c})"],
    ['prefix length', 'BYTES', 'net.ip_net_mask(16, length({c}))'],
    ['address', 'BYTES', 'net.ip_from_string({c})'],
    ['translate', 'STRING', "translate('abc', {c}, upper({c}))"],
    ['error', 'STRING', "if(length({c}) > 30, error({c}), 'short')"],
    ['range bucket', 'INT64', 'range_bucket(20, [20, length({c})])'],
  ],
  number: [
    ['cast', 'INT64', 'cast({c} as int64)'],
    ['cast', 'FLOAT64', 'cast({c} as float64)'],
    ['cast', 'NUMERIC', 'cast({c} as numeric)'],
    ['parse number', 'NUMERIC', 'parse_numeric({c})'],
    ['division', 'INT64', 'div(1000, cast({c} as int64))'],
    ['modulo', 'INT64', 'mod(1000, safe_cast({c} as int64))'],
    ['int overflow', 'INT64', 'cast({c} as int64) * 4611686018427387'],
    ['int overflow', 'INT64', 'safe_cast({c} as int64) + 9223372036854775000'],
    ['numeric overflow', 'NUMERIC', "safe_cast({c} as numeric) * numeric '900000000000000000000'"],
    ['size', 'STRING', "repeat('ab', safe_cast({c} as int64))"],
    ['code point', 'STRING', 'chr(cast({c} as int64))'],
    ['parse json', 'JSON', 'parse_json({c})'],
    ['json conversion', 'INT64', 'int64(parse_json({c}))'],
    ['array step', 'LIST', 'generate_array(1, 10, safe_cast({c} as int64))'],
    ['subscript', 'INT64', 'generate_array(0, 300)[offset(safe_cast({c} as int64))]'],
  ],
  json: [
    ['parse json', 'JSON', 'parse_json({c})'],
    ['parse json', 'JSON', "parse_json({c}, wide_number_mode => 'exact')"],
    ['json conversion', 'INT64', 'int64(parse_json({c}).n)'],
    ['json conversion', 'STRING', 'string(parse_json({c}).s)'],
    ['json conversion', 'BOOL', 'bool(parse_json({c}).b)'],
    ['json conversion', 'FLOAT64', 'float64(parse_json({c}).f)'],
    ['json conversion', 'INT64', 'lax_int64(parse_json({c}).n)'],
    ['json conversion', 'INT64', "int64(safe.parse_json({c})['n'])"],
    ['cast', 'INT64', "cast(json_value({c}, '$.n') as int64)"],
    ['cast', 'BOOL', "cast(json_value({c}, '$.b') as bool)"],
    ['division', 'INT64', "div(10, length(json_value({c}, '$.s')))"],
    ['subscript', 'STRING', "json_value_array({c}, '$.a')[offset(1)]"],
    ['subscript', 'STRING', "json_extract_array({c}, '$.a')[ordinal(2)]"],
  ],
  pattern: [
    ['regexp', 'BOOL', "regexp_contains('abc', {c})"],
    ['regexp', 'STRING', "regexp_extract('abc', {c})"],
    ['regexp', 'STRING', "regexp_replace('abc', {c}, 'x')"],
    ['regexp', 'LIST', "regexp_extract_all('abc', {c})"],
    ['regexp', 'INT64', "regexp_instr('abc', {c})"],
    ['regexp', 'STRING', "regexp_replace('abc', 'b', {c})"],
    ['regexp', 'BOOL', 'regexp_contains({c}, {c})'],
  ],
  like: [
    ['like', 'BOOL', "'abc' like {c}"],
    ['like', 'BOOL', "'abc' not like {c}"],
    ['regexp', 'BOOL', "regexp_contains('abc', concat({c}, '$'))"],
  ],
  zone: [
    ['zone', 'TIMESTAMP', "timestamp(datetime '2026-01-01 00:00:00', {c})"],
    ['zone', 'INT64', `extract(hour from ${MOMENT} at time zone {c})`],
    ['zone', 'STRING', `format_timestamp('%F %T', ${MOMENT}, {c})`],
    ['zone', 'DATE', `date(${MOMENT}, {c})`],
    ['zone', 'STRING', `string(${MOMENT}, {c})`],
    ['zone', 'TIMESTAMP', `timestamp_trunc(${MOMENT}, day, {c})`],
    ['zone', 'TIMESTAMP', "parse_timestamp('%F', '2026-01-01', {c})"],
    ['zone', 'TIMESTAMP', "timestamp('2026-01-01 00:00:00', {c})"],
  ],
  date: [
    ['cast', 'DATE', 'cast({c} as date)'],
    ['parse date', 'DATE', "parse_date('%F', {c})"],
    ['parse date', 'DATE', "parse_date('%Y-%m-%d', {c})"],
    ['cast', 'TIMESTAMP', 'cast({c} as timestamp)'],
    ['date arithmetic', 'DATE', "date_add(safe.parse_date('%F', {c}), interval 7950 year)"],
    ['parse date', 'TIMESTAMP', "parse_timestamp('%F', {c})"],
    ['cast', 'STRING', 'cast(cast({c} as datetime) as string)'],
  ],
  civil: [
    ['cast', 'STRING', 'cast(cast({c} as datetime) as string)'],
    ['parse date', 'STRING', "cast(parse_datetime('%F %T', {c}) as string)"],
    ['cast', 'TIMESTAMP', 'cast({c} as timestamp)'],
    ['cast', 'DATE', 'date(cast({c} as datetime))'],
  ],
  instant: [
    ['cast', 'TIMESTAMP', 'cast({c} as timestamp)'],
    ['cast', 'TIMESTAMP', 'timestamp({c})'],
    ['parse date', 'TIMESTAMP', "parse_timestamp('%Y-%m-%dT%H:%M:%SZ', {c})"],
    ['date arithmetic', 'TIMESTAMP', 'timestamp_add(safe_cast({c} as timestamp), interval 1 hour)'],
  ],
  clock: [
    ['cast', 'STRING', 'cast(cast({c} as time) as string)'],
    ['parse date', 'STRING', "cast(parse_time('%T', {c}) as string)"],
  ],
  hex: [
    ['from hex', 'BYTES', 'from_hex({c})'],
    ['from hex', 'STRING', 'to_base64(from_hex({c}))'],
    ['utf-8', 'STRING', "cast(concat(from_hex('61'), safe.from_hex({c})) as string)"],
  ],
  base64: [
    ['from base64', 'BYTES', 'from_base64({c})'],
    ['from base64', 'STRING', 'cast(from_base64({c}) as string)'],
    ['from base64', 'INT64', 'byte_length(from_base64({c}))'],
    ['address', 'STRING', 'net.ip_to_string(safe.from_base64({c}))'],
  ],
  flag: [['cast', 'BOOL', 'cast({c} as bool)']],
  count: [
    ['division', 'INT64', 'div(1000, {c})'],
    ['division', 'FLOAT64', '100 / {c}'],
    ['modulo', 'INT64', 'mod(1000, {c})'],
    ['int overflow', 'INT64', '{c} * 4611686018427387'],
    ['int overflow', 'INT64', '{c} + 9223372036854775000'],
    ['int overflow', 'INT64', '-9223372036854775000 - {c}'],
    ['int overflow', 'INT64', '-({c})'],
    ['int overflow', 'INT64', 'abs({c})'],
    ['numeric overflow', 'NUMERIC', "cast({c} as numeric) * numeric '900000000000000000000'"],
    ['negative length', 'STRING', "repeat('x', {c})"],
    ['negative length', 'STRING', "substr('abc', 1, {c})"],
    ['negative length', 'STRING', "left('abc', {c})"],
    ['negative length', 'STRING', "lpad('abc', {c}, '-')"],
    ['position', 'INT64', "instr('abcabc', 'a', {c})"],
    ['code point', 'STRING', 'chr({c})'],
    ['code point', 'STRING', 'code_points_to_string([{c}])'],
    ['domain', 'FLOAT64', 'ln({c})'],
    ['domain', 'FLOAT64', 'sqrt({c})'],
    ['domain', 'FLOAT64', 'log10({c})'],
    ['domain', 'FLOAT64', 'acosh({c})'],
    ['domain', 'FLOAT64', 'pow({c} - 300, 0.5 * 4)'],
    ['float overflow', 'FLOAT64', 'exp({c})'],
    ['float overflow', 'FLOAT64', 'pow({c}, 60)'],
    ['array step', 'LIST', 'generate_array(0, 10, {c})'],
    ['array size', 'LIST', 'generate_array(1, {c})'],
    ['subscript', 'INT64', 'generate_array(0, 300)[offset({c})]'],
    ['subscript', 'STRING', "split(repeat('a,', 250), ',')[ordinal({c})]"],
    ['date arithmetic', 'DATE', 'date_from_unix_date({c})'],
    ['date arithmetic', 'DATE', "date_add(date '2026-01-01', interval {c} month)"],
    ['date arithmetic', 'DATE', "date_sub(date '2026-01-01', interval {c} day)"],
    ['date arithmetic', 'TIMESTAMP', 'timestamp_seconds({c})'],
    ['date arithmetic', 'TIMESTAMP', 'timestamp_millis({c} * 1000)'],
    ['date arithmetic', 'TIMESTAMP', `timestamp_add(${MOMENT}, interval {c} hour)`],
    ['date arithmetic', 'STRING', 'cast(interval 1 day * {c} as string)'],
    ['date parts', 'DATE', 'date({c}, 1, 1)'],
    ['shift', 'INT64', '1 << {c}'],
    ['cast', 'STRING', "cast(cast(if({c} > 500, 'x', '1') as int64) as string)"],
  ],
  ratio: [
    ['division', 'FLOAT64', '1 / {c}'],
    ['domain', 'FLOAT64', 'ln({c})'],
    ['domain', 'FLOAT64', 'sqrt({c})'],
    ['cast', 'INT64', 'cast({c} as int64)'],
    ['cast', 'NUMERIC', 'cast({c} as numeric)'],
    ['float overflow', 'FLOAT64', '{c} * 1e300'],
    ['float overflow', 'FLOAT64', 'exp({c})'],
  ],
  moment: [
    ['date arithmetic', 'TIMESTAMP', 'timestamp_add({c}, interval 100000 hour)'],
    ['date arithmetic', 'TIMESTAMP', 'timestamp_sub({c}, interval 100000 hour)'],
    ['date arithmetic', 'TIMESTAMP', '{c} + interval 10 day'],
    ['date arithmetic', 'DATE', 'date_add(date({c}), interval 1 month)'],
    ['date arithmetic', 'DATE', 'date_sub(date({c}), interval 1 year)'],
    ['date truncation', 'TIMESTAMP', 'timestamp_trunc({c}, week)'],
    ['date truncation', 'DATE', 'date_trunc(date({c}), isoweek)'],
    ['date truncation', 'DATE', 'last_day(date({c}), week)'],
    ['division', 'INT64', 'div(10, extract(year from {c}) - 1)'],
    ['division', 'INT64', 'div(10, extract(year from {c}) - 9999)'],
    ['int overflow', 'INT64', 'unix_micros({c}) * 5000'],
    ['int overflow', 'INT64', "timestamp_diff({c}, timestamp '2026-01-01 00:00:00+00', microsecond) * 100000"],
    ['zone', 'STRING', "format_timestamp('%F', {c}, '+14:00')"],
    ['date arithmetic', 'STRING', 'cast(datetime_add(datetime({c}), interval 7900 year) as string)'],
    ['domain', 'FLOAT64', 'sqrt(unix_seconds({c}))'],
  ],
};

/** An expression that fails on values of other projects that are not fit for the column's kind; null where there is none. */
export function fallibleOf(columns: readonly Column[], random: Random): Fallible | null {
  const usable = columns.filter(({ kind }) => kind !== 'truth' && kind !== 'other');
  if (usable.length === 0) return null;
  const everywhere = usable.filter((column) => column.everywhere);
  const column = random.pick(everywhere.length > 0 && random.chance(60) ? everywhere : usable);
  // Now and then a function that is not made for the column's values: an error of one's own.
  const mistaken = column.type === 'STRING' && random.chance(2);
  const own = column.kind as keyof typeof BY_KIND;
  const templates = mistaken ? BY_KIND[random.pick(['number', 'json', 'date', 'hex'] as const)] : BY_KIND[own];
  const [kind, type, sql] = random.pick(templates);
  return { kind, type, sql: sql.replaceAll('{c}', column.sql) };
}

/** Expressions that fail where the condition `{c}` holds. */
const BY_CONDITION: readonly Template[] = [
  ['division', 'INT64', 'div(1, if({c}, 0, 1))'],
  ['division', 'FLOAT64', '1 / if({c}, 0, 2)'],
  ['division', 'INT64', 'mod(7, case when {c} then 0 else 2 end)'],
  ['division', 'FLOAT64', 'if({c}, 1 / 0, 1.5)'],
  ['cast', 'INT64', "cast(if({c}, 'x', '1') as int64)"],
  ['cast', 'DATE', "case when {c} then cast('x' as date) end"],
  ['cast', 'BOOL', "cast(if({c}, 'x', 'true') as bool)"],
  ['subscript', 'INT64', '[1, 2][offset(if({c}, 5, 0))]'],
  ['subscript', 'INT64', '[1, 2][ordinal(if({c}, 0, 1))]'],
  ['parse json', 'JSON', "parse_json(if({c}, '{', '1'))"],
  ['json conversion', 'INT64', "int64(if({c}, json '\"x\"', json '1'))"],
  ['regexp', 'BOOL', "regexp_contains('a', if({c}, '(', 'a'))"],
  ['zone', 'TIMESTAMP', "timestamp(datetime '2026-01-01 00:00:00', if({c}, 'Nowhere/Land', 'UTC'))"],
  ['parse date', 'DATE', "parse_date('%F', if({c}, 'x', '2026-01-01'))"],
  ['parse number', 'NUMERIC', "parse_numeric(if({c}, 'x', '1.5'))"],
  ['negative length', 'STRING', "repeat('a', if({c}, -1, 1))"],
  ['int overflow', 'INT64', '9223372036854775806 + if({c}, 5, 1)'],
  ['int overflow', 'INT64', '-if({c}, -9223372036854775808, 1)'],
  ['numeric overflow', 'NUMERIC', "numeric '90000000000000000000000000000' * if({c}, 90, 1)"],
  ['array step', 'LIST', 'generate_array(1, 3, if({c}, 0, 1))'],
  ['scalar subquery', 'INT64', '(select x from unnest(if({c}, [1, 2], [1])) as x)'],
  ['code point', 'STRING', 'chr(if({c}, -1, 65))'],
  ['from hex', 'BYTES', "from_hex(if({c}, 'zz', 'ab'))"],
  ['from base64', 'BYTES', "from_base64(if({c}, '*', 'aGk='))"],
  ['domain', 'FLOAT64', 'ln(if({c}, 0, 1))'],
  ['domain', 'FLOAT64', 'sqrt(if({c}, -1, 4))'],
  ['date arithmetic', 'DATE', "date_add(date '2026-01-01', interval if({c}, 99999, 1) year)"],
  ['like', 'BOOL', "'a' like if({c}, 'a\\\\', 'a%')"],
  ['error', 'STRING', "if({c}, error('x'), 'a')"],
  ['address', 'BYTES', "net.ip_from_string(if({c}, 'x', '10.0.0.1'))"],
  ['prefix length', 'BYTES', "net.ip_trunc(net.ip_from_string('10.0.0.1'), if({c}, 99, 8))"],
  ['translate', 'STRING', "translate('abc', if({c}, 'aa', 'ab'), 'xy')"],
  ['range bucket', 'INT64', 'range_bucket(1, if({c}, [2, 1], [1, 2]))'],
  [
    'array step',
    'LIST',
    "array(select extract(day from d) from unnest(generate_date_array(date '2026-01-01', date '2026-01-03', interval if({c}, 0, 1) day)) as d)",
  ],
  ['parse number', 'FLOAT64', "cast(parse_numeric(if({c}, 'x', '1.5e2')) as float64)"],
  [
    'zone',
    'STRING',
    "cast(timestamp '2026-01-01 00:00:00+00' as string format 'YYYY-MM-DD HH24' at time zone if({c}, 'Nowhere/Land', 'UTC'))",
  ],
  ['constant', 'FLOAT64', 'case when {c} then 1 / 0 else 0.5 end'],
  ['constant', 'INT64', "case when {c} then cast('x' as int64) end"],
  ['constant', 'STRING', "if({c}, repeat('a', -1), 'a')"],
];

export function fallibleWhere(condition: string, random: Random): Fallible {
  const [kind, type, sql] = random.pick(BY_CONDITION);
  return { kind, type, sql: sql.replaceAll('{c}', condition) };
}

/** Expressions that always fail: harmless where no row reaches them. */
const CONSTANT: readonly Template[] = [
  ['constant', 'FLOAT64', '1 / 0'],
  ['constant', 'INT64', 'div(1, 0)'],
  ['constant', 'INT64', "cast('x' as int64)"],
  ['constant', 'INT64', '[1][offset(3)]'],
  ['constant', 'INT64', '9223372036854775807 + 1'],
  ['constant', 'STRING', "repeat('a', -1)"],
  ['constant', 'INT64', '(select x from unnest([1, 2]) as x)'],
  ['constant', 'JSON', "parse_json('{')"],
  ['constant', 'FLOAT64', 'sqrt(-1)'],
];

export function alwaysFailing(random: Random): Fallible {
  const [kind, type, sql] = random.pick(CONSTANT);
  return { kind, type, sql };
}
