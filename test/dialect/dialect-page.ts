/** The generated part of `docs/dialect.md`: differences, constructs that are refused, limits and functions. */
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
    construct: 'The type RANGE and its functions',
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
    construct: '`FORMAT`, `FORMAT_*` and `PARSE_*` without a literal format',
    sql: `SELECT FORMAT(id, 1) FROM raw_edge_logs`,
    at: 'FORMAT',
  },
  {
    construct: '`\\C` in the pattern of a STRING, except in `REGEXP_CONTAINS`',
    sql: String.raw`SELECT REGEXP_EXTRACT(id, r'\C') FROM raw_edge_logs`,
    at: 'REGEXP_EXTRACT',
  },
  {
    construct: '`HAVING MAX` over more than 32 groupings, except in `ANY_VALUE`',
    sql: 'SELECT SUM(id HAVING MAX id) FROM (SELECT 1 AS id, 2 AS a, 3 AS b, 4 AS c, 5 AS d, 6 AS e, 7 AS f) GROUP BY CUBE(a, b, c, d, e, f)',
    at: 'SUM',
  },
  {
    construct: 'BIGNUMERIC in arithmetic, sums, statistics, functions of numbers and `FORMAT`',
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
  ['elements of a generated or joined array', LIMITS.elements],
  ['bytes of a text from `REPEAT`, `LPAD`, `RPAD`', LIMITS.filled],
  ['bytes of a text joined or rewritten from others', LIMITS.made],
  ['occurrence in `INSTR`, in a text with so many characters', LIMITS.occurrences],
  ['number of `APPROX_QUANTILES`', LIMITS.quantiles],
  ['number of `APPROX_TOP_COUNT` and `APPROX_TOP_SUM`', LIMITS.topValues],
  ['rows times distinct values in a group of `APPROX_TOP_SUM`', LIMITS.topSumSteps],
  ['width and precision in `FORMAT`', LIMITS.places],
  ['elements of the format of a date or time', LIMITS.formatElements],
  ['characters of the format of a date or time', LIMITS.formatCharacters],
  ['characters of the search_query of `SEARCH`', LIMITS.searchCharacters],
  ['bytes of 2,048 rows for a [function of Logquay](#types-and-functions)', LIMITS.ownFunctions],
];

/** The text between the markers `<!-- generated -->` and `<!-- end -->` of docs/dialect.md. */
export function generatedPart(): string {
  return [
    '## Differences in results',
    '',
    'The differential tester (`npm run test:long -- dialect`) accepts these differences:',
    '',
    ...knownDifferences().map((text) => `- ${text}`),
    '',
    '## Refused constructs',
    '',
    ...table(
      ['construct', 'example'],
      REFUSED.map(({ construct, sql }) => [construct, `\`${sql.replaceAll('|', '\\|')}\``]),
    ),
    '',
    '## Limits',
    '',
    ...table(
      ['limit', 'at most'],
      SIZES.map(([what, most]) => [what, most.toLocaleString('en-US')]),
    ),
    '',
    '## Functions',
    '',
    ...functionLists(),
  ].join('\n');
}

/** What becomes of functions on the embedded engine. */
const ROWS = { ...SCALARS, ...AGGREGATES };

/** Arguments with which a call cannot fail; null: none. */
const SAFE_WITH: Readonly<Record<Fails, string | null>> = {
  never: 'any arguments',
  size: 'any arguments, except for the size of the result',
  may: null,
  conversion: 'a conversion that keeps every value, in UTC',
  count: 'a STRING and a literal number',
  difference: 'common parts',
  ends: 'literals in order',
  float: 'FLOAT64',
  group: 'a STRING and a literal pattern with at most one group',
  groups: 'a STRING and a literal pattern',
  interval: 'a literal number',
  near: 'literals and the clock',
  pattern: 'a STRING and a literal pattern',
  place: 'a STRING and literal numbers',
  separator: 'a STRING and a literal separator',
  series: 'literals that make a short array',
  truncation: 'common parts, in UTC',
  zone: 'UTC',
};

function functionLists(): string[] {
  const functions = functionNames().flatMap((name) => {
    const fn = findFunction(name);
    return fn === undefined || fn.alias === name ? [] : [{ ...fn, row: ROWS[fn.name], text: written(fn) }];
  });
  const here = functions.filter(({ row }) => !('instead' in row));
  const notes = here.flatMap(({ row, text }) => (noteOf(row) === '' ? [] : [[text, noteOf(row)]]));
  const missing = functions.flatMap(({ row, text }) => ('instead' in row ? [[text, row.instead ?? '']] : []));
  const safe = functions.map(({ fails, text }) => [SAFE_WITH[fails], text] as const);
  const closed = functions.flatMap(({ isOpen, text }) => (isOpen ? [] : [text]));
  return [
    'The embedded engine has these functions:',
    '',
    ...grouped(here.map(({ category, text }) => [`${category.charAt(0).toUpperCase()}${category.slice(1)}`, text])),
    '',
    'Notes on some of them:',
    '',
    ...table(['function', 'note'], notes),
    '',
    'Only BigQuery and the local BigQuery have these functions:',
    '',
    ...table(['function', 'instead'], missing),
    '',
    `[Consumer queries](sandbox.md) may not call ${closed.join(', ')}.`,
    '',
    '### Calls that cannot fail',
    '',
    'A query of a key with pins needs no [fence](decisions/fence.md) if none of its calls can fail. A call under `SAFE.` fails only by the size of its result. These calls cannot fail with:',
    '',
    ...grouped(safe.flatMap(([given, text]) => (given === null ? [] : [[given, text]]))),
  ];
}

/** A list of groups, each with its members. */
function grouped(pairs: readonly (readonly string[])[]): string[] {
  const groups = new Map<string, string[]>();
  for (const [name = '', member = ''] of pairs) groups.set(name, [...(groups.get(name) ?? []), member]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, all]) => `- **${name}**: ${all.join(', ')}`);
}

function noteOf(row: object): string {
  return 'note' in row && typeof row.note === 'string' ? row.note : '';
}

function written({ name, alias }: SqlFunction): string {
  return alias === undefined ? `\`${name}\`` : `\`${name}\` (\`${alias}\`)`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(...[name, ...rows.map((row) => row[i] ?? '')].map((t) => t.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
