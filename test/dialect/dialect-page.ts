/** The generated parts of `docs/dialect.md`: functions by what becomes of them, and constructs that are refused. */
import { LIMITS } from '../../src/engines/duckdb/translate/expressions/makers';
import { supportedFunctions } from '../../src/engines/duckdb/translate';
import { findFunction, functionNames } from '../../src/googlesql/functions/catalogue';
import { LAMBDA_FUNCTIONS } from '../../src/googlesql/resolver/lambdas';
import { knownDifferences } from './fuzz/known';
import { allowedFunctionNames } from '../../src/sandbox/functions';

/** What users of a function should know, by function. */
const NOTES: Readonly<Record<string, string>> = {
  APPROX_COUNT_DISTINCT: 'exact',
  APPROX_QUANTILES: 'exact; the number is a literal; no `OVER`',
  APPROX_TOP_COUNT: 'exact; no `OVER`',
  APPROX_TOP_SUM: 'exact; no `OVER`',
  COLLATE:
    "`'und:ci'`, `'binary'` and `''`; of texts that are equal by it a group shows the least; letters as in Unicode 13",
  'HLL_COUNT.EXTRACT': 'reads sketches of this engine only',
  'HLL_COUNT.INIT':
    'exact below 2 to the power of the precision, of which more than 18 is as 18: an estimate from there on; only this engine reads the sketch',
  'HLL_COUNT.MERGE': 'reads sketches of this engine only',
  'HLL_COUNT.MERGE_PARTIAL': 'reads sketches of this engine only',
  JSON_EXTRACT: 'numbers come out in their shortest form',
  JSON_QUERY: 'numbers come out in their shortest form',
  JSON_VALUE: 'numbers come out in their shortest form',
  PERCENTILE_CONT: 'the fraction is a literal; no `RESPECT NULLS` of NUMERIC',
  PERCENTILE_DISC: 'the fraction is a literal',
  SEARCH: 'a literal query of up to 1,000 characters, not of JSON; no PATTERN_ANALYZER, no `analyzer_options`',
};

/** A construct of GoogleSQL that is refused; `at`: what its position points to. */
export const REFUSED: readonly { readonly construct: string; readonly sql: string; readonly at: string }[] = [
  {
    construct: 'The pipe operators `CALL` and `TABLESAMPLE`',
    sql: 'FROM raw_edge_logs |> TABLESAMPLE SYSTEM (1 PERCENT)',
    at: 'TABLESAMPLE',
  },
  {
    construct: '`WITH RECURSIVE`',
    sql: 'WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n',
    at: 'WITH',
  },
  {
    construct: '`NATURAL JOIN`',
    sql: 'SELECT 1 FROM raw_edge_logs AS a NATURAL JOIN raw_edge_logs AS b',
    at: 'NATURAL',
  },
  { construct: '`TABLESAMPLE`', sql: 'SELECT 1 FROM raw_edge_logs TABLESAMPLE SYSTEM (1 PERCENT)', at: 'TABLESAMPLE' },
  {
    construct: '`FOR SYSTEM_TIME AS OF`',
    sql: 'SELECT 1 FROM raw_edge_logs FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP()',
    at: 'FOR',
  },
  {
    construct: '`COLLATE` with a parameter',
    sql: `SELECT id FROM raw_edge_logs ORDER BY id COLLATE @x`,
    at: 'COLLATE',
  },
  {
    construct:
      'A text with a collation in `LIKE`, in functions that look for a text in another, in `GREATEST`, `LEAST`, `NULLIF` and `RANGE_BUCKET`',
    sql: `SELECT COLLATE(id, 'und:ci') LIKE 'a%' FROM raw_edge_logs`,
    at: `COLLATE(id, 'und:ci') LIKE`,
  },
  {
    construct:
      'A text with a collation in `INTERSECT` and `EXCEPT`, `PIVOT` and `UNPIVOT`, lambdas, `ARRAY_AGG(DISTINCT)`, `HAVING MAX`, a STRUCT that is compared',
    sql: `SELECT ARRAY_AGG(DISTINCT COLLATE(id, 'und:ci')) FROM raw_edge_logs`,
    at: 'ARRAY_AGG',
  },
  { construct: '`UNNEST` of several arrays', sql: 'SELECT 1 FROM UNNEST([1], [2])', at: 'UNNEST([1], [2])' },
  {
    construct: '`FORMAT` of RANGE; `CAST(x AS STRING)` writes one',
    sql: `SELECT FORMAT('%t', RANGE(DATE '2026-01-31', NULL))`,
    at: 'FORMAT',
  },
  {
    construct: '`RANGE_SESSIONIZE`',
    sql: `SELECT 1 FROM RANGE_SESSIONIZE(TABLE raw_edge_logs, 'r', ['id'])`,
    at: 'RANGE_SESSIONIZE',
  },
  {
    construct: '`CAST` of numbers with the `FORMAT` elements `TM` and `RN`',
    sql: `SELECT CAST(1.5 AS STRING FORMAT 'TM9')`,
    at: 'CAST',
  },
  {
    construct: '`CAST` of a date or time with a `FORMAT` that is computed',
    sql: `SELECT CAST(CURRENT_DATE() AS STRING FORMAT id) FROM raw_edge_logs`,
    at: 'CAST',
  },
  {
    construct: '`CAST` of a text with a `FORMAT` that has names, half days, no year or no month',
    sql: `SELECT CAST('2026' AS DATE FORMAT 'YYYY')`,
    at: 'CAST',
  },
  {
    construct: '`\\C` in the pattern of a STRING, but in `REGEXP_CONTAINS`',
    sql: String.raw`SELECT REGEXP_EXTRACT(id, r'\C') FROM raw_edge_logs`,
    at: 'REGEXP_EXTRACT',
  },
  {
    construct: '`HAVING MAX` in an aggregate but `ANY_VALUE` over more than 32 groupings',
    sql: 'SELECT SUM(id HAVING MAX id) FROM (SELECT 1 AS id, 2 AS a, 3 AS b, 4 AS c, 5 AS d, 6 AS e, 7 AS f) GROUP BY CUBE(a, b, c, d, e, f)',
    at: 'SUM',
  },
  {
    construct: '`STDDEV`, `VARIANCE`, `CORR`, `COVAR` and `PERCENTILE_CONT` of BIGNUMERIC',
    sql: `SELECT STDDEV(x) FROM UNNEST([BIGNUMERIC '1']) AS x`,
    at: 'STDDEV',
  },
  {
    construct: '`APPROX_TOP_SUM` and `GENERATE_ARRAY` of BIGNUMERIC',
    sql: `SELECT GENERATE_ARRAY(BIGNUMERIC '1', 3)`,
    at: 'GENERATE_ARRAY',
  },
  {
    construct: 'A `RANGE` frame with an offset over BIGNUMERIC',
    sql: `SELECT SUM(1) OVER (ORDER BY x RANGE 1 PRECEDING) FROM UNNEST([BIGNUMERIC '1']) AS x`,
    at: 'x RANGE',
  },
];

