/** One round of the tester: each function, construct and place once. `npm run fuzz:dialect` makes as many as one likes. */
import { localBigQueryInstalled } from '../../local-bigquery';
import { Findings } from './difference';
import { Engines } from './engines';
import { AGGREGATES, PLACE_NAMES } from './query';
import { STARTS } from './generate';
import { run } from './run';

const SEED = 20261122;
const ROUND = STARTS.length + AGGREGATES.length + PLACE_NAMES.length;

/** Found and still open: to be taken out as they are mended. */
const OPEN: readonly string[] = [
  'accepted CONTAINS_SUBSTR',
  'accepted CURRENT_DATE',
  'accepted FORMAT',
  'accepted INTERVAL QUARTER',
  'broken BIT_XOR',
  'broken NTH_VALUE',
  'broken STDDEV_POP',
  'refused $between',
  'refused COUNTIF',
  'refused DATE',
  'refused FLOAT64',
  'refused REGEXP_SUBSTR',
  'refused RPAD',
  'rows ATANH',
  'rows DIV',
  'rows FORMAT_DATETIME',
  'rows IEEE_DIVIDE',
  'rows REGEXP_EXTRACT_ALL',
  'rows RIGHT',
  'rows SAFE_CONVERT_BYTES_TO_STRING',
  'rows SAFE_MULTIPLY',
  'rows STRING',
  'rows SUBSTRING',
];

(localBigQueryInstalled || process.env['CI'] ? test : test.skip)(
  'generated expressions and queries give what the reference engine gives',
  async () => {
    const engines = await Engines.open();
    const findings = new Findings();
    try {
      await run(engines, findings, { count: ROUND, seed: SEED });
    } finally {
      await engines.close();
    }
    expect(findings.differences.filter(({ kind, of }) => !OPEN.includes(`${kind} ${of}`))).toEqual([]);
    expect(findings.compared).toBeGreaterThan(ROUND * 0.9);
  },
  300_000,
);
