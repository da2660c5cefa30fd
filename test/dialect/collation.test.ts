/** COLLATE: by GoogleSQL's rules on both engines, and what is refused here by name. */
import { onBothEngines } from './on-both-engines';
import { QueryError } from '../../src/errors';
import { Consumer } from '../sandbox/consumer';
import { Random } from './random';
import { ask } from './two-engines';

const ROWS = `UNNEST([STRUCT(COLLATE('b', 'und:ci') AS x, 1 AS y), ('A', 2), ('a', 3), ('B', 4), (NULL, 5), ('é', 6), ('E', 7)])`;

/** In the order of their rows. */
const ORDERED = [
  `SELECT x FROM UNNEST(['b', 'A', 'a', 'B']) AS x ORDER BY x COLLATE 'und:ci', 1`,
  `SELECT x FROM UNNEST(['b', 'A', NULL]) AS x ORDER BY x COLLATE 'und:ci' DESC NULLS FIRST`,
  `SELECT x FROM UNNEST(['b', 'A', 'a', 'B']) AS x ORDER BY x COLLATE 'binary'`,
  `SELECT x FROM UNNEST(['b', 'A']) AS x ORDER BY 1 COLLATE 'und:ci'`,
  `SELECT x FROM (SELECT COLLATE(x, 'und:ci') AS x FROM UNNEST(['b', 'A']) AS x) ORDER BY x COLLATE 'binary'`,
  `SELECT DISTINCT x FROM UNNEST(['b', 'A']) AS x ORDER BY x COLLATE 'und:ci'`,
  `SELECT x, COUNT(*) AS n FROM UNNEST(['b', 'A']) AS x GROUP BY x ORDER BY x COLLATE 'und:ci'`,
  `SELECT ARRAY_AGG(x ORDER BY x COLLATE 'und:ci', x) AS l FROM UNNEST(['b', 'A', 'a']) AS x`,
  `SELECT x, RANK() OVER (ORDER BY x COLLATE 'und:ci') AS r FROM UNNEST(['b', 'A', 'a']) AS x ORDER BY r, x`,
  `FROM UNNEST(['b', 'A', 'a', 'B']) AS x |> ORDER BY x COLLATE 'und:ci', x |> SELECT x`,
  `SELECT y, x FROM ${ROWS} ORDER BY x, y DESC`,
  `SELECT y FROM ${ROWS} WHERE x = 'B' OR x IN ('z', 'E') ORDER BY y`,
  `SELECT y, x < 'B' AS l, x >= 'A' AS g, x != 'a' AS n, x BETWEEN 'A' AND 'B' AS b, x IS DISTINCT FROM 'b' AS d FROM ${ROWS} ORDER BY y`,
  `SELECT y, CASE x WHEN 'a' THEN 1 WHEN 'B' THEN 2 ELSE 3 END AS c FROM ${ROWS} ORDER BY y`,
  `SELECT y, x IN UNNEST(['a', 'e']) AS i, 'É' IN UNNEST([x]) AS j, x IN UNNEST(CAST(NULL AS ARRAY<STRING>)) AS k FROM ${ROWS} ORDER BY y`,
  `SELECT y, x IN (SELECT z FROM UNNEST(['a', 'e']) AS z) AS i, x NOT IN (SELECT z FROM UNNEST(['B', NULL]) AS z) AS n FROM ${ROWS} ORDER BY y`,
  `SELECT y, ROW_NUMBER() OVER (PARTITION BY x ORDER BY y) AS r, COUNT(DISTINCT x) OVER () AS d, MIN(x) OVER (ORDER BY y) AS m FROM ${ROWS} ORDER BY y`,
  `SELECT LAG(x) OVER (ORDER BY y) = 'B' AS l, FIRST_VALUE(x) OVER (ORDER BY y) = 'B' AS f FROM ${ROWS} ORDER BY y`,
  `SELECT y FROM ${ROWS} QUALIFY RANK() OVER (PARTITION BY x ORDER BY y) = 1 ORDER BY y`,
  `SELECT UPPER(MIN(x)) AS l, UPPER(MAX(x)) AS g, COUNT(DISTINCT x) AS d, APPROX_COUNT_DISTINCT(x) AS a, COUNTIF(x = 'a') AS n FROM ${ROWS}`,
  `SELECT STRING_AGG(x ORDER BY x, y) AS s, STRING_AGG(x ORDER BY y) = 'B,A,A,B,É,E' AS e, (ARRAY_AGG(x ORDER BY y))[OFFSET(0)] = 'B' AS f FROM ${ROWS}`,
];

