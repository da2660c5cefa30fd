/**
 * Every function and operator of the language, one line each, with all that holds of it on both engines. A fact is said by where a line
 * stands and by the word that makes it, so that none can be left out. The embedded engine has a table of the same names
 * (`packages/duckdb-engine/src/translate/functions/function-table.ts`); `docs/dialect.md` is printed from both.
 */

/** How a call may raise an error while a query runs, whatever its arguments do. */
export type Fails =
  | 'never'
  /** By the size of what it makes, and for no other reason. */
  | 'size'
  | 'may'
  | FailureRule;

/** Where a call never fails: `totality.ts` has each. What is no such call may. */
export type FailureRule =
  | 'conversion'
  | 'count'
  | 'difference'
  | 'ends'
  | 'float'
  | 'group'
  | 'groups'
  | 'interval'
  | 'near'
  | 'pattern'
  | 'place'
  | 'separator'
  | 'series'
  | 'truncation'
  | 'zone';

/** How much it makes of its arguments: so many times as much; of any size; as its replacement says. */
export type Growth = number | 'any' | 'replacement';

/** What few functions take, and the resolver asks. What is left out is not taken. */
interface Options {
  /** A second name. */
  readonly alias?: string;
  /** Its arguments are never converted. */
  readonly exact?: true;
  /** It turns numbers, booleans and times into text by itself. */
  readonly textual?: true;
  /** Its arguments have to be of a type that can be ordered or grouped, or the last be compared with the others. */
  readonly of?: 'ordered' | 'grouped' | 'equated';
  /** May stand before OVER; says whether the window's ORDER BY is needed. */
  readonly over?: 'no' | 'optional' | 'required' | 'unsupported';
  readonly framing?: boolean;
  readonly distinct?: false;
  /** Takes ORDER BY, LIMIT, IGNORE NULLS inside its parentheses. */
  readonly orderBy?: true;
  readonly limit?: true;
  readonly nulls?: true;
  /** Which argument must be a literal or a parameter, and its bounds. */
  readonly constant?: { readonly at: number; readonly least?: number; readonly most?: number };
}

export type FunctionMode = 'scalar' | 'aggregate' | 'analytic';

export interface FunctionEntry<Mode extends FunctionMode = FunctionMode> extends Options {
  readonly mode: Mode;
  readonly fails: Fails;
  readonly grows: Growth;
  /** Another value each time that it is computed; one that is the same for all of a query; what its arguments say. */
  readonly value: 'random' | 'clock' | 'fixed';
  /** In the notation of `signature.ts`, with semicolons between; empty: typed by a rule of its own. */
  readonly signatures: string;
}

interface Group {
  readonly category: string;
  /** Whether a query of a consumer may call it (docs/sandbox.md). */
  readonly isOpen: boolean;
}

const entry =
  <Mode extends FunctionMode>(mode: Mode, grows: Growth, value: FunctionEntry['value'], usual: Options = {}) =>
  (fails: Fails, signatures: string, options: Options = {}): FunctionEntry<Mode> => ({
    ...{ mode, grows, value, fails, signatures },
    ...usual,
    ...options,
  });

/** Always the same of the same arguments, and no more than these hold together. */
const scalar = entry('scalar', 1, 'fixed');
const random = entry('scalar', 1, 'random');
const clock = entry('scalar', 1, 'clock');
const maker = (grows: Growth, fails: Fails, signatures: string): FunctionEntry<'scalar'> =>
  entry('scalar', grows, 'fixed')(fails, signatures);
/** Of a group, and of a window with frames. */
const aggregate = entry('aggregate', 1, 'fixed', { over: 'optional', framing: true });
/** Of a window alone. */
const window = entry('analytic', 1, 'fixed', { over: 'required' });

const group =
  (isOpen: boolean) =>
  <Rows extends Readonly<Record<string, FunctionEntry>>>(category: string, rows: Rows) =>
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, category, isOpen }])) as {
      readonly [Name in keyof Rows]: Rows[Name] & Group;
    };

/** What consumers may call, as it computes from its arguments alone, and what is written without a name. */
const consumers = group(true);
/** What stored queries alone may call: what tells of the service account, or is a channel of its own. */
const authors = group(false);

