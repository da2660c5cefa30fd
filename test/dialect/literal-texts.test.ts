/** Texts that are read as times and numbers: as literals, which the resolver reads, and as values, which the engine does. */
import { alikeOnBoth } from './on-both-engines';

const TIMES = [
  ...['2026-09-30T11:00:00Z', '2026-09-30t11:00:00z', '2026-09-30 11:00:00', '2026-09-30 11:00:00 UTC', '2026-09-30'],
  ...['2026-09-30 11:00:00 UTC+3', '2026-09-30 11:00:00+00', '2026-09-30 11:00:00+5:30', '2026-09-30 11:00:00+0530'],
  ...['2026-09-30 11:00:00-8', '2026-09-30 11:00:00 EST', '2026-9-3 1:2:3', '2026-09-30 11:00:00.1'],
  ...['2026-09-30 11:00:00.123456', '2026-09-30 11:00:60', '2016-12-31 23:59:60.5', '1969-12-31 23:59:59.999999'],
  // A time that the clock skips; local mean time, before zones were.
  '2026-03-08 02:30:00 America/New_York',
  ...['0001-01-01 00:00:00 America/New_York', '1850-01-01 00:00:00 Europe/Berlin'],
  ...['', 'yesterday', '2026-09-30 11:00', '2026-09-30T', '26-09-30', '2026-02-30', '2026-13-01', '20260930'],
  ...['2026-09-30 24:00:00', '2026-09-30 11:60:00', ' 2026-09-30', '2026-09-30 11:00:00 ', '2026-09-30 11:00:00.'],
  ...['2026-09-30 11:00:00.1234567', '2026-09-30 11:00:00 +5:30', '2026-09-30 11:00:00+14:30', '2023-2-29', '2024-2-9'],
  ...['2026-09-30 11:00:00UTC', '2026-09-30 11:00:00  UTC', '2026-09-30 11:00:00 Nowhere/Land', '2026-09-30Z'],
  ...['2026-09-30 11:00:00 america/new_york', '2026-09-30 America/New_York', '10000-01-01 00:00:00', '0000-01-01'],
  ...['0001-01-01 00:00:00+01', '1:2:3.50', '23:59:60', '11:00', '24:00:00', '11:00:00Z', '2026-12-31 23:59:60'],
  '9999-12-31 23:59:60',
];
const NUMBERS = [
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '0x1F', '1.50', '-12.50e3', '0.000000001'],
  ...['99999999999999999999999999999.999999999', '1e29', '1e38', '1e39', '1e400', '-0', 'x', '', '1.1234567895'],
];

const casts = (type: string, texts: readonly string[]): string[] => [
  `SELECT ${texts.map((text, i) => `SAFE_CAST('${text}' AS ${type}) AS v${i}`).join(', ')}`,
  `SELECT t, SAFE_CAST(t AS ${type}) AS v FROM UNNEST([${texts.map((text) => `'${text}'`).join(', ')}]) AS t ORDER BY t`,
];

alikeOnBoth('texts as literals', [
  ...['TIMESTAMP', 'DATE', 'TIME', 'DATETIME'].flatMap((type) => casts(type, TIMES)),
  ...['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC'].flatMap((type) => casts(type, NUMBERS)),
  'SELECT 9223372036854775807 AS a, -9223372036854775808 AS b, 0x1F AS c, CAST(1.12345678950 AS NUMERIC) AS d',
  // The second of these is shown twice by the clock.
  "SELECT TIMESTAMP '2026-09-30 +05' AS t, TIMESTAMP '2026-11-01 01:30:00 America/New_York' AS twice",
  'SELECT 9223372036854775808',
  "SELECT INTERVAL '1-2' YEAR TO MONTH AS a, INTERVAL '1-2 3 4:5:6.5' YEAR TO SECOND AS b, INTERVAL '-1-2 -3 -4:5:6' YEAR TO SECOND AS c, INTERVAL '10:20' HOUR TO MINUTE AS d, INTERVAL -1 MONTH AS e, INTERVAL 14 MONTH AS f, INTERVAL 2 WEEK AS g",
  ...["'1.5' DAY", "'x' DAY", "'1-2' MONTH TO YEAR"].map((interval) => `SELECT INTERVAL ${interval} AS v`),
]);
