import assert from 'node:assert/strict';
import { Harness, test } from './harness';

const local = new Harness();

/** SQL of one value, its REST type, its REST text. */
const VALUES: readonly (readonly [string, string, string | null])[] = [
  ["'ü\\n\"'", 'STRING', 'ü\n"'],
  ['9223372036854775807', 'INTEGER', '9223372036854775807'],
  ['-9223372036854775808', 'INTEGER', '-9223372036854775808'],
  ['1.5', 'FLOAT', '1.5'],
  ['100.0', 'FLOAT', '100.0'],
  ['12345678.9', 'FLOAT', '1.23456789E7'],
  ['1e-7', 'FLOAT', '1.0E-7'],
  ["CAST('nan' AS FLOAT64)", 'FLOAT', 'NaN'],
  ["CAST('-inf' AS FLOAT64)", 'FLOAT', '-Infinity'],
  ['TRUE', 'BOOLEAN', 'true'],
  ["NUMERIC '1.10'", 'NUMERIC', '1.1'],
  ["NUMERIC '-0.000000001'", 'NUMERIC', '-0.000000001'],
  ["NUMERIC '99999999999999999999999999999.999999999'", 'NUMERIC', '99999999999999999999999999999.999999999'],
  ["BIGNUMERIC '-12.5'", 'BIGNUMERIC', '-12.5'],
  ["b'abc'", 'BYTES', 'YWJj'],
  ["DATE '0001-01-01'", 'DATE', '0001-01-01'],
  ["TIME '01:02:03.000004'", 'TIME', '01:02:03.000004'],
  ["DATETIME '1969-12-31 23:59:59.5'", 'DATETIME', '1969-12-31T23:59:59.500000'],
  ["DATETIME '2026-09-30 11:20:00'", 'DATETIME', '2026-09-30T11:20:00'],
  ["TIMESTAMP '2020-01-01 00:00:00.123456'", 'TIMESTAMP', '1577836800123456'],
  ["TIMESTAMP '1969-12-31 23:59:59.999999'", 'TIMESTAMP', '-1'],
  ["TIMESTAMP '0001-01-01'", 'TIMESTAMP', '-62135596800000000'],
  ["TIMESTAMP '9999-12-31 23:59:59.999999'", 'TIMESTAMP', '253402300799999999'],
  ['JSON \'{"a":1, "b":[null,true]}\'', 'JSON', '{"a":1,"b":[null,true]}'],
  ["INTERVAL '1-2 3 4:5:6.789' YEAR TO SECOND", 'INTERVAL', '1-2 3 4:5:6.789'],
  ["INTERVAL '-1-2 -3 -4:5:6.000001' YEAR TO SECOND", 'INTERVAL', '-1-2 -3 -4:5:6.000001'],
  ["RANGE(DATE '2020-01-01', NULL)", 'RANGE', '[2020-01-01, UNBOUNDED)'],
  ['CAST(NULL AS STRING)', 'STRING', null],
];

test('every type in its REST form', async () => {
  const { json } = await local.query(`SELECT ${VALUES.map(([sql], i) => `${sql} AS c${i}`).join(', ')}`);
  VALUES.forEach(([sql, type, text], i) => {
    assert.equal(json['schema']?.['fields']?.[i]?.['type'], type, sql);
    assert.equal(json['rows']?.[0]?.['f']?.[i]?.['v'], text, sql);
  });
});

test('timestamps in the three forms', async () => {
  const sql = "SELECT TIMESTAMP '2020-01-01 00:00:00.123456', [TIMESTAMP '1970-01-01 00:00:01']";
  const as = (formatOptions: object) => local.rows(sql, { formatOptions });
  assert.deepEqual(await as({}), [['1.577836800123456E9', [{ v: '1.0' }]]]);
  assert.deepEqual(await as({ useInt64Timestamp: true }), [['1577836800123456', [{ v: '1000000' }]]]);
  assert.deepEqual(await as({ timestampOutputFormat: 'ISO8601_STRING' }), [
    ['2020-01-01T00:00:00.123456000000Z', [{ v: '1970-01-01T00:00:01.000000000000Z' }]],
  ]);
});

