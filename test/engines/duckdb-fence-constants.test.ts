/** Behind the fence a condition that reads no column is evaluated only where those before it hold, whatever form the query takes. */
import { FencedTables } from './fenced-tables';

const FIELDS = [
  { name: 'project', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
];
const OWN = Array.from({ length: 300 }, (_, i) => ({ project: 'mine', n: i % 7 }));
const TABLES = { alone: OWN, among: [...OWN, ...Array.from({ length: 5000 }, () => ({ project: 'other', n: 99 }))] };
const STORED = Object.keys(TABLES).map(
  (table) =>
    `WITH a AS (SELECT * FROM ${table} WHERE project = 'mine'), d AS (SELECT TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) AS start)`,
);

let tables: FencedTables;
beforeAll(async () => {
  tables = await FencedTables.make(TABLES, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

const LATE = `TIMESTAMP_ADD(start, INTERVAL 100000 HOUR) > TIMESTAMP '2001-01-01 00:00:00+00'`;

test.each(
  ['SQRT(-1) <> 1', 'DIV(1, 0) <> 1', `PARSE_JSON('{') IS NOT NULL`].flatMap((fails) => [
    `SELECT (SELECT COUNT(*) FROM d WHERE UNIX_SECONDS(start) = 0 AND ${fails} AND ${LATE}) AS x, (SELECT COUNT(*) FROM a) AS y`,
    `SELECT (SELECT COUNT(*) FROM d WHERE UNIX_SECONDS(start) = 0 AND ${LATE} AND ${fails}) AS x, (SELECT COUNT(*) FROM a) AS y`,
    `SELECT SUM((SELECT COUNT(*) FROM UNNEST([n, 1]) AS e WHERE e = 99 AND ${fails})) AS x, COUNT(*) AS y FROM a`,
    `SELECT SUM((SELECT COUNT(*) FROM UNNEST([n, 1]) AS e WHERE DIV(10, e + 1) = 99 AND ${fails} AND DIV(1, e - 50) = 0)) AS x, COUNT(*) AS y FROM a`,
    `SELECT COUNTIF(n = 99 AND ${fails}) AS x, COUNT(*) AS y FROM a`,
  ]),
)('%s', async (consumer) => {
  expect(await tables.answers(STORED, consumer)).toEqual([expect.stringMatching(/"x":0,"y":300/)]);
});
