/**
 * RANGE on both engines; and, where the reference engine is too old (RANGE_CONTAINS, MIN and MAX, text and JSON of a RANGE), cases
 * worked by hand from BigQuery's documents.
 */
import { onBothEngines } from './on-both-engines';
import { ask } from './two-engines';

const DATES = `[RANGE<DATE> '[2024-01-31, 2024-02-29)', RANGE<DATE> '[2024-02-29, 2024-06-30)', RANGE<DATE> '[2024-01-31, 2024-06-30)',
  RANGE<DATE> '[UNBOUNDED, 2024-02-29)', RANGE<DATE> '[2024-02-29, unbounded)', RANGE<DATE> '[NULL, NULL)', NULL]`;
const TIMESTAMPS = `[RANGE(TIMESTAMP '2026-03-29 01:30:00.5+02', TIMESTAMP '2026-03-30'), RANGE(NULL, TIMESTAMP '2026-03-30'),
  RANGE(TIMESTAMP '0001-01-01', TIMESTAMP '9999-12-31 23:59:59.999999'), NULL]`;
const DATETIMES = `[RANGE<DATETIME> '[2026-03-29 01:30:00, 2026-03-30T00:00:00.000001)', RANGE(DATETIME '2026-03-29', NULL)]`;

const UNREADABLE = [
  "'[2024-01-31,2024-02-29)'",
  "'[2024-01-31 , 2024-02-29)'",
  "'[2024-01-31, 2024-01-31)'",
  "'[2024-01-31, 2024-02-29]'",
  "'[a, b)'",
  "''",
];

const EQUAL = [
  ...[DATES, TIMESTAMPS, DATETIMES].flatMap((ranges) => [
    `SELECT r, RANGE_START(r) AS s, RANGE_END(r) AS e FROM UNNEST(${ranges}) AS r WITH OFFSET AS o ORDER BY o`,
    `SELECT r, s FROM UNNEST(${ranges}) AS r, UNNEST(${ranges}) AS s WHERE r < s ORDER BY r, s`,
    `SELECT RANGE_OVERLAPS(r, s), SAFE.RANGE_INTERSECT(r, s), r = s, r <= s, r IS DISTINCT FROM s, GREATEST(r, s)
      FROM UNNEST(${ranges}) AS r WITH OFFSET AS o, UNNEST(${ranges}) AS s WITH OFFSET AS p ORDER BY o, p`,
    `SELECT r, COUNT(*) AS n, COUNT(DISTINCT r) AS d FROM UNNEST(${ranges}) AS r, UNNEST([1, 2]) GROUP BY r ORDER BY r DESC`,
    `SELECT r, LAG(r) OVER (ORDER BY r) AS b, COUNT(*) OVER (PARTITION BY r) AS n FROM UNNEST(${ranges}) AS r ORDER BY r`,
    `SELECT r IN (SELECT s FROM UNNEST(${ranges}) AS s WHERE s IS NOT NULL) AS i, r IN UNNEST(${ranges}) AS u FROM UNNEST(${ranges}) AS r
      WITH OFFSET AS o ORDER BY o`,
    `SELECT ARRAY_AGG(r IGNORE NULLS ORDER BY r) AS a, STRUCT(ANY_VALUE(r) IS NULL AS x) AS t FROM UNNEST(${ranges}) AS r`,
    `SELECT TYPEOF(r) AS t, TYPEOF([r]) AS a FROM UNNEST(${ranges}) AS r`,
  ]),
  `SELECT r, s FROM UNNEST(${DATES}) AS r FULL JOIN UNNEST(${DATES}) AS s ON r = s ORDER BY r, s`,
  `SELECT STRUCT(RANGE<DATE> '[2024-01-31, 2024-02-29)' AS r, [RANGE<TIMESTAMP> '[2024-01-31, NULL)'] AS list) AS s`,
  `SELECT r FROM (SELECT * FROM UNNEST(${DATES}) AS r UNION DISTINCT SELECT * FROM UNNEST(${DATES}) AS r) ORDER BY r`,
  `SELECT CASE r WHEN RANGE<DATE> '[NULL, NULL)' THEN 1 END, IF(r IS NULL, NULL, r), NULLIF(r, r) FROM UNNEST(${DATES}) AS r ORDER BY r`,
  `SELECT RANGE<DATE> '[2024-1-31, 2024-02-29)' AS r, CAST(t AS RANGE<DATE>) AS s, CAST(t AS RANGE<DATETIME>) AS u
    FROM UNNEST(['[2024-1-31, 2024-02-29)', '[null, UNBOUNDED)', NULL]) AS t`,
  'SELECT SAFE.RANGE(DATE "2024-01-31", DATE "2024-01-31"), RANGE_INTERSECT(RANGE(DATE "2024-01-31", NULL), NULL)',
  'SELECT RANGE(x, y) FROM UNNEST([DATE "2024-01-31", NULL]) AS x WITH OFFSET AS o, UNNEST([DATE "2024-02-01", NULL]) AS y WITH OFFSET AS p ORDER BY o, p',
  `SELECT SAFE_CAST(t AS RANGE<DATETIME>) AS r, SAFE_CAST(t AS RANGE<TIMESTAMP>) AS s FROM UNNEST([${UNREADABLE.join(', ')}]) AS t`,
];

