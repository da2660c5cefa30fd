/** The guard columns that edits of a stored query's text give its CTEs. */
import { parseQuery } from '../../../packages/googlesql/src/parser';
import { COMPOSED_BOUNDS } from '../../../packages/googlesql/src/bounds';
import { storedGuards } from '../../../src/sandbox/fence/stored-guards';

/** The last CTE of a WITH list, edited; or what is in the way. */
function guarded(ctes: string): string {
  const sql = `WITH ${ctes} SELECT 1`;
  const all = [...storedGuards({ sql, query: parseQuery(sql, COMPOSED_BOUNDS) }).values()];
  const last = all.at(-1);
  if (last === undefined) throw new Error('no CTE');
  return 'guard' in last ? last.sql : last.unfenceable.message;
}

const A = 'a AS (SELECT * FROM raw WHERE p = @p),';
const G = 'logquay_guard_';

test.each([
  [
    'a condition',
    'c AS (SELECT x FROM t WHERE p = @p)',
    `c AS (SELECT x, (p = @p) IS TRUE AS ${G}1 FROM t WHERE p = @p)`,
  ],
  ['none', 'c AS (SELECT 1 AS x)', `c AS (SELECT 1 AS x, TRUE AS ${G}1)`],
  [
    'parentheses at both ends of a condition',
    'c AS (SELECT x FROM t WHERE (p = 1 OR q) AND (r))',
    `c AS (SELECT x, ((p = 1 OR q) AND (r)) IS TRUE AS ${G}1 FROM t WHERE (p = 1 OR q) AND (r))`,
  ],
  ['a trailing comma', 'c AS (SELECT x, FROM t WHERE p)', `c AS (SELECT x, (p) IS TRUE AS ${G}1, FROM t WHERE p)`],
  ['a star', 'c AS (SELECT * FROM t WHERE p)', `c AS (SELECT *, (p) IS TRUE AS ${G}1 FROM t WHERE p)`],
  [
    'a star over another CTE',
    `${A} c AS (SELECT * FROM a)`,
    `c AS (SELECT * EXCEPT (${G}1), \`a\`.${G}1 IS NOT FALSE AS ${G}2 FROM a)`,
  ],
  [
    'a star with EXCEPT over another CTE',
    `${A} c AS (SELECT z.* EXCEPT (q) REPLACE (1 AS r) FROM a AS z WHERE s)`,
    `c AS (SELECT z.* EXCEPT (q, ${G}1) REPLACE (1 AS r), \`z\`.${G}1 IS NOT FALSE AND (s) IS TRUE AS ${G}2 FROM a AS z WHERE s)`,
  ],
  [
    'an inner join',
    `${A} c AS (SELECT x FROM a JOIN t ON a.i = t.i WHERE s)`,
    `c AS (SELECT x, \`a\`.${G}1 IS NOT FALSE AND (a.i = t.i) IS TRUE AND (s) IS TRUE AS ${G}2 FROM a JOIN t ON a.i = t.i WHERE s)`,
  ],
  [
    'USING',
    'c AS (SELECT x FROM r AS u JOIN t USING (i))',
    `c AS (SELECT x, (\`u\`.\`i\` = \`t\`.\`i\`) IS TRUE AS ${G}1 FROM r AS u JOIN t USING (i))`,
  ],
  [
    'an outer join to a CTE',
    `${A} c AS (SELECT x FROM t LEFT JOIN a ON a.i = t.i)`,
    `c AS (SELECT x, \`a\`.${G}1 IS NOT FALSE AND (\`a\`.${G}1 IS NULL OR (a.i = t.i) IS TRUE) AS ${G}2 FROM t LEFT JOIN a ON a.i = t.i)`,
  ],
  [
    'arrays',
    'c AS (SELECT x FROM t, t.m, UNNEST(m.r) AS r LEFT JOIN UNNEST(r.s) WHERE p)',
    `c AS (SELECT x, (p) IS TRUE AS ${G}1 FROM t, t.m, UNNEST(m.r) AS r LEFT JOIN UNNEST(r.s) WHERE p)`,
  ],
  [
    'a derived table',
    'c AS (SELECT x FROM (SELECT x FROM t WHERE p) AS d)',
    `c AS (SELECT x, \`d\`.${G}1_1 IS NOT FALSE AS ${G}1 FROM (SELECT x, (p) IS TRUE AS ${G}1_1 FROM t WHERE p) AS d)`,
  ],
  [
    'UNION',
    'c AS (SELECT x FROM t WHERE p UNION ALL (SELECT y FROM u WHERE q))',
    `c AS (SELECT x, (p) IS TRUE AS ${G}1 FROM t WHERE p UNION ALL (SELECT y, (q) IS TRUE AS ${G}1 FROM u WHERE q))`,
  ],
  [
    'a WITH of its own',
    'c AS (WITH d AS (SELECT x FROM t WHERE p) SELECT x FROM d)',
    `c AS (WITH d AS (SELECT x, (p) IS TRUE AS ${G}1_1 FROM t WHERE p) SELECT x, \`d\`.${G}1_1 IS NOT FALSE AS ${G}1 FROM d)`,
  ],
  [
    'groups',
    'c AS (SELECT k, COUNT(*) AS n FROM t WHERE p GROUP BY k HAVING COUNT(*) > 1)',
    `c AS (SELECT k, COUNT(*) AS n, LOGICAL_OR((p) IS TRUE) AND (COUNT(*) > 1) IS TRUE AS ${G}1 FROM t WHERE p GROUP BY k HAVING COUNT(*) > 1)`,
  ],
  [
    'QUALIFY',
    'c AS (SELECT x FROM t WHERE p QUALIFY ROW_NUMBER() OVER (ORDER BY x) = 1)',
    `c AS (SELECT x, (p) IS TRUE AND (ROW_NUMBER() OVER (ORDER BY x) = 1) IS TRUE AS ${G}1 FROM t WHERE p QUALIFY ROW_NUMBER() OVER (ORDER BY x) = 1)`,
  ],
  [
    'what may fail in the select list',
    "c AS (SELECT CAST(s AS INT64) AS n, (x + 1) * 2, COALESCE(y, PARSE_DATE('%F', z)) AS d FROM t WHERE p)",
    `c AS (SELECT IF((p) IS TRUE, CAST(s AS INT64), NULL) AS n, IF((p) IS TRUE, (x + 1) * 2, NULL), COALESCE(y, IF((p) IS TRUE, PARSE_DATE('%F', z), NULL)) AS d, (p) IS TRUE AS ${G}1 FROM t WHERE p)`,
  ],
  [
    'what may fail in aggregates and around them',
    'c AS (SELECT SUM(CAST(s AS INT64)) / COUNT(*) AS n FROM t WHERE p)',
    `c AS (SELECT IF(LOGICAL_OR((p) IS TRUE), SUM(IF((p) IS TRUE, CAST(s AS INT64), NULL)) / COUNT(*), NULL) AS n, LOGICAL_OR((p) IS TRUE) AS ${G}1 FROM t WHERE p)`,
  ],
  [
    'what may fail in keys of groups',
    'c AS (SELECT TIMESTAMP_TRUNC(x, DAY) AS d, DIV(y, 2) AS e, COUNT(*) AS n FROM t WHERE p GROUP BY d, DIV(y, 2))',
    `c AS (SELECT IF((p) IS TRUE, TIMESTAMP_TRUNC(x, DAY), NULL) AS d, IF((p) IS TRUE, DIV(y, 2), NULL) AS e, COUNT(*) AS n, LOGICAL_OR((p) IS TRUE) AS ${G}1 FROM t WHERE p GROUP BY d, IF((p) IS TRUE, DIV(y, 2), NULL))`,
  ],
  [
    'a name like the guard’s',
    'c AS (SELECT logquay_guard_1 FROM t WHERE p)',
    'c AS (SELECT logquay_guard_1, (p) IS TRUE AS _logquay_guard_1 FROM t WHERE p)',
  ],
])('%s', (_name, ctes, expected) => {
  expect(guarded(ctes)).toBe(expected);
});

