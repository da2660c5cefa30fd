import assert from 'node:assert/strict';
import { Harness, type Json, test } from './harness';

const local = new Harness();

async function fault(sql: string, more: Record<string, unknown> = {}): Promise<Json> {
  const { status, json } = await local.query(sql, more);
  assert.notEqual(status, 200, sql);
  assert.equal(json['error']?.['code'], status);
  return { ...json['error'], reason: json['error']?.['errors']?.[0]?.['reason'] } as unknown as Json;
}

test('a table by every way to write its name, with the alias that BigQuery gives it', async () => {
  const names = [
    'raw_edge_logs',
    'logs.raw_edge_logs',
    'test.logs.raw_edge_logs',
    '`raw_edge_logs`',
    '`logs.raw_edge_logs`',
    '`test.logs.raw_edge_logs`',
    '`test`.logs.`raw_edge_logs`',
    '`test.logs`.raw_edge_logs',
  ];
  for (const name of names) {
    assert.deepEqual(await local.rows(`SELECT COUNT(raw_edge_logs.id) FROM ${name}`), [['118']], name);
    assert.deepEqual(await local.rows(`SELECT COUNT(e.id) FROM ${name} AS e, e.metadata AS m`), [['118']], name);
  }
});

test('a table that is not there: by its full name, and unqualified without a default data set', async () => {
  const missing = await fault('SELECT 1\nFROM nowhere');
  assert.equal(missing['message'], 'Not found: Table test:logs.nowhere was not found in location US at [2:6]');
  assert.deepEqual([missing['code'], missing['status']], [404, 'NOT_FOUND']);
  assert.match(String((await fault('SELECT 1 FROM other.t'))['message']), /^Not found: Dataset test:other /);
  const bare = await fault('SELECT 1 FROM raw_edge_logs', { defaultDataset: undefined });
  assert.equal(bare['message'], 'Table "raw_edge_logs" must be qualified with a dataset (e.g. dataset.table).');
  assert.match(String((await fault('SELECT 1 FROM RAW_EDGE_LOGS'))['message']), /Not found/);
});

test('faults of a text say where they are', async () => {
  const places: readonly (readonly [string, string])[] = [
    ['SELECT 1 +', 'Syntax error: Unexpected end of script at [1:11]'],
    ['SELECT\n  nope', 'Unrecognized name: nope at [2:3]'],
    ["SELECT 'ü', nope", 'Unrecognized name: nope at [1:13]'],
    ['SELECT id FROM `logs.raw_edge_logs` WHERE nope', 'Unrecognized name: nope at [1:43]'],
    ['SELECT LENGTH(1)', 'at [1:8]'],
    ['SELECT nope(1)', 'Function not found: nope'],
  ];
  for (const [sql, message] of places) {
    const error = await fault(sql);
    assert.equal(error['reason'], 'invalidQuery', sql);
    if (!sql.endsWith('+'))
      assert.ok(String(error['message']).includes(message), `${sql}: ${String(error['message'])}`);
  }
});

test('faults of a run', async () => {
  for (const sql of [
    'SELECT 1 / 0',
    "SELECT CAST('x' AS INT64)",
    'SELECT [1][OFFSET(3)]',
    "SELECT PARSE_DATE('%F', 'x')",
  ])
    assert.equal((await fault(sql))['reason'], 'invalidQuery', sql);
});

test('names of columns: f0_ for those without, no two alike', async () => {
  const { json } = await local.query('SELECT 1, 2 AS a, COUNT(*), MAX(x) + 4 FROM UNNEST([1]) AS x');
  const fields = json['schema']?.['fields'] as unknown as { name: string }[];
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['f0_', 'a', 'f1_', 'f2_'],
  );
  assert.match(String((await fault('SELECT 1 AS a, 2 AS A'))['message']), /Duplicate column names/);
  assert.match(
    String((await fault('SELECT * FROM (SELECT 1 AS x) JOIN (SELECT 2 AS x) ON TRUE'))['message']),
    /Duplicate/,
  );
  assert.deepEqual(await local.rows('SELECT AS STRUCT 1 AS a, "b" AS b'), [['1', 'b']]);
});

test('the clock stands still in every function of the present', async () => {
  const sql = `SELECT CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(), CURRENT_DATE('Asia/Tokyo'), CURRENT_DATETIME(), CURRENT_TIME,
    TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), SAFE.CURRENT_DATE()`;
  assert.deepEqual(await local.rows(sql), [
    [
      '1790769600000000',
      '1790769600000000',
      '2026-09-30',
      '2026-09-30T12:00:00',
      '12:00:00',
      '1790766000000000',
      '2026-09-30',
    ],
  ]);
  assert.deepEqual(await local.rows('SELECT t.current_date FROM (SELECT 5 AS current_date) AS t'), [['5']]);
});

