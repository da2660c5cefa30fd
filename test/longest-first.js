/** Without the times of an earlier run, as on a clean checkout, Jest starts the largest files first: these take longest. */
const { default: Sequencer } = require('@jest/test-sequencer');

const LONGEST = [
  'hostile/sql-functions',
  'tenants/tenants',
  'sandbox/fuzz/fuzz',
  'hostile/hostile',
  'dialect/pipes/pairs',
  'process/file-exports',
  'engines/duckdb-translate-cases',
  'engines/duckdb-fence-conditions',
  'engines/duckdb-dictionaries',
  'googlesql/printer/round-trip',
  'engines/duckdb-fence-inputs',
  'process/tail-bigquery',
  'process/replicas',
  'process/traces',
  'process/tail',
  'process/start',
  'cli/run',
  'browser/explorer',
  'browser/docs-page',
  'engines/follow/faults',
];

/** @param {{ readonly path: string }} test */
const rank = ({ path }) => {
  const place = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONGEST.length : place;
};

module.exports = class LongestFirst extends Sequencer {
  static LONGEST = LONGEST;

  /**
   * @override
   * @param {Parameters<Sequencer['sort']>[0]} tests
   */
  async sort(tests) {
    return [...(await super.sort(tests))].sort((a, b) => rank(a) - rank(b));
  }
};
