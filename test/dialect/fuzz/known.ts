/**
 * Differences that stay, for docs/dialect.md as well: each entry is to be taken out when it is mended. Where both engines
 * answer, an entry looks at what they answer, so that no other difference hides behind it.
 */
import type { Difference, Kind } from './difference';

interface Known {
  readonly kind: Kind;
  /** Of the function or place. */
  readonly of?: RegExp;
  readonly sql?: RegExp;
  /** What the embedded engine gives. */
  readonly embedded?: RegExp;
  readonly reference?: RegExp;
  /** What the two answers have in common. */
  readonly alike?: (difference: Difference) => boolean;
  readonly why: string;
}

const VALUE_UNUSED = 'A value that the result does not need is not computed, and raises no error.';
const OPERAND_DECIDES =
  'AND, OR, IN and BETWEEN may skip operands, and their errors, when another operand decides. So may a condition with a NULL.';
const PATH_CHECKED = 'A literal JSONPath is checked even where it is not evaluated.';
const HUGE_AGGREGATE =
  'STDDEV, VARIANCE, CORR and COVAR differ or fail when squares exceed FLOAT64. For NUMERIC they are exact to 15 digits.';
const BROKEN_JSON =
  'Functions that read JSON from text return NULL for invalid JSON. The local BigQuery reads the text before the fault.';
const LITERAL_CHECKED =
  'An invalid literal pattern or an unknown time zone is an error even where it is not evaluated.';
const PART_BEYOND = 'A part of a date or time beyond 32 bits is an error. The local BigQuery takes its lower 32 bits.';
const NULL_FIRST =
  "A call with a constant NULL is NULL even if another argument fails: `CONCAT(CAST(NULL AS STRING), ERROR('x'))`.";
const SEARCHED_NULL = 'CONTAINS_SUBSTR with a NULL is NULL, as on BigQuery. The local BigQuery may return false.';