const REFUSED = [
  ...UNREADABLE.flatMap((text) => [
    `SELECT RANGE<DATE> ${text} AS r`,
    `SELECT CAST(t AS RANGE<DATE>) AS r FROM UNNEST([${text}]) AS t`,
  ]),
  'SELECT RANGE(DATE "2024-01-31", DATE "2024-01-31")',
  "SELECT RANGE<DATETIME> '[2024-01-31 10:00:00.5, 2024-01-31 10:00:00.50)'",
  "SELECT RANGE(DATETIME '2024-01-31 10:00:00', DATETIME '2024-01-31 10:00:00.0')",
  'SELECT RANGE(NULL, NULL)',
  'SELECT RANGE(DATE "2024-01-31", DATETIME "2024-02-01")',
  'SELECT RANGE_START(NULL)',
  'SELECT RANGE_INTERSECT(RANGE(DATE "2024-01-31", NULL), RANGE(NULL, DATE "2024-01-31"))',
  'SELECT GENERATE_RANGE_ARRAY(RANGE(DATE "2024-01-31", NULL), INTERVAL 1 DAY)',
  'SELECT RANGE(DATE "2024-01-31", NULL) = RANGE(DATETIME "2024-01-31", NULL)',
  "SELECT RANGE<INT64> '[1, 2)'",
  'SELECT CAST(RANGE(DATE "2024-01-31", NULL) AS RANGE<DATETIME>)',
];

const SPLITS: readonly (readonly [element: string, ends: string, steps: readonly string[]])[] = [
  [
    'DATE',
    '2024-01-31, 2024-06-30',
    ['1 MONTH', '10 DAY', '151 DAY', '1 YEAR', '1 QUARTER', '0 DAY', '-1 DAY', '1 HOUR'],
  ],
  ['DATE', '2024-01-31, 9999-12-31', ['9000 YEAR', '3000000 DAY']],
  ['DATETIME', '2024-01-31 12:00:00, 2024-03-30 00:00:00.5', ['1 MONTH', '36 HOUR', '9999 YEAR', '1 WEEK']],
  ['TIMESTAMP', '2024-01-31 12:00:00, 2024-02-03 00:00:00', ['36 HOUR', '1 DAY', '2 HOUR', '1 MONTH']],
];

/** From BigQuery's reference; `CONTAINS`, TO_JSON and CAST AS STRING are what the reference engine cannot judge. */
const BY_HAND: readonly (readonly [expression: string, value: unknown])[] = [
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', RANGE<DATE> '[2022-04-01, 2022-07-01)')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', RANGE<DATE> '[2023-01-01, 2023-04-01)')", false],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', RANGE<DATE> '[2022-01-01, 2023-01-01)')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', RANGE<DATE> '[2022-04-01, UNBOUNDED)')", false],
  ["RANGE_CONTAINS(RANGE<DATE> '[UNBOUNDED, UNBOUNDED)', RANGE<DATE> '[UNBOUNDED, UNBOUNDED)')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', DATE '2022-04-01')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', DATE '2023-04-01')", false],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', '2022-01-01')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', DATE '2023-01-01')", false],
  ["RANGE_CONTAINS(RANGE<DATE> '[UNBOUNDED, 2023-01-01)', DATE '0001-01-01')", true],
  ["RANGE_CONTAINS(RANGE<DATE> '[2022-01-01, 2023-01-01)', NULL)", null],
  ["RANGE_CONTAINS(CAST(NULL AS RANGE<DATE>), DATE '2022-01-01')", null],
  ["RANGE_CONTAINS(RANGE<DATETIME> '[2022-01-01, NULL)', DATE '2022-01-01')", true],
  ["TO_JSON_STRING(RANGE<DATE> '[2024-07-24, 2024-07-25)')", '{"start":"2024-07-24","end":"2024-07-25"}'],
  ["TO_JSON_STRING(RANGE<DATETIME> '[2024-07-24 10:00:00, UNBOUNDED)')", '{"start":"2024-07-24T10:00:00","end":null}'],
  ['TO_JSON_STRING(CAST(NULL AS RANGE<DATE>))', 'null'],
  ["TO_JSON([RANGE<DATE> '[2024-07-24, NULL)'])", [{ start: '2024-07-24', end: null }]],
  ["JSON_OBJECT('r', RANGE<TIMESTAMP> '[NULL, 2024-07-24)')", { r: { start: null, end: '2024-07-24T00:00:00Z' } }],
  ["CAST(RANGE<DATE> '[2024-07-24, NULL)' AS STRING)", '[2024-07-24, UNBOUNDED)'],
  ["CAST(RANGE<DATETIME> '[null, 2024-07-24 10:00:00.5)' AS STRING)", '[UNBOUNDED, 2024-07-24 10:00:00.500)'],
  [
    "CAST(RANGE<TIMESTAMP> '[2024-07-24 10:00:00+02, 2024-07-25)' AS STRING)",
    '[2024-07-24 08:00:00+00, 2024-07-25 00:00:00+00)',
  ],
  ['CAST(CAST(NULL AS RANGE<DATE>) AS STRING)', null],
  [`(SELECT MIN(r) FROM UNNEST(${DATES}) AS r)`, '[UNBOUNDED, 2024-02-29)'],
  [`(SELECT MAX(r) FROM UNNEST(${DATES}) AS r)`, '[2024-02-29, UNBOUNDED)'],
  [`(SELECT MAX_BY(RANGE_END(r), r) FROM UNNEST(${DATES}) AS r)`, null],
];

