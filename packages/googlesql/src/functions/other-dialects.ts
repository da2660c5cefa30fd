import type { Identifier } from '../tree';
/** What users of other SQL dialects write, and how GoogleSQL has it. */

const FORMS: Readonly<Record<string, string>> = {
  age: 'TIMESTAMP_DIFF(a, b, SECOND)',
  array_agg_distinct: 'ARRAY_AGG(DISTINCT x)',
  bool_and: 'LOGICAL_AND(x)',
  bool_or: 'LOGICAL_OR(x)',
  btrim: 'TRIM(x)',
  charindex: 'STRPOS(text, part)',
  concat_ws: 'ARRAY_TO_STRING([a, b], separator)',
  count_if: 'COUNTIF(condition)',
  date_format: "FORMAT_TIMESTAMP('%Y-%m-%d', x)",
  date_part: 'EXTRACT(DAY FROM x)',
  dateadd: 'TIMESTAMP_ADD(x, INTERVAL 1 DAY)',
  datediff: 'TIMESTAMP_DIFF(a, b, DAY)',
  datepart: 'EXTRACT(DAY FROM x)',
  from_unixtime: 'TIMESTAMP_SECONDS(x)',
  gen_random_uuid: 'GENERATE_UUID()',
  generate_series: 'UNNEST(GENERATE_ARRAY(a, b))',
  getdate: 'CURRENT_TIMESTAMP()',
  group_concat: 'STRING_AGG(x, separator)',
  iif: 'IF(condition, a, b)',
  isnull: 'IFNULL(x, y), or x IS NULL',
  json_extract_path_text: "JSON_VALUE(x, '$.name')",
  len: 'LENGTH(x)',
  listagg: 'STRING_AGG(x, separator)',
  localtimestamp: 'CURRENT_DATETIME()',
  median: 'APPROX_QUANTILES(x, 2)[OFFSET(1)]',
  now: 'CURRENT_TIMESTAMP()',
  nvl: 'IFNULL(x, y)',
  position: 'STRPOS(text, part)',
  printf: "FORMAT('%d', x)",
  quantile: 'APPROX_QUANTILES(x, 100)[OFFSET(95)]',
  random: 'RAND()',
  regexp_like: "REGEXP_CONTAINS(x, r'...')",
  regexp_match: "REGEXP_EXTRACT(x, r'...')",
  regexp_matches: "REGEXP_EXTRACT_ALL(x, r'...')",
  split_part: 'SPLIT(x, separator)[SAFE_OFFSET(n - 1)]',
  strftime: "FORMAT_TIMESTAMP('%Y-%m-%d', x)",
  string_to_array: 'SPLIT(x, separator)',
  strptime: "PARSE_TIMESTAMP('%Y-%m-%d', x)",
  sysdate: 'CURRENT_TIMESTAMP()',
  to_char: "FORMAT_TIMESTAMP('%Y-%m-%d', x)",
  to_date: "PARSE_DATE('%Y-%m-%d', x)",
  to_number: 'CAST(x AS NUMERIC)',
  to_timestamp: "PARSE_TIMESTAMP('%Y-%m-%d', x), or TIMESTAMP_SECONDS(x)",
  tostartofhour: 'TIMESTAMP_TRUNC(x, HOUR)',
  tostartofminute: 'TIMESTAMP_TRUNC(x, MINUTE)',
  unix_timestamp: 'UNIX_SECONDS(x)',
  uuid: 'GENERATE_UUID()',
};

/** How GoogleSQL writes what a function of another dialect does; undefined for a name that none of them is known for. */
export function otherDialectHint(name: string): string | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(FORMS, key) ? `In GoogleSQL: ${FORMS[key]}.` : undefined;
}

const HINTS: Readonly<Record<string, string>> = {
  RANGE_SESSIONIZE:
    'Number the sessions by windows: COUNTIF(RANGE_START(r) > last_end) OVER (PARTITION BY k ORDER BY RANGE_START(r)) AS session, ' +
    'where last_end is the greatest RANGE_END of the rows before; then GROUP BY k, session.',
};

/** What to write instead of a table function of GoogleSQL; undefined: nothing that would do. */
export function insteadOfTableFunction(path: readonly Identifier[]): string | undefined {
  const name = path
    .map((part) => part.name)
    .join('.')
    .toUpperCase();
  return Object.hasOwn(HINTS, name) ? HINTS[name] : undefined;
}
