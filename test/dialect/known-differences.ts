/**
 * Where the embedded engine is known not to answer as the reference engine does, or where the reference engine cannot be
 * asked. `docs/dialect.md` tells users of the former.
 */
export interface KnownDifference {
  /** Of calls. */
  readonly sql: RegExp;
  /** Of what both said; any where it is left out. */
  readonly difference?: RegExp;
  readonly why: string;
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    sql: /BIGNUMERIC/,
    why: 'BIGNUMERIC has 38 digits, 18 of them after the point; NUMERIC division goes through FLOAT64.',
  },
  { sql: /_BUCKET\(/, why: 'A bucket of a kind that BigQuery refuses is answered.' },
  { sql: /JSON/, difference: /\d\.\d*0\D|1e/, why: 'Numbers in JSON come out in their shortest form: 1.50 as 1.5.' },
  { sql: /LOG\(/, difference: /NaN/, why: 'A logarithm to an infinite base is an error instead of NaN.' },
  { sql: /INSTR\(.*''/, why: 'Where an empty text stands in an empty one is not agreed.' },
  { sql: /PARSE_TIME/, difference: /reference fails/, why: 'A format for a TIME may name parts of a date.' },
  { sql: /REGEXP_EXTRACT_ALL.*'\$'/, why: 'The end of a text is found twice.' },
  {
    sql: /REGEXP_REPLACE[^]*\\[123]/,
    difference: /reference fails/,
    why: 'A group that the expression lacks is empty where nothing is found.',
  },
  {
    sql: /CAST\(NULL AS/,
    difference: /embedded fails \((?:An argument|A number)/,
    why: 'An argument out of range is an error beside a NULL too.',
  },
  { sql: /INITCAP.*ß/, why: 'A ß at the start of a word becomes a capital one.' },
  { sql: /NORMALIZE_AND_CASEFOLD/, why: 'Letters are made small one by one: ß stays ß.' },
  { sql: /RANGE_BUCKET/, difference: /reference fails/, why: 'An array that is not sorted is no error.' },
  {
    sql: /SAFE_CONVERT_BYTES_TO_STRING/,
    difference: /not \{"v0":".*\ufffd/,
    why: 'Bytes that are no UTF-8 give NULL.',
  },
  { sql: /SAFE_DIVIDE/, difference: /Infinity/, why: 'A quotient beyond FLOAT64 is infinite instead of NULL.' },
  { sql: /ASCII\((?:b'|c0_0\) AS v0 FROM \(SELECT b')/, why: 'ASCII of BYTES is not supported.' },
  { sql: /_TRUNC\(.*, (?:'|c\d)/, difference: /time zone/, why: 'A zone is not read where it changes nothing.' },
  { sql: /FORMAT_.*0001-01-01/, why: 'Years below 1000 are padded to four digits.' },
  { sql: /FORMAT_DATETIME/, difference: /%s/, why: 'Seconds since the epoch of a DATETIME are not written.' },
  {
    sql: /COSINE_DISTANCE|EUCLIDEAN_DISTANCE|EDIT_DISTANCE/,
    difference: /knows no function/,
    why: 'The reference engine lacks it.',
  },
];
