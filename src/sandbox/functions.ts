/**
 * The built-in functions that a consumer query may call (docs/sandbox.md). An allow-list: a function is here
 * because it computes from its arguments alone. Left out on purpose: SESSION_USER (tells the service account), ERROR
 * (a channel of its own), everything that reads a table, a model, a key or a connection.
 */
import { findFunction } from '../googlesql/functions/catalogue';
import type { Identifier } from '../googlesql/syntax';

const LISTS = {
  aggregate: `ANY_VALUE APPROX_COUNT_DISTINCT APPROX_QUANTILES APPROX_TOP_COUNT APPROX_TOP_SUM ARRAY_AGG ARRAY_CONCAT_AGG
    AVG BIT_AND BIT_OR BIT_XOR CORR COUNT COUNTIF COVAR_POP COVAR_SAMP GROUPING LOGICAL_AND LOGICAL_OR MAX MAX_BY MIN
    MIN_BY STDDEV STDDEV_POP STDDEV_SAMP STRING_AGG SUM VAR_POP VAR_SAMP VARIANCE`,
  window: `CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENTILE_CONT PERCENTILE_DISC
    PERCENT_RANK RANK ROW_NUMBER`,
  conditional: 'COALESCE GREATEST IF IFNULL LEAST NULLIF',
  text: `ASCII BYTE_LENGTH CHAR_LENGTH CHARACTER_LENGTH CHR CODE_POINTS_TO_BYTES CODE_POINTS_TO_STRING CONCAT
    COLLATE CONTAINS_SUBSTR EDIT_DISTANCE ENDS_WITH FORMAT FROM_BASE32 FROM_BASE64 FROM_HEX INITCAP INSTR LEFT LENGTH LOWER LPAD
    LTRIM NORMALIZE NORMALIZE_AND_CASEFOLD OCTET_LENGTH REGEXP_CONTAINS REGEXP_EXTRACT REGEXP_EXTRACT_ALL REGEXP_INSTR
    REGEXP_REPLACE REGEXP_SUBSTR REPEAT REPLACE REVERSE RIGHT RPAD RTRIM SAFE_CONVERT_BYTES_TO_STRING SEARCH SOUNDEX SPLIT
    STARTS_WITH STRPOS SUBSTR SUBSTRING TO_BASE32 TO_BASE64 TO_CODE_POINTS TO_HEX TRANSLATE TRIM UNICODE UPPER`,
  json: `BOOL FLOAT64 INT64 JSON_ARRAY JSON_ARRAY_APPEND JSON_ARRAY_INSERT JSON_EXTRACT JSON_EXTRACT_ARRAY
    JSON_EXTRACT_SCALAR JSON_EXTRACT_STRING_ARRAY JSON_KEYS JSON_OBJECT JSON_QUERY JSON_QUERY_ARRAY JSON_REMOVE JSON_SET
    JSON_STRIP_NULLS JSON_TYPE JSON_VALUE JSON_VALUE_ARRAY LAX_BOOL LAX_FLOAT64 LAX_INT64 LAX_STRING PARSE_JSON TO_JSON
    TO_JSON_STRING`,
  number: `ABS ACOS ACOSH ASIN ASINH ATAN ATAN2 ATANH BIT_COUNT CBRT CEIL CEILING COS COSH COT COTH CSC CSCH DIV EXP FLOOR
    IEEE_DIVIDE IS_INF IS_NAN LN LOG LOG10 MOD PARSE_BIGNUMERIC PARSE_NUMERIC POW POWER RAND RANGE_BUCKET ROUND SAFE_ADD
    SAFE_DIVIDE SAFE_MULTIPLY SAFE_NEGATE SAFE_SUBTRACT SEC SECH SIGN SIN SINH SQRT TAN TANH TRUNC`,
  time: `CURRENT_DATE CURRENT_DATETIME CURRENT_TIME CURRENT_TIMESTAMP DATE DATE_ADD DATE_BUCKET DATE_DIFF
    DATE_FROM_UNIX_DATE DATE_SUB DATE_TRUNC DATETIME DATETIME_ADD DATETIME_BUCKET DATETIME_DIFF DATETIME_SUB
    DATETIME_TRUNC EXTRACT FORMAT_DATE FORMAT_DATETIME FORMAT_TIME FORMAT_TIMESTAMP JUSTIFY_DAYS JUSTIFY_HOURS
    JUSTIFY_INTERVAL LAST_DAY MAKE_INTERVAL PARSE_DATE PARSE_DATETIME PARSE_TIME PARSE_TIMESTAMP STRING TIME TIME_ADD
    TIME_DIFF TIME_SUB TIME_TRUNC TIMESTAMP TIMESTAMP_ADD TIMESTAMP_BUCKET TIMESTAMP_DIFF TIMESTAMP_MICROS
    TIMESTAMP_MILLIS TIMESTAMP_SECONDS TIMESTAMP_SUB TIMESTAMP_TRUNC UNIX_DATE UNIX_MICROS UNIX_MILLIS UNIX_SECONDS`,
  array: `ARRAY_CONCAT ARRAY_FILTER ARRAY_FIRST ARRAY_INCLUDES ARRAY_LAST ARRAY_LENGTH ARRAY_REVERSE ARRAY_SLICE ARRAY_TO_STRING ARRAY_TRANSFORM GENERATE_ARRAY
    GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY`,
  range: 'GENERATE_RANGE_ARRAY RANGE RANGE_CONTAINS RANGE_END RANGE_INTERSECT RANGE_OVERLAPS RANGE_START',
  hash: 'FARM_FINGERPRINT GENERATE_UUID MD5 SHA1 SHA256 SHA512',
  type: 'TYPEOF',
  net: `NET.HOST NET.IP_FROM_STRING NET.IP_NET_MASK NET.IP_TO_STRING NET.IP_TRUNC NET.IPV4_FROM_INT64 NET.IPV4_TO_INT64
    NET.PUBLIC_SUFFIX NET.REG_DOMAIN NET.SAFE_IP_FROM_STRING`,
  sketch: 'HLL_COUNT.EXTRACT HLL_COUNT.INIT HLL_COUNT.MERGE HLL_COUNT.MERGE_PARTIAL',
};

