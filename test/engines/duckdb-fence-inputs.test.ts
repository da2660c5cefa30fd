/** Behind the fence it depends on the caller's rows alone whether an input that can fail is evaluated, whatever it is joined with. */
import { FencedTables } from './fenced-tables';
import { oneOf } from '../scale';

const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'text', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'text', type: 'STRING' }] },
];
/** Of other projects, in one of both tables: so DuckDB takes now the one and now the other for the smaller. */
const MANY = 20_000;
const OWN = 300;

const rows = (project: string, count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${project}${i}`,
    project,
    text: 'x',
    n: i % 7,
    metadata: [{ text: 'x' }],
  }));

/** The queried project has rows in `full_*` alone. */
const TABLES = {
  full_0: rows('mine', OWN),
  full_1: [...rows('mine', OWN), ...rows('other', MANY)],
  empty_0: [],
  empty_1: rows('other', 5),
  empty_2: rows('other', MANY),
};

const STORED = ['full_0', 'full_1'].flatMap((full) =>
  ['empty_0', 'empty_1', 'empty_2'].map(
    (empty) =>
      `WITH a AS (SELECT * FROM ${full} WHERE project = 'mine'), e AS (SELECT * FROM ${empty} WHERE project = 'mine')`,
  ),
);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make(TABLES, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

const FAILING = `(SELECT id, CAST(text AS INT64) AS x, n FROM a)`;

/** Each can fail on the own rows of `a`. */
const FAILS: readonly string[] = [
  `SELECT COUNT(d.x) AS c FROM ${FAILING} AS d JOIN e ON d.id = e.id`,
  `SELECT COUNT(d.x) AS c FROM e JOIN ${FAILING} AS d ON d.id = e.id`,
  `SELECT COUNT(*) AS c FROM a JOIN e ON CAST(a.text AS INT64) = e.n`,
  `SELECT COUNT(*) AS c FROM e JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM e LEFT JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM a RIGHT JOIN e ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM a FULL JOIN e ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(d.x) AS c FROM e CROSS JOIN ${FAILING} AS d`,
  `SELECT COUNT(d.x) AS c FROM ${FAILING} AS d, e WHERE d.id = e.id`,
  `SELECT COUNT(*) AS c FROM e, (SELECT id FROM a WHERE CAST(text AS INT64) > 0) AS d WHERE d.id = e.id`,
  `SELECT COUNT(*) AS c FROM e JOIN (SELECT SUM(CAST(text AS INT64)) AS s FROM a) AS d ON d.s = e.n`,
  `SELECT COUNT(*) AS c FROM e WHERE n IN (SELECT CAST(text AS INT64) FROM a)`,
  `SELECT COUNT(*) AS c FROM e WHERE n NOT IN (SELECT CAST(text AS INT64) FROM a)`,
  `SELECT COUNT(*) AS c FROM e WHERE EXISTS (SELECT 1 FROM a WHERE CAST(text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e WHERE EXISTS (SELECT 1 FROM a WHERE a.id = e.id AND CAST(a.text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e WHERE n > (SELECT MAX(CAST(text AS INT64)) FROM a)`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM e INTERSECT DISTINCT SELECT CAST(text AS INT64) FROM a) AS d`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM e EXCEPT DISTINCT SELECT CAST(text AS INT64) FROM a) AS d`,
  `SELECT COUNT(*) AS c FROM (SELECT CAST(text AS INT64) AS x FROM a INTERSECT DISTINCT SELECT n FROM e) AS d`,
  `SELECT COUNT(f.x) AS c FROM e JOIN (SELECT d.id, d.x FROM ${FAILING} AS d JOIN a ON d.id = a.id) AS f ON f.id = e.id`,
  `SELECT COUNT(*) AS c FROM e, UNNEST(e.metadata) AS m WHERE EXISTS (SELECT 1 FROM a WHERE CAST(text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e, UNNEST(e.metadata) AS m JOIN (SELECT a.id FROM a, UNNEST(a.metadata) AS o WHERE CAST(a.text AS INT64) > LENGTH(o.text)) AS d ON d.id = m.text`,
  `FROM a |> EXTEND CAST(text AS INT64) AS x |> JOIN e ON e.n = x |> AGGREGATE COUNT(*) AS c`,
];

test.each(oneOf(3, FAILS))('%s is answered alike', async (consumer) => {
  expect(await tables.answers(STORED, consumer)).toHaveLength(1);
});

/** Rows are joined with those of a subquery in a condition, too. */
test.each([
  `CAST(text AS INT64) IN (SELECT n FROM e)`,
  `CAST(text AS INT64) IN (SELECT n FROM e WHERE e.id = a.id)`,
  `CAST(CAST(text AS INT64) AS STRING) IN (SELECT TO_JSON_STRING(ABS(x)) FROM (SELECT ROW_NUMBER() OVER (ORDER BY id) AS x FROM e))`,
  `CAST(text AS INT64) > 0 AND id IN (SELECT id FROM e)`,
  `id IN (SELECT id FROM e) AND CAST(text AS INT64) > 0`,
  `EXISTS (SELECT 1 FROM e WHERE e.id = a.id) AND CAST(text AS INT64) > 0`,
  `n = (SELECT n FROM e WHERE e.id = a.id LIMIT 1) AND CAST(text AS INT64) > 0`,
  `CAST(text AS INT64) IN (SELECT n FROM e) AND n IN (SELECT n FROM e)`,
  `NOT EXISTS (SELECT 1 FROM e WHERE e.id = a.id) AND CAST(text AS INT64) > 0`,
  `n IN (SELECT n FROM e) AND (SELECT COUNT(*) FROM UNNEST(metadata) AS m WHERE CAST(m.text AS INT64) > 0) > 0`,
  `(SELECT MAX(CAST(m.text AS INT64)) FROM UNNEST(metadata) AS m) IN (SELECT n FROM e)`,
  `id IN (SELECT id FROM (SELECT id FROM a AS i WHERE CAST(i.text AS INT64) IN (SELECT n FROM e)))`,
])('beside a subquery in a condition: %s', async (condition) => {
  expect(await tables.answers(STORED, `SELECT COUNT(*) AS c FROM a WHERE ${condition}`)).toHaveLength(1);
});

test.each([
  `SELECT n FROM a GROUP BY n HAVING MAX(CAST(text AS INT64)) IN (SELECT n FROM e)`,
  `SELECT id FROM a WHERE true QUALIFY CAST(text AS INT64) + ROW_NUMBER() OVER (ORDER BY id) IN (SELECT n FROM e)`,
  `FROM a |> WHERE n IN (SELECT n FROM e) |> WHERE CAST(text AS INT64) > 0 |> AGGREGATE COUNT(*) AS c`,
  `SELECT COUNT(*) AS c FROM (SELECT * FROM a WHERE id IN (SELECT id FROM e)) AS d WHERE CAST(d.text AS INT64) > 0`,
  `SELECT COUNT(*) AS c FROM a, UNNEST(metadata) AS m WHERE CAST(m.text AS INT64) > 0 AND a.id IN (SELECT id FROM e)`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM a AS i WHERE i.id = a.id AND CAST(i.text AS INT64) IN (SELECT n FROM e))`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM a AS i WHERE i.id = a.id AND CAST(a.text AS INT64) IN (SELECT n FROM e))`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE CAST(m.text AS INT64) IN (SELECT n FROM e))`,
  `SELECT COUNT(*) AS c FROM a WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE CAST(m.text AS INT64) > 0 AND m.text IN (SELECT text FROM e))`,
  `SELECT MAX((SELECT COUNT(*) FROM UNNEST(a.metadata) AS m WHERE CAST(m.text AS INT64) IN (SELECT n FROM e))) AS c FROM a`,
  `SELECT COUNT(*) AS c FROM a WHERE NOT (CAST(text AS INT64) NOT IN (SELECT n FROM e))`,
  `SELECT COUNT(*) AS c FROM a WHERE CAST(text AS INT64) IN (SELECT n FROM e) OR n = 99`,
])('%s is answered alike', async (consumer) => {
  expect(await tables.answers(STORED, consumer)).toHaveLength(1);
});

/** The same with nothing that fails: rows are what they were. */
test.each(
  FAILS.map((sql) =>
    sql.replaceAll('CAST(text AS INT64)', 'n + LENGTH(text)').replaceAll('CAST(a.text AS INT64)', 'DIV(a.n, 2)'),
  ),
)('%s', async (consumer) => {
  const fenced = await tables.answers(STORED, consumer);
  expect(fenced).toEqual(await tables.answers(STORED, consumer, false));
  expect(fenced).toEqual([expect.stringMatching(/^\{/)]);
});

const ENOUGH = 4;

test('without the fence they differ', async () => {
  const differing: string[] = [];
  for (const consumer of FAILS) {
    if ((await tables.answers(STORED, consumer, false)).length > 1) differing.push(consumer);
    if (differing.length === ENOUGH) break;
  }
  expect(differing).toHaveLength(ENOUGH);
});
