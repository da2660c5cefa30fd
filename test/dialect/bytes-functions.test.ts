/** Functions and operators of BYTES on both engines; separators and delimiters that are computed. */
import { alikeOnBoth } from './on-both-engines';

const VALUES = [
  ...[String.raw`b''`, String.raw`b'abc abcab'`, String.raw`b'\xff\x00\x80'`, String.raw`b'\xc3\xa9 \xe9\xc9'`],
  ...[String.raw`b'a\r\nb\r\n'`, String.raw`b'\xf0\x9f\x98\x80'`, String.raw`b'%_\\ "it\'s" \x60'`, 'NULL'],
];
const PARTS = [String.raw`b''`, String.raw`b'ab'`, String.raw`b'\xff'`, String.raw`b'\xe9'`, String.raw`b'\n'`, 'NULL'];
const COUNTS = '[-1, 0, 1, 3, 12, NULL]';
const X = `UNNEST([${VALUES.join(', ')}]) AS x WITH OFFSET AS i`;
const Y = `UNNEST([${PARTS.join(', ')}]) AS y WITH OFFSET AS j`;

const OF_ONE = [...['REVERSE', 'UPPER', 'LOWER', 'ASCII', 'LENGTH', 'TO_CODE_POINTS'].map((f) => `${f}(x)`)];
const OF_TWO = [
  ...['SPLIT', 'TRIM', 'LTRIM', 'RTRIM', 'INSTR', 'STRPOS', 'STARTS_WITH', 'ENDS_WITH', 'CONCAT'].map(
    (f) => `${f}(x, y)`,
  ),
  ...["REPLACE(x, y, b'-')", "REPLACE(x, b'ab', y)", "SAFE.TRANSLATE(x, y, b'-')", "TRANSLATE(x, b'a\\xff', y)"],
  ...['INSTR(x, y, -1)', 'INSTR(x, y, 2, 2)', 'x LIKE y', "x LIKE CONCAT(b'%', y, b'%')", "x LIKE b'_' || y || b'%'"],
  ...['SAFE.LPAD(x, 12, y)', 'SAFE.RPAD(x, 12, y)', 'x || y', 'x < y', 'GREATEST(x, y)', 'x = y', 'x IN (y)'],
  ...["ARRAY_TO_STRING([x, NULL, b'a'], y)", "ARRAY_TO_STRING([x, NULL], b'-', y)", 'ARRAY_TO_STRING([x, NULL], y, y)'],
  'REGEXP_CONTAINS(x, y)',
];
const PATTERNS = [
  ...[
    '.',
    '[^a]',
    '(?i)\\xe9+',
    '[\\x80-\\xff]*',
    '\\\\C',
    '[\\\\C]',
    '\\\\Q\\\\C\\\\E',
    '\\\\pL+',
    '\\\\PL',
    '\\\\bb',
  ],
  ...[
    '\\\\x{e9}|\\\\377',
    '\\\\x{100}',
    '[\\\\400]',
    '\\\\0400',
    '(a)|b',
    '(a)?b',
    'a*',
    '$',
    '(',
    '(a)(b)',
    '(?P<\\xe9>a)',
  ],
].map((pattern) => `b'${pattern}'`);
const MATCHING = [
  ...['REGEXP_CONTAINS(x, p)', 'REGEXP_EXTRACT(x, p)', 'REGEXP_EXTRACT_ALL(x, p)', 'SAFE.REGEXP_CONTAINS(x, p)'],
  ...['REGEXP_EXTRACT(x, p, 2)', 'REGEXP_EXTRACT(x, p, 3, 2)', 'REGEXP_EXTRACT(x, p, LENGTH(x) + 1)'],
  ...["REGEXP_REPLACE(x, p, b'<\\\\0>')", "SAFE.REGEXP_REPLACE(x, p, b'\\\\1')"],
];

