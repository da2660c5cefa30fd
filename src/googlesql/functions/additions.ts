/**
 * What BigQuery has and the engine's table lacks or says otherwise, from BigQuery's function reference. An entry here
 * replaces one of the same name there.
 */
import type { FunctionEntry } from './entry';

const scalar = (category: FunctionEntry['category'], ...signatures: string[]): FunctionEntry => ({
  mode: 'scalar',
  category,
  signatures,
});

const approximate = (...signatures: string[]): FunctionEntry => ({
  mode: 'aggregate',
  category: 'approximate',
  signatures,
  over: 'optional',
  framing: true,
});

/** A signature for each element that a RANGE has, `T` in the text. */
const ranges = (...signatures: string[]): FunctionEntry =>
  scalar(
    'range',
    ...['DATE', 'DATETIME', 'TIMESTAMP'].flatMap((element) =>
      signatures.map((signature) => signature.replace(/\bT\b/g, element)),
    ),
  );

export const ADDITIONS: Readonly<Record<string, FunctionEntry>> = {
  $and: scalar('operator', 'BOOL, BOOL* -> BOOL'),
  $or: scalar('operator', 'BOOL, BOOL* -> BOOL'),
  $not: scalar('operator', 'BOOL -> BOOL'),
  $like: scalar('operator', 'STRING, STRING -> BOOL', 'BYTES, BYTES -> BOOL'),
  $between: scalar('operator', 'T1, T1, T1 -> BOOL'),
  $in: scalar('operator', 'T1, T1* -> BOOL'),
  $in_unnest: scalar('operator', 'T1, ARRAY<T1> -> BOOL'),
  $is_distinct_from: scalar('operator', 'T1, T1 -> BOOL'),
  $is_true: scalar('operator', 'BOOL -> BOOL'),
  $is_false: scalar('operator', 'BOOL -> BOOL'),
  $extract: scalar(
    'operator',
    'DATE -> INT64',
    'TIMESTAMP, STRING? -> INT64',
    'DATETIME -> INT64',
    'TIME -> INT64',
    'INTERVAL -> INT64',
  ),
  APPROX_COUNT_DISTINCT: approximate('T1 -> INT64'),
  APPROX_QUANTILES: { ...approximate('T1, INT64 -> ARRAY<T1>'), nulls: true, constant: [1] },
  APPROX_TOP_COUNT: { ...approximate('T1, INT64 -> TOP_COUNT'), constant: [1] },
  APPROX_TOP_SUM: {
    ...approximate(
      'T1, INT64, INT64 -> TOP_SUM',
      'T1, FLOAT64, INT64 -> TOP_SUM',
      'T1, NUMERIC, INT64 -> TOP_SUM',
      'T1, BIGNUMERIC, INT64 -> TOP_SUM',
    ),
    constant: [2],
  },
  ARRAY_INCLUDES: scalar('array', 'ARRAY<T1>, T1 -> BOOL'),
  CBRT: scalar('math', 'FLOAT64 -> FLOAT64'),
  COLLATE: scalar('string', 'STRING, STRING -> STRING'),
  CONTAINS_SUBSTR: scalar('string', 'ANY, STRING, json_scope:=STRING? -> BOOL'),
  COSINE_DISTANCE: scalar('math', 'ARRAY<FLOAT64>, ARRAY<FLOAT64> -> FLOAT64'),
  DATETIME_BUCKET: scalar('datetime', 'DATETIME, INTERVAL, DATETIME? -> DATETIME'),
  DATE_BUCKET: scalar('date', 'DATE, INTERVAL, DATE? -> DATE'),
  EDIT_DISTANCE: scalar(
    'string',
    'STRING, STRING, max_distance:=INT64? -> INT64',
    'BYTES, BYTES, max_distance:=INT64? -> INT64',
  ),
  ERROR: scalar('debugging', 'STRING -> INT64'),
  EUCLIDEAN_DISTANCE: scalar('math', 'ARRAY<FLOAT64>, ARRAY<FLOAT64> -> FLOAT64'),
  GENERATE_RANGE_ARRAY: ranges('RANGE<T>, INTERVAL, BOOL? -> ARRAY<RANGE<T>>'),
  JSON_ARRAY_APPEND: scalar('json', 'JSON, STRING, ANY, ANY*, append_each_element:=BOOL? -> JSON'),
  JSON_ARRAY_INSERT: scalar('json', 'JSON, STRING, ANY, ANY*, insert_each_element:=BOOL? -> JSON'),
  JSON_EXTRACT_STRING_ARRAY: scalar('json', 'STRING, STRING? -> ARRAY<STRING>', 'JSON, STRING? -> ARRAY<STRING>'),
  JSON_KEYS: scalar('json', 'JSON, INT64?, mode:=STRING? -> ARRAY<STRING>'),
  JSON_OBJECT: scalar('json', 'ANY* -> JSON'),
  JSON_QUERY_ARRAY: scalar('json', 'STRING, STRING? -> ARRAY<STRING>', 'JSON, STRING? -> ARRAY<JSON>'),
  JSON_SET: scalar('json', 'JSON, STRING, ANY, ANY*, create_if_missing:=BOOL? -> JSON'),
  JSON_VALUE_ARRAY: scalar('json', 'STRING, STRING? -> ARRAY<STRING>', 'JSON, STRING? -> ARRAY<STRING>'),
  MAX_BY: { mode: 'aggregate', category: 'aggregate', signatures: ['T1, T2 -> T1'] },
  MIN_BY: { mode: 'aggregate', category: 'aggregate', signatures: ['T1, T2 -> T1'] },
  RANGE: { ...ranges('T, T -> RANGE<T>'), exact: true },
  RANGE_CONTAINS: ranges('RANGE<T>, T -> BOOL', 'RANGE<T>, RANGE<T> -> BOOL'),
  RANGE_END: ranges('RANGE<T> -> T'),
  RANGE_INTERSECT: ranges('RANGE<T>, RANGE<T> -> RANGE<T>'),
  RANGE_OVERLAPS: ranges('RANGE<T>, RANGE<T> -> BOOL'),
  RANGE_START: ranges('RANGE<T> -> T'),
  SEARCH: scalar('string', 'ANY, STRING, json_scope:=STRING?, analyzer:=STRING?, analyzer_options:=STRING? -> BOOL'),
  TIMESTAMP_BUCKET: scalar('timestamp', 'TIMESTAMP, INTERVAL, TIMESTAMP? -> TIMESTAMP'),
  TYPEOF: scalar('utility', 'ANY -> STRING'),
};

/** Arguments that must be known before the query runs, by position. */
export const CONSTANT_ARGUMENTS: Readonly<Record<string, readonly number[]>> = {
  'HLL_COUNT.INIT': [1],
  LAG: [1],
  LEAD: [1],
  NTH_VALUE: [1],
  NTILE: [0],
  PERCENTILE_CONT: [1],
  PERCENTILE_DISC: [1],
  STRING_AGG: [1],
};

/** The one family that turns numbers, booleans and times into text by itself. */
export const TEXT_TAKING: ReadonlySet<string> = new Set(['CONCAT', '$concat']);