test('functions that the engine lacks', async () => {
  const sql = `SELECT APPROX_QUANTILES(x, 4), approx_quantiles(DISTINCT x, 2)[OFFSET(1)], APPROX_COUNT_DISTINCT(x),
    APPROX_TOP_COUNT(x, 2)[OFFSET(0)].value, APPROX_TOP_SUM(x, x, 1)[OFFSET(0)].sum
    FROM UNNEST([1, 2, 3, 4, 5, 5, NULL]) AS x`;
  const [row] = await local.rows(sql);
  assert.deepEqual(row, [['1', '2', '3', '5', '5'].map((v) => ({ v })), '3', '5', '5', '10']);
  assert.deepEqual(await local.rows('SELECT APPROX_QUANTILES(x, 2) FROM UNNEST(ARRAY<INT64>[]) AS x'), [[[]]]);
  const found = `SELECT CONTAINS_SUBSTR('the BLUE house', 'Blue'), CONTAINS_SUBSTR('a', 'b'), CONTAINS_SUBSTR(CAST(NULL AS STRING), 'b'),
    CONTAINS_SUBSTR(STRUCT('x' AS blue, ['y', 'a "b" c']), 'A "B"'), CONTAINS_SUBSTR(STRUCT(1 AS blue), 'blue'), CONTAINS_SUBSTR(351, '5')`;
  assert.deepEqual(await local.rows(found), [['true', 'false', null, 'true', 'false', 'true']]);
  for (const lacking of [
    'SESSION_USER()',
    "SAFE.SEARCH('a', 'b')",
    'ST_GEOGPOINT(1, 2)',
    "JSON_KEYS(JSON '1', mode => 'lax')",
  ]) {
    const { reason, message } = await fault(`SELECT ${lacking}`);
    assert.equal(reason, 'notImplemented', lacking);
    assert.match(String(message), /^The local BigQuery /);
  }
});

test("BigQuery's other names of types, and types with parameters", async () => {
  const sql = `SELECT CAST('1' AS INT), CAST(2 AS bigint), SAFE_CAST('x' AS INTEGER), ARRAY<SMALLINT>[3], STRUCT<a BOOLEAN>(TRUE),
    CAST(1.25 AS DECIMAL), CAST(1.25 AS NUMERIC(4, 1)), CAST('abc' AS STRING(10))`;
  assert.deepEqual(await local.rows(sql), [
    ['1', '2', null, [{ v: '3' }], { f: [{ v: 'true' }] }, '1.25', '1.3', 'abc'],
  ]);
});

test('INFORMATION_SCHEMA is there to be seen', async () => {
  const sql = "SELECT COUNT(*) FROM logs.INFORMATION_SCHEMA.TABLES WHERE STARTS_WITH(table_name, 'raw_')";
  assert.deepEqual(await local.rows(sql), [['9']]);
  const columns =
    "SELECT data_type FROM `test.logs.INFORMATION_SCHEMA.COLUMNS` WHERE table_name = 'raw_edge_logs' AND column_name = 'id'";
  assert.deepEqual(await local.rows(columns), [['STRING']]);
});

test('an order in parentheses outlives them, as the gateway composes queries', async () => {
  const sql = 'WITH a AS (SELECT id FROM raw_edge_logs) (\nSELECT id FROM a ORDER BY id DESC LIMIT 3\n)';
  const ids = (await local.rows(sql)).map(([id]) => String(id));
  assert.deepEqual(ids, [...ids].sort().reverse());
  assert.equal(ids.length, 3);
});

test('grouping sets', async () => {
  const data = "(SELECT * FROM UNNEST([STRUCT('a' AS k, 1 AS n, 10 AS v), ('a', 2, 20), ('b', 1, 30)]))";
  const sorted = async (sql: string) => (await local.rows(sql)).map((row) => row.join()).sort();
  assert.deepEqual(await sorted(`SELECT k, n, SUM(v) AS s FROM ${data} GROUP BY ROLLUP(k, n)`), [
    ',,60',
    'a,,30',
    'a,1,10',
    'a,2,20',
    'b,,30',
    'b,1,30',
  ]);
  const ordered = `SELECT k AS kk, COUNT(*) AS c, MAX(k) AS m, GROUPING(k) AS g FROM ${data} GROUP BY ROLLUP(k) HAVING COUNT(*) > 1 ORDER BY c DESC LIMIT 5`;
  assert.deepEqual(await local.rows(ordered), [
    [null, '3', 'b', '1'],
    ['a', '2', 'a', '0'],
  ]);
  assert.deepEqual(await sorted(`SELECT UPPER(k) AS u, SUM(v) FROM ${data} GROUP BY GROUPING SETS (u, ())`), [
    ',60',
    'A,30',
    'B,30',
  ]);
  assert.deepEqual(await sorted(`SELECT k, n, COUNT(*) FROM ${data} GROUP BY CUBE(1, 2)`), [
    ',,3',
    ',1,2',
    ',2,1',
    'a,,2',
    'a,1,1',
    'a,2,1',
    'b,,1',
    'b,1,1',
  ]);
  const inside = `SELECT COUNT(*) FROM (SELECT k FROM ${data} GROUP BY ROLLUP(k)) WHERE k IS NULL`;
  assert.deepEqual(await local.rows(inside), [['1']]);
});

