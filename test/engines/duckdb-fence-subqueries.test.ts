/**
 * Behind the fence a subquery in an expression that can fail is evaluated for the rows around it alone, whatever values others have
 * and however rows lie.
 */
import { FencedTables } from './fenced-tables';
import { oneOf } from '../scale';

const FIELDS = [
  { name: 'project', type: 'STRING' },
  { name: 'id', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'text', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'text', type: 'STRING' }] },
];

const rowOf = (project: string, i: number, n: number): object => ({
  project,
  id: `${project}${i}`,
  n,
  text: 'x',
  timestamp: '2026-01-01T00:00:00Z',
  metadata: [{ text: 'x' }],
});
const ALONE = Array.from({ length: 300 }, (_, i) => rowOf('mine', i, i % 7));
/** Rows of others between the own ones. */
const AMONG = ALONE.flatMap((own, i) => [
  own,
  ...Array.from({ length: 16 }, (_, k) => rowOf('other', 16 * i + k, k % 2 === 0 ? 99 : -99)),
]);
const STORED = ['alone', 'among'].map((table) => `WITH a AS (SELECT * FROM ${table} WHERE project = 'mine')`);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make({ alone: ALONE, among: AMONG }, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

/** None of the first two has a row of the own ones; some others' rows have such values. */
const ROWS_AROUND: readonly string[] = ['n = 99', `id LIKE 'other%'`, 'n = 3'];

const F = 'CAST(i.text AS INT64)';
/** Conditions of a row `d` by a subquery that can fail. */
const SUBQUERIES: readonly string[] = [
  `(SELECT ${F} FROM a AS i WHERE i.id = d.id) IS NULL`,
  `(SELECT ${F} FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i WHERE i.id = d.id ORDER BY i.timestamp LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i, UNNEST(i.metadata) AS m WHERE i.id = d.id ORDER BY i.timestamp LIMIT 1) IS NULL`,
  `(SELECT i.n FROM a AS i WHERE i.id = d.id ORDER BY ${F} LIMIT 1) IS NULL`,
  `(SELECT MAX(${F}) FROM a AS i WHERE i.id = d.id) IS NULL`,
  `(SELECT SUM(i.n) FROM a AS i WHERE i.id = d.id GROUP BY ${F} LIMIT 1) IS NULL`,
  `(SELECT MAX(i.n) FROM a AS i WHERE i.id = d.id HAVING MAX(${F}) > 1) IS NULL`,
  `EXISTS (SELECT ${F} FROM a AS i WHERE i.id = d.id LIMIT 1)`,
  `d.n IN (SELECT ${F} FROM a AS i WHERE i.id = d.id)`,
  `d.n IN (SELECT CAST(d.text AS INT64) FROM a AS i WHERE i.id = d.id)`,
  `(SELECT CAST(d.id AS INT64) FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT CAST(d.text AS INT64) + i.n FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT DIV(1, d.n - d.n) FROM a AS i WHERE i.n = d.n LIMIT 1) IS NULL`,
  `(SELECT DIV(1, d.n - i.n) FROM a AS i WHERE i.n = d.n LIMIT 1) IS NULL`,
  `(SELECT DIV(1, d.n - i.n) FROM a AS i WHERE i.n < d.n LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i WHERE i.n > d.n LIMIT 1) IS NULL`,
  `ARRAY_LENGTH(ARRAY(SELECT ${F} FROM a AS i WHERE i.id = d.id)) > 0`,
  `(SELECT ROW_NUMBER() OVER (ORDER BY ${F}) FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT DISTINCT ${F} FROM a AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i WHERE i.id = d.id UNION ALL SELECT 1 LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i JOIN a AS j ON i.id = j.id WHERE i.id = d.id LIMIT 1) IS NULL`,
  `(SELECT ${F} FROM a AS i JOIN a AS j ON i.id = j.id AND j.id = d.id LIMIT 1) IS NULL`,
];

/** What reads nothing of the row around it may be evaluated in any case. */
const UNCORRELATED: readonly string[] = [
  `EXISTS (SELECT 1 FROM a AS i WHERE i.id = d.id AND ${F} > 1)`,
  `(SELECT x FROM (SELECT ${F} AS x, i.id FROM a AS i) AS i WHERE i.id = d.id LIMIT 1) IS NULL`,
];

const QUERIES: readonly ((rows: string, condition: string) => string)[] = [
  (rows, condition) => `SELECT COUNT(*) AS c FROM (SELECT id, n, text FROM a WHERE ${rows}) AS d WHERE ${condition}`,
  (rows, condition) =>
    `SELECT MAX(TO_JSON_STRING(${condition})) AS c FROM (SELECT id, n, text FROM a WHERE ${rows}) AS d`,
];

test.each(oneOf(3, [...SUBQUERIES, ...UNCORRELATED]))('%s', async (condition) => {
  for (const rows of ROWS_AROUND) {
    for (const query of QUERIES) {
      const text = query(rows, condition);
      const answers = await tables.answers(STORED, text);
      expect([text, answers]).toEqual([text, answers.slice(0, 1)]);
      const fails = answers[0]?.startsWith('failed') === true;
      if (rows !== 'n = 3' && SUBQUERIES.includes(condition)) expect([text, fails]).toEqual([text, false]);
    }
  }
});
