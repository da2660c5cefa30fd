/** FORMAT by literal and computed formats, on both engines. */
import { onBothEngines } from './on-both-engines';

const INTEGERS = '[0, 1, -1, 42, 1234567, -9223372036854775808, 9223372036854775807, NULL]';
const DOUBLES = `[12345678901234567.1e0, 0.5e0, -1.5e0, 2.5e0, 1234567e0, -0.0e0, 0e0, -1e-9, 1.7e308, 5e-324, 1e15, 1e-5, 0.0001e0,
  99999.95e0, 123456789e0, 1e21, 9.5e0, 0.1e0, CAST('nan' AS FLOAT64), CAST('-inf' AS FLOAT64), CAST('inf' AS FLOAT64), NULL]`;
const DECIMALS = `[NUMERIC '12345678901234567.123456', 0.5, -1.5, 2.5, 1234567, 0, NUMERIC '-0.000000001', 25, 35, 99999.95, 0.0001,
  NUMERIC '0.000015', NUMERIC '99999999999999999999999999999.999999999', NULL]`;
const TEXTS = String.raw`['', 'a', 'é日🙂', 'a\nb', "it's", 'say "x"', 'back\\slash', NULL]`;
const JSONS = String.raw`[JSON '{"a": [1, {"b": null}], "c": {}, "d": []}', JSON '"é \\"x\\""', JSON '1.25', JSON '[[[]], "{,:}"]', JSON '{"a": "it\'s"}', NULL]`;
const ELSE = [
  "DATE '2026-09-05'",
  "TIMESTAMP '2026-09-05 01:02:03.5+00'",
  'TRUE',
  "INTERVAL '1-2 3 4:5:6.7' YEAR TO SECOND",
  'INTERVAL -5 HOUR',
];

const OF_INTEGERS = [
  ...[
    '%d',
    '%i',
    '%5d',
    '%-5d|',
    '%05d',
    '%+d',
    '% d',
    '%.3d',
    '%.0d',
    '%.d',
    '%8.3d',
    '%08.3d',
    "%'d",
    "%'+d",
    "%'012d",
    "%'-30d|",
    '%#d',
  ],
  ...[
    '%x',
    '%X',
    '%o',
    '%#x',
    '%#X',
    '%#o',
    '%08x',
    '%#08x',
    '%+x',
    '% o',
    "%'x",
    "%'X",
    "%'o",
    '%.10x',
    '%-#12x|',
    '%#.30o',
    '%t',
    '%T',
    '%5t|',
    '%.1T',
  ],
];
const OF_NUMBERS = [
  ...[
    '%f',
    '%e',
    '%g',
    '%F',
    '%E',
    '%G',
    '%.3f',
    "%'f",
    '%.0f',
    '%.1f',
    '%20f',
    '%-20f|',
    '%020f',
    '%+f',
    '% f',
    '%#.0f',
    "%'020.2f",
    '%.12g',
  ],
  ...[
    '%.0g',
    '%.1g',
    '%#g',
    '%#.3g',
    '%10.2g',
    "%'g",
    '%.20g',
    '%.17g',
    '%.0e',
    '%#.0e',
    '%.20e',
    '%012.3e',
    '%-12.1e|',
    '%+e',
    "%'-30.1f|",
    '%+020f',
  ],
];
const OF_TEXTS = ['%s', '%5s|', '%-5s|', '%.2s', '%5.1s|', '%t', '%T', '%8T|'];
const OF_JSON = ['%p', '%P', '%t', '%T', '%10p|', '%.3P'];
const WRONG = [
  '',
  '%',
  '%%',
  '%5%',
  '%q',
  '%u',
  '%ld',
  '%1$d',
  '%d %',
  '%é',
  '%d%d',
  'no specifier',
  '%s',
  '%f',
  '%d',
  '%p',
  '%*d',
  '%.*f',
  '%\n',
];

function list(formats: readonly string[]): string {
  return `[${formats.map((format) => JSON.stringify(format)).join(', ')}, NULL]`;
}