// oxfmt-ignore
export const FUNCTIONS = {
  ...consumers('condition', {
    $and: scalar('never', 'BOOL, BOOL* -> BOOL'),
    $between: scalar('never', 'T1, T1, T1 -> BOOL'),
    $equal: scalar('never', 'T1, T1 -> BOOL'),
    $greater: scalar('never', 'T1, T1 -> BOOL'),
    $greater_or_equal: scalar('never', 'T1, T1 -> BOOL'),
    $in: scalar('never', 'T1, T1* -> BOOL'),
    $is_distinct_from: scalar('never', 'T1, T1 -> BOOL'),
    $is_false: scalar('never', 'BOOL -> BOOL'),
    $is_null: scalar('never', ''),
    $is_true: scalar('never', 'BOOL -> BOOL'),
    $less: scalar('never', 'T1, T1 -> BOOL'),
    $less_or_equal: scalar('never', 'T1, T1 -> BOOL'),
    $not: scalar('never', 'BOOL -> BOOL'),
    $not_equal: scalar('never', 'T1, T1 -> BOOL'),
    $or: scalar('never', 'BOOL, BOOL* -> BOOL'),
  }),
  ...consumers('operator', {
    $add: scalar('near', 'INT64, INT64 -> INT64; FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC; DATE, INT64 -> DATE; INT64, DATE -> DATE; TIMESTAMP, INTERVAL -> TIMESTAMP; INTERVAL, TIMESTAMP -> TIMESTAMP; DATE, INTERVAL -> DATETIME; INTERVAL, DATE -> DATETIME; DATETIME, INTERVAL -> DATETIME; INTERVAL, DATETIME -> DATETIME; INTERVAL, INTERVAL -> INTERVAL'),
    $at: scalar('may', ''),
    $bit_and: scalar('may', 'INT64, INT64 -> INT64; BYTES, BYTES -> BYTES'),
    $bit_not: scalar('may', 'INT64 -> INT64; BYTES -> BYTES'),
    $bit_or: scalar('may', 'INT64, INT64 -> INT64; BYTES, BYTES -> BYTES'),
    $bit_xor: scalar('may', 'INT64, INT64 -> INT64; BYTES, BYTES -> BYTES'),
    $concat: scalar('size', 'STRING, STRING -> STRING; BYTES, BYTES -> BYTES; ARRAY<T1>, ARRAY<T1> -> ARRAY<T1>', { textual: true }),
    $divide: scalar('may', 'FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC; INTERVAL, INT64 -> INTERVAL'),
    $extract: scalar('zone', 'DATE -> INT64; TIMESTAMP, STRING? -> INT64; DATETIME -> INT64; TIME -> INT64; INTERVAL -> INT64'),
    $in_unnest: scalar('never', 'T1, ARRAY<T1> -> BOOL'),
    $interval: scalar('interval', ''),
    $json_element: scalar('may', ''),
    $json_member: scalar('never', ''),
    $like: scalar('pattern', 'STRING, STRING -> BOOL; BYTES, BYTES -> BOOL'),
    $multiply: scalar('may', 'INT64, INT64 -> INT64; FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC; INTERVAL, INT64 -> INTERVAL; INT64, INTERVAL -> INTERVAL'),
    $negate: scalar('may', 'INT64 -> INT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC; INTERVAL -> INTERVAL', { exact: true }),
    $safe_at: scalar('never', ''),
    $shift_left: scalar('may', 'INT64, INT64 -> INT64; BYTES, INT64 -> BYTES'),
    $shift_right: scalar('may', 'INT64, INT64 -> INT64; BYTES, INT64 -> BYTES'),
    $subtract: scalar('near', 'INT64, INT64 -> INT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC; FLOAT64, FLOAT64 -> FLOAT64; DATE, INT64 -> DATE; DATE, DATE -> INTERVAL; TIMESTAMP, TIMESTAMP -> INTERVAL; DATETIME, DATETIME -> INTERVAL; TIME, TIME -> INTERVAL; TIMESTAMP, INTERVAL -> TIMESTAMP; DATE, INTERVAL -> DATETIME; DATETIME, INTERVAL -> DATETIME; INTERVAL, INTERVAL -> INTERVAL'),
    $to_json: scalar('never', ''),
    $with_lists: scalar('never', ''),
  }),
  ...consumers('conditional', {
    COALESCE: scalar('never', 'T1* -> T1'),
    IF: scalar('never', 'BOOL, T1, T1 -> T1'),
    IFNULL: scalar('never', 'T1, T1 -> T1'),
    NULLIF: scalar('never', 'T1, T1 -> T1', { of: 'equated' }),
  }),
  ...consumers('math', {
    ABS: scalar('may', 'INT64 -> INT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    ACOS: scalar('may', 'FLOAT64 -> FLOAT64'),
    ACOSH: scalar('may', 'FLOAT64 -> FLOAT64'),
    ASIN: scalar('may', 'FLOAT64 -> FLOAT64'),
    ASINH: scalar('may', 'FLOAT64 -> FLOAT64'),
    ATAN: scalar('may', 'FLOAT64 -> FLOAT64'),
    ATAN2: scalar('may', 'FLOAT64, FLOAT64 -> FLOAT64'),
    ATANH: scalar('may', 'FLOAT64 -> FLOAT64'),
    BIT_COUNT: scalar('may', 'INT64 -> INT64; BYTES -> INT64'),
    CBRT: scalar('may', 'FLOAT64 -> FLOAT64'),
    CEIL: scalar('float', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC', { alias: 'CEILING' }),
    COS: scalar('may', 'FLOAT64 -> FLOAT64'),
    COSH: scalar('may', 'FLOAT64 -> FLOAT64'),
    COT: scalar('may', 'FLOAT64 -> FLOAT64'),
    COTH: scalar('may', 'FLOAT64 -> FLOAT64'),
    CSC: scalar('may', 'FLOAT64 -> FLOAT64'),
    CSCH: scalar('may', 'FLOAT64 -> FLOAT64'),
    DIV: scalar('may', 'INT64, INT64 -> INT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC'),
    EXP: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    FLOOR: scalar('float', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    GREATEST: scalar('never', 'T1* -> T1', { of: 'ordered' }),
    IEEE_DIVIDE: scalar('may', 'FLOAT64, FLOAT64 -> FLOAT64'),
    IS_INF: scalar('never', 'FLOAT64 -> BOOL'),
    IS_NAN: scalar('never', 'FLOAT64 -> BOOL'),
    LEAST: scalar('never', 'T1* -> T1', { of: 'ordered' }),
    LN: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    LOG: scalar('may', 'FLOAT64, FLOAT64? -> FLOAT64; NUMERIC, NUMERIC? -> NUMERIC; BIGNUMERIC, BIGNUMERIC? -> BIGNUMERIC'),
    LOG10: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    MOD: scalar('may', 'INT64, INT64 -> INT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC'),
    PARSE_BIGNUMERIC: scalar('may', 'STRING -> BIGNUMERIC'),
    PARSE_NUMERIC: scalar('may', 'STRING -> NUMERIC'),
    POW: scalar('may', 'FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC', { alias: 'POWER' }),
    RAND: random('may', '-> FLOAT64'),
    ROUND: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC; FLOAT64, INT64 -> FLOAT64; NUMERIC, INT64 -> NUMERIC; BIGNUMERIC, INT64 -> BIGNUMERIC; NUMERIC, INT64, ROUNDING -> NUMERIC; BIGNUMERIC, INT64, ROUNDING -> BIGNUMERIC'),
    SAFE_ADD: scalar('never', 'INT64, INT64 -> INT64; FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC'),
    SAFE_DIVIDE: scalar('never', 'FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC'),
    SAFE_MULTIPLY: scalar('never', 'INT64, INT64 -> INT64; FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC'),
    SAFE_NEGATE: scalar('never', 'INT64 -> INT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC', { exact: true }),
    SAFE_SUBTRACT: scalar('never', 'INT64, INT64 -> INT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC; FLOAT64, FLOAT64 -> FLOAT64'),
    SEC: scalar('may', 'FLOAT64 -> FLOAT64'),
    SECH: scalar('may', 'FLOAT64 -> FLOAT64'),
    SIGN: scalar('never', 'INT64 -> INT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    SIN: scalar('may', 'FLOAT64 -> FLOAT64'),
    SINH: scalar('may', 'FLOAT64 -> FLOAT64'),
    SQRT: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC'),
    TAN: scalar('may', 'FLOAT64 -> FLOAT64'),
    TANH: scalar('may', 'FLOAT64 -> FLOAT64'),
    TRUNC: scalar('may', 'FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC; FLOAT64, INT64 -> FLOAT64; NUMERIC, INT64 -> NUMERIC; BIGNUMERIC, INT64 -> BIGNUMERIC'),
  }),
  ...consumers('string', {
    ASCII: scalar('may', 'STRING -> INT64; BYTES -> INT64'),
    BYTE_LENGTH: scalar('never', 'STRING -> INT64; BYTES -> INT64', { alias: 'OCTET_LENGTH' }),
    CHAR_LENGTH: scalar('never', 'STRING -> INT64', { alias: 'CHARACTER_LENGTH' }),
    CHR: scalar('may', 'INT64 -> STRING'),
    CODE_POINTS_TO_BYTES: scalar('may', 'ARRAY<INT64> -> BYTES'),
    CODE_POINTS_TO_STRING: scalar('may', 'ARRAY<INT64> -> STRING'),
    COLLATE: scalar('never', 'STRING, STRING -> STRING'),
    CONCAT: scalar('size', 'STRING, STRING* -> STRING; BYTES, BYTES* -> BYTES', { textual: true }),
    CONTAINS_SUBSTR: scalar('may', 'ANY, STRING, json_scope:=STRING? -> BOOL'),
    EDIT_DISTANCE: scalar('may', 'STRING, STRING, max_distance:=INT64? -> INT64; BYTES, BYTES, max_distance:=INT64? -> INT64'),
    ENDS_WITH: scalar('never', 'STRING, STRING -> BOOL; BYTES, BYTES -> BOOL'),
    FORMAT: maker(2, 'may', 'STRING, ANY* -> STRING'),
    FROM_BASE32: scalar('may', 'STRING -> BYTES'),
    FROM_BASE64: scalar('may', 'STRING -> BYTES'),
    FROM_HEX: scalar('may', 'STRING -> BYTES'),
    INITCAP: scalar('may', 'STRING, STRING? -> STRING'),
    INSTR: scalar('may', 'STRING, STRING, INT64?, INT64? -> INT64; BYTES, BYTES, INT64?, INT64? -> INT64'),
    LEFT: scalar('count', 'STRING, INT64 -> STRING; BYTES, INT64 -> BYTES'),
    LENGTH: scalar('never', 'STRING -> INT64; BYTES -> INT64'),
    LOWER: scalar('never', 'STRING -> STRING; BYTES -> BYTES'),
    LPAD: maker('any', 'may', 'STRING, INT64, STRING? -> STRING; BYTES, INT64, BYTES? -> BYTES'),
    LTRIM: scalar('never', 'STRING, STRING? -> STRING; BYTES, BYTES -> BYTES'),
    NORMALIZE: scalar('may', 'STRING, MODE? -> STRING'),
    NORMALIZE_AND_CASEFOLD: scalar('may', 'STRING, MODE? -> STRING'),
    REGEXP_CONTAINS: scalar('groups', 'STRING, STRING -> BOOL; BYTES, BYTES -> BOOL'),
    REGEXP_EXTRACT: scalar('group', 'STRING, STRING, INT64?, INT64? -> STRING; BYTES, BYTES, INT64?, INT64? -> BYTES', { alias: 'REGEXP_SUBSTR' }),
    REGEXP_EXTRACT_ALL: scalar('group', 'STRING, STRING -> ARRAY<STRING>; BYTES, BYTES -> ARRAY<BYTES>'),
    REGEXP_INSTR: scalar('may', 'STRING, STRING, INT64?, INT64?, INT64? -> INT64; BYTES, BYTES, INT64?, INT64?, INT64? -> INT64'),
    REGEXP_REPLACE: maker('replacement', 'may', 'STRING, STRING, STRING -> STRING; BYTES, BYTES, BYTES -> BYTES'),
    REPEAT: maker('any', 'may', 'STRING, INT64 -> STRING; BYTES, INT64 -> BYTES'),
    REPLACE: maker('replacement', 'size', 'STRING, STRING, STRING -> STRING; BYTES, BYTES, BYTES -> BYTES'),
    REVERSE: scalar('never', 'STRING -> STRING; BYTES -> BYTES'),
    RIGHT: scalar('count', 'STRING, INT64 -> STRING; BYTES, INT64 -> BYTES'),
    RPAD: maker('any', 'may', 'STRING, INT64, STRING? -> STRING; BYTES, INT64, BYTES? -> BYTES'),
    RTRIM: scalar('never', 'STRING, STRING? -> STRING; BYTES, BYTES -> BYTES'),
    SAFE_CONVERT_BYTES_TO_STRING: scalar('may', 'BYTES -> STRING'),
    SEARCH: scalar('may', 'ANY, STRING, json_scope:=STRING?, analyzer:=STRING?, analyzer_options:=STRING? -> BOOL'),
    SOUNDEX: scalar('may', 'STRING -> STRING'),
    SPLIT: scalar('separator', 'STRING, STRING? -> ARRAY<STRING>; BYTES, BYTES -> ARRAY<BYTES>'),
    STARTS_WITH: scalar('never', 'STRING, STRING -> BOOL; BYTES, BYTES -> BOOL'),
    STRING: scalar('may', 'TIMESTAMP, STRING? -> STRING; DATE -> STRING; TIME -> STRING; DATETIME -> STRING; JSON -> STRING'),
    STRPOS: scalar('never', 'STRING, STRING -> INT64; BYTES, BYTES -> INT64'),
    SUBSTR: scalar('place', 'STRING, INT64, INT64? -> STRING; BYTES, INT64, INT64? -> BYTES', { alias: 'SUBSTRING' }),
    TO_BASE32: scalar('may', 'BYTES -> STRING'),
    TO_BASE64: maker(2, 'may', 'BYTES -> STRING'),
    TO_CODE_POINTS: scalar('may', 'STRING -> ARRAY<INT64>; BYTES -> ARRAY<INT64>'),
    TO_HEX: maker(2, 'may', 'BYTES -> STRING'),
    TRANSLATE: scalar('may', 'STRING, STRING, STRING -> STRING; BYTES, BYTES, BYTES -> BYTES'),
    TRIM: scalar('never', 'STRING, STRING? -> STRING; BYTES, BYTES -> BYTES'),
    UNICODE: scalar('may', 'STRING -> INT64'),
    UPPER: scalar('never', 'STRING -> STRING; BYTES -> BYTES'),
  }),
  ...consumers('hash', {
    FARM_FINGERPRINT: scalar('may', 'BYTES -> INT64; STRING -> INT64'),
    MD5: scalar('may', 'BYTES -> BYTES; STRING -> BYTES'),
    SHA1: scalar('may', 'BYTES -> BYTES; STRING -> BYTES'),
    SHA256: scalar('may', 'BYTES -> BYTES; STRING -> BYTES'),
    SHA512: scalar('may', 'BYTES -> BYTES; STRING -> BYTES'),
  }),
  ...consumers('net', {
    'NET.HOST': scalar('may', 'STRING -> STRING'),
    'NET.IPV4_FROM_INT64': scalar('may', 'INT64 -> BYTES'),
    'NET.IPV4_TO_INT64': scalar('may', 'BYTES -> INT64'),
    'NET.IP_FROM_STRING': scalar('may', 'STRING -> BYTES'),
    'NET.IP_NET_MASK': scalar('may', 'INT64, INT64 -> BYTES'),
    'NET.IP_TO_STRING': scalar('may', 'BYTES -> STRING'),
    'NET.IP_TRUNC': scalar('may', 'BYTES, INT64 -> BYTES'),
    'NET.PUBLIC_SUFFIX': scalar('may', 'STRING -> STRING'),
    'NET.REG_DOMAIN': scalar('may', 'STRING -> STRING'),
    'NET.SAFE_IP_FROM_STRING': scalar('may', 'STRING -> BYTES'),
  }),
  ...consumers('json', {
    BOOL: scalar('may', 'JSON -> BOOL'),
    FLOAT64: scalar('may', 'JSON, wide_number_mode:=STRING? -> FLOAT64'),
    INT64: scalar('may', 'JSON -> INT64'),
    JSON_ARRAY: scalar('may', 'ANY* -> JSON'),
    JSON_ARRAY_APPEND: scalar('may', 'JSON, STRING, ANY, ANY*, append_each_element:=BOOL? -> JSON'),
    JSON_ARRAY_INSERT: scalar('may', 'JSON, STRING, ANY, ANY*, insert_each_element:=BOOL? -> JSON'),
    JSON_EXTRACT: scalar('may', 'STRING, STRING -> STRING; JSON, STRING -> JSON'),
    JSON_EXTRACT_ARRAY: scalar('may', 'STRING, STRING? -> ARRAY<STRING>; JSON, STRING? -> ARRAY<JSON>'),
    JSON_EXTRACT_SCALAR: scalar('may', 'STRING, STRING? -> STRING; JSON, STRING? -> STRING'),
    JSON_EXTRACT_STRING_ARRAY: scalar('may', 'STRING, STRING? -> ARRAY<STRING>; JSON, STRING? -> ARRAY<STRING>'),
    JSON_KEYS: scalar('may', 'JSON, INT64?, mode:=STRING? -> ARRAY<STRING>'),
    JSON_OBJECT: scalar('may', 'ANY* -> JSON'),
    JSON_QUERY: scalar('may', 'STRING, STRING -> STRING; JSON, STRING -> JSON'),
    JSON_QUERY_ARRAY: scalar('may', 'STRING, STRING? -> ARRAY<STRING>; JSON, STRING? -> ARRAY<JSON>'),
    JSON_REMOVE: scalar('may', 'JSON, STRING, STRING* -> JSON'),
    JSON_SET: scalar('may', 'JSON, STRING, ANY, ANY*, create_if_missing:=BOOL? -> JSON'),
    JSON_STRIP_NULLS: scalar('may', 'JSON, STRING?, include_arrays:=BOOL?, remove_empty:=BOOL? -> JSON'),
    JSON_TYPE: scalar('may', 'JSON -> STRING'),
    JSON_VALUE: scalar('may', 'STRING, STRING? -> STRING; JSON, STRING? -> STRING'),
    JSON_VALUE_ARRAY: scalar('may', 'STRING, STRING? -> ARRAY<STRING>; JSON, STRING? -> ARRAY<STRING>'),
    LAX_BOOL: scalar('may', 'JSON -> BOOL'),
    LAX_FLOAT64: scalar('may', 'JSON -> FLOAT64'),
    LAX_INT64: scalar('may', 'JSON -> INT64'),
    LAX_STRING: scalar('may', 'JSON -> STRING'),
    PARSE_JSON: scalar('may', 'STRING, wide_number_mode:=STRING? -> JSON'),
    TO_JSON: maker(2, 'may', 'T1, stringify_wide_numbers:=BOOL? -> JSON'),
    TO_JSON_STRING: maker(2, 'size', 'T1, BOOL? -> STRING'),
  }),
  ...consumers('array', {
    ARRAY_CONCAT: scalar('size', 'ARRAY<T1>, ARRAY<T1>* -> ARRAY<T1>'),
    ARRAY_FILTER: scalar('never', ''),
    ARRAY_FIRST: scalar('may', 'ARRAY<T1> -> T1'),
    ARRAY_INCLUDES: scalar('never', 'ARRAY<T1>, T1 -> BOOL', { of: 'equated' }),
    ARRAY_LAST: scalar('may', 'ARRAY<T1> -> T1'),
    ARRAY_LENGTH: scalar('never', 'ARRAY<T1> -> INT64'),
    ARRAY_REVERSE: scalar('may', 'ARRAY<T1> -> ARRAY<T1>'),
    ARRAY_SLICE: scalar('may', 'ARRAY<T1>, INT64, INT64 -> ARRAY<T1>'),
    ARRAY_TO_STRING: maker(8, 'may', 'ARRAY<STRING>, STRING, STRING? -> STRING; ARRAY<BYTES>, BYTES, BYTES? -> BYTES'),
    ARRAY_TRANSFORM: scalar('never', ''),
    GENERATE_ARRAY: maker('any', 'series', 'INT64, INT64, INT64? -> ARRAY<INT64>; NUMERIC, NUMERIC, NUMERIC? -> ARRAY<NUMERIC>; BIGNUMERIC, BIGNUMERIC, BIGNUMERIC? -> ARRAY<BIGNUMERIC>; FLOAT64, FLOAT64, FLOAT64? -> ARRAY<FLOAT64>'),
    GENERATE_DATE_ARRAY: maker('any', 'may', 'DATE, DATE, INT64?, PART? -> ARRAY<DATE>'),
    GENERATE_TIMESTAMP_ARRAY: maker('any', 'may', 'TIMESTAMP, TIMESTAMP, INT64, PART -> ARRAY<TIMESTAMP>'),
    RANGE_BUCKET: scalar('may', 'T1, ARRAY<T1> -> INT64', { of: 'ordered' }),
  }),
  ...consumers('date', {
    CURRENT_DATE: clock('zone', 'STRING? -> DATE'),
    DATE: scalar('conversion', 'TIMESTAMP, STRING? -> DATE; DATETIME -> DATE; INT64, INT64, INT64 -> DATE; DATE -> DATE; STRING -> DATE'),
    DATE_ADD: scalar('near', 'DATE, INT64, PART -> DATE; DATETIME, INT64, PART -> DATETIME; TIMESTAMP, INT64, PART -> TIMESTAMP'),
    DATE_BUCKET: scalar('may', 'DATE, INTERVAL, DATE? -> DATE'),
    DATE_DIFF: scalar('difference', 'DATE, DATE, PART -> INT64; DATETIME, DATETIME, PART -> INT64; TIMESTAMP, TIMESTAMP, PART -> INT64'),
    DATE_FROM_UNIX_DATE: scalar('may', 'INT64 -> DATE'),
    DATE_SUB: scalar('near', 'DATE, INT64, PART -> DATE; DATETIME, INT64, PART -> DATETIME; TIMESTAMP, INT64, PART -> TIMESTAMP'),
    DATE_TRUNC: scalar('truncation', 'DATE, PART -> DATE; DATETIME, PART -> DATETIME; TIMESTAMP, PART, STRING? -> TIMESTAMP'),
    FORMAT_DATE: scalar('may', 'STRING, DATE -> STRING; STRING, DATETIME -> STRING; STRING, TIMESTAMP, STRING? -> STRING'),
    LAST_DAY: scalar('may', 'DATE, PART? -> DATE; DATETIME, PART? -> DATE'),
    PARSE_DATE: scalar('may', 'STRING, STRING -> DATE'),
    UNIX_DATE: scalar('never', 'DATE -> INT64'),
  }),
  ...consumers('datetime', {
    CURRENT_DATETIME: clock('zone', 'STRING? -> DATETIME'),
    DATETIME: scalar('conversion', 'INT64, INT64, INT64, INT64, INT64, INT64 -> DATETIME; DATE, TIME -> DATETIME; TIMESTAMP, STRING? -> DATETIME; DATE -> DATETIME; DATETIME -> DATETIME; STRING -> DATETIME'),
    DATETIME_ADD: scalar('near', 'DATETIME, INT64, PART -> DATETIME; TIMESTAMP, INT64, PART -> TIMESTAMP'),
    DATETIME_BUCKET: scalar('may', 'DATETIME, INTERVAL, DATETIME? -> DATETIME'),
    DATETIME_DIFF: scalar('difference', 'DATETIME, DATETIME, PART -> INT64; TIMESTAMP, TIMESTAMP, PART -> INT64'),
    DATETIME_SUB: scalar('near', 'DATETIME, INT64, PART -> DATETIME; TIMESTAMP, INT64, PART -> TIMESTAMP'),
    DATETIME_TRUNC: scalar('truncation', 'DATETIME, PART -> DATETIME; TIMESTAMP, PART, STRING? -> TIMESTAMP'),
    FORMAT_DATETIME: scalar('may', 'STRING, DATETIME -> STRING; STRING, TIMESTAMP, STRING? -> STRING'),
    PARSE_DATETIME: scalar('may', 'STRING, STRING -> DATETIME'),
  }),
  ...consumers('time', {
    CURRENT_TIME: clock('zone', 'STRING? -> TIME'),
    FORMAT_TIME: scalar('may', 'STRING, TIME -> STRING'),
    PARSE_TIME: scalar('may', 'STRING, STRING -> TIME'),
    TIME: scalar('conversion', 'INT64, INT64, INT64 -> TIME; TIMESTAMP, STRING? -> TIME; DATETIME -> TIME; TIME -> TIME'),
    TIME_ADD: scalar('may', 'TIME, INT64, PART -> TIME'),
    TIME_DIFF: scalar('may', 'TIME, TIME, PART -> INT64'),
    TIME_SUB: scalar('may', 'TIME, INT64, PART -> TIME'),
    TIME_TRUNC: scalar('may', 'TIME, PART -> TIME'),
  }),
  ...consumers('timestamp', {
    CURRENT_TIMESTAMP: clock('never', '-> TIMESTAMP'),
    EXTRACT: scalar('never', ''),
    FORMAT_TIMESTAMP: scalar('may', 'STRING, TIMESTAMP, STRING? -> STRING; STRING, DATETIME -> STRING'),
    PARSE_TIMESTAMP: scalar('may', 'STRING, STRING, STRING? -> TIMESTAMP'),
    TIMESTAMP: scalar('conversion', 'STRING, STRING? -> TIMESTAMP; DATE, STRING? -> TIMESTAMP; DATETIME, STRING? -> TIMESTAMP; TIMESTAMP -> TIMESTAMP'),
    TIMESTAMP_ADD: scalar('near', 'TIMESTAMP, INT64, PART -> TIMESTAMP; DATETIME, INT64, PART -> DATETIME'),
    TIMESTAMP_BUCKET: scalar('may', 'TIMESTAMP, INTERVAL, TIMESTAMP? -> TIMESTAMP'),
    TIMESTAMP_DIFF: scalar('difference', 'TIMESTAMP, TIMESTAMP, PART -> INT64; DATETIME, DATETIME, PART -> INT64'),
    TIMESTAMP_MICROS: scalar('near', 'INT64 -> TIMESTAMP'),
    TIMESTAMP_MILLIS: scalar('near', 'INT64 -> TIMESTAMP'),
    TIMESTAMP_SECONDS: scalar('near', 'INT64 -> TIMESTAMP'),
    TIMESTAMP_SUB: scalar('near', 'TIMESTAMP, INT64, PART -> TIMESTAMP; DATETIME, INT64, PART -> DATETIME'),
    TIMESTAMP_TRUNC: scalar('truncation', 'TIMESTAMP, PART, STRING? -> TIMESTAMP; DATETIME, PART -> DATETIME'),
    UNIX_MICROS: scalar('never', 'TIMESTAMP -> INT64'),
    UNIX_MILLIS: scalar('never', 'TIMESTAMP -> INT64'),
    UNIX_SECONDS: scalar('never', 'TIMESTAMP -> INT64'),
  }),
  ...consumers('interval', {
    JUSTIFY_DAYS: scalar('may', 'INTERVAL -> INTERVAL'),
    JUSTIFY_HOURS: scalar('may', 'INTERVAL -> INTERVAL'),
    JUSTIFY_INTERVAL: scalar('may', 'INTERVAL -> INTERVAL'),
    MAKE_INTERVAL: scalar('may', 'year=INT64?, month=INT64?, day=INT64?, hour=INT64?, minute=INT64?, second=INT64? -> INTERVAL'),
  }),
  ...consumers('range', {
    GENERATE_RANGE_ARRAY: maker('any', 'may', 'RANGE<DATE>, INTERVAL, BOOL? -> ARRAY<RANGE<DATE>>; RANGE<DATETIME>, INTERVAL, BOOL? -> ARRAY<RANGE<DATETIME>>; RANGE<TIMESTAMP>, INTERVAL, BOOL? -> ARRAY<RANGE<TIMESTAMP>>'),
    RANGE: scalar('ends', 'DATE, DATE -> RANGE<DATE>; DATETIME, DATETIME -> RANGE<DATETIME>; TIMESTAMP, TIMESTAMP -> RANGE<TIMESTAMP>', { exact: true }),
    RANGE_CONTAINS: scalar('never', 'RANGE<DATE>, DATE -> BOOL; RANGE<DATE>, RANGE<DATE> -> BOOL; RANGE<DATETIME>, DATETIME -> BOOL; RANGE<DATETIME>, RANGE<DATETIME> -> BOOL; RANGE<TIMESTAMP>, TIMESTAMP -> BOOL; RANGE<TIMESTAMP>, RANGE<TIMESTAMP> -> BOOL'),
    RANGE_END: scalar('never', 'RANGE<DATE> -> DATE; RANGE<DATETIME> -> DATETIME; RANGE<TIMESTAMP> -> TIMESTAMP'),
    RANGE_INTERSECT: scalar('may', 'RANGE<DATE>, RANGE<DATE> -> RANGE<DATE>; RANGE<DATETIME>, RANGE<DATETIME> -> RANGE<DATETIME>; RANGE<TIMESTAMP>, RANGE<TIMESTAMP> -> RANGE<TIMESTAMP>'),
    RANGE_OVERLAPS: scalar('never', 'RANGE<DATE>, RANGE<DATE> -> BOOL; RANGE<DATETIME>, RANGE<DATETIME> -> BOOL; RANGE<TIMESTAMP>, RANGE<TIMESTAMP> -> BOOL'),
    RANGE_START: scalar('never', 'RANGE<DATE> -> DATE; RANGE<DATETIME> -> DATETIME; RANGE<TIMESTAMP> -> TIMESTAMP'),
  }),
  ...consumers('utility', {
    GENERATE_UUID: random('may', '-> STRING'),
    TYPEOF: scalar('never', 'ANY -> STRING'),
  }),
  ...consumers('aggregate', {
    $count_star: aggregate('never', ''),
    ANY_VALUE: aggregate('never', 'T1 -> T1'),
    ARRAY_AGG: aggregate('size', 'T1 -> ARRAY<T1>', { orderBy: true, limit: true, nulls: true }),
    ARRAY_CONCAT_AGG: aggregate('size', 'ARRAY<T1> -> ARRAY<T1>', { orderBy: true, limit: true }),
    AVG: aggregate('may', 'INT64 -> FLOAT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC; INTERVAL -> INTERVAL'),
    BIT_AND: aggregate('never', 'INT64 -> INT64'),
    BIT_OR: aggregate('never', 'INT64 -> INT64'),
    BIT_XOR: aggregate('never', 'INT64 -> INT64'),
    CORR: aggregate('may', 'NUMERIC, NUMERIC -> FLOAT64; BIGNUMERIC, BIGNUMERIC -> FLOAT64; FLOAT64, FLOAT64 -> FLOAT64', { distinct: false }),
    COUNT: aggregate('never', 'T1 -> INT64'),
    COUNTIF: aggregate('never', 'BOOL -> INT64'),
    COVAR_POP: aggregate('may', 'NUMERIC, NUMERIC -> FLOAT64; BIGNUMERIC, BIGNUMERIC -> FLOAT64; FLOAT64, FLOAT64 -> FLOAT64', { distinct: false }),
    COVAR_SAMP: aggregate('may', 'NUMERIC, NUMERIC -> FLOAT64; BIGNUMERIC, BIGNUMERIC -> FLOAT64; FLOAT64, FLOAT64 -> FLOAT64', { distinct: false }),
    GROUPING: aggregate('never', 'T1 -> INT64', { over: 'no' }),
    'HLL_COUNT.INIT': aggregate('never', 'INT64, INT64? -> BYTES; NUMERIC, INT64? -> BYTES; BIGNUMERIC, INT64? -> BYTES; STRING, INT64? -> BYTES; BYTES, INT64? -> BYTES', { constant: { at: 1, least: 10, most: 24 } }),
    'HLL_COUNT.MERGE': aggregate('may', 'BYTES -> INT64'),
    'HLL_COUNT.MERGE_PARTIAL': aggregate('may', 'BYTES -> BYTES'),
    LOGICAL_AND: aggregate('never', 'BOOL -> BOOL'),
    LOGICAL_OR: aggregate('never', 'BOOL -> BOOL'),
    MAX: aggregate('never', 'T1 -> T1', { of: 'ordered' }),
    MAX_BY: aggregate('never', 'T1, T2 -> T1', { over: 'no' }),
    MIN: aggregate('never', 'T1 -> T1', { of: 'ordered' }),
    MIN_BY: aggregate('never', 'T1, T2 -> T1', { over: 'no' }),
    PERCENTILE_CONT: aggregate('may', 'FLOAT64, FLOAT64 -> FLOAT64; NUMERIC, NUMERIC -> NUMERIC; BIGNUMERIC, BIGNUMERIC -> BIGNUMERIC', { over: 'unsupported', framing: false, distinct: false, nulls: true, constant: { at: 1, least: 0, most: 1 } }),
    PERCENTILE_DISC: aggregate('may', 'T1, FLOAT64 -> T1; T1, NUMERIC -> T1; T1, BIGNUMERIC -> T1', { of: 'ordered', over: 'unsupported', framing: false, distinct: false, nulls: true, constant: { at: 1, least: 0, most: 1 } }),
    STDDEV_POP: aggregate('may', 'NUMERIC -> FLOAT64; BIGNUMERIC -> FLOAT64; FLOAT64 -> FLOAT64'),
    STDDEV_SAMP: aggregate('may', 'NUMERIC -> FLOAT64; BIGNUMERIC -> FLOAT64; FLOAT64 -> FLOAT64', { alias: 'STDDEV' }),
    STRING_AGG: aggregate('size', 'STRING -> STRING; STRING, STRING -> STRING; BYTES -> BYTES; BYTES, BYTES -> BYTES', { orderBy: true, limit: true, constant: { at: 1 } }),
    SUM: aggregate('may', 'INT64 -> INT64; FLOAT64 -> FLOAT64; NUMERIC -> NUMERIC; BIGNUMERIC -> BIGNUMERIC; INTERVAL -> INTERVAL'),
    VAR_POP: aggregate('may', 'NUMERIC -> FLOAT64; BIGNUMERIC -> FLOAT64; FLOAT64 -> FLOAT64'),
    VAR_SAMP: aggregate('may', 'NUMERIC -> FLOAT64; BIGNUMERIC -> FLOAT64; FLOAT64 -> FLOAT64', { alias: 'VARIANCE' }),
  }),
  ...consumers('approximate', {
    APPROX_COUNT_DISTINCT: aggregate('never', 'T1 -> INT64', { of: 'grouped', distinct: false }),
    APPROX_QUANTILES: aggregate('never', 'T1, INT64 -> ARRAY<T1>', { of: 'ordered', nulls: true, constant: { at: 1, least: 1 } }),
    APPROX_TOP_COUNT: aggregate('never', 'T1, INT64 -> TOP_COUNT', { of: 'grouped', constant: { at: 1 } }),
    APPROX_TOP_SUM: aggregate('may', 'T1, INT64, INT64 -> TOP_SUM; T1, FLOAT64, INT64 -> TOP_SUM; T1, NUMERIC, INT64 -> TOP_SUM; T1, BIGNUMERIC, INT64 -> TOP_SUM', { of: 'grouped', distinct: false, constant: { at: 2 } }),
  }),
  ...consumers('hll', {
    'HLL_COUNT.EXTRACT': scalar('may', 'BYTES -> INT64'),
  }),
  ...consumers('analytic', {
    CUME_DIST: window('never', '-> FLOAT64'),
    DENSE_RANK: window('never', '-> INT64'),
    FIRST_VALUE: window('never', 'T1 -> T1', { framing: true, nulls: true }),
    LAG: window('never', 'T1, INT64?, T1? -> T1', { constant: { at: 1, least: 0 } }),
    LAST_VALUE: window('never', 'T1 -> T1', { framing: true, nulls: true }),
    LEAD: window('never', 'T1, INT64?, T1? -> T1', { constant: { at: 1, least: 0 } }),
    NTH_VALUE: window('never', 'T1, INT64 -> T1', { framing: true, nulls: true, constant: { at: 1, least: 1 } }),
    NTILE: window('never', 'INT64 -> INT64', { constant: { at: 0, least: 1 } }),
    PERCENT_RANK: window('never', '-> FLOAT64'),
    RANK: window('never', '-> INT64'),
    ROW_NUMBER: window('never', '-> INT64', { over: 'optional' }),
  }),
  ...authors('math', {
    COSINE_DISTANCE: scalar('may', 'ARRAY<FLOAT64>, ARRAY<FLOAT64> -> FLOAT64'),
    EUCLIDEAN_DISTANCE: scalar('may', 'ARRAY<FLOAT64>, ARRAY<FLOAT64> -> FLOAT64'),
  }),
  ...authors('debugging', {
    ERROR: scalar('may', 'STRING -> INT64'),
  }),
  ...authors('security', {
    SESSION_USER: scalar('may', '-> STRING'),
  }),
};

export type FunctionName = keyof typeof FUNCTIONS;
type NameOf<Mode extends FunctionMode> = {
  [Name in FunctionName]: (typeof FUNCTIONS)[Name]['mode'] extends Mode ? Name : never;
}[FunctionName];
export type ScalarName = NameOf<'scalar'>;
export type AggregateName = NameOf<'aggregate' | 'analytic'>;
