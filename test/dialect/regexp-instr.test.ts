/** REGEXP_INSTR with groups, computed patterns and empty matches on both engines. */
import { alikeOnBoth } from './on-both-engines';

const PATTERNS = String.raw`['a', '(a)', 'a(b)', 'x?', 'a*', '(a*)', '(a)?b', '(q)?a', '', '()', '$', '^', 'b$', '(b)$', r'\b', '(x)|a', '(?i)(B)', NULL]`;
const TEXTS = "['xaabxab', '', NULL, 'éàb😀ca', 'b']";

const QUERIES = [
  ...['', ', 1, 2', ', 2, 1, 1', ', 1, 3, 0', ', 7', ', 5, 1, 1'].map(
    (rest) =>
      `SELECT REGEXP_INSTR(s, p${rest}) AS v, SAFE.REGEXP_INSTR(s, p${rest}) AS w FROM UNNEST(${TEXTS}) AS s WITH OFFSET AS i, UNNEST(${PATTERNS}) AS p WITH OFFSET AS j ORDER BY i, j`,
  ),
  ...['(a)', 'a(b)', '(a*)', '(a)?b', '(q)?a', '()', '($)', '(x)|a', 'a*', '$', String.raw`\\b`, '(?P<n>b)'].map(
    (pattern) =>
      `SELECT REGEXP_INSTR(s, '${pattern}') AS a, REGEXP_INSTR(s, '${pattern}', 2) AS b, REGEXP_INSTR(s, '${pattern}', 1, 2) AS c, REGEXP_INSTR(s, '${pattern}', 7, 1, 1) AS d FROM UNNEST(${TEXTS}) AS s WITH OFFSET AS i ORDER BY i`,
  ),
  "SELECT REGEXP_INSTR('a aa', 'a(a)'), REGEXP_INSTR('xababab', 'ab(ab)'), REGEXP_INSTR('k=v; kk=v', 'k=(v)', 3, 1, 1)",
  "SELECT o, REGEXP_INSTR('aXbX', 'X*', 1, o), REGEXP_INSTR('aXbX', '(X*)', 2, o, 1) FROM UNNEST([1, 2, 3, 4, 5, 6]) AS o ORDER BY o",
  "SELECT p, SAFE.REGEXP_INSTR('abc', p) FROM UNNEST(['b', '(b)', '(', '(a)(b)', '(c)', NULL]) AS p WITH OFFSET AS o ORDER BY o",
  ...['0', '1, 0', '1, 1, 2', '5, 1, 2', 'NULL', '-1', '9223372036854775807'].flatMap((rest) => [
    `SELECT REGEXP_INSTR('abc', '(a)', ${rest})`,
    `SELECT SAFE.REGEXP_INSTR('abc', '(a)', ${rest})`,
    `SELECT REGEXP_INSTR('abc', p, ${rest}) FROM UNNEST(['(a)', 'b*']) AS p`,
  ]),
  "SELECT REGEXP_INSTR('abc', '(a)(b)')",
  "SELECT REGEXP_INSTR('zzz', p) FROM UNNEST(['(a)(b)']) AS p",
  "SELECT REGEXP_INSTR('', p) FROM UNNEST(['(a)(b)']) AS p",
  "SELECT REGEXP_INSTR('', p) FROM UNNEST(['(']) AS p",
  "SELECT l FROM UNNEST(['ab', 'xab']) AS l WHERE REGEXP_INSTR(l, '(b)') = 3",
  "SELECT (SELECT MAX(REGEXP_INSTR(l, p)) FROM UNNEST(['ab', 'xab']) AS l) FROM UNNEST(['a(b)', 'b', 'q']) AS p WITH OFFSET AS o ORDER BY o",
  "SELECT ARRAY_TRANSFORM(['ab', 'b'], e -> REGEXP_INSTR(e, '(b)'))",
  ...[6, 7, 10, 11].map((p) => `SELECT REGEXP_EXTRACT('éàb😀c', '$', ${p}), REGEXP_INSTR('éàb😀c', '($)', ${p})`),
];

alikeOnBoth('REGEXP_INSTR', QUERIES);
