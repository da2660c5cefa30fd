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
  FORMAT: "a literal pattern; no `*`, `'`, `#`, `%p`; `%t` and `%T` alone of NUMERIC; not of BYTES",
  FORMAT_DATE: 'a literal format without widths and flags',
  FORMAT_DATETIME: 'a literal format without widths and flags',
  FORMAT_TIME: 'a literal format without widths and flags',
  FORMAT_TIMESTAMP: 'a literal format without widths and flags',
  JSON_EXTRACT: 'numbers come out in their shortest form',
  JSON_QUERY: 'numbers come out in their shortest form',
  JSON_VALUE: 'numbers come out in their shortest form',
  PARSE_DATE: 'a literal format of `%Y %y %m %b %B %d %e %j %a %A %F %D %x`',
  PARSE_DATETIME: 'a literal format of those of PARSE_DATE and PARSE_TIME, `%c`, `%s`',
  PARSE_TIME: 'a literal format of `%H %k %I %l %p %P %M %S %E*S %E1S` to `%E6S`, `%R %T %X %r`',
  PARSE_TIMESTAMP: 'a literal format of those of PARSE_DATETIME, `%z`, `%Ez`; no `%Z`',
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
    construct: '`COLLATE`, also in `ORDER BY`',
    sql: `SELECT id FROM raw_edge_logs ORDER BY id COLLATE 'und:ci'`,
    at: 'id COLLATE',
  },
  { construct: '`UNNEST` of several arrays', sql: 'SELECT 1 FROM UNNEST([1], [2])', at: 'UNNEST([1], [2])' },
  {
    construct: 'RANGE: the type and its functions',
    sql: `SELECT CAST('[2026-01-31, UNBOUNDED)' AS RANGE<DATE>)`,
    at: 'CAST',
  },
  {
    construct: '`RANGE_SESSIONIZE`',
    sql: `SELECT 1 FROM RANGE_SESSIONIZE(TABLE raw_edge_logs, 'r', ['id'])`,
    at: 'RANGE_SESSIONIZE',
  },
  { construct: '`CAST` with `FORMAT`', sql: `SELECT CAST(CURRENT_DATE() AS STRING FORMAT 'YYYY')`, at: 'CAST' },
  {
    construct: '`FORMAT`, `FORMAT_*` and `PARSE_*` by a format that is no literal',
    sql: `SELECT FORMAT(id, 1) FROM raw_edge_logs`,
    at: 'FORMAT',
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
    construct:
      'Arithmetic, sums, statistics, functions of numbers and `FORMAT` of BIGNUMERIC: it is read, cast and compared',
    sql: `SELECT BIGNUMERIC '1' + 1`,
    at: 'BIGNUMERIC',
  },
  { construct: 'Bit operators and `BIT_COUNT` of BYTES', sql: `SELECT b'a' & b'b'`, at: `b'a' & b'b'` },
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
    'What the differential tester (`npm run test:long -- dialect`) leaves out, from `test/dialect/fuzz/known.ts`:',
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