const QUERIES = [
  ...OF_ONE.map((f) => `SELECT i, ${f} AS v FROM ${X} ORDER BY i`),
  ...OF_TWO.map((f) => `SELECT i, j, ${f} AS v FROM ${X}, ${Y} ORDER BY i, j`),
  ...['LPAD(x, n)', "RPAD(x, n, b'ab')", 'REPEAT(x, n)', 'INSTR(x, x, n)'].map(
    (f) => `SELECT i, n, SAFE.${f} AS v FROM ${X}, UNNEST(${COUNTS}) AS n ORDER BY i, n`,
  ),
  // Errors.
  ...["b'a' LIKE b'a\\\\'", "TRANSLATE(b'a', b'aa', b'')", "INSTR(b'a', b'a', 0)"].map(
    (wrong) => `SELECT ${wrong} AS v`,
  ),
  // Patterns that are literals, and that are computed.
  ...MATCHING.flatMap((f) => PATTERNS.map((p) => `SELECT i, ${f.replace('p', p)} AS v FROM ${X} ORDER BY i`)),
  ...MATCHING.flatMap((f) => PATTERNS.map((p) => `SELECT i, ${f} AS v FROM ${X}, UNNEST([${p}]) AS p ORDER BY i`)),
  ...["b'\\xff'", "b'[ab]+'", "b'q'"].map((p) => `SELECT i, REGEXP_INSTR(x, ${p}) AS v FROM ${X} ORDER BY i`),
  "SELECT x FROM UNNEST([b'ab', b'\\xff', NULL]) AS x WHERE x LIKE ANY (b'_b', b'\\xff')",
  "SELECT x LIKE ALL UNNEST([b'a%', b'%b']) AS v FROM UNNEST([b'ab', b'a', NULL]) AS x",
  // Aggregates, groups and orders.
  ...[
    'STRING_AGG(x)',
    "STRING_AGG(x, b'\\xfe\\x00' ORDER BY x DESC)",
    "STRING_AGG(DISTINCT x, b'' ORDER BY x LIMIT 3)",
    'MIN(x)',
    'MAX(x)',
    'COUNT(DISTINCT x)',
  ].map((f) => `SELECT ${f} AS v FROM (SELECT x FROM ${X}, UNNEST([1, 2]) ORDER BY i)`),
  `SELECT i, STRING_AGG(x, b'+') OVER (ORDER BY i) AS v FROM ${X} ORDER BY i`,
  `SELECT STRING_AGG(x, b'+') AS v FROM UNNEST(CAST([] AS ARRAY<BYTES>)) AS x`,
  `SELECT UPPER(x) AS v, COUNT(*) AS n FROM ${X} GROUP BY v ORDER BY v DESC`,
  // Computed separators and delimiters; of nothing but NULLs; groups that take no part.
  ...[
    "ARRAY_TO_STRING(['a', NULL, ''], y)",
    "ARRAY_TO_STRING(['a', NULL, ''], y, y)",
    "ARRAY_TO_STRING([y], ',')",
    "ARRAY_TO_STRING([y], ',', 'x')",
  ].map((f) => `SELECT ${f} AS v FROM UNNEST(['-', '', 'é', NULL]) AS y`),
  "SELECT ARRAY_TO_STRING(x, y) AS v FROM (SELECT CAST(NULL AS ARRAY<STRING>) AS x, ',' AS y UNION ALL SELECT [], ',')",
  `SELECT x, y, INITCAP(x, y) AS v FROM UNNEST(['ab cd^[]\\\\a-zA.b\\nc', NULL, '', 'éß aé STRASSE', 'A-B']) AS x, UNNEST(['', NULL, 'b', ' ', 'é', '[', ']', '^', '-', '\\\\', 'a-z', '^a', ' ]-[', 'ß', '.\\n']) AS y ORDER BY x, y`,
  ...["'.(a)?'", "'b*|(a)'", "'(b)*'"].map(
    (p) => `SELECT x, REGEXP_EXTRACT_ALL(x, ${p}) AS v FROM UNNEST(['xaybb', 'xa', '', 'b']) AS x ORDER BY x`,
  ),
];

alikeOnBoth('functions of BYTES', QUERIES, (sql) => (sql.includes('ORDER BY') ? 'ordered' : 'any order'));
