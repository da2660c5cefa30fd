/** JSONPaths, modes and layouts of the JSON functions on both engines. */
import { alikeOnBoth } from './on-both-engines';

const JSON_TEXT = String.raw`'{"a":{"b":[1,2]},"a b":3,"x-y":4,"@t":5,"a/b":6,"é":7,"x$":8,"a:b":9,"-1":10,"":11,"0":12,"x\'y":13,"x\\"y":14,"_":15}'`;

const PATHS = [
  ...['$', '$.a b', '$.a.b[0]', '$.a.b[ 1 ]', '$.a.b.0', '$.a.b[-1]', '$.a.b[99999999999999999999]', '$.x-y', '$.é'],
  ...['$.a:b', '$."a b"', '$."a"."b"[1]', '$.""', '$."@t"', '$."a/b"', '$[-1]', '$[0]', '$.0', '$[_]', '$[a]', '$.a '],
  ...['$.', '$.a.', '$..a', '$.*', '$.a[*]', '$a', 'a', '', ' $.a', '$ .a', '$.@t', '$.a/b', '$.x$', '$.a[', '$.a[]'],
  ...[
    String.raw`$[\'a\']`,
    String.raw`$[ \'a b\' ]`,
    '$["a"]',
    String.raw`$.\'a\'`,
    String.raw`$.x\'y`,
    String.raw`$."x\\"y"`,
  ],
  String.raw`$[\'x\\\'y\']`,
];

const OF_PATHS = PATHS.flatMap((path) => [
  ...['JSON_QUERY', 'JSON_VALUE', 'JSON_EXTRACT', 'JSON_EXTRACT_SCALAR', 'JSON_QUERY_ARRAY'].map(
    (name) => `SELECT ${name}(${JSON_TEXT}, '${path}') AS v`,
  ),
  `SELECT SAFE.JSON_QUERY(${JSON_TEXT}, '${path}') AS v`,
  `SELECT JSON_QUERY(JSON ${JSON_TEXT}, '${path}') AS v`,
]);

const VALUES = [
  "[NUMERIC '1.5', NUMERIC '123456789.123456789', NUMERIC '12345678901234567890', NUMERIC '0.1', NUMERIC '-1e-9', NUMERIC '9007199254740993', NULL, NUMERIC '1e20', NUMERIC '-1e19', NUMERIC '18446744073709551616']",
  "[BIGNUMERIC '3.14159265', BIGNUMERIC '0.123456789012345678', BIGNUMERIC '18446744073709551615']",
  '[9007199254740993, 9007199254740992, -9007199254740993, 0, NULL]',
  "[INTERVAL 1 DAY, INTERVAL '1-2 3 4:5:6.789' YEAR TO SECOND, INTERVAL '-1-2 -3 -4:5:6.789' YEAR TO SECOND, INTERVAL 0 DAY, MAKE_INTERVAL(1, -2, 3, -4, 5, -6), INTERVAL '-0:0:0.5' HOUR TO SECOND, INTERVAL '0:0:0.000001' HOUR TO SECOND, NULL]",
  `[STRUCT(9007199254740993 AS a, [1, 9007199254740993] AS b, NUMERIC '1.5' AS c, INTERVAL 13 MONTH AS d)]`,
  String.raw`[JSON '{"a":[1,{"b":null}],"c":{},"d":[],"e":"x{[,:]}\\"y"}', JSON '[]', JSON ' { } ', JSON '[[],[[1]]]', JSON 'null', JSON '"a"']`,
  String.raw`[STRUCT(1 AS a, 'x' AS a, 2, 'é\n"' AS ${'`k"ey`'}, CAST([] AS ARRAY<INT64>) AS f, STRUCT(CAST(NULL AS INT64) AS d) AS e)]`,
  "[STRUCT(TIMESTAMP '2026-01-01 00:00:00+00' AS t, b'abc' AS b, CAST('nan' AS FLOAT64) AS f, [b'a'] AS bb)]",
];