/** Where collations come from, through functions and queries. */
const VALUES = [
  `LOWER(x) = 'A'`,
  `CONCAT('a', x) = 'AA'`,
  `x || 'b' = 'AB'`,
  `SUBSTR(x, 1, 1) = 'A'`,
  `FORMAT('%s', x) = 'A'`,
  `FORMAT(x) = 'A'`,
  `IF(TRUE, x, 'y') = 'A'`,
  `IFNULL(x, 'y') = 'A'`,
  `CASE WHEN TRUE THEN x ELSE 'b' END = 'A'`,
  `CAST(x AS STRING) = 'A'`,
  `SAFE_CAST(x AS STRING) = 'A'`,
  `COLLATE(x, '') = 'A'`,
  `COLLATE(x, 'binary') = 'A'`,
  `TO_JSON_STRING(x) = '"A"'`,
  `[x][OFFSET(0)] = 'A'`,
  `ARRAY_TO_STRING([x, 'b'], ',') = 'A,B'`,
  `ARRAY_REVERSE([x])[SAFE_OFFSET(0)] = 'A'`,
  `STRUCT(x AS a, 'b' AS b).a = 'A'`,
  `STRUCT(x AS a, 'b' AS b).b = 'B'`,
  `(SELECT x) = 'A'`,
  `'A' IN UNNEST(ARRAY(SELECT x))`,
  `EXISTS (SELECT 1 FROM UNNEST(['A']) AS z WHERE z = x)`,
  `COLLATE(NULL, 'und:ci') IS NULL`,
  `SAFE.COLLATE(x, 'und:ci') = 'A'`,
  `ANY_VALUE(STRUCT(x AS a)).a = 'A'`,
  `FORMAT_DATE(COLLATE('%b', 'und:ci'), DATE '2026-01-01') = 'JAN'`,
  `REPLACE(COLLATE(x, 'binary'), 'a', 'b')`,
];

/** In any order; of texts that are equal a group shows any, so that all are in one case. */
const SETS = [
  `SELECT UPPER(x) AS x, COUNT(*) AS n FROM ${ROWS} GROUP BY x`,
  `SELECT UPPER(k) AS k, n FROM (SELECT x || '!' AS k, COUNT(*) AS n FROM ${ROWS} GROUP BY k)`,
  `SELECT UPPER(x) AS x FROM ${ROWS} GROUP BY x HAVING x = 'a' OR COUNT(*) > 1`,
  `SELECT UPPER(x) AS x, GROUPING(x) AS g, COUNT(*) AS n FROM ${ROWS} GROUP BY ROLLUP(x)`,
  `SELECT UPPER(x) AS x, z, COUNT(*) AS n FROM (SELECT x, MOD(y, 2) AS z FROM ${ROWS}) GROUP BY CUBE(x, z)`,
  `SELECT UPPER(x) AS x FROM (SELECT DISTINCT x FROM ${ROWS})`,
  `SELECT UPPER(x) AS x FROM (SELECT x FROM ${ROWS} UNION DISTINCT SELECT 'a' UNION DISTINCT SELECT 'z')`,
  `SELECT x FROM (SELECT x FROM ${ROWS} UNION ALL SELECT 'a') WHERE x = 'A'`,
  `WITH t AS (SELECT x FROM ${ROWS}) SELECT UPPER(x) AS x, (SELECT COUNT(*) FROM t AS u WHERE u.x = t.x) AS n FROM t`,
  `FROM ${ROWS} |> AGGREGATE COUNT(*) AS n GROUP BY x |> SELECT UPPER(x) AS x, n`,
  `FROM ${ROWS} |> SELECT x |> DISTINCT |> WHERE x < 'b' |> SELECT UPPER(x) AS x`,
];

