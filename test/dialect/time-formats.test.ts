/** Formats of dates and times, as literals and as columns, on both engines. */
import { onBothEngines } from './on-both-engines';

const LETTERS = 'AaBbCcDdeFfGgHhIijkLlMmNnPpQqRrSsTtUuVvWwXxYyZz%'.split('');
/** What goes before a letter. */
const BEFORE = ['', '-', '_', '0', '^', '#', '^#', '5', '012', '_12', '-12', 'E', 'O', '^E', '7O', ':'];
const ELSEWHERE = [
  ...['%E4Y|%E*S|%E*f|%E0S|%E3S|%E6S|%E9S|%E12S|%E25S|%E0f|%E3f|%E9f', '%:z|%::z|%:::z|%::::z|%Ez|%E*z|%ET|%E*'],
  ...[
    '%%Q %%%Q %%%%',
    '%5%H %-%d %E%H %5%Y %E%Y',
    '%5| %-| %E| %E4| %:',
    '%',
    '%5',
    '%-5',
    'é%',
    '',
    'no element, é 日',
  ],
];
/** strftime takes an hour of daylight saving time for one of standard time in a flagged `%s`: left out for instants. */
const FORMATS = [
  ...BEFORE.map((before) => LETTERS.map((letter) => `${letter}=%${before}${letter}`).join(' ')),
  ...ELSEWHERE,
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  DATE: ["DATE '2026-09-05'", "DATE '0001-01-01'", "DATE '2024-12-31'", 'CAST(NULL AS DATE)'],
  TIME: ["TIME '03:07:09.12'", "TIME '12:00:00'", "TIME '23:59:59.999999'"],
  DATETIME: ["DATETIME '2021-01-03 00:30:00.5'", "DATETIME '9999-12-31 12:00:00'"],
  TIMESTAMP: [
    ...[
      "TIMESTAMP '2026-09-05 03:07:09.123456+00', 'Asia/Kolkata'",
      "TIMESTAMP '1700-01-01 00:00:00+00', 'America/New_York'",
    ],
    ...[
      "TIMESTAMP '2020-12-28 23:00:00+00'",
      "TIMESTAMP '0001-01-01 00:00:00+00', '-08:00'",
      "TIMESTAMP '9999-12-31 23:00:00+00', '+8'",
    ],
  ],
};

function quoted(text: string): string {
  return JSON.stringify(text);
}

const WRITTEN = Object.entries(VALUES).flatMap(([kind, values]) => {
  const formats = FORMATS.map((format) => (kind === 'TIMESTAMP' ? format.replace(/ s=%[^ ]+s/, '') : format));
  const list = formats.map(quoted).join(', ');
  return values.flatMap((value) => [
    `SELECT FORMAT_${kind}(f, ${value}) AS v FROM UNNEST([${list}, NULL]) AS f WITH OFFSET AS o ORDER BY o`,
    `SELECT ${formats.map((format, i) => `FORMAT_${kind}(${quoted(format)}, ${value}) AS v${i}`).join(', ')}`,
  ]);
});

