/**
 * The fence of the embedded engine: an answer, or its failure, depends on the caller's rows alone, whatever values others have, however
 * rows lie and whatever form the query takes. What can fail is computed over the visible rows (docs/decisions/fence.md).
 */
import { oneOf } from '../../../test/scale';
import { FencedTables } from './fenced-tables';
import { restFieldsOf } from './fields';

const FIELDS = restFieldsOf(
  `project STRING, id STRING, n INTEGER, fixed INTEGER, empty INTEGER, text STRING, message STRING, timestamp TIMESTAMP,
   metadata RECORD*(project STRING, text STRING, n INTEGER, ts TIMESTAMP)`,
);
const OWN = 300;
const own = Array.from({ length: OWN }, (_, i) => ({
  project: 'mine',
  id: `mine${i}`,
  n: i % 7,
  fixed: 5,
  text: 'x',
  message: String(i),
  timestamp: '2026-01-01T00:00:00Z',
  metadata: [{ project: 'mine', text: 'x', n: 1, ts: '2026-01-01T00:00:00Z' }],
}));
/** Beyond all own values to both sides, NULL, and no numbers; now and then with another number of records. */
const OTHER_VALUES = [
  { fixed: null, text: 'zz' },
  { fixed: 7, empty: 3, text: null },
  { fixed: -7, empty: -3, text: 'aaaaaaaaaaaaaaaaaaaaaa' },
];
const RECORD = { project: 'other', text: 'A secret', n: 100, ts: '0001-01-01T00:00:00Z' };
const others = (count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, k) => ({
    project: 'other',
    id: `other${from + k}`,
    n: k % 2 === 0 ? 99 : -99,
    message: 'A secret of somebody else',
    timestamp: '9999-01-01T00:00:00Z',
    metadata: { 7: [], 8: [RECORD, RECORD] }[(from + k) % 500] ?? [RECORD],
    ...OTHER_VALUES[k % 3],
  }));
/** The caller has rows in the first three. DuckDB takes now the one and now the other of two that are joined for the smaller. */
const TABLES = {
  alone: own,
  among: own.flatMap((one, i) => [one, ...others(16, 16 * i)]),
  before: [...own, ...others(8_000)],
  none: [],
  few: others(5),
  many: others(8_000),
};

