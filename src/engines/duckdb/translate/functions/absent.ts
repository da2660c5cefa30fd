/**
 * What the embedded engine does without although queries on BigQuery call it: refused by name, with the place of the call
 * (`Context.unsupported`). Functions that no table of the engine has are refused the same way, without anything to write instead.
 */
import type { SqlType } from '../../../../googlesql/types';

/** Functions, with what to write instead. */
const ABSENT_FUNCTIONS: Readonly<Record<string, string | null>> = {
  COLLATE: 'LOWER(x)',
  FROM_BASE32: 'FROM_BASE64 or FROM_HEX',
  GENERATE_RANGE_ARRAY: 'GENERATE_DATE_ARRAY or GENERATE_TIMESTAMP_ARRAY',
  'HLL_COUNT.EXTRACT': null,
  'HLL_COUNT.INIT': 'APPROX_COUNT_DISTINCT(x)',
  'HLL_COUNT.MERGE': null,
  'HLL_COUNT.MERGE_PARTIAL': null,
  JSON_ARRAY_APPEND: null,
  JSON_ARRAY_INSERT: null,
  JSON_REMOVE: null,
  JSON_SET: null,
  JSON_STRIP_NULLS: null,
  PARSE_BIGNUMERIC: 'CAST(x AS BIGNUMERIC)',
  RANGE: 'two columns',
  RANGE_CONTAINS: 'comparisons of two columns',
  RANGE_END: null,
  RANGE_INTERSECT: null,
  RANGE_OVERLAPS: 'comparisons of two columns',
  RANGE_START: null,
  SOUNDEX: 'EDIT_DISTANCE',
  TO_BASE32: 'TO_BASE64 or TO_HEX',
};

/** Functions and operators that are there, but not of arguments of these types. */
const ABSENT_OF: Readonly<Partial<Record<SqlType['kind'], ReadonlySet<string>>>> = {
  BIGNUMERIC: new Set(
    `$add $divide $multiply $negate $subtract ABS APPROX_TOP_SUM AVG CEIL CORR COVAR_POP COVAR_SAMP DIV EXP FLOOR FORMAT
     GENERATE_ARRAY LN LOG LOG10 MOD PERCENTILE_CONT PERCENTILE_DISC POW ROUND SAFE_ADD SAFE_DIVIDE SAFE_MULTIPLY SAFE_NEGATE
     SAFE_SUBTRACT SIGN SQRT STDDEV_POP STDDEV_SAMP SUM TRUNC VAR_POP VAR_SAMP`.split(/\s+/),
  ),
  BYTES: new Set('$bit_and $bit_not $bit_or $bit_xor $shift_left $shift_right BIT_COUNT'.split(' ')),
};

const INSTEAD: Readonly<Partial<Record<SqlType['kind'], string>>> = { BIGNUMERIC: 'CAST(x AS NUMERIC)' };

const SYMBOLS: Readonly<Record<string, string>> = {
  ...{ $add: '+', $divide: '/', $multiply: '*', $negate: '-', $subtract: '-' },
  ...{ $bit_and: '&', $bit_not: '~', $bit_or: '|', $bit_xor: '^', $shift_left: '<<', $shift_right: '>>' },
};

/** What a call is that the engine has not, and what to write instead; null: nothing is known to be absent. */
export function absent(
  name: string,
  types: readonly SqlType[],
): { readonly what: string; readonly instead: string | null } | null {
  if (Object.hasOwn(ABSENT_FUNCTIONS, name)) return { what: name, instead: ABSENT_FUNCTIONS[name] ?? null };
  const type = types.find(({ kind }) => ABSENT_OF[kind]?.has(name) === true);
  if (type === undefined) return null;
  return { what: `${SYMBOLS[name] ?? name} of ${type.kind}`, instead: INSTEAD[type.kind] ?? null };
}

/** Whether a value of the type is a RANGE, or holds one. */
export function holdsRange(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return holdsRange(type.element);
  return type.kind === 'STRUCT' ? type.fields.some((field) => holdsRange(field.type)) : type.kind === 'RANGE';
}