/** BigQuery refuses them, too. */
const WRONG = [
  `SELECT x FROM UNNEST(['a']) AS x ORDER BY x COLLATE ''`,
  `SELECT x FROM UNNEST([1]) AS x ORDER BY x COLLATE 'und:ci'`,
  `SELECT x FROM UNNEST(['a']) AS x ORDER BY x COLLATE NULL`,
  `SELECT COLLATE('a', x) FROM UNNEST(['und:ci']) AS x`,
  `SELECT COLLATE(b'a', 'und:ci')`,
  `SELECT COLLATE('a', NULL)`,
  `SELECT COLLATE('a', 'und:ci') = COLLATE('a', 'binary')`,
  `SELECT [COLLATE('a', 'und:ci'), COLLATE('a', 'binary')]`,
  `SELECT IF(TRUE, COLLATE('a', 'und:ci'), COLLATE('a', 'binary'))`,
  `SELECT COLLATE('a', 'und:ci') UNION ALL SELECT COLLATE('a', 'binary')`,
  ...['REGEXP_CONTAINS(x, "a")', 'REGEXP_REPLACE("a", x, "")', 'INITCAP(x)', 'TRANSLATE(x, "a", "b")'].map(of),
  ...['JSON_VALUE(x, "$.a")', 'APPROX_TOP_COUNT(x, 1)', 'APPROX_QUANTILES(x, 2)'].map(of),
  `SELECT STRUCT(x, 1) = STRUCT('a', 1) FROM ${ROWS}`,
  `SELECT [x] = ['a'] FROM ${ROWS}`,
];

function of(call: string): string {
  return `SELECT ${call.replaceAll('"', "'")} FROM ${ROWS}`;
}

/** Refused here alone: what is refused, and the text that its place begins with. */
const REFUSED: readonly (readonly [sql: string, words: string, at: string])[] = [
  [of('x LIKE "a%"'), 'LIKE of a text with a collation', 'x LIKE'],
  [of('x NOT LIKE ANY ("a%", "b")'), 'LIKE of a text with a collation', ''],
  [of('STARTS_WITH(x, "a")'), 'STARTS_WITH of a text with a collation', 'STARTS_WITH'],
  [of('STRPOS("a", x)'), 'STRPOS of a text with a collation', 'STRPOS'],
  [of('REPLACE(x, "a", "b")'), 'REPLACE of a text with a collation', 'REPLACE'],
  [of('SPLIT(x)'), 'SPLIT of a text with a collation', 'SPLIT'],
  [of('CONTAINS_SUBSTR(x, "a")'), 'CONTAINS_SUBSTR of a text with a collation', 'CONTAINS_SUBSTR'],
  [of('NULLIF(x, "a")'), 'NULLIF of a text with a collation', 'NULLIF'],
  [of('GREATEST(x, "a")'), 'GREATEST of a text with a collation', 'GREATEST'],
  [of('ARRAY_FILTER([x], e -> e = "a")'), 'ARRAY_FILTER of a text with a collation', '[x]'],
  [of('ARRAY_AGG(DISTINCT x)'), 'ARRAY_AGG with DISTINCT of texts that have a collation', 'ARRAY_AGG'],
  [of('ANY_VALUE(y HAVING MAX x)'), 'HAVING MAX of a text with a collation', 'x)'],
  [of('MAX_BY(y, x)'), 'MAX_BY of a text with a collation', 'MAX_BY'],
  [of('PERCENTILE_DISC(x, 0.5) OVER ()'), 'PERCENTILE_DISC of a text with a collation', 'PERCENTILE_DISC'],
  [of('COLLATE(x, "de:ci")'), "Collation 'de:ci'", "'de:ci'"],
  [`SELECT x FROM ${ROWS} EXCEPT DISTINCT SELECT 'A'`, 'EXCEPT DISTINCT of texts that have a collation', 'COLLATE'],
  [`SELECT * FROM (SELECT x, y FROM ${ROWS}) PIVOT(SUM(y) FOR x IN ('a'))`, 'PIVOT of a text with a collation', 'x IN'],
];

/** Letters with marks before and after them, in one piece and in several, of scripts with orders of their own. */
const PIECES =
  'a|A|b|B|e|é|É|e\u0301|E\u0301|\u0301|\u0323|ß|ẞ|ss|SS|ſ|İ|i|I|ı|ﬁ|fi|Σ|ς|σ|й|И\u0306|あ|ア|ｱ|ㇰ|가|ᄀ|ᅡ|中|1|١|²|½| |\u00a0|-|\u00ad|.|…|™|\u200b|\u2060|😀|\t|\u0001|เก|ก\u0e34|க்|Ǆ|ǆ|æ|Æ|ø|Ø|ŀ|\u0f71\u0f72|ᾳ|ΑΙ|\ufdfa|Z|ｚ'.split(
    '|',
  );

