/** The generated parts of `docs/dialect.md` and `docs/functions.md`: constructs that are refused, and the table of functions. */
import { LIMITS } from '../../packages/duckdb-engine/src/translate/expressions/makers';
import { AGGREGATES, SCALARS } from '../../packages/duckdb-engine/src/translate';
import { findFunction, functionNames, type SqlFunction } from '../../packages/googlesql/src/functions/catalogue';
import type { Fails } from '../../packages/googlesql/src/functions/function-table';
import { knownDifferences } from './fuzz/known';

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

/** The text between the markers `<!-- generated -->` and `<!-- end -->` of docs/dialect.md. */
export function generatedPart(): string {
  return [
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

/** What becomes of functions on the embedded engine. */
const ROWS = { ...SCALARS, ...AGGREGATES };

const FAILS: Readonly<Record<Fails, string>> = {
  never: 'never',
  size: 'by the size of its result',
  may: 'yes',
  conversion: 'unless the types have all values in common, in UTC',
  count: 'unless of STRING, by a literal number',
  difference: 'unless in common parts',
  ends: 'unless of literals in order',
  float: 'unless of FLOAT64',
  group: 'unless of STRING, by a literal pattern with one group at most',
  groups: 'unless of STRING, by a literal pattern',
  interval: 'unless of a literal number',
  near: 'unless of literals and the clock',
  pattern: 'unless of STRING, by a literal pattern',
  place: 'unless of STRING, by literal numbers',
  separator: 'unless of STRING, by a literal separator',
  series: 'unless a short one of literals',
  truncation: 'unless to common parts, in UTC',
  zone: 'unless in UTC',
};

/** The same of docs/functions.md. */
export function functionsPart(): string {
  const categories = new Map<string, string[][]>();
  for (const name of functionNames()) {
    const fn = findFunction(name);
    if (fn === undefined || fn.alias === name) continue;
    const row = ROWS[fn.name];
    const embedded = 'instead' in row ? (row.instead === null ? 'no' : `no: ${row.instead}`) : noteOf(row) || 'yes';
    const cells = [written(fn), embedded, FAILS[fn.fails], fn.isOpen ? 'yes' : 'no'];
    categories.set(fn.category, [...(categories.get(fn.category) ?? []), cells]);
  }
  return [...categories]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, rows]) =>
      [
        `## ${category.charAt(0).toUpperCase()}${category.slice(1)}`,
        '',
        ...table(['function', 'embedded engine', 'can fail', 'consumers'], rows),
      ].join('\n'),
    )
    .join('\n\n');
}

function noteOf(row: object): string {
  return 'note' in row && typeof row.note === 'string' ? row.note : '';
}

function written({ name, alias }: SqlFunction): string {
  return alias === undefined ? `\`${name}\`` : `\`${name}\`, \`${alias}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(...[name, ...rows.map((row) => row[i] ?? '')].map((t) => t.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
