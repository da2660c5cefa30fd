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

const VALUE_UNUSED = 'A value that nothing in the result needs is not computed, so that it raises no error either.';
const OPERAND_DECIDES =
  'An operand of AND, OR, IN or BETWEEN that decides may leave errors of the others out, and a NULL in a condition those of the rest.';
const PATH_CHECKED = 'A JSONPath that is a literal is checked when a query is read, also where nothing is read by it.';
const HUGE_AGGREGATE =
  'STDDEV, VARIANCE, CORR and COVAR of numbers whose squares lie beyond FLOAT64, and of NUMERIC beyond its first 15 digits, differ or are errors.';
const BROKEN_JSON =
  'A text that is no JSON gives NULL in the functions that read JSON from text; the reference reads what comes before the fault.';
const LITERAL_CHECKED =
  'A literal pattern that is no regular expression, or an unknown time zone, is an error also where nothing needs it.';
const PART_BEYOND = 'A part of a civil time beyond 32 bits is an error; the reference takes its lower 32 bits.';
const NULL_FIRST =
  "Where literals alone make a NULL, a call of it is NULL before an argument next to it fails: `CONCAT(CAST(NULL AS STRING), ERROR('x'))`.";
const SEARCHED_NULL = 'BigQuery searches for no NULL; the local BigQuery writes CONTAINS_SUBSTR out.';

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
    why: 'A RANGE frame over NUMERIC whose end lies beyond its type is an error.',
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
    why: 'Numbers in JSON come out in their shortest form: `1.50` as `1.5`, `1e-09` as `1e-9`.',
  },
  {
    kind: 'rows',
    sql: /"a":1,"a":2/,
    alike: ({ embedded, reference }) => withoutSecond(embedded) === withoutSecond(reference),
    why: 'A JSON value keeps a key that its text has twice; paths read the first.',
  },
  {
    kind: 'rows',
    sql: /Africa\/Casablanca/,
    alike: ({ embedded, reference }) => withoutOffsets(embedded) === withoutOffsets(reference),
    why: 'The rules of time zones are those that DuckDB comes with, newer than those of the reference: Africa/Casablanca differs from September 2026 on.',
  },
  {
    kind: 'refused',
    embedded: /logquay:size/,
    sql: /\b(?:REPEAT|LPAD|RPAD|GENERATE_\w+|ARRAY_CONCAT|CONCAT|REPLACE|REGEXP_\w+|FORMAT|TO_CODE_POINTS|INSTR|STRING_AGG|LIKE)\b|\|\|/,
    why: 'What a query makes of little is bounded (Limits).',
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
    why: 'An argument of a statistic is an error also behind a value that is infinite, and where it is a literal also of no rows.',
  },
  {
    kind: 'refused',
    of: /PARSE_JSON/,
    sql: /'round'/,
    embedded: /logquay:json/,
    why: 'An integer of more than 64 bits is an error in PARSE_JSON, rounded or not.',
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
    why: 'A sum or difference with a literal that is only compared, or added up, may lie beyond its type.',
  },
  { kind: 'accepted', of: /^IS (?:NOT )?NULL/, reference: /overflow/, why: VALUE_UNUSED },
  { kind: 'accepted', of: /^(?:CASE|IF)$/, reference: /LIKE pattern ends/, why: VALUE_UNUSED },
  {
    kind: 'refused',
    of: /^EXTRACT/,
    embedded: /EXTRACT from \w+ does not support/,
    reference: NULL,
    why: 'A part that EXTRACT does not read of a type is an error also where the value is NULL.',
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
    why: 'A subquery of EXISTS is computed for every row, also where its first decides.',
  },
  {
    kind: 'rows',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    sql: /^SELECT \w+\(\w* ?'[^']*'\) AS k, \w* ?'[^']*' AS m,/,
    why: 'The local BigQuery takes two keys of several groupings for one where literals make them and their values are equal.',
  },
  {
    kind: 'accepted',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    sql: /\b(?:NULLIF|IFNULL|COALESCE|CONTAINS_SUBSTR|\w+_BUCKET)\(|CASE WHEN /,
    reference: /neither grouped nor aggregated/,
    why: 'The local BigQuery writes NULLIF, IFNULL, COALESCE, CASE, CONTAINS_SUBSTR and buckets out, and then does not know a key of several groupings again.',
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
    why: 'A sum of FLOAT64 is rounded after each row, in whatever order they come.',
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
    why: 'ANY_VALUE over a window may be the value of any row of the frame.',
  },
  {
    kind: 'rows',
    of: /^M(?:AX|IN)_BY$/,
    sql: /\bnan\b/i,
    alike: sameShape,
    why: 'MAX_BY and MIN_BY know NaN again; the local BigQuery writes them out with HAVING MAX, which does not.',
  },
  {
    kind: 'rows',
    of: /^(?:ARRAY_AGG|ARRAY_CONCAT_AGG|STRING_AGG|NTH_VALUE|FIRST_VALUE|LAST_VALUE)/,
    sql: /OVER .*RANGE/,
    alike: sameShape,
    why: 'Rows that the order of a window leaves equal come in any order.',
  },
  {
    kind: 'rows',
    of: /^(?:STRING|EXTRACT|DATETIME|\$cast)/,
    sql: /'0001-01-01|'1[0-8]\d\d-|'1900-/,
    alike: ({ embedded, reference }) => digitless(embedded) === digitless(reference),
    why: "The reference leaves out the seconds of a zone's local mean time, before there were time zones.",
  },
  {
    kind: 'refused',
    of: /^(?:ROLLUP|CUBE|GROUPING SETS)/,
    embedded: /Cannot GROUP BY literal values/,
    why: 'A literal cannot be a key of several groupings.',
  },
  {
    kind: 'accepted',
    of: /^(?:FIRST|LAST)_VALUE/,
    sql: /_VALUE\((?:(?:CAST\()+NULL AS|SAFE_CAST\((?:'|CAST\(NULL))/,
    why: 'The reference takes no NULL that is written as it stands in FIRST_VALUE and LAST_VALUE.',
  },
  {
    kind: 'refused',
    sql: /OVER \(.*(?:BETWEEN \d FOLLOWING|AND \d PRECEDING)|(?:ANY_VALUE|LOGICAL_OR|LOGICAL_AND)\(.* OVER/,
    embedded: /Out of Range Error|Conversion Error|Invalid Input Error|undefined outside|logquay:/,
    why: 'An argument of a window function is computed for every row, also where no frame holds it or it is not needed.',
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
    why: 'The local BigQuery is too old for a key of GROUP BY that SELECT or ORDER BY writes as an expression beside HAVING, QUALIFY or ORDER BY.',
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