onBothEngines('RANGE', (engines) => {
  test.each(EQUAL)('%s', async (sql) => {
    expect(await ask(engines().embedded, sql)).toHaveProperty('rows');
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  test.each(REFUSED)('%s is refused', async (sql) => {
    expect(await ask(engines().reference, sql)).toHaveProperty('error');
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  test.each(SPLITS.flatMap(([element, ends, steps]) => steps.map((step) => [element, ends, step] as const)))(
    'GENERATE_RANGE_ARRAY of a RANGE<%s> [%s) by %s',
    async (element, ends, step) => {
      const range = `RANGE<${element}> '[${ends})'`;
      for (const last of ['', ', TRUE', ', FALSE', ', NULL']) {
        const sql = (r: string, from: string): string =>
          `SELECT GENERATE_RANGE_ARRAY(${r}, INTERVAL ${step}${last}) AS a${from}`;
        expect(await engines().difference(sql(range, ''), 'ordered')).toBeNull();
        expect(await engines().difference(sql('r', ` FROM UNNEST([${range}, NULL]) AS r`), 'any order')).toBeNull();
      }
    },
  );

  test.each(BY_HAND)('%s is %j', async (expression, value) => {
    expect(await ask(engines().embedded, `SELECT ${expression} AS v`)).toMatchObject({ rows: [{ v: value }] });
    const computed = expression.replace(/RANGE<DATE> ('[^']*')/g, `CAST('' || $1 AS RANGE<DATE>)`);
    expect(await ask(engines().embedded, `SELECT ${computed} AS v`)).toMatchObject({ rows: [{ v: value }] });
  });

  test('RANGE_CONTAINS is what its documents say, of all pairs', async () => {
    const pairs = `FROM UNNEST(${DATES}) AS r WITH OFFSET AS o, UNNEST(${DATES}) AS s WITH OFFSET AS p ORDER BY o, p`;
    const ours = await ask(
      engines().embedded,
      `SELECT RANGE_CONTAINS(r, s) AS a, RANGE_CONTAINS(r, RANGE_START(s)) AS b ${pairs}`,
    );
    const inside = 'IF(r IS NULL OR s IS NULL, NULL, IFNULL(SAFE.RANGE_INTERSECT(r, s) = s, FALSE))';
    const day = 'RANGE_OVERLAPS(r, RANGE(RANGE_START(s), DATE_ADD(RANGE_START(s), INTERVAL 1 DAY)))';
    const theirs = await ask(
      engines().reference,
      `SELECT ${inside} AS a, IF(RANGE_START(s) IS NULL, NULL, ${day}) AS b ${pairs}`,
    );
    expect(ours).toEqual(theirs);
  });

  test('an answer has a type for each RANGE, and the ends as values of their types are', async () => {
    const sql = `SELECT RANGE(DATE '2024-01-31', NULL) AS d, RANGE(NULL, DATETIME '2024-01-31 10:00:00.5') AS t,
      [RANGE(TIMESTAMP '2024-01-31 00:00:00.000001', NULL)] AS z`;
    for (const engine of [engines().embedded, engines().reference])
      expect(await ask(engine, sql)).toEqual({
        columns: [
          ['d', 'RANGE<DATE>'],
          ['t', 'RANGE<DATETIME>'],
          ['z', 'ARRAY<RANGE<TIMESTAMP>>'],
        ],
        rows: [
          {
            d: '[2024-01-31, UNBOUNDED)',
            t: '[UNBOUNDED, 2024-01-31T10:00:00.500000)',
            z: ['[1706659200000001, UNBOUNDED)'],
          },
        ],
      });
  });

  test.each([
    ["SELECT FORMAT('%t', RANGE(DATE '2024-01-31', NULL))", 'FORMAT of RANGE is not supported'],
    ["SELECT * FROM RANGE_SESSIONIZE(TABLE edge_logs, 'r', ['id'])", 'RANGE_SESSIONIZE is not supported'],
  ])('%s is refused by name', async (sql, words) => {
    expect(await ask(engines().embedded, sql)).toEqual({ error: expect.stringContaining(words) as string });
  });
});
