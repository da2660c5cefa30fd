/** HAVING MAX and MIN, RESPECT NULLS, SAFE., DISTINCT and frames of aggregates, held to both engines. */
import { onBothEngines, sampled } from './on-both-engines';
import { ask } from './two-engines';

const ROWS = `(SELECT * FROM UNNEST([
  STRUCT(1 AS id, 'a' AS g, 10 AS x, 1.5 AS f, 'u' AS s, 3 AS k, CAST('nan' AS FLOAT64) AS n),
  (2, 'a', 20, 2.5, 'v', 7, 1.0), (3, 'a', 30, -2.5, 'w', 7, 2.0), (4, 'a', NULL, NULL, NULL, 7, NULL),
  (5, 'b', 9223372036854775807, 1e16, 'u', NULL, 5.0), (6, 'b', 9223372036854775807, 3.0, 'v', 2, -0.0), (7, 'b', 1, 0.5, 'v', 2, 0.0),
  (8, 'c', 5, 1.0, 'x', NULL, NULL), (9, NULL, 6, 7.0, 'y', -1, CAST('-inf' AS FLOAT64)), (10, NULL, 7, 8.0, 'z', 4, CAST('inf' AS FLOAT64))]))`;
const EMPTY = `(SELECT * FROM ${ROWS} WHERE id < 0)`;

/** With the place of the modifier. */
const CALLS = [
  'COUNT(x #)',
  'COUNT(* #)',
  'COUNT(DISTINCT s #)',
  'COUNTIF(x > 5 #)',
  'SUM(IF(x > 1000, 1, x) #)',
  'SUM(DISTINCT f #)',
  'SUM(CAST(f AS NUMERIC) #)',
  'AVG(f #)',
  'AVG(CAST(f AS NUMERIC) #)',
  'MIN(f #)',
  'MAX(s #)',
  'MAX(f #)',
  'LOGICAL_AND(x > 10 #)',
  'LOGICAL_OR(x > 10 #)',
  'BIT_AND(x #)',
  'BIT_OR(x #)',
  'BIT_XOR(x #)',
  'STRING_AGG(s # ORDER BY id DESC)',
  "STRING_AGG(s, ';' # ORDER BY id LIMIT 1)",
  "STRING_AGG(DISTINCT s, '' # ORDER BY s DESC)",
  'ARRAY_AGG(s IGNORE NULLS # ORDER BY id DESC)',
  'ARRAY_AGG(DISTINCT f IGNORE NULLS # ORDER BY f DESC LIMIT 2)',
  'ARRAY_LENGTH(ARRAY_AGG(x #))',
  'ARRAY_CONCAT_AGG([id, k + 0] # ORDER BY id LIMIT 1)[OFFSET(0)]',
  'STDDEV(f #)',
  'STDDEV_POP(x / 2 #)',
  'VAR_SAMP(f #)',
  'VAR_POP(f #)',
  'CORR(f, id #)',
  'COVAR_POP(f, id #)',
  'COVAR_SAMP(f, id #)',
  'APPROX_COUNT_DISTINCT(s #)',
  'APPROX_QUANTILES(f, 2 #)',
  'APPROX_TOP_COUNT(k IS NULL, 1 #)',
  'APPROX_TOP_SUM(g, id, 3 #)',
  'SAFE.SUM(x #)',
];
const KEYS = [
  'MAX k',
  'MIN k',
  'MAX n',
  'MIN n',
  'MAX s',
  'MIN f',
  'MAX k IS NULL',
  "MIN DATE '2026-01-01'",
  'MAX NULL',
];

const having = CALLS.flatMap((call, i) => {
  const keys = new Set(['MIN n', KEYS[i % KEYS.length]!]);
  const queries = [...keys].flatMap((key) => {
    const value = call.replace('#', `HAVING ${key}`);
    return [
      `SELECT ${value} AS y FROM ${ROWS}`,
      `SELECT g, ${value} AS y, COUNT(*) AS c FROM ${ROWS} GROUP BY g ORDER BY g`,
    ];
  });
  return [...queries, `SELECT ${call.replace('#', 'HAVING MAX k')} AS y FROM ${EMPTY}`];
});

const SETS = ['ROLLUP(g, s)', 'CUBE(g, s)', 'GROUPING SETS (g, s, ())', 'ROLLUP(g)'];
const grouped = SETS.map(
  (set) =>
    `SELECT ${set === 'ROLLUP(g)' ? 'g' : 'g, s, GROUPING(s) AS h'}, COUNT(* HAVING MAX k) AS c, STRING_AGG(CAST(id AS STRING) HAVING MIN n ORDER BY id) AS l, AVG(id HAVING MAX k) AS a, SUM(id) AS t FROM ${ROWS} GROUP BY ${set}`,
);
const CUBED = ['id', 'g', 'x', 's', 'k', 'MOD(id, 3)'];