test.each([
  ['SELECT AS STRUCT', 'c AS (SELECT AS STRUCT x FROM t)', 'SELECT AS STRUCT'],
  ['LIMIT', 'c AS (SELECT x FROM t LIMIT 1)', 'a LIMIT'],
  ['LIMIT of a CTE that it reads', 'b AS (SELECT x FROM t LIMIT 1), c AS (SELECT x FROM b)', 'a LIMIT'],
  ['EXCEPT', 'c AS (SELECT x FROM t EXCEPT DISTINCT SELECT x FROM u)', 'EXCEPT'],
  ['PIVOT', "c AS (SELECT * FROM t PIVOT (COUNT(*) FOR k IN ('a')))", 'a PIVOT'],
  ['an outer join to a table', 'c AS (SELECT x FROM t LEFT JOIN u ON u.i = t.i)', 'an outer join to a table'],
  [
    'an array that may fail',
    "c AS (SELECT x FROM t, UNNEST(SPLIT(t.s, '')) AS x)",
    'an UNNEST of an expression that may fail',
  ],
  ['RAND', 'c AS (SELECT x FROM t WHERE RAND() < 0.5)', 'a condition that is different each time'],
  ['a row as a value', `${A} c AS (SELECT TO_JSON_STRING(a) AS j FROM a)`, 'a row used as a value'],
  [
    'a star in a subquery',
    `${A} c AS (SELECT x FROM t WHERE x IN (SELECT * FROM a))`,
    'a star over a CTE in a subquery',
  ],
  [
    'an alias in HAVING',
    'c AS (SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING n > 1)',
    'HAVING or QUALIFY with an alias of the select list',
  ],
  [
    'a key within a select item',
    'c AS (SELECT FORMAT("%d", DIV(y, 2)) AS d FROM t WHERE p GROUP BY DIV(y, 2))',
    'a key of GROUP BY within a select item',
  ],
])('%s cannot be fenced', (_name, ctes, construct) => {
  expect(guarded(ctes)).toBe(`It has ${construct}.`);
});

test.each([
  // By the size of what it makes alone, which SAFE. does not catch.
  ['CONCAT(x, y)', true],
  ['x || y', true],
  ["REPLACE(x, 'a', y)", true],
  ['SAFE.CONCAT(x, y)', true],
  ['SAFE.REPEAT(x, 2)', true],
  ['TO_JSON_STRING(x)', true],
  ['SAFE.DIV(1, x)', false],
  ['SAFE_ADD(x, 1)', false],
  ['REVERSE(x)', false],
  ["x LIKE 'a%'", false],
  ['x LIKE y', true],
  ["REGEXP_EXTRACT(x, '(a)b')", false],
  ["REGEXP_EXTRACT(x, '(a)(b)')", true],
  ['SAFE.NO_SUCH(x)', true],
])('%s is guarded: %s', (expression, isGuarded) => {
  expect(guarded(`c AS (SELECT ${expression} AS e FROM t WHERE p)`).includes('IF(')).toBe(isGuarded);
});
