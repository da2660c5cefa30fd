/**
 * `npm run test:long [-- NAME [ARGUMENTS]]`: the generators at full count, or the one of that name. Without a name each runs once, with one
 * seed (`SEED`, or the clock's), and a line for each says how it ended.
 */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const seed = process.env['SEED'] ?? String(Date.now() % 1_000_000);
const JEST = ['node_modules/jest/bin/jest.js', '--config', 'jest.config.js'];

/** By name: what runs, and its usual arguments. @type {Record<string, readonly [readonly string[], readonly string[]]>} */
const GENERATORS = {
  gate: [['test/sandbox/fuzz/start.js'], ['20000', seed]],
  tenants: [JEST, ['tenants/']],
  dialect: [['test/dialect/fuzz/start.js'], ['20000', seed]],
  folder: [['test/engines/follow/start.js'], ['100', seed]],
  hostile: [['test/hostile/start.js'], ['1000', seed]],
  soak: [
    ['test/hostile/start.js', 'soak'],
    ['120', seed],
  ],
  // Kills, slow histories, and the tables of which other lanes try a part.
  tables: [JEST, ['long.test', 'process/', 'browser/', 'cache/', 'follow', 'dialect', 'fence', 'redaction', 'hostile']],
};

/** @param {readonly string[]} command @param {readonly string[]} given @returns {number} its exit code */
function run(command, given) {
  const options = /** @type {const} */ ({ stdio: 'inherit', cwd: path.join(__dirname, '..') });
  const env = { ...process.env, LONG: '1', SEED: seed };
  return spawnSync(process.execPath, [...command, ...given], { ...options, env }).status ?? 1;
}

const [name, ...given] = process.argv.slice(2);
if (name === undefined) {
  const lines = Object.entries(GENERATORS).map(([each, [command, usual]]) => {
    const start = performance.now();
    const status = run(command, usual);
    if (status !== 0) process.exitCode = 1;
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    return `${each}: seed ${seed}, ${usual.join(' ')}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`;
  });
  process.stdout.write(`${lines.join('\n')}\n`);
} else {
  const generator = GENERATORS[name];
  if (generator === undefined) {
    process.stderr.write(`npm run test:long -- ${Object.keys(GENERATORS).join('|')} [ARGUMENTS]\n`);
    process.exitCode = 2;
  } else {
    const [command, usual] = generator;
    process.exitCode = run(command, given.length > 0 ? given : usual);
  }
}