const SIZES: readonly (readonly [what: string, most: number])[] = [
  ['elements of a generated array, and of arrays joined that a query makes', LIMITS.elements],
  ['bytes of a text from `REPEAT`, `LPAD`, `RPAD`', LIMITS.filled],
  ['bytes of a text joined or rewritten from others that a query makes', LIMITS.made],
  ['number of the occurrence in `INSTR`, where the text has so many characters', LIMITS.occurrences],
  ['number of `APPROX_QUANTILES`', LIMITS.quantiles],
  ['number of `APPROX_TOP_COUNT` and `APPROX_TOP_SUM`', LIMITS.topValues],
  ['rows of a group of `APPROX_TOP_SUM` times its different values', LIMITS.topSumSteps],
  ['width and precision in `FORMAT`', LIMITS.places],
  ['elements of the format of a date or time', LIMITS.formatElements],
  ['characters of the format of a date or time', LIMITS.formatCharacters],
  ['characters of the search_query of `SEARCH`', LIMITS.searchCharacters],
  ['bytes given to a function that Logquay computes itself, in 2,048 rows together', LIMITS.ownFunctions],
];

/** The text between the markers `<!-- generated -->` and `<!-- end -->`. */
export function generatedPart(): string {
  const { scalar, aggregate } = supportedFunctions();
  const supported = new Set([...scalar, ...aggregate, ...LAMBDA_FUNCTIONS, 'EXTRACT']);
  const all = [...new Set([...functionNames(), ...allowedFunctionNames(), 'EXTRACT'])].sort();
  const known = (name: string): boolean => supported.has(name) || supported.has(findFunction(name)?.name ?? name);
  const noted = all.filter((name) => known(name) && NOTES[name] !== undefined);
  const plain = all.filter((name) => known(name) && NOTES[name] === undefined);
  return [
    '## Functions',
    '',
    wrapped(plain),
    '',
    'With a note:',
    '',
    ...table(
      ['function', 'note'],
      noted.map((name) => [`\`${name}\``, NOTES[name]!]),
    ),
    '',
    '## Functions that are not supported',
    '',
    wrapped(all.filter((name) => !known(name))),
    '',
    '## Constructs that are not supported',
    '',
    ...table(
      ['construct', 'for example'],
      REFUSED.map(({ construct, sql }) => [construct, `\`${sql.replaceAll('|', '\\|')}\``]),
    ),
    '',
    '## Known differences',
    '',
    'What the differential tester (`npm run fuzz:dialect`) leaves out, from `test/dialect/fuzz/known.ts`:',
    '',
    ...knownDifferences().map((text) => `- ${text}`),
    '',
    '## Limits',
    '',
    ...table(
      ['what', 'at most'],
      SIZES.map(([what, most]) => [what, most.toLocaleString('en-US')]),
    ),
  ].join('\n');
}

function wrapped(names: readonly string[]): string {
  const lines: string[] = [''];
  for (const name of names) {
    const last = lines.length - 1;
    const longer = `${lines[last]!}${lines[last] === '' ? '' : ' '}\`${name}\``;
    if (longer.length <= 116) lines[last] = longer;
    else lines.push(`\`${name}\``);
  }
  return lines.join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(...[name, ...rows.map((row) => row[i] ?? '')].map((t) => t.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