const QUERIES = [
  // Escapes of control characters, and names with them.
  String.raw`SELECT TO_JSON_STRING(s) AS a, TO_JSON_STRING([STRUCT(s AS v)]) AS b, TO_JSON(s) AS c, TO_JSON_STRING(TO_JSON(s)) AS d, JSON_QUERY(TO_JSON_STRING(s), '$') AS e FROM UNNEST(['a\x1b[31m', '\x0b\x0e\x0f\x00\x01', '\\\\u001B\x1a', '\\\x1f', 'é\x1c\x1d\x1e', '']) AS s WITH OFFSET AS o ORDER BY o`.replaceAll(
    '\\\\',
    '\\',
  ),
  String.raw`SELECT TO_JSON_STRING(x) AS a, TO_JSON(x) AS b, x AS c, x.${'`a\\x00b`'} AS d FROM UNNEST([STRUCT<${'`a\\x00b`'} STRING, ${'`c\\x1b`'} INT64>('x', 1)]) AS x`,
  ...VALUES.flatMap((values) => [
    `SELECT TO_JSON(x) AS a, TO_JSON(x, stringify_wide_numbers => TRUE) AS b, TO_JSON(x, stringify_wide_numbers => NULL) AS c FROM UNNEST(${values}) AS x WITH OFFSET AS o ORDER BY o`,
    `SELECT TO_JSON_STRING(x) AS a, TO_JSON_STRING(x, TRUE) AS b, TO_JSON_STRING(x, FALSE) AS c, TO_JSON_STRING(x, NULL) AS d FROM UNNEST(${values}) AS x WITH OFFSET AS o ORDER BY o`,
    `SELECT TO_JSON(x, stringify_wide_numbers => b) AS a, TO_JSON_STRING(x, b) AS d FROM UNNEST(${values}) AS x WITH OFFSET AS o, UNNEST([TRUE, FALSE, NULL]) AS b WITH OFFSET AS p ORDER BY o, p`,
  ]),
  'SELECT TO_JSON_STRING([1, 2], TRUE), TO_JSON_STRING(CAST(NULL AS ARRAY<INT64>), TRUE), TO_JSON_STRING(NULL, TRUE), TO_JSON_STRING(1, pretty_print => TRUE)',
  'SELECT JSON_OBJECT("a", INTERVAL 1 HOUR), JSON_ARRAY(INTERVAL 1 HOUR, INTERVAL -1 MINUTE)',
  "SELECT JSON_VALUE('{}', NULL), JSON_QUERY('{}', NULL), JSON_EXTRACT_SCALAR('{}', NULL), JSON_QUERY_ARRAY('[1]', NULL), JSON_VALUE_ARRAY('[1]', NULL)",
  "SELECT SAFE.FLOAT64(j, wide_number_mode => m) AS v FROM UNNEST([JSON '1.5', JSON '9007199254740993', JSON '\"x\"', JSON 'null', NULL]) AS j WITH OFFSET AS o, UNNEST(['exact', 'round', 'x', NULL]) AS m WITH OFFSET AS p ORDER BY o, p",
  `SELECT SAFE.PARSE_JSON(s, wide_number_mode => m) AS v FROM UNNEST(['1.5', '9007199254740993', '3.14159265358979323846', '{', NULL, '"123456789012345678901234"', '1e400']) AS s WITH OFFSET AS o, UNNEST(['exact', 'round', 'x', NULL]) AS m WITH OFFSET AS p ORDER BY o, p`,
  "SELECT FLOAT64(j, wide_number_mode => m) FROM UNNEST([JSON '9007199254740993']) AS j, UNNEST(['exact']) AS m",
  "SELECT PARSE_JSON('1.5', wide_number_mode => m) FROM UNNEST(['x']) AS m",
  // The closest double of a decimal.
  "SELECT CAST(x AS FLOAT64) FROM UNNEST([NUMERIC '9149684752302417.131916223', NUMERIC '0.1']) AS x WITH OFFSET AS o ORDER BY o",
  "SELECT CAST(x AS FLOAT64) FROM UNNEST([BIGNUMERIC '3.14159265', BIGNUMERIC '1.7']) AS x WITH OFFSET AS o ORDER BY o",
];

/** What DuckDB takes for JSON; the fault comes before everything that is read. */
const NEARLY_JSON = [
  ...['NaN', 'nan', '-NaN', 'Infinity', '-Infinity', 'inf', '-INF', ' NaN ', '[NaN,1]', '[-infinity]', '[1,NaN]'],
  ...['{"b":NaN,"a":1}', '{"a":Infinity}', '{"b":{"c":[inf]},"a":[1]}', '{"b\\\\":nan,"a":1}', '{"a":[1,-Infinity]}'],
  ...['[1,]', '{"a":1,}', '{"a":[1 , ],"b":2}', '[[1,],2]', '{"a":{"b":1,},}'],
  // JSON after all.
  ...[
    '"NaN"',
    '{"a":"x,]"}',
    '{"NaN":1,"a":"inf"}',
    '["NaN",-1]',
    '{"a\\\\":"NaN","a":[{}]}',
    '"\\\\\\",NaN,]"',
    '{"a":"\\\\u001B\\\\\\\\u001B","info":1}',
  ],
];
const READERS = [
  ...['JSON_VALUE', 'JSON_QUERY', 'JSON_EXTRACT', 'JSON_EXTRACT_SCALAR'].flatMap((f) => [
    `${f}(s, '$')`,
    `${f}(s, '$.a')`,
  ]),
  ...['JSON_VALUE_ARRAY', 'JSON_QUERY_ARRAY', 'JSON_EXTRACT_ARRAY', 'JSON_EXTRACT_STRING_ARRAY'].flatMap((f) => [
    `${f}(s, '$')`,
    `${f}(s, '$.a')`,
  ]),
  ...[
    'SAFE.PARSE_JSON(s)',
    "SAFE.PARSE_JSON(s, wide_number_mode => 'round')",
    'TO_JSON_STRING(SAFE.PARSE_JSON(s))',
    'LAX_FLOAT64(SAFE.PARSE_JSON(s))',
    'LAX_STRING(SAFE.PARSE_JSON(s))',
    'JSON_TYPE(SAFE.PARSE_JSON(s))',
    "JSON_VALUE(SAFE.PARSE_JSON(s), '$.a')",
    'TO_JSON_STRING(s)',
    'TO_JSON(s)',
  ],
];
const NEARLY = `UNNEST([${NEARLY_JSON.map((text) => `'${text}'`).join(', ')}]) AS s WITH OFFSET AS o ORDER BY o`;

alikeOnBoth('forms of JSON', [
  ...OF_PATHS,
  ...QUERIES,
  ...READERS.map((call) => `SELECT ${call} AS v FROM ${NEARLY}`),
  ...NEARLY_JSON.flatMap((text) => [`SELECT PARSE_JSON('${text}') AS v`, `SELECT JSON '${text}' AS v`]),
]);
