/** A 60th second in a text is the next minute's first, in every type that has seconds. */
import { alikeOnBoth } from './on-both-engines';

const TEXTS = [
  '12:34:60',
  '23:59:60.999999',
  '12:34:61',
  '12:60:00',
  '01:60:60',
  '1:2:60',
  '1:1:600',
  ':60',
  '2026-01-01 23:59:60',
  '2026-12-31T23:59:60.5',
  '2026-01-01t23:59:60z',
  '2026-06-30 5:6:60',
  '2026-02-30 00:00:60',
  '2026-01-01 00:00:60.1234567',
  '2026-01-01 01:60:60',
  '2026-01-01 23:59:60+01:00',
  '2026-01-01 23:59:60.25 America/New_York',
  '9999-12-31 23:59:60',
  '9999-12-31 23:59:60+01',
  '0000-12-31 23:59:60',
  '0000-12-31 23:59:60-01',
  '0000-12-31 23:59:59',
  '0001-01-01 00:00:60+00:01',
  '0000-12-31',
  '10000-01-01',
];
const TYPES = ['TIME', 'DATETIME', 'TIMESTAMP', 'DATE'];

const OTHERS = [
  "SELECT TIMESTAMP(x, 'America/New_York') AS y FROM UNNEST(['2026-01-01 23:59:60.5']) AS x",
  "SELECT PARSE_TIMESTAMP('%E*S', x) AS y FROM UNNEST(['60.5', '59.5', '6.5']) AS x ORDER BY x",
  "SELECT PARSE_TIME('%H:%M:%E*S', x) AS y FROM UNNEST(['01:02:60.5']) AS x",
  "SELECT PARSE_DATETIME('%F %H:%M:%E*S', x) AS y FROM UNNEST(['2026-01-01 01:02:60.5']) AS x",
  "SELECT PARSE_TIMESTAMP('%F %T', x) AS y FROM UNNEST(['9999-12-31 23:59:60']) AS x",
  "SELECT DATETIME(x) AS y, DATE(TIMESTAMP(x)) AS z FROM UNNEST(['2026-01-01 23:59:60']) AS x",
  "SELECT TIME '12:00:60.5' AS y, DATETIME '2026-01-01 00:00:60.5' AS z, TIMESTAMP '2026-01-01 00:00:60.5' AS w",
];

alikeOnBoth('a 60th second', [
  ...TEXTS.flatMap((text) =>
    TYPES.flatMap((type) =>
      [`CAST(x AS ${type})`, `SAFE_CAST(x AS ${type})`].flatMap((cast) => [
        `SELECT ${cast} AS y FROM UNNEST(['${text}']) AS x`,
        `SELECT ${cast.replace('x', `'${text}'`)} AS y`,
      ]),
    ),
  ),
  ...OTHERS,
]);
