/** The process of the local BigQuery, in JavaScript: Jest's environment starts it too, which is not compiled. */
const { spawn } = require('node:child_process');
const { join } = require('node:path');
const { createInterface } = require('node:readline');

const EMULATOR = join(__dirname, '..', 'emulator', 'start.js');
const FIXTURE = join(__dirname, 'fixture');
/** The end of the fixture. */
const CLOCK = '2026-09-30T12:00:00Z';

/**
 * Starts a local BigQuery on a free port with project `test`, data set `logs` and the rows of `test/fixture`, its clock at the
 * end of them. It ends with this process, however that ends: `ended` tells its exit code or signal and what it printed. Rejects
 * with that where it does not start.
 *
 * @param {readonly string[]} options those of `npm run emulator`, which come after its own
 */
async function startBigQuery(options) {
  const defaults = ['--tied', '--port', '0', '--data', FIXTURE, '--clock', CLOCK];
  const child = spawn(process.execPath, [EMULATOR, ...defaults, ...options], { stdio: 'pipe' });
  let complaint = '';
  child.stderr.on('data', (/** @type {Buffer} */ chunk) => (complaint += chunk.toString()));
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve(`${String(signal ?? code)} ${complaint}`.trim())),
  );
  /** @type {string} */
  const host = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/(\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((reason) => reject(new Error(`The local BigQuery did not start: ${reason}`)));
  });
  return { child, ended, host };
}

module.exports.CLOCK = CLOCK;
module.exports.startBigQuery = startBigQuery;
