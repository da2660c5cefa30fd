/** Values worked out by hand from BigQuery's reference, for syntax that Google's bundled engine is too old to judge; on both engines. */
import { onBothEngines } from '../dialect/on-both-engines';
import { ask } from '../dialect/two-engines';
import { textsOf } from '../../packages/duckdb-engine/test/queries';

const TEXTS = "FROM UNNEST(['abc', 'b', 'q', NULL]) AS x ORDER BY x";

/** [sql, rows] */
const CASES: readonly (readonly [sql: string, rows: string])[] = [
  [`SELECT x LIKE ANY ('a%', 'b%') AS r ${TEXTS}`, '{"r":null} {"r":true} {"r":true} {"r":false}'],
  [`SELECT x NOT LIKE ANY ('a%', '%c') AS r ${TEXTS}`, '{"r":null} {"r":false} {"r":true} {"r":true}'],
  [`SELECT x LIKE ALL ('a%', '%c') AS r ${TEXTS}`, '{"r":null} {"r":true} {"r":false} {"r":false}'],
  [`SELECT x NOT LIKE ALL ('a%', 'b%') AS r ${TEXTS}`, '{"r":null} {"r":false} {"r":false} {"r":true}'],
  [`SELECT x LIKE SOME ('q', NULL) AS r ${TEXTS}`, '{"r":null} {"r":null} {"r":null} {"r":true}'],
  [`SELECT x LIKE ANY UNNEST(['a%', 'b%']) AS r ${TEXTS}`, '{"r":null} {"r":true} {"r":true} {"r":false}'],
  [`SELECT x LIKE ANY UNNEST(ARRAY<STRING>[]) AS r ${TEXTS}`, '{"r":false} {"r":false} {"r":false} {"r":false}'],
  [`SELECT x LIKE ALL UNNEST(ARRAY<STRING>[]) AS r ${TEXTS}`, '{"r":true} {"r":true} {"r":true} {"r":true}'],
  [`SELECT x NOT LIKE ALL UNNEST(['a%', NULL]) AS r ${TEXTS}`, '{"r":null} {"r":false} {"r":null} {"r":null}'],
  [
    `SELECT x LIKE ALL (SELECT p FROM UNNEST(['a%', '%c']) AS p) AS r ${TEXTS}`,
    '{"r":null} {"r":true} {"r":false} {"r":false}',
  ],
  ['SELECT ARRAY_FILTER([1, 2, 3], e -> e > 1) AS r', '{"r":[2,3]}'],
  ['SELECT ARRAY_FILTER([3, 2, 1], (e, i) -> i > 0 AND e < 3) AS r', '{"r":[2,1]}'],
  ['SELECT ARRAY_TRANSFORM([1, 2, 3], (e, i) -> e * 10 + i) AS r', '{"r":[10,21,32]}'],
  ['SELECT ARRAY_INCLUDES([1, 2], e -> e = 2) AS r, ARRAY_INCLUDES([1], e -> e = 2) AS s', '{"r":true,"s":false}'],
  ['SELECT ARRAY_LENGTH(ARRAY_FILTER(CAST(NULL AS ARRAY<INT64>), e -> TRUE)) AS r', '{"r":null}'],
  [
    'SELECT y, ARRAY_TRANSFORM(ARRAY_FILTER([1, 2, y], e -> e != 2), e -> e + y) AS r FROM UNNEST([5, 6]) AS y ORDER BY y',
    '{"y":5,"r":[6,10]} {"y":6,"r":[7,12]}',
  ],
  ['SELECT WITH(a AS 1, b AS a + 1, a + b) AS r', '{"r":3}'],
  [
    'SELECT k, WITH(s AS SUM(x), n AS COUNT(*), s / n) AS r FROM UNNEST([STRUCT(1 AS k, 2 AS x), (1, 4), (2, 5)]) GROUP BY k ORDER BY k',
    '{"k":1,"r":3} {"k":2,"r":5}',
  ],
  ['SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS b, 4 AS a ORDER BY a', '{"a":1,"b":2} {"a":4,"b":3}'],
  [
    'SELECT 1 AS a, 2 AS b FULL OUTER UNION ALL BY NAME SELECT 3 AS b, 4 AS c ORDER BY b',
    '{"a":1,"b":2,"c":null} {"a":null,"b":3,"c":4}',
  ],
  ['SELECT 1 AS a, 2 AS b LEFT UNION ALL BY NAME SELECT 3 AS b, 4 AS c ORDER BY b', '{"a":1,"b":2} {"a":null,"b":3}'],
  ['SELECT 1 AS a, 2 AS b INNER UNION ALL BY NAME SELECT 3 AS b, 4 AS c ORDER BY b', '{"b":2} {"b":3}'],
  ['SELECT 1 AS a, 2 AS b UNION ALL CORRESPONDING SELECT 3 AS b, 4 AS c ORDER BY b', '{"b":2} {"b":3}'],
  [
    'SELECT 1 AS a, 2 AS b FULL UNION ALL BY NAME ON (c, b) SELECT 3 AS b, 4 AS c ORDER BY b',
    '{"c":null,"b":2} {"c":4,"b":3}',
  ],
  ['SELECT 1 AS a, 2 AS b EXCEPT DISTINCT BY NAME SELECT 2 AS b, 1 AS a', ''],
];

const ERRORS = [
  'SELECT 1 AS a UNION ALL BY NAME SELECT 1 AS b',
  'SELECT 1 AS a INNER UNION ALL BY NAME SELECT 1 AS b',
  'SELECT 1 AS a LEFT UNION ALL BY NAME SELECT 1 AS b',
  'SELECT 1 AS a UNION ALL BY NAME SELECT 1',
  'SELECT 1 AS a, 2 AS b UNION ALL BY NAME ON (b) SELECT 3 AS a',
  'SELECT WITH(a AS 1, a AS 2, a)',
  'SELECT ARRAY_FILTER(1, e -> TRUE)',
  "SELECT ARRAY_FILTER([1], e -> 'x')",
  'SELECT ARRAY_TRANSFORM([1], (a, b, c) -> 1)',
  'SELECT 1 LIKE ANY (1)',
];

onBothEngines('newer syntax', (engines) => {
  it.each(CASES)('%s', async (sql, rows) => {
    for (const engine of [engines().embedded, engines().reference])
      expect((await textsOf(engine, sql)).join(' ')).toBe(rows);
  });

  it.each(ERRORS)('%s is an error', async (sql) => {
    for (const engine of [engines().embedded, engines().reference])
      expect(await ask(engine, sql)).toMatchObject({ error: expect.any(String) as string });
  });
});
