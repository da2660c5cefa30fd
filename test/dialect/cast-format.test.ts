/** CAST with FORMAT on both engines. */
import { onBothEngines } from './on-both-engines';

const INSTANTS = [
  "TIMESTAMP '2026-09-05 03:07:09.123456+00'",
  "TIMESTAMP '2026-11-30 13:00:00+00'",
  "TIMESTAMP '0987-05-04 00:00:01.5+00'",
];
const FORMATS = [
  ...[
    "'YYYY-MM-DD HH24:MI:SS'",
    "'yyyy-mm-dd hh24:mi:ss'",
    "'YYY YY Y RRRR RR'",
    "'DDD D DAY Day day DY Dy dy dAy DAy'",
  ],
  ...["'MONTH Month month MON Mon mon'", "'HH HH12 HH24 AM pm A.M. p.m. Am'", "'Pm P.m.'", "'SSSSS FF1 FF3 FF6 FF9'"],
  ...["'TZH:TZM'", `'"at" YYYY "100%" ; /'`, `'YYYYMMDD"T"HH24MISS'`, String.raw`r'"a\"b"'`, "''", "'   '"],
];
const WRITTEN = [
  ...INSTANTS.flatMap((value) => FORMATS.map((format) => `${value} AS STRING FORMAT ${format}`)),
  ...['Asia/Kolkata', 'America/New_York', '-03:30', '+05', 'UTC', 'x/y', ''].map(
    (zone) => `${INSTANTS[0]!} AS STRING FORMAT 'YYYY-MM-DD HH24:MI TZH:TZM' AT TIME ZONE '${zone}'`,
  ),
  ...[
    ["DATE '2026-09-05'", 'YYYY/MM/DD DAY'],
    ["DATE '2026-09-05'", 'HH24'],
    ["TIME '11:22:33.5'", 'HH:MI:SS.FF3 PM'],
    ["TIME '11:22:33.5'", 'YYYY'],
    ["DATETIME '2026-09-05 11:22:33'", 'MON DD, YYYY HH12:MI AM'],
    ["DATETIME '2026-09-05 11:22:33'", 'TZH'],
    ['CAST(NULL AS DATE)', 'YYYY'],
    ['CAST(NULL AS DATE)', 'HH24'],
  ].map(([value, format]) => `${value!} AS STRING FORMAT '${format!}'`),
];

/** Texts by the type and the format that they are read by. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'DATE YYYY-MM-DD': [
    ...['2026-09-05', '2026-9-5', '  2026-09-05 ', '2026 - 09 - 05', '2026- 09-05', '2026-09 -05', '2026-09-05\\n'],
    ...['2026-02-30', '2026-13-05', 'x', '', '12026-09-05', '26-09-05', '226-09-05', '0000-09-05', '2026-009-05'],
    ...['2026/09/05', '20260905'],
  ],
  'DATE YYYYMMDD': ['20260905', '2026-09-05'],
  'DATE YYYY-MM-DD HH24': ['2026-09-05 99'],
  'DATETIME YYYYMMDDHH24MI': ['202609051122'],
  'DATETIME YYYY-MM-DDHH24:MI': ['2026-09-05 11:22', '2026-09-0511:22'],
  'DATETIME YYYY-MM-DD HH24:MI': ['2026-09-05 11:22', '2026-09-05 24:00', '2026-09-05   11:22', '2026-09-0511:22'],
  'TIME HH24:MI': ['11:22', '1:2', '24:00'],
  'TIMESTAMP YYYY-MM-DD HH24:MI': ['2026-09-05 11:22', '2026-09-05 11:60'],
  'TIMESTAMP YYYY-MM-DD HH24:MI:SS': ['2026-09-05 1:2:3', '2026-09-05 11:22:60'],
  'TIMESTAMP YYYY-MM-DD HH24:MI:SS.FF3': ['2026-09-05 11:22:33.25', '2026-09-05 11:22:33.1234', '2026-09-05 11:22:33'],
  'TIMESTAMP YYYY-MM-DD HH24:MI:SS.FF6': ['2026-09-05 11:22:33.1234567', '2026-09-05 11:22:33.123456'],
  'TIMESTAMP YYYY-MM-DD HH24:MI TZH:TZM': [
    ...['2026-09-05 11:22 +02:00', '2026-09-05 11:22 +2:00', '2026-09-05 11:22 +0200', '2026-09-05 11:22 Z'],
    '2026-09-05 11:22 +02',
  ],
};
const READ = Object.entries(TEXTS).flatMap(([by, texts]) => {
  const [, type, format] = /^(\w+) (.*)$/.exec(by)!;
  return texts.map((text) => `'${text}' AS ${type!} FORMAT '${format!}'`);
});

const OF_BYTES = [
  String.raw`b'\xff\x01' AS STRING FORMAT 'HEX'`,
  "b'hello' AS STRING FORMAT 'BASE64'",
  "'ff01' AS BYTES FORMAT 'hex'",
  "'fx' AS BYTES FORMAT 'HEX'",
  "'aGVsbG8=' AS BYTES FORMAT 'BASE64'",
  "'*' AS BYTES FORMAT 'BASE64'",
];

onBothEngines('CAST with FORMAT', (engines) => {
  test.each([
    ...[...WRITTEN, ...READ, ...OF_BYTES].flatMap((cast) => [
      `SELECT CAST(${cast}) AS v`,
      `SELECT SAFE_CAST(${cast}) AS v`,
    ]),
    "SELECT CAST('2026-09-05 11:22' AS TIMESTAMP FORMAT 'YYYY-MM-DD HH24:MI' AT TIME ZONE 'Europe/Berlin') AS v",
    ...['CAST', 'SAFE_CAST'].map(
      (cast) =>
        `SELECT ${cast}(${INSTANTS[0]!} AS STRING FORMAT 'HH24' AT TIME ZONE z) AS v FROM UNNEST(['x/y', NULL, '+02']) AS z`,
    ),
    "SELECT CAST(x AS DATE FORMAT 'YYYY-MM-DD') AS v FROM UNNEST(['2026-09-05', NULL]) AS x",
  ])('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });
});