const correlated = [
  `SELECT id, (SELECT SUM(e.v HAVING MAX e.k) FROM UNNEST([STRUCT(id AS k, 1 AS v), (k, 2), (x, 4)]) AS e) AS y FROM ${ROWS} ORDER BY id`,
  `SELECT id, (SELECT COUNT(* HAVING MIN k) FROM UNNEST([1, 2, 3]) AS e) AS y FROM ${ROWS} ORDER BY id`,
  `SELECT id, (SELECT SUM(id HAVING MAX e) FROM UNNEST([1, k, 3]) AS e) AS y FROM ${ROWS} ORDER BY id`,
  `SELECT id, ARRAY(SELECT AS STRUCT e.g, COUNT(e.v HAVING MIN e.v + r.id) AS c FROM UNNEST([STRUCT(1 AS g, 2 AS v), (1, 3), (2, 1)]) AS e GROUP BY e.g ORDER BY 1) AS y FROM ${ROWS} AS r ORDER BY id`,
  `SELECT g, SUM((SELECT MAX(e) FROM UNNEST([x, k]) AS e) HAVING MAX (SELECT COUNT(*) FROM UNNEST([s, g]) AS e WHERE e > 'b')) AS y FROM ${ROWS} WHERE id <> 5 AND id <> 6 GROUP BY g ORDER BY g`,
];

const refused = [
  'SELECT SUM(x HAVING MAX [1]) AS y FROM UNNEST([1]) AS x',
  'SELECT SUM(x HAVING MAX STRUCT(1)) AS y FROM UNNEST([1]) AS x',
  "SELECT SUM(x HAVING MAX JSON '1') AS y FROM UNNEST([1]) AS x",
  'SELECT SUM(x HAVING MAX SUM(x)) AS y FROM UNNEST([1]) AS x',
  'SELECT GROUPING(x HAVING MAX x) AS y FROM UNNEST([1]) AS x GROUP BY ROLLUP(x)',
  'SELECT SUM(1 / x HAVING MAX x) AS y FROM UNNEST([0, 1]) AS x',
  'SELECT SUM(x HAVING MAX 1 / x) AS y FROM UNNEST([0, 1]) AS x',
  'SELECT ARRAY_AGG(x ORDER BY -1) AS y FROM UNNEST([1]) AS x',
  'SELECT ARRAY_AGG(x ORDER BY -1.5) AS y FROM UNNEST([1]) AS x',
];

const FLOATS = `UNNEST([CAST('nan' AS FLOAT64), CAST('-inf' AS FLOAT64), 1.0, 2.5, 4.0, CAST('inf' AS FLOAT64), NULL, NULL])`;
const TEN = 'UNNEST([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])';
const FRACTIONS = ['0', '0.1', '0.2', '0.25', '0.3', '0.5', '0.7', '0.9', '1', "NUMERIC '0.1'"];
const quantiles = [
  ...FRACTIONS.flatMap((fraction) => [
    `SELECT PERCENTILE_DISC(x, ${fraction}) OVER () AS y FROM ${TEN} AS x LIMIT 1`,
    ...['', ' RESPECT NULLS'].flatMap((nulls) => [
      `SELECT PERCENTILE_DISC(x, ${fraction}${nulls}) OVER () AS y FROM ${FLOATS} AS x LIMIT 1`,
      `SELECT PERCENTILE_DISC(x, ${fraction}${nulls}) OVER () AS y FROM UNNEST(['a', 'b', NULL, 'c']) AS x LIMIT 1`,
      ...(fraction.startsWith('N')
        ? []
        : [
            `SELECT PERCENTILE_CONT(x, ${fraction}${nulls}) OVER () AS y FROM ${FLOATS} AS x LIMIT 1`,
            `SELECT PERCENTILE_CONT(x, ${fraction}${nulls}) OVER () AS y FROM UNNEST([3, 1, NULL]) AS x LIMIT 1`,
          ]),
    ]),
  ]),
  ...['PERCENTILE_CONT', 'PERCENTILE_DISC'].map(
    (name) => `SELECT ${name}(x, 0.5 RESPECT NULLS) OVER () AS y FROM UNNEST([CAST(NULL AS INT64)]) AS x`,
  ),
  `SELECT APPROX_QUANTILES(x, 3) AS y FROM ${FLOATS} AS x`,
  `SELECT APPROX_QUANTILES(x, 3 RESPECT NULLS)[OFFSET(0)] AS y FROM ${FLOATS} AS x`,
  `SELECT APPROX_QUANTILES(x, 3 RESPECT NULLS) AS y FROM ${FLOATS} AS x`,
  'SELECT APPROX_QUANTILES(x, 2) AS y FROM UNNEST([INTERVAL 1 DAY, INTERVAL 40 HOUR, NULL]) AS x',
];

