/** Behind the fence HAVING MAX and MIN of aggregates see the caller's rows alone: keys, extremes and errors. */
import { FencedTables } from './fenced-tables';

const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'text', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
];
const OWN = 300;

const own = Array.from({ length: OWN }, (_, i) => ({
  id: `mine${i}`,
  project: 'mine',
  text: String(i % 11),
  n: i % 7,
}));
/** Their keys are greater and smaller than all own ones, and their texts are no numbers. */
const others = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `other${i}`,
    project: 'other',
    text: 'x',
    n: i % 2 === 0 ? 9_000_000_000 + i : -9_000_000_000 - i,
  }));

const TABLES = {
  alone: own,
  few: [...others(2), ...own, ...others(3)],
  many: [...own, ...others(20_000)],
};
const STORED = Object.keys(TABLES).map((name) => `WITH a AS (SELECT * FROM ${name} WHERE project = 'mine')`);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make(TABLES, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

test.each([
  ['SELECT COUNT(* HAVING MAX n) AS c, COUNT(id HAVING MIN n) AS d FROM a', '{"c":42,"d":43}'],
  ['SELECT SUM(n HAVING MAX CAST(text AS INT64)) AS c FROM a', null],
  ['SELECT SUM(CAST(text AS INT64) HAVING MAX n) AS c FROM a', null],
  ['SELECT n, SUM(CAST(text AS INT64) HAVING MIN CAST(text AS INT64)) AS c FROM a GROUP BY n', null],
  ['SELECT CAST(text AS INT64) AS k, COUNT(* HAVING MAX 1 / (n + 1)) AS c FROM a GROUP BY k', null],
  ['SELECT CAST(text AS INT64) AS k, n, COUNT(* HAVING MAX 1 / (n + 1)) AS c FROM a GROUP BY ROLLUP(k, n)', null],
  [
    'SELECT STRING_AGG(a.id HAVING MAX CAST(b.text AS INT64) ORDER BY a.id) AS c FROM a JOIN a AS b ON a.id = b.id',
    null,
  ],
  ['SELECT n, (SELECT COUNT(* HAVING MAX CAST(b.text AS INT64)) FROM a AS b WHERE b.n = a.n) AS c FROM a', null],
])('%s', async (consumer, expected) => {
  const answers = await tables.answers(STORED, consumer);
  expect(answers).toHaveLength(1);
  expect(answers[0]).not.toMatch(/^failed/);
  if (expected !== null) expect(answers[0]).toBe(expected);
});

test('an own key that cannot be computed is an error, whoever else has rows', async () => {
  const answers = await tables.answers(STORED, 'SELECT COUNT(* HAVING MAX 1 / n) AS c FROM a');
  expect(answers).toHaveLength(1);
  expect(answers[0]).toMatch(/^failed: .*division/i);
});
