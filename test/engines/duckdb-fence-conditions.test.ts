/** Behind the fence what other rows hold does not decide which operands of AND and OR are evaluated. */
import { FencedTables } from './fenced-tables';
import { oneOf } from '../scale';

const FIELDS = [
  { name: 'project', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'fixed', type: 'INTEGER' },
  { name: 'empty', type: 'INTEGER' },
  { name: 'text', type: 'STRING' },
];

const rows = (project: string, count: number, of: (i: number) => object): object[] =>
  Array.from({ length: count }, (_, i) => ({ project, timestamp: '2026-01-01T00:00:00Z', ...of(i) }));

const OWN = rows('mine', 300, (i) => ({ n: i % 7, fixed: 5, text: 'a' }));
const OTHER_VALUES = [
  { fixed: null, text: 'zz' },
  { fixed: 7, empty: 3, text: null },
  { fixed: -7, empty: -3, text: 'aaaaaaaaaaaaaaaaaaaaaa' },
];
/** Ranges of the second table's columns settle nothing. */
const TABLES = {
  alone: OWN,
  among: [
    ...OWN,
    ...rows('other', 5000, (i) => ({
      n: i % 2 === 0 ? 99 : -99,
      timestamp: '9999-01-01T00:00:00Z',
      ...OTHER_VALUES[i % 3],
    })),
  ],
};