const ordered = ['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST'].flatMap((direction) => [
  `SELECT ARRAY(SELECT COALESCE(CAST(e AS STRING), 'null') FROM UNNEST(l) AS e WITH OFFSET AS o ORDER BY o) AS y FROM (SELECT ARRAY_AGG(DISTINCT x ORDER BY x${direction}) AS l FROM ${FLOATS} AS x)`,
  `SELECT ARRAY_AGG(DISTINCT x IGNORE NULLS ORDER BY x${direction}) AS y FROM UNNEST([INTERVAL 1 DAY, INTERVAL 40 HOUR, NULL, INTERVAL 1 MONTH]) AS x`,
]);

const FRAMES = [
  '1 PRECEDING AND UNBOUNDED FOLLOWING',
  'UNBOUNDED PRECEDING AND 1 FOLLOWING',
  '1 PRECEDING AND 2 FOLLOWING',
];
const framed = FRAMES.flatMap((frame) =>
  ['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST'].map(
    (direction) =>
      `SELECT id, COUNT(*) OVER (ORDER BY n${direction} RANGE BETWEEN ${frame}) AS y, SUM(id) OVER (PARTITION BY g ORDER BY f${direction} RANGE BETWEEN ${frame}) AS z FROM ${ROWS} ORDER BY id`,
  ),
);

const MOST = "NUMERIC '99999999999999999999999999999.999999999'";
const sums = [
  [MOST, MOST],
  [MOST, MOST, `-${MOST}`],
  [MOST, "NUMERIC '0.000000001'"],
  [MOST, "NUMERIC '-0.5'", '0.5'],
  ["NUMERIC '0.000000001'", '0'],
  ["NUMERIC '-0.000000001'", '0'],
  ["NUMERIC '10'", '-0.5', '-0.25', 'NULL'],
  ["NUMERIC '1.5'", '1.5', '2.5'],
  ['CAST(NULL AS NUMERIC)'],
  ['INTERVAL 10000 YEAR', 'INTERVAL 10000 YEAR'],
  ['INTERVAL 1 DAY', 'INTERVAL 1 DAY', "INTERVAL '1 01' DAY TO HOUR", 'NULL'],
  ['9223372036854775807', '1'],
].flatMap((values) =>
  ['', 'SAFE.'].flatMap((safe) => [
    ...['SUM', 'AVG'].flatMap((name) => [
      `SELECT ${safe}${name}(x) AS y FROM UNNEST([${values.join(', ')}]) AS x`,
      `SELECT ${safe}${name}(DISTINCT x) AS y FROM UNNEST([${values.join(', ')}]) AS x`,
    ]),
    `SELECT ${safe}SUM(x) OVER (ORDER BY o ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS y FROM UNNEST([${values.join(', ')}]) AS x WITH OFFSET AS o ORDER BY o`,
  ]),
);
const safe = [
  ...['MIN(x)', 'COUNT(x)', 'COUNT(*)', 'STDDEV(x)', 'STRING_AGG(CAST(x AS STRING))', 'LOGICAL_OR(x > 1)'],
  ...['RANK() OVER (ORDER BY x)', 'ANY_VALUE(x HAVING MAX x)', 'LAG(x) OVER (ORDER BY x)', 'BIT_XOR(x)'],
].map((call) => `SELECT SAFE.${call} AS y FROM UNNEST([2]) AS x`);

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  having,
  grouped,
  correlated,
  refused,
  quantiles,
  ordered,
  framed,
  sums,
  safe,
};

const MAY_FAIL: ReadonlySet<string> = new Set(['refused', 'sums', 'quantiles']);

onBothEngines('aggregates on both engines', (engines) => {
  test.each(Object.entries(GROUPS))(
    '%s',
    async (name, queries) => {
      const different: string[] = [];
      for (const sql of sampled(queries)) {
        const difference = await engines().difference(sql, / ORDER BY [\w, ]+$/.test(sql) ? 'ordered' : 'any order');
        if (difference !== null) different.push(`${sql}\n${difference}`);
        // An error on both would be no difference.
        const answer = MAY_FAIL.has(name) ? null : await ask(engines().embedded, sql);
        if (answer !== null && 'error' in answer) different.push(`${sql}\n${answer.error}`);
      }
      expect(different).toEqual([]);
    },
    60_000,
  );

  test('more groupings than each may have a pass over the rows', async () => {
    const sql = `SELECT COUNT(* HAVING MAX id) AS c FROM ${ROWS} GROUP BY CUBE(${CUBED.join(', ')})`;
    expect(await engines().difference(sql, 'any order')).toMatch(
      /COUNT\(\*\) with HAVING MAX in more than 32 groupings/,
    );
  });
});
