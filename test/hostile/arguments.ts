/** Arguments that make the most of little: GoogleSQL expressions by type, over the columns of data.ts and of `x` below. */

/** One row of what all rows of `t` make together, beside each of them. */
export const LARGE_COLUMNS = `(SELECT STRING_AGG(s) AS big, ARRAY_AGG(i) AS numbers, ARRAY_AGG(s) AS texts FROM t) AS x`;

const NUMBERS = [
  '0',
  '-1',
  '1',
  '3',
  '1000',
  '1000000',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '(-9223372036854775807 - 1)',
];

interface Arguments {
  /** Of a query without a table. */
  readonly constant: readonly string[];
  /** Of each row. */
  readonly ofRow: readonly string[];
}

export const ARGUMENTS: Readonly<Record<string, Arguments>> = {
  INT64: { constant: NUMBERS, ofRow: ['i', 'i * 1000', '-i', 'i * 1000000000000'] },
  FLOAT64: {
    constant: ['0.0', '1e308', '-1e308', '5e-324', `CAST('nan' AS FLOAT64)`, '0.5'],
    ofRow: ['f', '-f * 1e300'],
  },
  NUMERIC: { constant: [`NUMERIC '99999999999999999999999999999.999999999'`, `NUMERIC '0'`], ofRow: ['n'] },
  BIGNUMERIC: { constant: [`BIGNUMERIC '99999999999999999999.999'`], ofRow: ['CAST(n AS BIGNUMERIC)'] },
  BOOL: { constant: ['TRUE', 'CAST(NULL AS BOOL)'], ofRow: ['b'] },
  STRING: {
    constant: [
      `''`,
      `'a'`,
      `REPEAT('a', 262144)`,
      `REPEAT('é', 131072)`,
      `REPEAT('a,', 131072)`,
      `CONCAT(REPEAT('a', 200000), 'b')`,
      `REPEAT('[', 200000)`,
      `TO_JSON_STRING(GENERATE_ARRAY(1, 100000))`,
      `REPEAT('9', 200000)`,
    ],
    ofRow: [
      `''`,
      `','`,
      's',
      'm',
      'j',
      'big',
      `REPEAT('a', 16000)`,
      `REPEAT(s, 400)`,
      `REPEAT('é', 8000)`,
      `REPEAT('"', 16000)`,
      `CONCAT(REPEAT('a', 15000), s)`,
      `CONCAT(m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m)`,
      `SUBSTR(REPEAT('a', 16000), i)`,
      `LPAD('a', 16000, s)`,
      `TO_JSON_STRING(numbers)`,
    ],
  },
  BYTES: {
    constant: [`b''`, `CAST(REPEAT('a', 262144) AS BYTES)`],
    ofRow: ['y', 'CAST(m AS BYTES)', `CAST(REPEAT(s, 400) AS BYTES)`, 'CAST(big AS BYTES)'],
  },
  JSON: {
    constant: [`PARSE_JSON(REPEAT('[', 1000) || REPEAT(']', 1000))`, 'TO_JSON(GENERATE_ARRAY(1, 100000))'],
    ofRow: ['PARSE_JSON(j)', 'TO_JSON(numbers)', 'TO_JSON(STRUCT(m, s, a))', 'TO_JSON(big)'],
  },
  DATE: { constant: [`DATE '0001-01-01'`, `DATE '9999-12-31'`], ofRow: ['d'] },
  DATETIME: { constant: [`DATETIME '0001-01-01 00:00:00'`, `DATETIME '9999-12-31 23:59:59.999999'`], ofRow: ['dt'] },
  TIMESTAMP: { constant: [`TIMESTAMP '0001-01-01'`, `TIMESTAMP '9999-12-31 23:59:59.999999'`], ofRow: ['ts'] },
  TIME: { constant: [`TIME '23:59:59.999999'`], ofRow: ['tm'] },
  INTERVAL: {
    constant: ['INTERVAL 1 MICROSECOND', 'INTERVAL 3652058 DAY', 'INTERVAL 1 MONTH'],
    ofRow: ['INTERVAL i DAY', 'INTERVAL i MICROSECOND'],
  },
  'ARRAY<INT64>': {
    constant: ['GENERATE_ARRAY(1, 1000000)', 'GENERATE_ARRAY(1, 30000)'],
    ofRow: [
      'a',
      'numbers',
      'GENERATE_ARRAY(1, 4096)',
      'GENERATE_ARRAY(i, i + 4000)',
      'ARRAY_CONCAT(a, numbers)',
      `TO_CODE_POINTS(m)`,
      'ARRAY(SELECT e + i FROM UNNEST(numbers) AS e)',
    ],
  },
  'ARRAY<FLOAT64>': {
    constant: ['GENERATE_ARRAY(0.0, 1000000.0)'],
    ofRow: ['GENERATE_ARRAY(0, f, 0.2)', 'ARRAY(SELECT e + f FROM UNNEST(numbers) AS e)'],
  },
  'ARRAY<STRING>': {
    constant: [`SPLIT(REPEAT('a,', 131072))`],
    ofRow: [
      'texts',
      `SPLIT(m, '')`,
      `SPLIT(CONCAT(m, s), '/')`,
      'ARRAY(SELECT CAST(e AS STRING) FROM UNNEST(numbers) AS e)',
    ],
  },
  'ARRAY<BYTES>': { constant: [`[CAST(REPEAT('a', 262144) AS BYTES)]`], ofRow: ['[y, y, y]'] },
};

