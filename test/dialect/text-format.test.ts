/** FORMAT by literal formats, on both engines. */
import { onBothEngines, sampled } from './on-both-engines';
import { ask } from './two-engines';

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

const OF_INTEGERS = ['%d', '%i', '%5d', '%-5d|', '%05d', '%+d', '% d', '%x', '%X', '%o', '%t', '%T', '%5t|', '%.1T'];
const OF_NUMBERS = [
  ...['%f', '%e', '%g', '%F', '%E', '%G', '%.3f', '%.0f', '%.f', '%.1f', '%20f', '%-20f|', '%+f', '% f', '%.12g'],
  ...[
    '%.1g',
    '%10.2g',
    '%.0e',
    '%-12.1e|',
    '%+e',
    '%-30.1f|',
    '%+.2f',
    '%.15f',
    '%08.3f',
    '%020f',
    '%+020f',
    '%012.3e',
    '%-020f|',
    '% 012.2g',
  ],
];
const OF_TEXTS = ['%s', '%5s|', '%-5s|', '%.2s', '%5.1s|', '%.s', '%t', '%T', '%8T|'];
const WRONG = [
  ...['', '%', '%%', '%5%', '%q', '%u', '%ld', '%1$d', '%d %', '%é', '%d%d', 'no specifier', '%s', '%f', '%d', '%p'],
  ...['%*d', '%.*f', '%\n'],
];

const of = (formats: readonly string[], values: string): string =>
  `SELECT ${formats.map((format, i) => `FORMAT(${JSON.stringify(format)}, x) AS v${i}`).join(', ')} FROM UNNEST(${values}) AS x`;

const LARGE =
  '[1e15, 1125899906842624.25e0, 1e15 + 0.125e0, 4503599627370497.5e0, -4503599627370496.5e0, 1e16, 1e22, -1e23, 1e44, 1e300]';

const SUITABLE = [
  of(OF_INTEGERS, INTEGERS),
  of(OF_NUMBERS, DOUBLES),
  of(['%f', '%.0f', '%.1f', '%.2f', '%30.3f|', '%-30.2f|', '%+.0f', '% f', '%030.2f', '%+030f'], LARGE),
  of(['%t', '%T', '%40t|'], DECIMALS),
  of(OF_TEXTS, TEXTS),
  of(['%t', '%T'], JSONS),
  ...ELSE.map((value) => of(['%t', '%T', '%40t|', '%.4T'], `[${value}, NULL]`)),
];
/** No value of a type, or no specifier, on either engine. */
const UNSUITABLE = WRONG.filter((format) => !format.includes('*') && format !== '%p').flatMap((format) =>
  ['1', '1.5e0', "'x'", "JSON '1'", "DATE '2026-09-05'"].map(
    (value) => `SELECT FORMAT(${JSON.stringify(format)}, ${value}) AS v`,
  ),
);
const OTHERS = [
  "SELECT FORMAT('') AS a, FORMAT('100%%') AS b, FORMAT('é') AS c, FORMAT(NULL, 1) AS d",
  "SELECT FORMAT('%t %t %t', [1, NULL], STRUCT(1 AS a, 'x' AS b), JSON '[1]') AS v",
  "SELECT FORMAT('%T|%t', [INTERVAL 1 DAY], STRUCT(INTERVAL -5 HOUR, JSON '{\"a\": 1}')) AS v",
  "SELECT FORMAT('%d', x) AS v FROM (SELECT 1 AS x) GROUP BY v",
];

onBothEngines('FORMAT', (engines) => {
  test.each(sampled([...SUITABLE, ...UNSUITABLE, ...OTHERS]))('%s', async (sql) => {
    expect(await engines().difference(sql, 'any order')).toBeNull();
  });

  test.each([
    ...[
      'FORMAT(f, 1)',
      "FORMAT('%*d', 5, 1)",
      'FORMAT("%\'d", 1)',
      "FORMAT('%#x', 1)",
      "FORMAT('%08x', 1)",
      "FORMAT('%.3d', 1)",
    ],
    ...["FORMAT('%.20g', 1e0)", "FORMAT('%f', NUMERIC '1.5')", "FORMAT('%p', JSON '1')"],
    ...["FORMAT('%t', b'x')", "FORMAT('%T', [b'x'])", "FORMAT('%t', BIGNUMERIC '1')"],
  ])('%s is refused by name', async (call) => {
    const answer = await ask(engines().embedded, `SELECT ${call} AS v FROM (SELECT '%d' AS f)`);
    expect(answer).toEqual({ error: expect.stringMatching(/^The embedded engine has no FORMAT /) });
  });

  // A field wider than anyone reads.
  test('a width', async () => {
    expect(await engines().difference("SELECT FORMAT('%1001d', 1) AS v", 'ordered')).toMatch(/^embedded fails/);
  });
});