const COLUMN = `project = 'mine'`;
/** Stored filters as people write them: one that DuckDB puts into its scan, and ones that it evaluates beside the consumer's. */
const STORED = [
  ['alone', 'none', COLUMN],
  ['among', 'few', COLUMN],
  ['before', 'many', COLUMN],
  ['among', 'many', `EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = 'mine')`],
  ['among', 'none', `CAST(fixed AS STRING) = '5' AND ${COLUMN}`],
].map(
  ([a = '', e = '', filter]) =>
    `WITH a AS (SELECT * FROM ${a} AS t WHERE ${filter}), e AS (SELECT * FROM ${e} WHERE ${COLUMN}), d AS (SELECT TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) AS start)`,
);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make(TABLES, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

/** The one answer to a query, whatever others have; a failure starts with `failed`. */
async function only(consumer: string): Promise<string> {
  const answers = await tables.answers(STORED, consumer);
  expect([consumer, answers]).toEqual([consumer, answers.slice(0, 1)]);
  return answers[0] ?? '';
}

const BOOM = `DIV(1, IF(STARTS_WITH(message, 'A'), 0, 1))`;
const BOOM_OF_RECORD = `DIV(1, IF(STARTS_WITH(m.text, 'A'), 0, 1)) = 1`;
const NUMBERS = 'CAST(a.message AS INT64) = CAST(b.message AS INT64)';
const FAILS = `PARSE_JSON('{') IS NULL`;
const LATE = `TIMESTAMP_ADD(start, INTERVAL 100000 HOUR) > TIMESTAMP '2001-01-01 00:00:00+00'`;

/** Each fails on rows of others alone, or behind a condition that no own row meets. */
const ANSWERED: readonly string[] = [
  `SELECT COUNT(*) AS c FROM a WHERE ${BOOM} = 1`,
  `SELECT COUNT(*) AS c FROM a WHERE CAST(message AS INT64) >= 0`,
  `SELECT COUNT(*) AS c FROM a WHERE STARTS_WITH(message, 'A') AND 1 / 0 = 1`,
  `SELECT COUNT(*) AS c FROM (SELECT ${BOOM} AS x FROM a) WHERE x = 1`,
  `SELECT ${BOOM} AS x, COUNT(*) AS c FROM a GROUP BY x HAVING x = 1`,
  `SELECT message FROM a GROUP BY message HAVING CAST(message AS INT64) < 0`,
  `SELECT COUNT(*) AS c FROM a JOIN a AS b ON ${NUMBERS}`,
  `SELECT COUNT(*) AS c FROM a LEFT JOIN a AS b ON ${NUMBERS}`,
  `SELECT COUNT(*) AS c FROM a, a AS b WHERE a.id = b.id AND ${NUMBERS}`,
  `SELECT id FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY project ORDER BY ${BOOM}, id) = 1`,
  `SELECT COUNT(*) AS c FROM a WHERE id IN (SELECT id FROM a WHERE ${BOOM} = 1)`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM a AS b WHERE b.id = a.id AND ${NUMBERS})`,
  `SELECT COUNT(*) AS c FROM a WHERE IF(STARTS_WITH(message, 'A'), CAST(message AS INT64) > 0, TRUE)`,
  `SELECT id FROM a WHERE ${BOOM} = 1 UNION ALL SELECT id FROM a WHERE CAST(message AS INT64) < 0`,
  `SELECT SUM(CAST(message AS INT64)) AS c FROM a WHERE ${BOOM} = 1`,
  `WITH x AS (SELECT id, CAST(message AS INT64) AS k FROM a) SELECT COUNT(*) AS c FROM x JOIN x AS y ON x.k = y.k WHERE x.k >= 0`,
  // Fields of records, which are stored as lists of one, as the records themselves, and as both.
  `SELECT COUNT(*) AS c FROM a, UNNEST(a.metadata) AS m WHERE ${BOOM_OF_RECORD}`,
  `SELECT COUNT(*) AS c FROM a LEFT JOIN UNNEST(a.metadata) AS m WITH OFFSET AS o WHERE ${BOOM_OF_RECORD} AND o = 0`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE ${BOOM_OF_RECORD})`,
  `SELECT COUNT(*) AS c FROM a WHERE (SELECT COUNTIF(${BOOM_OF_RECORD}) FROM UNNEST(a.metadata) AS m) > 0`,
  `SELECT COUNT(*) AS c FROM a WHERE 1 IN (SELECT DIV(1, IF(STARTS_WITH(m.text, 'A'), 0, 1)) FROM UNNEST(a.metadata) AS m)`,
  `SELECT COUNT(*) AS c FROM a WHERE DIV(1, IF(STARTS_WITH(metadata[SAFE_OFFSET(0)].text, 'A'), 0, 1)) = 1`,
  `SELECT COUNT(*) AS c FROM a WHERE DIV(1, ARRAY_LENGTH(metadata)) >= 0`,
  `SELECT id, metadata FROM a WHERE DIV(1, IF(STARTS_WITH(TO_JSON_STRING(metadata), '[{"project":"other"'), 0, 1)) = 1 ORDER BY id LIMIT 20`,
  `SELECT COUNT(*) AS c FROM a, UNNEST(a.metadata) AS o WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE STARTS_WITH(m.text, 'A') AND 1 / 0 = 1)`,
  `SELECT ARRAY(SELECT CAST(m.text AS INT64) FROM UNNEST(a.metadata) AS m WHERE m.n = 77) AS x FROM a LIMIT 1`,
  // A condition that reads no column is evaluated only where those before it hold.
  ...['SQRT(-1) <> 1', 'DIV(1, 0) <> 1', `PARSE_JSON('{') IS NOT NULL`].flatMap((fails) => [
    `SELECT (SELECT COUNT(*) FROM d WHERE UNIX_SECONDS(start) = 0 AND ${fails} AND ${LATE}) AS x, (SELECT COUNT(*) FROM a) AS y`,
    `SELECT SUM((SELECT COUNT(*) FROM UNNEST([n, 1]) AS e WHERE DIV(10, e + 1) = 99 AND ${fails} AND DIV(1, e - 50) = 0)) AS x, COUNT(*) AS y FROM a`,
    `SELECT COUNTIF(n = 99 AND ${fails}) AS x, COUNT(*) AS y FROM a`,
  ]),
  // HAVING MAX and MIN of aggregates.
  `SELECT COUNT(* HAVING MAX n) AS c, COUNT(id HAVING MIN n) AS d FROM a`,
  `SELECT SUM(CAST(message AS INT64) HAVING MAX n) AS c FROM a`,
  `SELECT CAST(message AS INT64) AS k, n, COUNT(* HAVING MAX 1 / (n + 1)) AS c FROM a GROUP BY ROLLUP(k, n)`,
  `SELECT n, (SELECT COUNT(* HAVING MAX CAST(b.message AS INT64)) FROM a AS b WHERE b.n = a.n) AS c FROM a`,
];