/** Texts by the formats that they are read by. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  '%Y-%m-%d': [
    '2026-09-05',
    '2026-9-5',
    ' 2026-09-05 ',
    '2026-13-01',
    '10000-01-01',
    '0-01-01',
    '-5-01-01',
    '2026-02-29',
    '26-09-05x',
  ],
  '%Y%m%d': ['20260905', '202695', '2026095', '202609051'],
  '%d %H': ['5 7', '57', '0507', '45 1', '31\t\n 7'],
  '%d%M': ['45', '0545', '3159'],
  '%e%M': ['45', ' 545'],
  'x%e %k %D': ['x 5  7  9/ 3/26', 'x5 7 09/03/69'],
  '%C%y': ['2026', '19', '1926', '100'],
  '%y %C': ['26 19', '69 20'],
  '%C %E4Y %y': ['19 2026 26'],
  '%Y-%j': ['2026-366', '2024-366', '2026-001', '2026-1', '2026-000'],
  '%Y-%j-%m': ['2026-36-11'],
  '%m-%j': ['11-100'],
  '%U%j:': ['71:'],
  '%Y-%U': ['2026-10', '2026-0', '2026-53', '2023-0', '2023-53', '2023-1'],
  '%Y-%W-%d': ['2026-10-31', '2024-0-1', '2024-1-1'],
  '%Y-%W-%a': ['2026-10-Tue'],
  '%G': ['2026', '2025', '99999', '0'],
  '%g-%J': ['26-200', '26-371', '20-371', '26-365'],
  '%G-W%V-%u': ['2026-W10-3'],
  '%V %u': ['10 3', '54 1'],
  '%Q/%Y': ['3/2026', '5/2026'],
  '%EY %Ey %Od %Oe %Om': ['2026 26 5 6 7'],
  '%Ob %Y': ['MAY 2026', 'Janu 2026', 'september 2026'],
  '%A, %d %B %Y': ['Saturday, 5 September 2026', 'sat, 05 sep 2026', 'Monday, 5 Sept 2026'],
  '%A%A': ['MonFri', 'FriMon', 'MondayFriday', 'SunSat'],
  '%c': ['Sat Sep  5 11:22:33 2026', 'Sat Sep 5 11:22:33 26'],
  '%H:%M:%S': ['11:22:33', '1:2:3', '24:00:00', '11:22:60', '11:22:61'],
  '%T %R %X': ['1:2:61 3:4 5:6:7', '11:22:33 12:34 23:59:60'],
  '%I:%M %p': ['12:30 am', '12:30 PM', '1:30 pm', '13:30 pm', ' 1:30 AM'],
  '%I %p %k': ['5 pm 7', '5 pm 13'],
  '%p %I': ['pm 5', 'xm 5'],
  '%r': ['1:02:03PM', '01:02:03  am'],
  '%H:%M:%E*S': ['1:2:3.1234567', '1:2:03.', '1:2:60.5', '01:02:03.5'],
  '%E3S': ['5.123', '5.1234', '05'],
  '%E7S': ['5.1234567'],
  '%s': ['1788577629', '-5', '+5', '999999999999', '-62135596800', '-62135596801'],
  '%s %Y': ['12345 2020'],
  '%F %T%z': [
    '2026-09-05 11:22:33+02',
    '2026-09-05 11:22:33-0330',
    '2026-09-05 11:22:33+1430',
    '2026-09-05 11:22:33+2',
  ],
  '%F %T%Ez': [
    '2026-09-05 11:22:33Z',
    '2026-09-05 11:22:33z',
    '2026-09-05 11:22:33+05:30',
    '2026-09-05 11:22:33+0530',
    '2026-09-05 11:22:33+5:30',
    '2026-09-05 11:22:33+14:00',
  ],
  '%F %T %Z': [
    '2026-09-05 11:22:33 Europe/Berlin',
    '2026-09-05 11:22:33 UTC+3',
    '2026-09-05 11:22:33 -08',
    '2026-09-05 11:22:33 x',
    '2026-10-25 02:30:00 Europe/Berlin',
  ],
  '%Z %z': ['Europe/Berlin +05'],
  '%z %Z': ['+05 Europe/Berlin'],
  '%%%n%t%H': ['%  5', '%5'],
  ' ': ['', ' ', 'x'],
  '%n%t ': ['', ' '],
  '%': ['', '%'],
  '%5d %-d %J %f %E': ['5', ''],
  '': ['', ' ', 'x'],
};

const PAIRS = Object.entries(TEXTS).flatMap(([format, texts]) => texts.map((text) => [format, text] as const));
const READ = ['DATE', 'TIME', 'DATETIME', 'TIMESTAMP'].flatMap((kind) => {
  const list = PAIRS.map((pair) => `(${pair.map(quoted).join(', ')})`).join(', ');
  const from = `FROM UNNEST([STRUCT<f STRING, t STRING>${list}, (NULL, 'x'), ('%Y', NULL)]) WITH OFFSET AS o ORDER BY o`;
  const zones = kind === 'TIMESTAMP' ? ['', ", 'America/New_York'"] : [''];
  return zones.flatMap((zone) => [
    `SELECT SAFE.PARSE_${kind}(f, t${zone}) AS v ${from}`,
    ...Object.entries(TEXTS).map(
      ([format, texts]) =>
        `SELECT t, SAFE.PARSE_${kind}(${quoted(format)}, t${zone}) AS v FROM UNNEST([${texts.map(quoted).join(', ')}]) AS t WITH OFFSET AS o ORDER BY o`,
    ),
  ]);
});

const ERRORS = [
  ...["PARSE_DATE(f, '2026-09-05') AS v FROM (SELECT '%d' AS f)", "PARSE_TIME(f, '1') AS v FROM (SELECT '%Y' AS f)"],
  ...[
    "FORMAT_DATE(f, DATE '2026-09-05') AS v FROM (SELECT '%J' AS f)",
    "PARSE_TIMESTAMP(f, '1', 'x/y') AS v FROM (SELECT '%d' AS f)",
  ],
  "FORMAT_TIMESTAMP(f, TIMESTAMP '2026-09-05 00:00:00+00', z) AS v FROM (SELECT '%H' AS f, 'x/y' AS z)",
  "SAFE.FORMAT_TIMESTAMP(f, TIMESTAMP '2026-09-05 00:00:00+00', z) AS v FROM (SELECT '%H' AS f, 'x/y' AS z)",
  "SAFE.PARSE_TIMESTAMP(f, '1', z) AS v FROM (SELECT '%d' AS f, 'x/y' AS z)",
].map((text) => `SELECT ${text}`);

onBothEngines('formats of dates and times', (engines) => {
  test.each([...WRITTEN, ...READ, ...ERRORS])('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  // What the embedded engine refuses, where the reference has a value of its own making.
  test.each([
    "SELECT FORMAT_TIMESTAMP(f, TIMESTAMP '2026-09-05 00:00:00+00', 'Europe/Berlin') AS v FROM (SELECT '%-s' AS f)",
    "SELECT SAFE.FORMAT_DATE(f, DATE '2026-09-05') AS v FROM (SELECT '%12E' AS f)",
    "SELECT SAFE.FORMAT_DATE(f, DATE '2026-09-05') AS v FROM (SELECT '%1001d' AS f)",
    "SELECT SAFE.PARSE_DATE(f, 'x') AS v FROM (SELECT REPEAT('x', 1001) AS f)",
  ])('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toMatch(/^embedded fails/);
  });
});