const many = (text: string, times: number): string => `'${text.repeat(times)}'`;

const PATTERNS = [
  `'(.*)(.*)(.*)(.*)(.*)x'`,
  `'([^x]?)(?:.?){400}'`,
  `'([^x]?)(?:.?){45}'`,
  `'(?:a?){300}b'`,
  `'((?:[e-t/ 0-9]|re|es|st|GE|ET)*)x?'`,
  `'[a-t](.?){99}x'`,
  `'.*?.*?.*?x|e'`,
  `''`,
  `'.'`,
  `'(0|00|000|a|aa|aaa)*x'`,
  many('(?:a|b|c)', 200),
  `'(((a{0,9}){0,9}){0,9}){0,9}b'`,
  `CONCAT('(', s, ')?.*')`,
  `CONCAT('(.?)', '{900}')`,
  `REPEAT('a?', 8000)`,
];
const LIKES = [
  `'%e%e%e%e%e%e%e_!'`,
  `'%a\\\\%a%a%a%a_b'`,
  `CONCAT('%a%a%a%a%a', s)`,
  `CONCAT('%', s, '%')`,
  `REPEAT('%a', 8000)`,
  `CONCAT('%', m, m)`,
];
const FORMATS = [
  `'%1000d'`,
  `'%1000000000d'`,
  `'%.1000000000f'`,
  `'%.999f'`,
  `'%T'`,
  `'%t'`,
  `'%1000s'`,
  `'%999999999s'`,
  `'%*d'`,
  many('%T ', 1),
];
const TIME_FORMATS = [many('%c', 300), many('%A%B', 500), `'%s'`, `'%E9S'`, many('%F %T%Ez', 100), many('x', 30_000)];
const PATHS = [
  `'$'`,
  `'$.a.b[2].c'`,
  `'$[0][0][0]'`,
  many('$' + '.a'.repeat(1000), 1),
  `'$[2147483648]'`,
  `'$[9223372036854775807]'`,
];

/** By function and place: what an argument reads as a pattern, a format or a path. */
export const WRITTEN_ARGUMENTS: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  ...Object.fromEntries(
    ['CONTAINS', 'EXTRACT', 'EXTRACT_ALL', 'INSTR', 'REPLACE'].map((name) => [`REGEXP_${name}`, { 1: PATTERNS }]),
  ),
  REGEXP_REPLACE: { 1: PATTERNS, 2: [`''`, `'xx'`, `'\\\\0\\\\0\\\\0\\\\0'`, 'm', 's'] },
  REPLACE: { 1: [`''`, `'a'`, `REPEAT('a', 8000)`, 's'], 2: [`''`, `'xx'`, 'm', `REPEAT('b', 8000)`] },
  $like: { 1: LIKES },
  FORMAT: { 0: FORMATS },
  ...Object.fromEntries(
    ['DATE', 'DATETIME', 'TIME', 'TIMESTAMP'].flatMap((type) => [
      [`FORMAT_${type}`, { 0: TIME_FORMATS }],
      [`PARSE_${type}`, { 0: TIME_FORMATS }],
    ]),
  ),
  ...Object.fromEntries(
    ['JSON_EXTRACT', 'JSON_EXTRACT_ARRAY', 'JSON_EXTRACT_SCALAR', 'JSON_EXTRACT_STRING_ARRAY'].map((n) => [
      n,
      { 1: PATHS },
    ]),
  ),
  ...Object.fromEntries(
    ['JSON_QUERY', 'JSON_QUERY_ARRAY', 'JSON_VALUE', 'JSON_VALUE_ARRAY'].map((n) => [n, { 1: PATHS }]),
  ),
  ARRAY_TO_STRING: { 1: [`','`, `''`, many('ab', 30), many('x', 3000)], 2: [`'null'`, many('x', 3000)] },
  INITCAP: { 1: [`' '`, `''`, many('ab', 300)] },
  APPROX_QUANTILES: { 1: ['1', '1000', '100000', '60000000', '9223372036854775807'] },
  APPROX_TOP_COUNT: { 1: ['1', '1000', '100000', '1000000000'] },
  APPROX_TOP_SUM: { 2: ['1', '1000', '100000', '1000000000'] },
  PERCENTILE_CONT: { 1: ['0', '0.5', '1', '5e-324'] },
  PERCENTILE_DISC: { 1: ['0', '0.5', '1', '5e-324'] },
  NTILE: { 0: ['1', '1000', '9223372036854775807'] },
  NTH_VALUE: { 1: ['1', '1000000', '9223372036854775807'] },
  LAG: { 1: ['0', '1', '1000000', '9223372036854775807'] },
  LEAD: { 1: ['0', '1', '1000000', '9223372036854775807'] },
  STRING_AGG: { 1: [`','`, `''`, many('ab', 3000)] },
  ROUND: { 1: NUMBERS },
  TRUNC: { 1: NUMBERS },
};