/** Each format of each value: as a column, and as a literal. */
function both(formats: readonly string[], values: string): string[] {
  const literals = formats.map((format, i) => `FORMAT(${JSON.stringify(format)}, x) AS v${i}`).join(', ');
  return [
    `SELECT FORMAT(f, x) AS v FROM UNNEST(${values}) AS x WITH OFFSET AS i, UNNEST(${list(formats)}) AS f WITH OFFSET AS j ORDER BY i, j`,
    `SELECT ${literals} FROM UNNEST(${values}) AS x WITH OFFSET AS i ORDER BY i`,
  ];
}

const SUITABLE = [
  ...both(OF_INTEGERS, INTEGERS),
  ...both(OF_NUMBERS, DOUBLES),
  ...both(OF_NUMBERS, DECIMALS),
  ...both(OF_NUMBERS, "[BIGNUMERIC '12345678901234567890.123456789012345678', BIGNUMERIC '-0.5']"),
  ...both(OF_TEXTS, TEXTS),
  ...both(OF_JSON, JSONS),
  ...ELSE.flatMap((value) => both(['%t', '%T', '%40t|', '%.4T'], `[${value}, NULL]`)),
];
const UNSUITABLE = WRONG.flatMap((format) =>
  ['1', '1.5e0', "'x'", "JSON '1'", "DATE '2026-09-05'"].flatMap((value) => [
    `SELECT FORMAT(f, ${value}) AS v FROM (SELECT ${JSON.stringify(format)} AS f)`,
    `SELECT SAFE.FORMAT(f, ${value}) AS v FROM (SELECT ${JSON.stringify(format)} AS f)`,
    `SELECT SAFE.FORMAT(${JSON.stringify(format)}, ${value}) AS v`,
  ]),
);
const OTHERS = [
  "SELECT FORMAT('%*d|%-*d|%.*f|%*.*f|%*s|%.*s', 5, 42, -5, 42, 2, 3.14159e0, 10, 3, 2.71828e0, -6, 'ab', 1, 'xyz') AS v",
  "SELECT FORMAT('%*d', w, x) AS v FROM UNNEST([STRUCT(NULL AS w, 42 AS x), (5, 42), (-5, 42), (0, NULL)])",
  "SELECT FORMAT('%.*f', w, 42e0) AS v FROM UNNEST([-1, 0, 3, NULL]) AS w",
  "SELECT FORMAT(f, 7, x) AS v FROM UNNEST(['%*d', '%.*d', '%-*d|', '%d %d', '%d', '%*s']) AS f, UNNEST([3]) AS x WHERE f LIKE '%*d%'",
  "SELECT FORMAT(f) AS v FROM UNNEST(['', '100%%', 'é']) AS f",
  "SELECT FORMAT(f, [1, NULL], STRUCT(1 AS a, 'x' AS b), JSON '[1]') AS v FROM UNNEST(['%t %t %t', '%T %T %T', '%30t|%-30T|%.2t']) AS f",
  "SELECT FORMAT('%T|%t', [INTERVAL 1 DAY], STRUCT(INTERVAL -5 HOUR, JSON '{\"a\": 1}')) AS v",
  "SELECT FORMAT('%d', x) AS v FROM (SELECT 1 AS x) GROUP BY v",
  "SELECT FORMAT(CONCAT('%', '0', CAST(x AS STRING), 'd'), x) AS v FROM UNNEST([1, 5, 12]) AS x",
];

onBothEngines('FORMAT', (engines) => {
  test.each([...SUITABLE, ...UNSUITABLE, ...OTHERS])('%s', async (sql) => {
    expect(await engines().difference(sql, 'any order')).toBeNull();
  });

  // What the embedded engine refuses: fields wider than anyone reads, and digits that the reference makes up.
  test.each([
    "SELECT FORMAT(f, 1) AS v FROM (SELECT '%1001d' AS f)",
    'SELECT FORMAT("%\'.8d", x) AS v FROM (SELECT 1 AS x)',
  ])('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toMatch(/^embedded fails/);
  });
});