const NAMES: readonly string[] = Object.values(LISTS)
  .flatMap((list) => list.split(/\s+/))
  .sort();
const ALLOWED: ReadonlySet<string> = new Set(NAMES);

/** Upper-case names in order, those of a namespace with their dot. */
export function allowedFunctionNames(): readonly string[] {
  return NAMES;
}

/**
 * Whether a call's name is on the list, in any case, with or without `SAFE.`. A quoted name never is: nobody needs the
 * quotes for a built-in, and they are how a routine outside is called.
 */
export function isAllowedFunction(path: readonly Identifier[]): boolean {
  if (path.some((part) => part.quoted)) return false;
  const parts = path.map((part) => part.name.toUpperCase());
  const name = (parts.length > 1 && parts[0] === 'SAFE' ? parts.slice(1) : parts).join('.');
  return ALLOWED.has(name);
}

export interface DescribedFunction {
  readonly name: string;
  readonly category: string;
  /** `SUBSTR(STRING, INT64, INT64?) -> STRING`; empty where the types follow a rule of their own. */
  readonly signatures: readonly string[];
}

/** The functions that a consumer query may call, for editors. */
export function describeFunctions(): readonly DescribedFunction[] {
  return NAMES.flatMap((name) => {
    const known = findFunction(name);
    if (known === undefined) return [];
    const signatures = known.signatures.map((signature) => {
      const [parameters = '', result = ''] = signature.split(/ ?-> /);
      return `${name}(${parameters}) -> ${result}`;
    });
    return [{ name, category: known.category, signatures }];
  });
}
