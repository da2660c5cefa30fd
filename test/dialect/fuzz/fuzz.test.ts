/** A round of the tester: a third of the functions, constructs and places once. `npm run test:long -- dialect` makes as many as one likes. */
import { localBigQueryInstalled } from '../../local-bigquery';
import { Findings } from './difference';
import { Engines } from './engines';
import { AGGREGATES, PLACE_NAMES } from './query';
import { STARTS } from './generate';
import { NAME_KINDS } from './names';
import { run } from './run';
import { LONG } from '../../scale';

const SEED = 20261122;
/** Queries of the property on names. */
const NAMES = LONG ? 4000 : 120;
const PART = LONG ? 1 : 3;
const ROUND = Math.floor((STARTS.length + AGGREGATES.length + PLACE_NAMES.length + NAME_KINDS.length) / PART);

// Skipped where the local BigQuery is not installed, which is said then; never in CI.
const onBoth = localBigQueryInstalled || process.env['CI'] ? test : test.skip;

onBoth(
  'generated expressions and queries give what the reference engine gives',
  async () => {
    const engines = await Engines.open();
    const findings = new Findings();
    try {
      await run(engines, findings, { count: ROUND, seed: SEED, part: PART });
    } finally {
      await engines.close();
    }
    expect(findings.differences).toEqual([]);
    expect(findings.compared).toBeGreaterThan(ROUND * 0.9);
  },
  300_000,
);

onBoth(
  'names that are drawn from the columns mean what they mean to the reference engine',
  async () => {
    const engines = await Engines.open();
    const findings = new Findings();
    let answered = 0;
    const counting: Pick<Engines, 'embedded' | 'reference'> = {
      embedded: async (sql) => {
        const outcome = await engines.embedded(sql);
        if ('rows' in outcome) answered++;
        return outcome;
      },
      reference: (sql) => engines.reference(sql),
    };
    try {
      await run(counting, findings, { count: NAMES, seed: SEED, only: /^names/ });
    } finally {
      await engines.close();
    }
    expect(findings.differences).toEqual([]);
    expect(answered).toBeGreaterThan(NAMES * 0.37);
  },
  300_000,
);

onBoth(
  'an engine that answers otherwise is found out',
  async () => {
    const engines = await Engines.open();
    const findings = new Findings();
    try {
      const wrong: Pick<Engines, 'embedded' | 'reference'> = {
        embedded: (sql) => engines.embedded(sql.replaceAll('ABS(', 'SIGN(')),
        reference: (sql) => engines.reference(sql),
      };
      await run(wrong, findings, { count: 12, seed: SEED, only: /^ABS$/ });
    } finally {
      await engines.close();
    }
    expect(findings.classes().map(([name]) => name)).toContain('rows ABS');
  },
  60_000,
);
