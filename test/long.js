/**
 * `npm run test:long [-- NAME [ARGUMENTS]]`: the generators at full count, or the one of that name. Without a name each runs once, with one
 * seed (`SEED`, or the clock's), and a line for each says how it ended. `-- smoke` starts each with next to nothing to do.
 */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const seed = process.env['SEED'] ?? String(Date.now() % 1_000_000);
const JEST = ['node_modules/jest/bin/jest.js', '--config', 'jest.config.js'];
/** No test has this name: files are loaded, and nothing is run. */
const NO_TEST = ['--runInBand', '--testNamePattern', '^$'];

/** By name: what runs, its usual arguments, and those of a smoke test. @type {Record<string, readonly (readonly string[])[]>} */
const GENERATORS = {
  gate: [['test/sandbox/fuzz/start.js'], ['20000', seed], ['20', seed]],
  tenants: [JEST, ['tenants/'], ['tenants/', ...NO_TEST]],
  dialect: [['test/dialect/fuzz/start.js'], ['20000', seed], ['5', seed, '^ABS$']],
  folder: [['packages/duckdb-engine/test/follow/start.js'], ['100', seed], ['1', seed, '10']],
  hostile: [['test/hostile/start.js'], ['1000', seed], ['0', seed]],
  soak: [
    ['test/hostile/start.js', 'soak'],
    ['120', seed],
    ['0', seed],
  ],
  // Kills, slow histories, and the tables of which other lanes try a part.
  tables: [
    JEST,
    [
      ...['\\.long\\.test', 'process/', 'browser/', 'cache/', 'dialect/', 'redaction/', 'hostile/'],
      ...['engines/', 'lql/', 'analysis/', 'googlesql/', 'sandbox/', 'cli/endpoint-tests/'],
    ],
    ['\\.long\\.test', ...NO_TEST],
  ],
};

/** @param {readonly string[]} command @param {readonly string[]} given @returns {number} its exit code */
function run(command, given) {
  const options = /** @type {const} */ ({ stdio: 'inherit', cwd: path.join(__dirname, '..') });
  const env = { ...process.env, LONG: '1', SEED: seed };
  return spawnSync(process.execPath, [...command, ...given], { ...options, env }).status ?? 1;
}

/** Each once. @param {boolean} isSmoke */
function runAll(isSmoke) {
  const lines = Object.entries(GENERATORS).map(([each, [command = [], usual = [], few = []]]) => {
    const start = performance.now();
    const given = isSmoke ? few : usual;
    const status = run(command, given);
    if (status !== 0) process.exitCode = 1;
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    return `${each}: seed ${seed}, ${given.join(' ')}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`;
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

const [name, ...given] = process.argv.slice(2);
if (name === undefined || name === 'smoke') {
  runAll(name === 'smoke');
} else {
  const [command, usual] = GENERATORS[name] ?? [];
  if (command === undefined || usual === undefined) {
    process.stderr.write(`npm run test:long -- ${Object.keys(GENERATORS).join('|')}|smoke [ARGUMENTS]\n`);
    process.exitCode = 2;
  } else {
    process.exitCode = run(command, given.length > 0 ? given : usual);
  }
}
