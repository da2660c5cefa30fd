/** Literal formats of dates and times, on both engines. */
import { onBothEngines, sampled } from './on-both-engines';
import { ask } from './two-engines';

const LETTERS = 'AaBbCcDdeFGgHhIjklMmnPpQRrSsTtUuVWwXxYyZz'.split('');
const FORMATS = [
  [...LETTERS.map((letter) => `${letter}=%${letter}`), '%%'].join(' '),
  '%E4Y|%E*S|%E*f|%E0S|%E3S|%E6S|%E9S|%:z|%Ez',
  '%%Q %%%Q %%%%',
  '',
  'no element, é 日',
];
/** What strftime of DuckDB does not write is refused by name. */
const UNWRITTEN = ['%-d', '%_H', '%05Y', '%^a', '%#p', '%Ey', '%Od', '%E3f', '%::z', '%f', '%', 'x%5'];

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
  return values.map(
    (value) =>
      `SELECT ${FORMATS.map((format, i) => `FORMAT_${kind}(${quoted(format)}, ${value}) AS v${i}`).join(', ')}`,
  );
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
  'x%e %k %Y': ['x 5  7  2026', 'x5 7 69', 'x45 2026'],
  '%Y-%j': ['2026-366', '2024-366', '2026-001', '2026-1', '2026-000'],
  '%A, %d %B %Y': ['Saturday, 5 September 2026', 'sat, 05 sep 2026', 'Monday, 5 Sept 2026'],
  '%c': ['Sat Sep  5 11:22:33 2026', 'Sat Sep 5 11:22:33 26'],
  '%H:%M:%S': ['11:22:33', '1:2:3', '24:00:00', '11:22:60', '11:22:61'],
  '%I:%M %p': ['12:30 am', '12:30 PM', '1:30 pm', '13:30 pm', ' 1:30 AM'],
  '%p %I': ['pm 5', 'xm 5'],
  '%r': ['1:02:03PM', '01:02:03  am'],
  '%H:%M:%E*S': ['1:2:3.1234567', '1:2:03.', '1:2:60.5', '01:02:03.5'],
  '%E3S': ['5.123', '5.1234', '05'],
  '%s': ['1788577629', '-5', '+5', '999999999999', '-62135596800', '-62135596801'],
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
  '%%%n%t%H': ['%  5', '%5'],
  '%d%b%Y': ['05Sep2026', '5sep2026', '31DEC26', '5September2026'],
  '%d/%b/%Y:%H:%M:%S %z': ['05/Sep/2026:01:02:03 +0200', '5/Sep/2026:1:2:3 -03', '05/Sep/2026:01:02:03+02'],
  '%a, %d %b %Y %T': ['Sat, 05 Sep 2026 11:22:33', 'Saturday,5Sep2026 1:2:3'],
  '%F': ['2026-09-05', ' 2026- 9- 5', '2026-45-1', '26-09-05', '12026-09-05', '2026-09-5x'],
  '%F %T': [
    '2026-09-05 11:22:33',
    '2026-09-0511:22:33',
    '2026-09-5  1: 2: 3',
    '2026-09-45:06:07',
    '2026-09-05T11:22:33',
    '2016-12-31 23:59:60',
  ],
  '%FT%TZ': ['2026-09-05T11:22:33Z', '2026-9-5T1:2:3Z', '2026-09-05T11:22:33z'],
  '%FT%H:%M:%E*SZ': [
    '2026-09-05T11:22:33Z',
    '2026-09-05T11:22:33.123456789Z',
    '2026-09-05T11:22:60.5Z',
    '2026-09-05T11:22:3.5Z',
  ],
  '%FT%H:%M:%E*S%Ez': ['2026-09-05T11:22:33.5Z', '2026-09-05T11:22:33.5+05:30', '2026-09-05T11:22:33-08'],
  '%D %R': ['09/05/26 11:22', '9/ 5/69 1:2'],
  '%Y %m': ['2026 09', '2026 9', '202609', '20260 9', '20261 9'],
  '%y%m%d': ['260905', '26095', '69123'],
  '%H%M%S': ['112233', '11223', '1:2:3', '11 22 33'],
  '%H %M': ['11 22', '1122', '122', '1 2'],
  '%I%p': ['11pm', '1 am', '1am', '13pm'],
  '%l:%M%P': [' 1:30am', '11:30pm'],
  '%B %e, %Y': ['September 5, 2026', 'sep  5, 2026', 'Sept 5, 2026', 'September5, 2026'],
};

/** Elements that no regular expression reads as GoogleSQL does, and formats that give a part of a time twice. */
const UNREAD = [
  '%C%y',
  '%U %Y',
  '%G-W%V-%u',
  '%Q/%Y',
  '%Ob %Y',
  '%E7S',
  '%s %Y',
  '%F %T %Z',
  '%T %R',
  '%Y-%j-%m',
  '',
  '%J',
];

const READ = ['DATE', 'TIME', 'DATETIME', 'TIMESTAMP'].flatMap((kind) => {
  const zones = kind === 'TIMESTAMP' ? ['', ", 'America/New_York'"] : [''];
  return zones.flatMap((zone) =>
    Object.entries(TEXTS).map(
      ([format, texts]) =>
        `SELECT t, SAFE.PARSE_${kind}(${quoted(format)}, t${zone}) AS v FROM UNNEST([${[...texts, ''].map(quoted).join(', ')}, NULL]) AS t WITH OFFSET AS o ORDER BY o`,
    ),
  );
});

const ERRORS = [
  ...[
    "PARSE_DATE('%d', '2026-09-05')",
    "PARSE_TIME('%Y', '1')",
    "PARSE_DATE('%F', t)",
    "PARSE_TIMESTAMP('%d', '1', 'x/y')",
  ],
  ...['', 'SAFE.'].map((safe) => `${safe}FORMAT_TIMESTAMP('%H', TIMESTAMP '2026-09-05 00:00:00+00', z)`),
  ...['', 'SAFE.'].map((safe) => `${safe}PARSE_TIMESTAMP('%d', '1', z)`),
  ...['FORMAT_DATE(NULL, CURRENT_DATE())', "PARSE_DATE(NULL, 'x')", "PARSE_DATE('%F', NULL)"],
].map((text) => `SELECT ${text} AS v FROM (SELECT 'x/y' AS z, '2026-13-01' AS t)`);

onBothEngines('formats of dates and times', (engines) => {
  test.each(sampled([...WRITTEN, ...READ, ...ERRORS]))('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  test.each([
    ...UNWRITTEN.map((format) => `FORMAT_TIMESTAMP(${quoted(format)}, CURRENT_TIMESTAMP())`),
    ...UNREAD.map((format) => `PARSE_TIMESTAMP(${quoted(format)}, 'x')`),
    'FORMAT_TIMESTAMP(f, CURRENT_TIMESTAMP())',
    "PARSE_TIMESTAMP(f, 'x')",
  ])('%s is refused by name', async (call) => {
    const answer = await ask(engines().embedded, `SELECT ${call} AS v FROM (SELECT '%F' AS f)`);
    expect(answer).toEqual({
      error: expect.stringMatching(/^The embedded engine has no (?:FORMAT|PARSE)_TIMESTAMP with /),
    });
  });
});
