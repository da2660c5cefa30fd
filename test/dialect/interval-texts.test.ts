/** CAST of a text to INTERVAL on both engines. */
import { alikeOnBoth } from './on-both-engines';

const TEXTS = [
  ...['1-2 3 4:5:6', '1-2 3 4:5:6.789', '-1-2 -3 -4:5:6', '+1-2 +3 +4:5:6', '1-2', '3', '4:5:6', '3 4:5:6', '1-2 3'],
  ...['4:5', '1-2 4:5:6', '', ' 1-2', '1-2 ', '1-2 3  4:5:6', '1-13 0 0:0:0', '0-0 0 0:60:0', '0-0 0 100:0:0', 'abc'],
  ...['10000-0 0 0:0:0', '10001-0 0 0:0:0', '0-0 3660000 0:0:0', '0-0 3660001 0:0:0', '0-0 0 87840000:0:0'],
  ...['0-0 0 87840001:0:0', '-10000-0 -3660000 -87840000:0:0', '-10000-0 -3660000 -87840000:0:0.000001'],
  ...['0-120000', '0-120001', '9223372036854775808-0', '3 4', '3 4:5', '1-2 3 4', '1-2 3 4:5', '1', '1-2-3', '1--2'],
  ...['1-2 3 4:5:6.1234567', '1-2 3 4:5:6.', '1-2 3 4:5:6.123456789', '1-2 3 4:5:6.1234567891', '1-2 3 4:5:6,5'],
  ...['1-2 3 -0:0:0.5', '- 1', '1-2 -3 +4:05:06', '-0-0 0 -0:0:1', '0001-02', '-3 -4:5', '4:5:6.5', '1-2 3 +4'],
  ...['P1Y2M3DT4H5M6S', 'P1Y', 'PT1S', 'P1W', 'PT1.5S', 'PT1,5S', 'PT-1.5S', 'P-1Y', 'P1Y-2M', '-P1Y', 'p1y', 'P'],
  ...['PT', 'P1.5Y', 'PT36H', 'P1M1M', 'P1Y2M3W4D', 'P0Y', 'PT0.000001S', 'P1D1Y', 'PT1S1H', 'P1YT', 'PT1.5H'],
  ...['PT1.5M', 'P1Y ', 'P+1Y', 'PT+1S', 'PT1.123456789S', 'PT1.1234567891S', 'P 1Y', 'P1H', 'PT1Y', 'P1Y2', 'PT.5S'],
];

alikeOnBoth(
  'INTERVAL of texts',
  [
    `SELECT x, SAFE_CAST(x AS INTERVAL) AS y FROM UNNEST([${TEXTS.map((text) => `'${text}'`).join(', ')}, NULL]) AS x`,
    "SELECT CAST('x' AS INTERVAL) AS y",
    "SELECT DATE '2026-01-31' + CAST('0-1' AS INTERVAL) AS y, CAST(CAST('-4:5:6.789' AS INTERVAL) AS STRING) AS z",
    "SELECT CAST(['1-2', 'PT4H'] AS ARRAY<INTERVAL>) AS y, CAST(STRUCT('1-2' AS a) AS STRUCT<a INTERVAL>) AS z",
    'SELECT CAST(event_message AS INTERVAL) AS y FROM raw_edge_logs',
    'SELECT COUNT(SAFE_CAST(event_message AS INTERVAL)) AS y FROM raw_edge_logs',
  ],
  () => 'any order',
);