test('records and lists, with a NULL list as an empty one', async () => {
  const sql =
    'SELECT STRUCT(1 AS a, [2, 3] AS b) AS s, [STRUCT("x" AS c)] AS l, CAST(NULL AS ARRAY<INT64>) AS n, (1, "y") AS t';
  const { json } = await local.query(sql);
  assert.deepEqual(json['rows']?.[0], {
    f: [
      { v: { f: [{ v: '1' }, { v: [{ v: '2' }, { v: '3' }] }] } },
      { v: [{ v: { f: [{ v: 'x' }] } }] },
      { v: [] },
      { v: { f: [{ v: '1' }, { v: 'y' }] } },
    ],
  });
  const fields = json['schema']?.['fields'] as unknown as { name: string; mode: string; fields?: { name: string }[] }[];
  assert.deepEqual(
    fields.map((field) => field.mode),
    ['NULLABLE', 'REPEATED', 'REPEATED', 'NULLABLE'],
  );
  assert.deepEqual(
    fields[3]?.fields?.map((field) => field.name),
    ['_field_1', '_field_2'],
  );
});

test('a list with a NULL in it is no result', async () => {
  const { status, json } = await local.query('SELECT [1, NULL] AS x');
  assert.equal(status, 400);
  assert.equal(json['error']?.['message'], 'Array cannot have a null element; error in writing field x');
});

test('parameters of every type come back as they went', async () => {
  const given: readonly (readonly [string, string])[] = [
    ['STRING', "it's {{projectId}}"],
    ['INT64', '-9007199254740993'],
    ['FLOAT64', '0.1'],
    ['BOOL', 'false'],
    ['NUMERIC', '-1234.5'],
    ['BIGNUMERIC', '0.00000000000000000001'],
    ['BYTES', 'AP8='],
    ['DATE', '2024-02-29'],
    ['TIME', '23:59:59.123456'],
    ['DATETIME', '2024-02-29T01:02:03'],
    ['TIMESTAMP', '2024-02-29 03:02:03.5+02:00'],
    ['JSON', '{"a":[1]}'],
  ];
  const queryParameters = given.map(([type, value], i) => ({
    name: `p${i}`,
    parameterType: { type },
    parameterValue: { value },
  }));
  const sql = `SELECT ${given.map((_, i) => `@p${i}`).join(', ')}`;
  const expected = given.map(([type, value]) =>
    type === 'TIMESTAMP' ? '1709168523500000' : type === 'BIGNUMERIC' ? '0.00000000000000000001' : value,
  );
  assert.deepEqual(await local.rows(sql, { parameterMode: 'NAMED', queryParameters }), [expected]);
});

test('parameters: lists, records, positions, NULL by omission, and what is refused', async () => {
  const list = { type: 'ARRAY', arrayType: { type: 'STRING' } };
  const queryParameters = [
    { name: 'l', parameterType: list, parameterValue: { arrayValues: [{ value: 'a' }, { value: 'b' }] } },
    {
      name: 's',
      parameterType: { type: 'STRUCT', structTypes: [{ name: 'x', type: { type: 'INT64' } }] },
      parameterValue: { structValues: { x: { value: '7' } } },
    },
    { name: 'n', parameterType: { type: 'TIMESTAMP' }, parameterValue: {} },
  ];
  const sql = "SELECT ARRAY_TO_STRING(@l, '-'), @s.x, @n IS NULL";
  assert.deepEqual(await local.rows(sql, { queryParameters }), [['a-b', '7', 'true']]);
  const positional = [{ parameterType: { type: 'INT64' }, parameterValue: { value: '3' } }];
  assert.deepEqual(await local.rows('SELECT ? + 1', { queryParameters: positional }), [['4']]);
  const bad = [{ name: 'd', parameterType: { type: 'DATE' }, parameterValue: { value: '2024-02-30' } }];
  assert.equal(
    (await local.query('SELECT @d', { queryParameters: bad })).json['error']?.['errors']?.[0]?.['reason'],
    'invalid',
  );
  const missing = await local.query('SELECT\n  @nope');
  assert.equal(missing.json['error']?.['message'], "Query parameter 'nope' not found at [2:3]");
});
