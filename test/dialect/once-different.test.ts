/** Queries that the engines once answered otherwise: found by `npm run fuzz:dialect`, and held to both here. */
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { TwoEngines } from './two-engines';

const PLACES = '[1, 2, 3, 5, 6, 7, 8, -1, -2, -5, -6, -7, -8, 9223372036854775807, -9223372036854775807]';
const AMOUNTS = '[1, -1, 2019, 2020, 95000, 96000, -24229, -24230, 9223372036854775807, -9223372036854775807]';

const QUERIES = [
  ...["'b'", "''", "'语'"].flatMap((sub) =>
    ['', ', 2', ', 9223372036854775807'].map(
      (occurrence) => `SELECT x, INSTR('abcabc', ${sub}, x${occurrence}) AS y FROM UNNEST(${PLACES}) AS x ORDER BY x`,
    ),
  ),
  "SELECT INSTR('', 'o', 9223372036854775807) AS y",
  'SELECT SAFE.CODE_POINTS_TO_STRING(c) AS y FROM (SELECT [-1] AS c)',
  'SELECT x, SAFE.CODE_POINTS_TO_STRING([x]) AS y FROM UNNEST([0, 55295, 55296, 57343, 57344, 1114111, 1114112, -1]) AS x ORDER BY x',
  'SELECT CODE_POINTS_TO_STRING([65, NULL, 66]) AS y',
  ...['MONTH', 'QUARTER', 'YEAR'].flatMap((part) => [
    `SELECT x, SAFE.DATE_ADD(DATE '2020-02-29', INTERVAL x ${part}) AS y FROM UNNEST(${AMOUNTS}) AS x ORDER BY x`,
    `SELECT x, SAFE.DATETIME_SUB(DATETIME '2020-02-29 00:00:00', INTERVAL x ${part}) AS y FROM UNNEST(${AMOUNTS}) AS x ORDER BY x`,
    `SELECT DATE_ADD(CAST(NULL AS DATE), INTERVAL 9223372036854775807 ${part}) AS y`,
  ]),
  String.raw`SELECT REGEXP_INSTR(s, re) AS y FROM (SELECT '' AS s, '100%_\\' AS re)`,
  "SELECT REGEXP_INSTR(s, re) AS y FROM (SELECT '' AS s, 'a*' AS re)",
  ...['DATE', 'DATETIME', 'TIME'].map((type) => `SELECT SAFE.PARSE_${type}('%H:%M:%S %z', '') AS y`),
  "SELECT x FROM UNNEST([1]) AS x ORDER BY INTERVAL '1:30:00.5' HOUR TO SECOND",
  "SELECT ARRAY_AGG(x ORDER BY INTERVAL '1-2' YEAR TO MONTH) AS y FROM UNNEST([1]) AS x",
  'SELECT ARRAY_AGG(x ORDER BY INTERVAL 5 DAY) AS y FROM UNNEST([1]) AS x',
];

overLocalBigQuery('once different', (local) => {
  let engines: TwoEngines;
  beforeAll(async () => {
    engines = await TwoEngines.open(local().host);
  }, 60_000);
  afterAll(() => engines.close());

  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines.difference(sql, 'ordered')).toBeNull();
  });
});
