/** CAST of numbers AS STRING with FORMAT, on both engines. */
import { onBothEngines } from './on-both-engines';

const VALUES: Readonly<Record<string, string>> = {
  INT64: '[0, 1, -1, 12, -345, 1234567, 9223372036854775807, -9223372036854775808, 255, NULL]',
  FLOAT64: `[0e0, -0.0e0, 0.5e0, 1.5e0, 2.5e0, -12.345e0, 1e20, 1.7e308, 1e-10, 999.995e0, 0.12e0, 255.5e0, 1.8446744073709552e19,
    CAST('nan' AS FLOAT64), CAST('inf' AS FLOAT64), CAST('-inf' AS FLOAT64), NULL]`,
  NUMERIC:
    "[NUMERIC '0', 0.5, 1.5, -0.05, 12.345, -1234.5, NUMERIC '99999999999999999999999999999', 0.000000001, 9.995, NULL]",
  BIGNUMERIC: "[BIGNUMERIC '0.5', -12.345, 1234567890, NULL]",
};
const FORMATS = [
  ...[
    '9',
    '99',
    '999.99',
    '9,999',
    '9G999D9',
    '0000',
    '0,000.00',
    '00.9',
    '9.',
    '.9',
    '.00',
    '9V9',
    '99v99',
    'S999',
    '999S',
    '999MI',
    '999PR',
    '99.9pr',
  ],
  ...[
    '$999',
    '999$',
    'L9,999.9',
    'C999',
    'c99',
    'B99.9',
    '99B',
    'FM999.99',
    '999.99fm',
    'FM0,000.00',
    'B9FM',
    'S9,999.9',
    '9EEEE',
    '9.99eeee',
    '999.9EEEE',
  ],
  ...[
    '0.0EEEES',
    'X',
    'XXXX',
    'xxxx',
    '00XX',
    '0x0X',
    'SXXXX',
    'xxxxMI',
    'XXXXPR',
    'FMXXXX',
    'XXXXXXXXXXXXXXXX',
    '9999999999999999999999.9',
  ],
];
const WRONG = [
  ...[
    '',
    'q',
    ' 9',
    '9 ',
    'MI9',
    'S9S',
    '9SMI',
    '9.9.9',
    '9.9,9',
    ',9',
    '9,9EEEE',
    'EEEE',
    '9EEEE9',
    '9X',
    'X9',
    'X.X',
    'X,X',
    '$X',
    'BX',
    '$9$',
    'BB9',
    'FM9FM',
  ],
  ...['S', '.', 'XXXXXXXXXXXXXXXXX', 'E', 'EEE', '9EE', '9M', '9P', '9TM', 'TM9$', 'RN9', '$RN'],
];

const CASTS = Object.entries(VALUES).flatMap(([, values]) => [
  `SELECT CAST(x AS STRING FORMAT f) AS v FROM UNNEST(${values}) AS x WITH OFFSET AS i, UNNEST([${FORMATS.map((f) => `'${f}'`).join(', ')}, NULL]) AS f WITH OFFSET AS j ORDER BY i, j`,
  `SELECT SAFE_CAST(x AS STRING FORMAT f) AS v FROM UNNEST(${values}) AS x WITH OFFSET AS i, UNNEST([${WRONG.map((f) => `'${f}'`).join(', ')}]) AS f WITH OFFSET AS j WHERE NOT REGEXP_CONTAINS(f, 'TM|RN') ORDER BY i, j`,
  `SELECT ${FORMATS.map((f, i) => `CAST(x AS STRING FORMAT '${f}') AS v${i}`).join(', ')} FROM UNNEST(${values}) AS x WITH OFFSET AS i ORDER BY i`,
]);
const OTHERS = [
  ...WRONG.map((format) => `SELECT CAST(12 AS STRING FORMAT '${format}') AS v`),
  "SELECT CAST(CAST(NULL AS INT64) AS STRING FORMAT 'q') AS v",
  'SELECT CAST(1 AS STRING FORMAT NULL) AS v',
  "SELECT CAST('12' AS INT64 FORMAT '99') AS v",
  "SELECT CAST(TRUE AS STRING FORMAT '99') AS v",
  "SELECT CAST(1 AS STRING FORMAT '99' AT TIME ZONE 'UTC') AS v",
  "SELECT CAST(12 AS STRING FORMAT CONCAT('9', '9')) AS v",
];

onBothEngines('CAST of numbers with FORMAT', (engines) => {
  test.each([...CASTS, ...OTHERS])('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });
});