/** A value that is NULL. */
const NULL = /"values?":(?:\[null\]|null)/;
const NO_ROWS = /,\[\]\]$/;
/** The reference's analyser tells a place; what fails on a value has none. */
const ON_A_VALUE = /^(?!.* at \[\d+:\d+\]"?\}?$)/;

const KNOWN: readonly Known[] = [
  {
    kind: 'refused',
    sql: /RANGE BETWEEN/,
    embedded: /Overflow in .* DECIMAL/,
    why: 'A RANGE frame over NUMERIC is an error if its end exceeds the type.',
  },
  { kind: 'refused', of: /STDDEV|VAR|COV|CORR/, embedded: /is out of range!/, why: HUGE_AGGREGATE },
  {
    kind: 'rows',
    of: /^(?:VARIANCE|VAR_|STDDEV|CORR|COVAR)/,
    sql: /NUMERIC '-?9{29}/,
    alike: sameShape,
    why: HUGE_AGGREGATE,
  },
  {
    kind: 'accepted',
    of: /JOIN/,
    sql: /\((?:FALSE AND|TRUE OR) | AND b\.id > 0/,
    reference: ON_A_VALUE,
    why: OPERAND_DECIDES,
  },
  { kind: 'accepted', of: /^(?:WHERE |NOT )?IN(?: \(SELECT\))?$/, reference: ON_A_VALUE, why: OPERAND_DECIDES },
  { kind: 'accepted', of: /^HAVING/, sql: /\b(?:OR|AND)\b/, reference: ON_A_VALUE, why: OPERAND_DECIDES },
  { kind: 'accepted', of: /^\$(?:between|in|and|or)$/, reference: ON_A_VALUE, why: OPERAND_DECIDES },
  {
    kind: 'accepted',
    sql: /\bTRUE OR\b|\bOR TRUE\b|\bFALSE AND\b|\bAND FALSE\b/,
    reference: ON_A_VALUE,
    why: OPERAND_DECIDES,
  },
  { kind: 'accepted', of: /^WHERE/, embedded: NO_ROWS, reference: ON_A_VALUE, why: OPERAND_DECIDES },
  { kind: 'accepted', of: /^(?:STRUCT_FIELD|CTE)$/, reference: ON_A_VALUE, why: VALUE_UNUSED },
  {
    kind: 'accepted',
    of: /^STRUCT_FIELD$/,
    reference: /(?:Invalid type for argument .*|Too few arguments) to FORMAT/,
    why: VALUE_UNUSED,
  },
  {
    kind: 'rows',
    sql: /JSON/,
    alike: (difference) => withoutZeros(difference.embedded) === withoutZeros(difference.reference),
    why: 'Numbers in JSON have their shortest form: `1.50` becomes `1.5`, `1e-09` becomes `1e-9`.',
  },
  {
    kind: 'rows',
    sql: /"a":1,"a":2/,
    alike: ({ embedded, reference }) => withoutSecond(embedded) === withoutSecond(reference),
    why: 'A JSON value keeps repeated keys. Paths read the first one.',
  },
  {
    kind: 'rows',
    sql: /Africa\/Casablanca/,
    alike: ({ embedded, reference }) => withoutOffsets(embedded) === withoutOffsets(reference),
    why: 'Time zones follow the rules in DuckDB, which are newer: Africa/Casablanca differs from September 2026 on.',
  },
  {
    kind: 'refused',
    embedded: /logquay:size/,
    sql: /\b(?:REPEAT|LPAD|RPAD|GENERATE_\w+|ARRAY_CONCAT|CONCAT|REPLACE|REGEXP_\w+|FORMAT|TO_CODE_POINTS|INSTR|STRING_AGG|LIKE)\b|\|\|/,
    why: 'Functions that make large values from small ones have [limits](#limits).',
  },
  {
    kind: 'refused',
    embedded: /Error: (?:missing \)|invalid escape sequence|trailing \\)|capturing group at most/,
    why: LITERAL_CHECKED,
  },
  { kind: 'refused', embedded: /logquay:zone/, reference: NULL, why: LITERAL_CHECKED },
  {
    kind: 'refused',
    of: /^(?:STDDEV|VAR|CORR|COVAR)/,
    embedded: /undefined outside|cannot take logarithm|logquay:(?:cast|overflow)/,
    reference: /NaN|\[\{"v":null\}\]/,
    why: 'A faulty argument of a statistic is an error even after an infinite value; a faulty literal even without rows.',
  },
  {
    kind: 'refused',
    of: /PARSE_JSON/,
    sql: /'round'/,
    embedded: /logquay:json/,
    why: 'PARSE_JSON fails for an integer of more than 64 bits, with any rounding mode.',
  },
  {
    kind: 'rows',
    of: /^AVG$/,
    sql: /'-?inf'/,
    embedded: /Infinity/,
    reference: /NaN/,
    alike: sameShape,
    why: 'AVG of infinite values is infinite or NaN.',
  },
  {
    kind: 'refused',
    embedded:
      /The JSONPath cannot be \$|JSONPath must start with|Invalid token in JSONPath|Unsupported operator in JSONPath|JSONPath contains/,
    why: PATH_CHECKED,
  },
  {
    kind: 'refused',
    of: /^(?:DATE|TIME|DATETIME|TIMESTAMP)$/,
    embedded: /out of range for the destination type INT32/,
    why: PART_BEYOND,
  },
  {
    kind: 'rows',
    of: /^(?:DATE)?TIME$/,
    sql: /9223372036854775807/,
    embedded: NULL,
    why: PART_BEYOND,
  },
  {
    kind: 'rows',
    sql: /SAFE\.(?:DATE|TIME|DATETIME)\(.*9223372036854775807/,
    embedded: /null|,\[\]\]$/,
    why: PART_BEYOND,
  },
  {
    kind: 'accepted',
    of: /^(?:\$(?:not_equal|equal|less|greater)|SUM|AVG)/,
    sql: /9223372036854775807/,
    reference: /int64 overflow/,
    why: 'A sum or difference with a literal may exceed its type if it is only compared or added up.',
  },
  { kind: 'accepted', of: /^IS (?:NOT )?NULL/, reference: /overflow/, why: VALUE_UNUSED },
  { kind: 'accepted', of: /^(?:CASE|IF)$/, reference: /LIKE pattern ends/, why: VALUE_UNUSED },
  {
    kind: 'refused',
    of: /^EXTRACT/,
    embedded: /EXTRACT from \w+ does not support/,
    reference: NULL,
    why: 'EXTRACT with a part that the type lacks is an error even for NULL.',
  },
  { kind: 'rows', of: /JOIN|correlated/, sql: /CONTAINS_SUBSTR\(.*(?:CAST\(NULL AS |SAFE_CAST\()/, why: SEARCHED_NULL },
  {
    kind: 'rows',
    sql: /'\{"a": 1'|'not json at all'|'100%_|JSON_\w+\(.*INTERVAL.* AS STRING/,
    embedded: NULL,
    why: BROKEN_JSON,
  },
  { kind: 'rows', sql: /'\{"a": 1'/, embedded: /"\w":null/, why: BROKEN_JSON },
  {
    kind: 'accepted',
    sql: /'\{"a": 1'|JSON_\w+\('(?:100%_|not json)/,
    embedded: NULL,
    reference: ON_A_VALUE,
    why: BROKEN_JSON,
  },
  {
    kind: 'rows',
    sql: /JSON_(?:VALUE|QUERY|EXTRACT)\w*\((?:REVERSE|TO_BASE64|TO_HEX|SUBSTR|FORMAT_|STRING\(|CAST\((?:DATE|TIMESTAMP|TIME))/,
    why: BROKEN_JSON,
  },
  { kind: 'rows', of: /^(?:ROLLUP|CUBE|GROUPING SETS)/, sql: /JSON_\w+\(\w+\) AS k.*'100%_/, why: BROKEN_JSON },
  { kind: 'rows', of: /^(?:LIMIT|ORDER BY)/, sql: /'\{"a": 1'.*ORDER BY (?:SAFE\.)?JSON_/, why: BROKEN_JSON },
  {
    kind: 'accepted',
    sql: /CAST\(NULL AS|NULLIF\(|JSON 'null'|SAFE_CAST\('|SAFE\.\w+\((?:-?\d|b?'|ARRAY<)|JSON_\w+\('|SAFE\.\w+\(.*, ''\)/,
    embedded: NULL,
    reference: ON_A_VALUE,
    why: NULL_FIRST,
  },
  {
    kind: 'accepted',
    sql: /SAFE_CAST\('|CAST\(NULL AS/,
    embedded: /"\w":null/,
    reference: ON_A_VALUE,
    why: NULL_FIRST,
  },
  {
    kind: 'accepted',
    sql: /SAFE\.JSON_\w+\(.*, ''\)/,
    embedded: /"values?":\[\[\]\]/,
    reference: ON_A_VALUE,
    why: NULL_FIRST,
  },
  {
    kind: 'accepted',
    sql: /CAST\(NULL AS|SAFE_CAST\('/,
    embedded: NO_ROWS,
    reference: ON_A_VALUE,
    why: NULL_FIRST,
  },
  {
    kind: 'refused',
    of: /EXISTS/,
    embedded: /Out of Range Error|Conversion Error|Invalid Input Error|undefined outside|logquay:/,
    why: 'EXISTS computes all rows of its subquery.',
  },
  {
    kind: 'rows',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    sql: /^SELECT \w+\(\w* ?'[^']*'\) AS k, \w* ?'[^']*' AS m,/,
    why: 'The local BigQuery treats two constant keys of ROLLUP, CUBE or GROUPING SETS with equal values as one.',
  },
  {
    kind: 'accepted',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    sql: /\b(?:NULLIF|IFNULL|COALESCE|CONTAINS_SUBSTR|\w+_BUCKET)\(|CASE WHEN /,
    reference: /neither grouped nor aggregated/,
    why: 'The local BigQuery refuses NULLIF, IFNULL, COALESCE, CASE, CONTAINS_SUBSTR and buckets as keys of ROLLUP, CUBE or GROUPING SETS.',
  },
  {
    kind: 'rows',
    of: /^(?:AVG|STDDEV|VAR|COV|CORR)/,
    sql: /1\.7e308|5e-324|OVER .*'-?inf'/,
    embedded: /Infinity|NaN/,
    alike: sameShape,
    why: HUGE_AGGREGATE,
  },
  {
    kind: 'rows',
    of: /^(?:AVG|SUM)$/,
    sql: /-1\.7e308/,
    alike: sameShape,
    why: 'A sum of FLOAT64 is rounded after each row, and rows come in any order.',
  },
  {
    kind: 'rows',
    of: /^AVG$/,
    sql: /9223372036854775807/,
    alike: sameShape,
    why: 'AVG of INT64 is exact beyond 2^53.',
  },
  {
    kind: 'rows',
    of: /^ANY_VALUE/,
    sql: /OVER/,
    alike: sameShape,
    why: 'ANY_VALUE over a window may choose another row of the frame.',
  },
  {
    kind: 'rows',
    of: /^M(?:AX|IN)_BY$/,
    sql: /\bnan\b/i,
    alike: sameShape,
    why: 'MAX_BY and MIN_BY treat NaN as equal to NaN. The local BigQuery does not.',
  },
  {
    kind: 'rows',
    of: /^(?:ARRAY_AGG|ARRAY_CONCAT_AGG|STRING_AGG|NTH_VALUE|FIRST_VALUE|LAST_VALUE)/,
    sql: /OVER .*RANGE/,
    alike: sameShape,
    why: 'Rows that are equal in the order of a window come in any order.',
  },
  {
    kind: 'rows',
    of: /^(?:STRING|EXTRACT|DATETIME|\$cast)/,
    sql: /'0001-01-01|'1[0-8]\d\d-|'1900-/,
    alike: ({ embedded, reference }) => digitless(embedded) === digitless(reference),
    why: "The local BigQuery drops the seconds of a zone's local mean time, before time zones existed.",
  },
  {
    kind: 'refused',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    embedded: /Cannot GROUP BY literal values/,
    why: 'A literal cannot be a key of ROLLUP, CUBE or GROUPING SETS.',
  },
  {
    kind: 'accepted',
    of: /^(?:FIRST|LAST)_VALUE/,
    sql: /_VALUE\((?:(?:CAST\()+NULL AS|SAFE_CAST\((?:'|CAST\(NULL))/,
    why: 'The local BigQuery refuses a literal NULL in FIRST_VALUE and LAST_VALUE.',
  },
  {
    kind: 'refused',
    sql: /OVER \(.*(?:BETWEEN \d FOLLOWING|AND \d PRECEDING)|(?:ANY_VALUE|LOGICAL_OR|LOGICAL_AND)\(.* OVER/,
    embedded: /Out of Range Error|Conversion Error|Invalid Input Error|undefined outside|logquay:/,
    why: 'An argument of a window function is computed for every row, even outside of all frames.',
  },
  {
    kind: 'rows',
    sql: /SAFE\.GENERATE_/,
    reference: /"values?":\[\[\]\]|\[\[\["v"/,
    why: 'The local BigQuery makes no arrays of more than 16,000 elements.',
  },
  {
    kind: 'rows',
    of: /CONTAINS_SUBSTR/,
    embedded: NULL,
    reference: /false/,
    why: SEARCHED_NULL,
  },
  {
    kind: 'accepted',
    of: /^names/,
    reference: /^(?:SELECT list|ORDER BY clause) expression references .* which is neither grouped nor aggregated/,
    why: 'The local BigQuery does not recognise an expression of GROUP BY in SELECT or ORDER BY beside HAVING, QUALIFY or ORDER BY.',
  },
];

/** Why a difference need not be mended; null: it has to be. */
export function knownReason(difference: Difference): string | null {
  const { kind, of, sql, embedded, reference } = difference;
  const found = KNOWN.find(
    (known) =>
      known.kind === kind &&
      (known.of?.test(of) ?? true) &&
      (known.sql?.test(sql) ?? true) &&
      (known.embedded?.test(embedded) ?? true) &&
      (known.reference?.test(reference) ?? true) &&
      (known.alike?.(difference) ?? true),
  );
  return found?.why ?? null;
}

/** For docs/dialect.md. */
export function knownDifferences(): readonly string[] {
  return [...new Set(KNOWN.map(({ why }) => why))];
}

/** The same columns and as many values, in any order: the values `v` alone differ. */
function sameShape({ embedded, reference }: Difference): boolean {
  const shape = (text: string): string =>
    inAnyOrder(text.replace(/"v":(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,}\]]*)|"values":\[[^\]]*\]/g, 'value'));
  return shape(embedded) === shape(reference);
}

function inAnyOrder(rows: string): string {
  return rows
    .replace(/\]+$/, '')
    .split(/(?<=\}),|(?=\{)/)
    .sort()
    .join(' ');
}

/** Without digits and the names that have offsets in them, in any order. */
function withoutOffsets(text: string): string {
  return inAnyOrder(digitless(text.replace(/UTC[+-]\d*/g, 'UTC')));
}

function withoutZeros(text: string): string {
  return inAnyOrder(text.replace(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (number) => String(Number(number))));
}

/** Without both of two keys `a`. */
function withoutSecond(text: string): string {
  return text.replace(/,?\\*"a\\*":[12]/g, '').replace(/\s/g, '');
}

const NAMES =
  /\b(?:[AP]M|(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)[a-z]*|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)\b ?/gi;

/** Without what of a time is written in digits and names. */
function digitless(text: string): string {
  return text.replace(/[-+\d.:]+/g, '0').replace(NAMES, '');
}