test.each(oneOf(3, ANSWERED))('%s is answered', async (consumer) => {
  expect(await only(consumer)).not.toMatch(/^failed/);
});

const F = 'CAST(text AS INT64)';
const FAILING = `(SELECT id, ${F} AS x, n FROM a)`;
const UNNESTED = '(SELECT l.id, m.text, m.n, m.ts FROM a AS l, UNNEST(l.metadata) AS m)';

/** Whether each fails, ranges of values or the size of what is joined might settle. */
const ALIKE: readonly string[] = [
  `SELECT LOGICAL_AND(n = 99 AND ${FAILS}) AS x FROM a`,
  `SELECT LOGICAL_OR(n < 99 OR ${FAILS}) AS x FROM a`,
  `SELECT LOGICAL_AND(EXTRACT(YEAR FROM timestamp) = 9999 AND ${FAILS}) AS x FROM a`,
  `SELECT COUNT(*) AS x FROM a WHERE (n = 99 AND ${FAILS}) IS NOT TRUE`,
  `SELECT COUNT(*) AS x FROM a AS l FULL JOIN a AS r ON l.n = r.n AND r.n = 99 AND 1 / 0 > 1`,
  `SELECT COUNT(*) AS x FROM a AS l LEFT JOIN a AS r ON r.n = 99 AND DIV(1, l.n - r.n) > 1`,
  `SELECT MAX(x) AS x FROM (SELECT TO_JSON_STRING(n = 99 AND ${FAILS}) AS x, n FROM a) WHERE n > 2`,
  `SELECT n, COUNT(*) AS x FROM a GROUP BY n HAVING NOT (n = 99 AND ${FAILS}) ORDER BY n LIMIT 1`,
  `SELECT COUNT(*) AS c FROM (SELECT timestamp AS ts, SPLIT(text, 'y')[OFFSET(1)] AS x FROM a) WHERE EXTRACT(YEAR FROM ts) = 1 AND x <> ''`,
  `SELECT COUNT(*) AS c FROM (SELECT timestamp AS ts FROM a WHERE ${F} > 0) AS o JOIN a ON a.timestamp = o.ts AND EXTRACT(YEAR FROM a.timestamp) = 1`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM a WHERE ${F} > 0) WHERE n + 0 = 77`,
  `SELECT COUNT(*) AS c FROM (SELECT DISTINCT n FROM a WHERE ${F} > 0) WHERE n > 50`,
  `SELECT COUNT(x) AS c FROM (SELECT n, ${F} AS x FROM a) WHERE n = 77`,
  `WITH x AS (SELECT n, COUNT(*) AS c FROM a WHERE ${F} > 0 GROUP BY n) SELECT COUNT(*) AS c FROM x, x AS y WHERE x.n = 77 AND y.n = 78`,
  `SELECT COUNT(*) AS c FROM (SELECT ts FROM ${UNNESTED} WHERE ${F} > 0) WHERE EXTRACT(YEAR FROM ts) = 1`,
  `SELECT COUNT(x) AS c FROM (SELECT n, ${F} AS x FROM ${UNNESTED}) WHERE n = 77`,
  `SELECT COUNT(*) AS c FROM a WHERE CAST(id AS INT64) > 0 AND metadata[OFFSET(0)].n = 77`,
  `SELECT COUNT(*) AS c FROM a WHERE CAST(id AS INT64) > 0 AND EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE m.n = 77)`,
  `SELECT COUNT(*) AS c FROM a JOIN UNNEST(a.metadata) AS m ON m.n = 77 AND CAST(m.text AS INT64) = 1`,
  `SELECT COUNT(* HAVING MAX 1 / n) AS c FROM a`,
  // Beside what has no row for the caller.
  `SELECT COUNT(d.x) AS c FROM ${FAILING} AS d JOIN e ON d.id = e.id`,
  `SELECT COUNT(*) AS c FROM e JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM e LEFT JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM a FULL JOIN e ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(d.x) AS c FROM e CROSS JOIN ${FAILING} AS d`,
  `SELECT COUNT(*) AS c FROM e JOIN (SELECT SUM(${F}) AS s FROM a) AS d ON d.s = e.n`,
  `SELECT COUNT(*) AS c FROM e WHERE n NOT IN (SELECT ${F} FROM a)`,
  `SELECT COUNT(*) AS c FROM e WHERE EXISTS (SELECT 1 FROM a WHERE ${F} > 0)`,
  `SELECT COUNT(*) AS c FROM e WHERE n > (SELECT MAX(${F}) FROM a)`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM e EXCEPT DISTINCT SELECT ${F} FROM a) AS d`,
  `SELECT COUNT(*) AS c FROM e, UNNEST(e.metadata) AS m WHERE EXISTS (SELECT 1 FROM a WHERE ${F} > 0)`,
  `FROM a |> EXTEND ${F} AS x |> JOIN e ON e.n = x |> AGGREGATE COUNT(*) AS c`,
  `SELECT n FROM a GROUP BY n HAVING MAX(${F}) IN (SELECT n FROM e)`,
  `SELECT id FROM a WHERE true QUALIFY ${F} + ROW_NUMBER() OVER (ORDER BY id) IN (SELECT n FROM e)`,
  `SELECT COUNT(*) AS c FROM a WHERE ${F} IN (SELECT n FROM e WHERE e.id = a.id)`,
  `SELECT COUNT(*) AS c FROM a WHERE id IN (SELECT id FROM e) AND ${F} > 0`,
  `SELECT COUNT(*) AS c FROM a WHERE n = (SELECT n FROM e WHERE e.id = a.id LIMIT 1) AND ${F} > 0`,
  `SELECT COUNT(*) AS c FROM a WHERE (SELECT MAX(CAST(m.text AS INT64)) FROM UNNEST(metadata) AS m) IN (SELECT n FROM e)`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE CAST(m.text AS INT64) IN (SELECT n FROM e))`,
];

test.each(oneOf(3, ALIKE))('%s is answered alike', async (consumer) => {
  await only(consumer);
});

test('with nothing that fails, rows are those without the fence', async () => {
  for (const consumer of oneOf(3, ALIKE).filter((sql) => / e\b/.test(sql))) {
    const sound = consumer.replaceAll(F, 'n + LENGTH(text)').replace(/CAST\([am]\.text AS INT64\)/g, 'LENGTH(text)');
    if (/LENGTH\(text\)/.test(sound) && / e\.|m\./.test(sound)) continue;
    expect([sound, await tables.answers(STORED, sound, false)]).toEqual([sound, [await only(sound)]]);
  }
});

const ENOUGH = 6;

test('without the fence some fail that are answered with it', async () => {
  let differing = 0;
  for (const consumer of [...ANSWERED, ...ALIKE]) {
    if ((await tables.answers(STORED, consumer, false)).length > 1) differing++;
    if (differing === ENOUGH) break;
  }
  expect(differing).toBe(ENOUGH);
});

/** What ranges may settle, beside what fails. */
const BESIDE: readonly string[] = [
  `n BETWEEN 90 AND DIV(1, 0 * n)`,
  `n NOT BETWEEN 90 AND DIV(1, 0 * n)`,
  `n IN (90, DIV(1, 0 * n))`,
  `fixed = 5 OR DIV(1, 0 * n) = 5`,
  `fixed = 5 AND fixed IN (DIV(1, 0 * n))`,
  `empty = DIV(1, 0 * n)`,
  `empty IS NOT NULL AND DIV(1, 0 * n) > 1`,
  `COALESCE(empty, DIV(1, 0 * n)) > 1`,
  `IFNULL(fixed, DIV(1, 0 * n)) > 1`,
  `NULLIF(fixed, DIV(1, 0 * n)) > 1`,
  `IF(n > 90, DIV(1, 0 * n) > 1, n > 1)`,
  `IF(n < 90 OR DIV(1, 0 * n) > 1, n > 1, true)`,
  `CASE fixed WHEN DIV(1, 0 * n) THEN true WHEN 5 THEN n > 1 END`,
  `CASE WHEN fixed = 5 THEN n > 1 WHEN DIV(1, 0 * n) > 1 THEN true END`,
  `GREATEST(fixed, DIV(1, 0 * n)) > 1`,
  `0 * DIV(1, 0 * n) = n`,
  `n IS DISTINCT FROM DIV(1, 0 * n)`,
  `text LIKE CONCAT('b', CAST(DIV(1, 0 * n) AS STRING))`,
  `STARTS_WITH(text, 'zz') AND DIV(1, 0 * n) > 1`,
  `LENGTH(text) > 5 AND DIV(1, 0 * n) > 1`,
  `(timestamp > TIMESTAMP '9000-01-01') < (DIV(1, 0 * n) > 1)`,
  `EXISTS (SELECT 1 FROM a AS o WHERE o.n = 99 AND DIV(1, 0 * o.n) > 1)`,
  `n = (SELECT MAX(DIV(1, 0 * o.n)) FROM a AS o WHERE o.n > 90)`,
];
const ROUND: readonly string[] = [
  'SELECT COUNT(*) AS x FROM a WHERE #',
  'SELECT COUNT(*) AS x FROM a WHERE n > 90 AND #',
  'SELECT COUNTIF(#) AS x FROM a',
  'SELECT COUNT(*) AS x FROM (SELECT # AS y, n FROM a) WHERE n < 90 OR y',
  'SELECT COUNT(*) AS x FROM (SELECT # AS y FROM a GROUP BY 1)',
  'SELECT COUNT(*) AS x FROM (SELECT 1 FROM a ORDER BY # LIMIT 3)',
  'SELECT COUNT(*) AS x FROM (SELECT ROW_NUMBER() OVER (PARTITION BY # ORDER BY n) AS y FROM a) WHERE y > 90',
  'FROM a |> WHERE n > 90 |> WHERE # |> AGGREGATE COUNT(*) AS x',
  'FROM a |> EXTEND # AS y |> WHERE n > 90 AND y |> AGGREGATE COUNT(*) AS x',
];

test.each(oneOf(5, BESIDE))(
  '%s is answered alike in every place',
  async (condition) => {
    for (const place of ROUND) await only(place.replace('#', condition));
  },
  60_000,
);

const G = 'CAST(i.text AS INT64)';
/** Conditions of a row `d` by a subquery that can fail: it is evaluated for the rows around it alone. */
const SUBQUERIES: readonly string[] = [
  `(SELECT ${G} FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT ${G} FROM a AS i, UNNEST(i.metadata) AS m WHERE i.id = d.id ORDER BY i.timestamp LIMIT 1) IS NULL`,
  `(SELECT i.n FROM a AS i WHERE i.id = d.id ORDER BY ${G} LIMIT 1) IS NULL`,
  `(SELECT SUM(i.n) FROM a AS i WHERE i.id = d.id GROUP BY ${G} LIMIT 1) IS NULL`,
  `(SELECT MAX(i.n) FROM a AS i WHERE i.id = d.id HAVING MAX(${G}) > 1) IS NULL`,
  `d.n IN (SELECT CAST(d.text AS INT64) FROM a AS i WHERE i.id = d.id)`,
  `(SELECT DIV(1, d.n - i.n) FROM a AS i WHERE i.n = d.n LIMIT 1) IS NULL`,
  `(SELECT ${G} FROM a AS i WHERE i.n > d.n LIMIT 1) IS NULL`,
  `ARRAY_LENGTH(ARRAY(SELECT ${G} FROM a AS i WHERE i.id = d.id)) > 0`,
  `(SELECT ROW_NUMBER() OVER (ORDER BY ${G}) FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT ${G} FROM a AS i WHERE i.id = d.id UNION ALL SELECT 1 LIMIT 1) IS NULL`,
  `(SELECT ${G} FROM a AS i JOIN a AS j ON i.id = j.id AND j.id = d.id LIMIT 1) IS NULL`,
];

test.each(oneOf(5, SUBQUERIES))('%s', async (condition) => {
  // Some others' rows have such values, and of the first two none of the own.
  for (const rows of ['n = 99', `id LIKE 'other%'`, 'n = 3']) {
    const from = `FROM (SELECT id, n, text FROM a WHERE ${rows}) AS d`;
    const answers = [
      await only(`SELECT COUNT(*) AS c ${from} WHERE ${condition}`),
      await only(`SELECT MAX(TO_JSON_STRING(${condition})) AS c ${from}`),
    ];
    if (rows !== 'n = 3')
      for (const answer of answers) expect([rows, answer]).not.toEqual([rows, expect.stringMatching(/^failed/)]);
  }
});

/** Where only TRUE counts, the first operand keeps the second from the rows that it settles. */
test.each([
  ['SELECT COUNT(*) AS x FROM a WHERE n = 0 OR DIV(6, n) > 2', '{"x":129}'],
  ['SELECT COUNT(*) AS x FROM a WHERE n > 5 OR (n <> 0 AND DIV(6, n) > 2)', '{"x":128}'],
  ['SELECT SUM(CASE WHEN n = 0 OR DIV(6, n) > 2 THEN 1 END) AS x FROM a', '{"x":129}'],
  [
    'SELECT COUNT(*) AS x FROM a AS l LEFT JOIN a AS r ON l.n = r.n AND r.n <> 0 AND DIV(6, l.n + r.n) > 2',
    '{"x":2106}',
  ],
  ['SELECT COUNT(*) AS x FROM a WHERE NULLIF(n, 3) > 3 OR DIV(6, n + 1) > 1', '{"x":257}'],
  [`SELECT COUNT(*) AS c FROM a WHERE DIV(1, IF(id = 'mine3', 0, 1)) = 1`, 'failed: Division by zero'],
])('%s: %s', async (consumer, answer) => {
  expect(await only(consumer)).toBe(answer);
});

test.each(['AND', 'OR'])('many operands of %s do not nest', async (operator) => {
  const compared = operator === 'AND' ? '>' : '<';
  const condition = Array.from({ length: 1200 }, (_, i) => `DIV(n, ${i + 1}) ${compared} -${i + 1}`).join(
    ` ${operator} `,
  );
  const answers = [`{"x":${OWN}}`, '{"x":0}'];
  if (operator === 'OR') answers.reverse();
  // How deep a condition nests does not depend on how rows lie: one layout is enough.
  for (const ctes of STORED.slice(0, 2)) {
    for (const [i, where] of [condition, `NOT (${condition})`].entries())
      expect(await tables.answer(0, ctes, `SELECT COUNT(*) AS x FROM a WHERE ${where}`)).toBe(answers[i]);
  }
});

test('records are stored as records and as lists', async () => {
  const lengths = 'SELECT ARRAY_LENGTH(metadata) AS n, COUNT(*) AS c FROM a GROUP BY n ORDER BY n';
  const all = `WITH a AS (SELECT * FROM among)`;
  expect(await tables.answer(1, all, lengths)).toMatch(/^\{"n":0,.*\n\{"n":1,.*\n\{"n":2,/);
});