const STORED = Object.keys(TABLES).map((table) => `WITH a AS (SELECT * FROM ${table} WHERE project = 'mine')`);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make(TABLES, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

const FAILS = `PARSE_JSON('{') IS NULL`;

/** Ranges of the own rows alone settle the first operand. */
const SETTLED: readonly string[] = [
  `SELECT LOGICAL_AND(n = 99 AND ${FAILS}) AS x FROM a`,
  `SELECT LOGICAL_OR(n < 99 OR ${FAILS}) AS x FROM a`,
  `SELECT LOGICAL_AND(EXTRACT(YEAR FROM timestamp) = 9999 AND ${FAILS}) AS x FROM a`,
  `SELECT MAX(TO_JSON_STRING(n = 99 AND (n > 3 OR ${FAILS}))) AS x FROM a`,
  `SELECT MAX(TO_JSON_STRING(n = 99 AND DIV(1, n) > 0)) AS x FROM a`,
  `SELECT COUNT(*) AS x FROM a WHERE NOT (n = 99 AND ${FAILS})`,
  `SELECT COUNT(*) AS x FROM a WHERE (n = 99 AND ${FAILS}) IS NOT TRUE`,
  `SELECT COUNT(*) AS x FROM a AS l JOIN a AS r ON l.n = r.n AND (l.n < 99 OR ${FAILS})`,
  `SELECT COUNT(*) AS x FROM a AS l LEFT JOIN a AS r ON l.n = r.n AND r.n = 99 AND 1 / 0 > 1`,
  `SELECT COUNT(*) AS x FROM a AS l RIGHT JOIN a AS r ON l.n = r.n AND r.n = 99 AND 1 / 0 > 1`,
  `SELECT COUNT(*) AS x FROM a AS l FULL JOIN a AS r ON l.n = r.n AND r.n = 99 AND 1 / 0 > 1`,
  `SELECT COUNT(*) AS x FROM a AS l JOIN a AS r ON l.n = r.n AND r.n = 99 AND DIV(1, l.n - r.n) > 1`,
  `SELECT COUNT(*) AS x FROM a AS l LEFT JOIN a AS r ON r.n = 99 AND DIV(1, l.n - r.n) > 1`,
  `SELECT MAX(x) AS x FROM (SELECT TO_JSON_STRING(n = 99 AND ${FAILS}) AS x, n FROM a) WHERE n > 2`,
  `SELECT n, COUNT(*) AS x FROM a GROUP BY n HAVING NOT (n = 99 AND ${FAILS}) ORDER BY n LIMIT 1`,
];

/** What ranges may settle, beside what fails. */
const BESIDE: readonly string[] = [
  `n BETWEEN 90 AND DIV(1, 0 * n)`,
  `n BETWEEN DIV(1, 0 * n) AND -90`,
  `n NOT BETWEEN 90 AND DIV(1, 0 * n)`,
  `DIV(1, 0 * n) BETWEEN n AND n + 1`,
  `n IN (90, DIV(1, 0 * n))`,
  `fixed IN (5, DIV(1, 0 * n))`,
  `fixed = 5 OR DIV(1, 0 * n) = 5`,
  `fixed = 5 AND fixed IN (DIV(1, 0 * n))`,
  `empty = DIV(1, 0 * n)`,
  `empty IS NOT NULL AND DIV(1, 0 * n) > 1`,
  `empty IS NULL OR DIV(1, 0 * n) > 1`,
  `empty + DIV(1, 0 * n) > 1`,
  `COALESCE(empty, DIV(1, 0 * n)) > 1`,
  `IFNULL(empty, DIV(1, 0 * n)) > 1`,
  `COALESCE(fixed, DIV(1, 0 * n)) > 1`,
  `NULLIF(fixed, DIV(1, 0 * n)) > 1`,
  `IF(n > 90, DIV(1, 0 * n) > 1, n > 1)`,
  `IF(n < 90, n > 1, DIV(1, 0 * n) > 1)`,
  `IF(n < 90 OR DIV(1, 0 * n) > 1, n > 1, true)`,
  `CASE fixed WHEN 5 THEN n > 1 WHEN DIV(1, 0 * n) THEN true END`,
  `CASE fixed WHEN DIV(1, 0 * n) THEN true WHEN 5 THEN n > 1 END`,
  `CASE WHEN fixed = 5 THEN n > 1 WHEN DIV(1, 0 * n) > 1 THEN true END`,
  `GREATEST(fixed, DIV(1, 0 * n)) > 1`,
  `LEAST(empty, DIV(1, 0 * n)) > 1`,
  `fixed * DIV(1, 0 * n) > 1`,
  `0 * DIV(1, 0 * n) = n`,
  `n > DIV(1, 0 * n) OR n < 90`,
  `n IS DISTINCT FROM DIV(1, 0 * n)`,
  `empty IS DISTINCT FROM DIV(1, 0 * n)`,
  `text LIKE CONCAT('b', CAST(DIV(1, 0 * n) AS STRING))`,
  `STARTS_WITH(text, 'zz') AND DIV(1, 0 * n) > 1`,
  `text > 'b' AND DIV(1, 0 * n) > 1`,
  `CONCAT(text, CAST(DIV(1, 0 * n) AS STRING)) > 'b'`,
  `LENGTH(text) > 5 AND DIV(1, 0 * n) > 1`,
  `NOT (timestamp < TIMESTAMP '9000-01-01' OR DIV(1, 0 * n) > 1)`,
  `(timestamp > TIMESTAMP '9000-01-01') = (DIV(1, 0 * n) > 1)`,
  `(timestamp > TIMESTAMP '9000-01-01') < (DIV(1, 0 * n) > 1)`,
  `EXISTS (SELECT 1 FROM a AS o WHERE o.n = 99 AND DIV(1, 0 * o.n) > 1)`,
  `n IN (SELECT DIV(1, 0 * o.n) FROM a AS o WHERE o.n > 90)`,
  `n = (SELECT MAX(DIV(1, 0 * o.n)) FROM a AS o WHERE o.n > 90)`,
];

const ROUND: readonly ((condition: string) => string)[] = [
  (condition) => `SELECT COUNT(*) AS x FROM a WHERE ${condition}`,
  (condition) => `SELECT COUNT(*) AS x FROM a WHERE n > 90 AND ${condition}`,
  (condition) => `SELECT COUNTIF(${condition}) AS x FROM a`,
  (condition) => `SELECT MAX(TO_JSON_STRING(${condition})) AS x FROM a`,
  (condition) => `SELECT COUNT(*) AS x FROM (SELECT ${condition} AS y, n FROM a) WHERE n < 90 OR y`,
  (condition) => `SELECT COUNT(*) AS x FROM (SELECT ${condition} AS y, n FROM a) WHERE n > 90 AND y`,
  (condition) => `SELECT COUNT(*) AS x FROM (SELECT ${condition} AS y FROM a GROUP BY 1)`,
  (condition) => `SELECT COUNT(*) AS x FROM (SELECT 1 FROM a ORDER BY ${condition} LIMIT 3)`,
  (condition) =>
    `SELECT COUNT(*) AS x FROM (SELECT ROW_NUMBER() OVER (PARTITION BY ${condition} ORDER BY n) AS y FROM a) WHERE y > 90`,
  (condition) => `FROM a |> WHERE ${condition} |> WHERE n > 90 |> AGGREGATE COUNT(*) AS x`,
  (condition) => `FROM a |> WHERE n > 90 |> WHERE ${condition} |> AGGREGATE COUNT(*) AS x`,
  (condition) => `FROM a |> EXTEND ${condition} AS y |> WHERE n > 90 AND y |> AGGREGATE COUNT(*) AS x`,
];

test.each(oneOf(3, BESIDE))(
  '%s is answered alike',
  async (condition) => {
    const differing: (readonly [string, string[]])[] = [];
    for (const place of ROUND) {
      const all = await tables.answers(STORED, place(condition));
      if (all.length > 1) differing.push([place(condition), all]);
    }
    expect(differing).toEqual([]);
  },
  60_000,
);

test.each(oneOf(3, SETTLED))('%s is answered alike', async (consumer) => {
  expect(await tables.answers(STORED, consumer)).toHaveLength(1);
});

test('without the fence some are not', async () => {
  const differing = await Promise.all(
    SETTLED.map(async (consumer) => (await tables.answers(STORED, consumer, false)).length > 1),
  );
  expect(differing).toContain(true);
});

/** Where only TRUE counts, the first operand keeps the second from the rows that it settles. */
test.each([
  ['SELECT COUNT(*) AS x FROM a WHERE n = 0 OR DIV(6, n) > 2', '{"x":129}'],
  ['SELECT COUNT(*) AS x FROM a WHERE n > 5 OR (n <> 0 AND DIV(6, n) > 2)', '{"x":128}'],
  ['SELECT COUNTIF(n = 0 OR DIV(6, n) > 2) AS x FROM a', '{"x":129}'],
  ['SELECT SUM(IF(n <> 0 AND DIV(6, n) > 2, 1, 0)) AS x FROM a', '{"x":86}'],
  ['SELECT SUM(CASE WHEN n = 0 OR DIV(6, n) > 2 THEN 1 END) AS x FROM a', '{"x":129}'],
  [
    'SELECT COUNT(*) AS x FROM a AS l LEFT JOIN a AS r ON l.n = r.n AND r.n <> 0 AND DIV(6, l.n + r.n) > 2',
    '{"x":2106}',
  ],
  ['SELECT COUNT(*) AS x FROM a WHERE NULLIF(n, 3) > 3 OR DIV(6, n + 1) > 1', '{"x":257}'],
])('%s does not fail', async (consumer, row) => {
  expect(await tables.answers(STORED, consumer)).toEqual([row]);
});

test.each(['AND', 'OR'])('many operands of %s do not nest', async (operator) => {
  const operands = Array.from(
    { length: 1200 },
    (_, i) => `DIV(n, ${i + 1}) ${operator === 'AND' ? '>' : '<'} -${i + 1}`,
  );
  const condition = operands.join(` ${operator} `);
  const [own, none] = [`{"x":${OWN.length}}`, '{"x":0}'];
  // How deep a condition nests does not depend on how rows lie: one layout is enough.
  for (const ctes of STORED) {
    const answer = (where: string): Promise<string> =>
      tables.answer(0, ctes, `SELECT COUNT(*) AS x FROM a WHERE ${where}`);
    expect(await answer(condition)).toBe(operator === 'AND' ? own : none);
    expect(await answer(`NOT (${condition})`)).toBe(operator === 'AND' ? none : own);
  }
});
