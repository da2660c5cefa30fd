/** What functions and operators do with texts that have a collation, as GoogleSQL's own table of functions says. */

/** Compare their operands. */
export const COMPARISONS: ReadonlySet<string> = new Set(
  `$equal $not_equal $less $less_or_equal $greater $greater_or_equal $between $in $is_distinct_from`.split(/\s+/),
);

/** Take no text with a collation, in BigQuery either. */
export const REJECTING: ReadonlySet<string> = new Set(
  `APPROX_QUANTILES APPROX_TOP_COUNT APPROX_TOP_SUM INITCAP JSON_EXTRACT JSON_EXTRACT_ARRAY JSON_EXTRACT_SCALAR
   JSON_EXTRACT_STRING_ARRAY JSON_QUERY JSON_QUERY_ARRAY JSON_VALUE JSON_VALUE_ARRAY REGEXP_CONTAINS REGEXP_EXTRACT
   REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_REPLACE TRANSLATE`.split(/\s+/),
);

const LOWERED = 'LOWER(x) in place of COLLATE';

/**
 * Look for a text in another, or compare in a way that is not reproduced here; with what to write instead. What BigQuery's
 * documents say nothing of is among them.
 */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ...[
    '$like',
    'ARRAY_INCLUDES',
    'CONTAINS_SUBSTR',
    'EDIT_DISTANCE',
    'ENDS_WITH',
    'INSTR',
    'REPLACE',
    'SEARCH',
    'SPLIT',
  ].map(lowered),
  ...['STARTS_WITH', 'STRPOS', 'HLL_COUNT.INIT', 'PERCENTILE_DISC', 'RANGE_BUCKET'].map(lowered),
  ['GREATEST', 'IF(a < b, b, a)'],
  ['LEAST', 'IF(b < a, b, a)'],
  ['NULLIF', 'IF(a = b, NULL, a)'],
  ...['JSON_KEYS', 'JSON_SET', 'JSON_ARRAY_APPEND', 'JSON_ARRAY_INSERT', 'JSON_OBJECT'].map(
    (name) => [name, "COLLATE(x, '') as the argument"] as const,
  ),
]);

function lowered(name: string): readonly [string, string] {
  return [name, LOWERED];
}

/** Give back texts without a collation, whatever they are given. */
export const LOSING: ReadonlySet<string> = new Set(['TO_JSON_STRING', 'TYPEOF']);

/** Only the first argument gives its collation on. */
export const FIRST_ALONE: ReadonlySet<string> = new Set(['FORMAT', '$at', '$safe_at']);

/** Aggregate and window functions that give the collation of their arguments on, and look at none themselves. */
export const HANDING_ON: ReadonlySet<string> = new Set(
  'ANY_VALUE ARRAY_AGG ARRAY_CONCAT_AGG COUNT FIRST_VALUE GROUPING LAG LAST_VALUE LEAD NTH_VALUE STRING_AGG'.split(' '),
);
