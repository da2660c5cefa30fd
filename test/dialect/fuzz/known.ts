/** Differences that are documented (docs/dialect.md), or that are still open: each entry is to be taken out when it is mended. */
import type { Difference } from './difference';

interface Known {
  /** Of `<kind> <function or place>`. */
  readonly of?: RegExp;
  readonly sql?: RegExp;
  /** What the embedded engine gives. */
  readonly embedded?: RegExp;
  readonly why: string;
}

const KNOWN: readonly Known[] = [
  { sql: /BIGNUMERIC/, why: 'BIGNUMERIC has 38 digits, 18 of them after the point.' },
  {
    embedded: /Overflow in .* DECIMAL/,
    sql: /RANGE BETWEEN/,
    why: 'A RANGE frame whose end lies beyond NUMERIC is an error.',
  },
  {
    embedded: /is out of range!/,
    of: /STDDEV|VAR|COV|CORR/,
    why: 'A statistic of squares beyond FLOAT64 is an error.',
  },
  {
    of: /^accepted .*JOIN/,
    sql: /\((?:FALSE AND|TRUE OR) /,
    why: 'What an operand decides leaves the errors of others out.',
  },
  {
    of: /^accepted (?:\$between|\$in|\$and|\$or|WHERE)/,
    why: 'What an operand decides leaves the errors of others out.',
  },
  { of: /^rows/, sql: /1\.50|12\.50|1e3/, why: 'Numbers in JSON come out in their shortest form.' },
  { of: /^rows/, sql: /"a":1,"a":2/, why: 'A JSON value keeps a key that its text has twice; paths read the first.' },
  { of: /^rows/, sql: /Africa\/Casablanca/, why: 'The engines have other versions of the time zone database.' },
  {
    of: /^refused/,
    embedded: /logquay:size/,
    why: 'What a query makes of little is bounded (docs/dialect.md, Limits).',
  },
  { of: /DIVIDE$/, sql: /NUMERIC '9{29}/, why: 'A NUMERIC divisor of 1e20 and more is refused.' },
  { embedded: /Overflow in HUGEINT/, why: 'A sum of NUMERIC in a window is reckoned beyond its frame.' },
  {
    embedded: /Error: missing \)/,
    why: 'An invalid literal pattern is an error also where nothing is matched by it.',
  },
  { embedded: /logquay:argument/, of: /REGEXP_INSTR/, why: 'A later match behind an empty one is refused.' },
  {
    embedded: /logquay:regexp/,
    sql: /REGEXP_INSTR/,
    why: 'A computed pattern with a group that captures is refused where it matches.',
  },
  {
    embedded: /The JSONPath cannot be \$/,
    why: 'An invalid JSONPath is an error also where nothing is read by it.',
  },
  {
    of: /^refused (?:DATE|TIME|DATETIME|TIMESTAMP)$/,
    embedded: /out of range for the destination type INT32/,
    why: 'The reference takes the lower 32 bits of a part of a civil time; here it is an error.',
  },
  {
    of: /^rows JSON_(?:EXTRACT|QUERY|VALUE)/,
    embedded: /null/,
    why: 'Of a text that is no JSON the reference reads what comes before the fault.',
  },
  {
    of: /^accepted/,
    sql: /CAST\(NULL AS/,
    embedded: /null/,
    why: 'A NULL that is written as it stands makes NULL of a call, before an error of another argument.',
  },
  {
    of: /^accepted (?:ROLLUP|CUBE|GROUPING SETS)/,
    sql: /\b(?:NULLIF|IFNULL|COALESCE|CONTAINS_SUBSTR)\(/,
    why: 'The reference writes these functions out, and then does not know a key of several groupings again.',
  },
  { embedded: /Invalid JSONPath/, why: 'An invalid JSONPath is an error also where nothing is read by it.' },
  { of: /(?:AVG|SUM|STDDEV|VAR|COV|CORR)\w*$/, sql: /1\.7e308/, why: 'A sum of FLOAT64 beyond its range is infinite.' },
  { of: /^rows ANY_VALUE/, sql: /OVER/, why: 'It may be the value of any row of the frame.' },
  {
    of: /^rows FORMAT_|^rows (?:STRING|EXTRACT|DATETIME|\$cast)/,
    sql: /'0001-01-01|'1[0-8]\d\d-/,
    why: "The reference leaves out the seconds of a zone's local mean time.",
  },
  {
    of: /^refused (?:ROLLUP|CUBE|GROUPING SETS)/,
    embedded: /Cannot GROUP BY literal values/,
    why: 'The reference takes the name of a literal 1 for the position of a column.',
  },
  {
    of: /^(?:rows|refused) REGEXP_INSTR/,
    sql: /[^\x00-\x7f]/,
    why: 'The reference holds the position against the number of bytes.',
  },
  {
    of: /^rows (?:VARIANCE|VAR_|STDDEV|CORR|COVAR)/,
    sql: /NUMERIC '9{29}/,
    why: 'Statistics of NUMERIC go through FLOAT64.',
  },
  { sql: /'0x1F'/, of: /FLOAT64|AVG|SUM|MIN|MAX|CAST/, why: 'A FLOAT64 in hexadecimal text is no number.' },
  { embedded: /Overflow in addition of DECIMAL/, of: /GENERATE_ARRAY/, why: 'An element is computed beyond the last.' },
  {
    of: /^rows (?:ARRAY_AGG|NTH_VALUE|FIRST_VALUE|LAST_VALUE)/,
    sql: /OVER .*RANGE/,
    why: 'Rows that the order leaves equal come in any order.',
  },
  {
    of: /^rows (?:AVG|SUM|STDDEV|VAR|COV|CORR)/,
    sql: /OVER .*'-?inf'/,
    why: 'The reference goes on with NaN when an infinity leaves the frame.',
  },
  {
    of: /^accepted (?:FIRST|LAST)_VALUE/,
    sql: /_VALUE\(CAST\(NULL AS/,
    why: 'The reference takes no NULL that is written as it stands.',
  },
  { of: /^accepted STRUCT_FIELD/, why: 'A value that nothing needs is not computed.' },
  {
    of: /CONTAINS_SUBSTR/,
    sql: /CONTAINS_SUBSTR\(.*(?:NULL|SAFE\.)/,
    why: 'BigQuery searches for no NULL; the local BigQuery writes the function out.',
  },
];

/** Why a difference is none that has to be mended; null: it has to be. */
export function knownReason({ kind, of, sql, embedded }: Difference): string | null {
  const found = KNOWN.find(
    (known) =>
      (known.of?.test(`${kind} ${of}`) ?? true) &&
      (known.sql?.test(sql) ?? true) &&
      (known.embedded?.test(embedded) ?? true),
  );
  return found?.why ?? null;
}