onBothEngines('COLLATE on both engines', (engines) => {
  it.each(ORDERED)('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  it.each(VALUES)('%s', async (value) => {
    const sql = `SELECT ${value} AS v FROM UNNEST([COLLATE('a', 'und:ci')]) AS x`;
    expect(await engines().difference(sql, 'ordered')).toBeNull();
    expect(await ask(engines().embedded, sql)).toHaveProperty('rows');
  });

  it.each(SETS)('%s', async (sql) => {
    expect(await engines().difference(sql, 'any order')).toBeNull();
  });

  it.each(WRONG)('wrong: %s', async (sql) => {
    expect(await ask(engines().embedded, sql)).toHaveProperty('error');
    expect(await ask(engines().reference, sql)).toHaveProperty('error');
  });

  it('has the order and the equalities of the reference for texts of many scripts', async () => {
    const random = new Random(20261125);
    const texts = Array.from({ length: 600 }, () =>
      Array.from({ length: 1 + random.int(4) }, () => random.pick(PIECES)).join(''),
    );
    const list = [...new Set(texts)].map((text) => JSON.stringify(text)).join(', ');
    const sql = `SELECT x, DENSE_RANK() OVER (ORDER BY x COLLATE 'und:ci') AS r FROM UNNEST([${list}]) AS x`;
    expect(await engines().difference(sql, 'any order')).toBeNull();
  });

  // The reference has no joins by texts with a collation: BigQuery's documents have.
  it.each([
    [`SELECT COUNT(*) AS n FROM ${ROWS} AS a JOIN UNNEST(['A']) AS b ON a.x = b`, { n: 2 }],
    [`SELECT COUNT(*) AS n FROM ${ROWS} AS a JOIN (SELECT 'B' AS x) AS b USING (x)`, { n: 2 }],
    [`SELECT COUNT(b) AS n FROM ${ROWS} AS a LEFT JOIN UNNEST(['A', 'a']) AS b ON a.x = b`, { n: 4 }],
  ])('%s', async (sql, row) => {
    expect(await ask(engines().embedded, sql)).toMatchObject({ rows: [row] });
  });

  it.each([
    `SELECT path FROM edge_logs WHERE COLLATE(method, 'und:ci') = 'get' ORDER BY path COLLATE 'und:ci' DESC, path LIMIT 5`,
    `FROM edge_logs |> EXTEND COLLATE(method, 'und:ci') AS m |> WHERE m IN ('get', 'Post') |> AGGREGATE COUNT(*) AS n GROUP BY m |> SELECT UPPER(m) AS m, n |> ORDER BY m`,
    `SELECT UPPER(m) AS m, SUM(1 / LENGTH(p)) > 0 AS s FROM (SELECT COLLATE(LOWER(method), 'und:ci') AS m, path AS p FROM edge_logs WHERE path != '') GROUP BY m ORDER BY 1 COLLATE 'und:ci'`,
  ])('the gate admits it for keys with pins and without, on both engines: %s', async (text) => {
    const sql = text
      .replaceAll('method', `SPLIT(event_message, ' ')[SAFE_OFFSET(0)]`)
      .replaceAll('path', 'event_message');
    const answers = [];
    for (const engine of [engines().embedded, engines().reference])
      for (const fenced of [false, true]) {
        const consumer = await Consumer.over(engine, { fenced });
        answers.push((await consumer.sql(sql)).rows);
        await consumer.gate.close();
      }
    expect(answers[0]?.length).toBeGreaterThan(0);
    for (const rows of answers.slice(1)) expect(rows).toEqual(answers[0]);
  });

  it.each(REFUSED)('refuses %s', async (sql, words, at) => {
    const limits = { deadline: performance.now() + 30_000, signal: new AbortController().signal };
    const run = { sql, parameters: [], maxRows: 10, hideBytes: false, maxBytesBilled: null, labels: {} };
    const error: unknown = await engines()
      .embedded.run(run, limits)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(QueryError);
    const { message, span, details } = error as QueryError;
    expect(message).toContain(`${words} is not supported on the embedded engine`);
    expect(sql.slice(span?.start)).toMatch(new RegExp(`^${at.replace(/[[\]().]/g, '\\$&')}`));
    expect(details).toHaveProperty('hint');
  });
});