test('what BigQuery accepts since the engine was made', async () => {
  const words = "(SELECT * FROM UNNEST(['GET a', 'GET b', 'POST c', 'get d']) AS x)";
  const verb = "UPPER(REGEXP_EXTRACT(x, r'^\\w+'))";
  const answers: readonly (readonly [string, unknown[][]])[] = [
    [
      `SELECT ${verb} AS v, COUNT(*) AS n FROM ${words} GROUP BY ${verb} ORDER BY n`,
      [
        ['POST', '1'],
        ['GET', '3'],
      ],
    ],
    [`SELECT ${verb} AS v FROM ${words} GROUP BY ${verb} HAVING COUNT(*) > 1`, [['GET']]],
    [
      `SELECT ${verb} AS x, COUNT(*) AS n FROM ${words} GROUP BY ${verb} QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*)) = 1`,
      [['POST', '1']],
    ],
    [
      `WITH a AS (SELECT ${verb} AS v, COUNT(*) AS n FROM ${words} GROUP BY ${verb} ORDER BY n LIMIT 1) SELECT * FROM a`,
      [['POST', '1']],
    ],
    [
      `SELECT ${verb} AS v, COUNT(*) FROM ${words} GROUP BY ALL ORDER BY 2 DESC`,
      [
        ['GET', '3'],
        ['POST', '1'],
      ],
    ],
    [
      'SELECT x, COUNT(*) AS n, GROUPING(x) AS g FROM UNNEST([1, 1, 2]) AS x GROUP BY ROLLUP(x) ORDER BY g, COUNT(*), x',
      [
        ['2', '1', '0'],
        ['1', '2', '0'],
        [null, '3', '1'],
      ],
    ],
    [`SELECT GROUPING(x) FROM ${words} GROUP BY x LIMIT 1`, [['0']]],
    [`SELECT x, COUNT(*) FROM UNNEST(ARRAY<STRING>[]) AS x GROUP BY CUBE(x)`, [[null, '0']]],
    [`SELECT x FROM UNNEST([1]) AS x GROUP BY CUBE(x) ORDER BY x`, [[null], ['1']]],
    ['SELECT MAX_BY(x, LENGTH(x)), MIN_BY(x, LENGTH(x)) FROM UNNEST(["aa", "b"]) AS x', [['aa', 'b']]],
    [
      'SELECT ROUND(COSINE_DISTANCE([1.0, 2.0], [3.0, 4.0]), 6), EUCLIDEAN_DISTANCE([3.0, 0.0], [0.0, 4.0])',
      [['0.01613', '5.0']],
    ],
    [
      "SELECT EDIT_DISTANCE('kitten', 'sitting'), EDIT_DISTANCE('', 'abc'), EDIT_DISTANCE(NULL, 'a'), EDIT_DISTANCE('', CAST(NULL AS STRING))",
      [['3', '3', null, null]],
    ],
  ];
  for (const [sql, rows] of answers) assert.deepEqual(await local.rows(sql), rows, sql);
  const types = await local.query(
    `SELECT ${verb} AS v, DATE(TIMESTAMP '2026-01-01') AS d, COUNT(*) FROM ${words} GROUP BY ROLLUP(v, d)`,
  );
  const fields = types.json['schema']?.['fields'] as unknown as { name: string; type: string }[];
  assert.deepEqual(
    fields.map(({ name, type }) => [name, type]),
    [
      ['v', 'STRING'],
      ['d', 'DATE'],
      ['f0_', 'INTEGER'],
    ],
  );
  const wrong = await fault(`SELECT x, COUNT(*) AS n FROM ${words} GROUP BY ${verb} ORDER BY n`);
  assert.match(
    String(wrong['message']),
    /^SELECT list expression references column x which is neither grouped nor aggregated at \[1:8\]$/,
  );
});

test('a JSONPath takes an element of its own array', async () => {
  const json = `'{"a":[{"b":[{"c":[1]}]},{"b":[{"c":[3]},{"c":[5]}]}],"x[0][1]":[[7]]}'`;
  const sql = `SELECT JSON_VALUE(${json}, '$.a[0].b[1].c[0]'), JSON_VALUE(${json}, '$.a[1].b[1].c[0]'), JSON_QUERY(JSON ${json}, '$.a[0].b[1]'),
    JSON_EXTRACT_SCALAR(${json}, "$['x[0][1]'][0][0]"), JSON_QUERY(${json}, r'$.a[1].b[ 0 ].c'), JSON_VALUE_ARRAY(${json}, '$.a[0].b[0].c'),
    JSON_VALUE(JSON_VALUE('["[[1],[2,3]]"]', '$[0]'), '$[0][1]')`;
  assert.deepEqual(await local.rows(sql), [[null, '5', null, '7', '[3]', [{ v: '1' }], null]]);
});
