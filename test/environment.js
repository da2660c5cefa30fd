/**
 * Jest's environment for Node, and with it what the test files of one worker have together (`of-worker.ts`): a local BigQuery
 * and the converted rows of the fixture. What is made here outlives the files that use it.
 */
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { TestEnvironment } = require('jest-environment-node');
const { startBigQuery } = require('./bigquery-process.js');
require('./less-compiling.js');

/** @type {Promise<string> | null} */
let host = null;
/** @type {string | null} */
let folder = null;

/** What the test files of this worker have together. */
const OF_WORKER = {
  /**
   * Where the local BigQuery of this worker answers; it is started for the first who needs it, and keeps no process alive.
   * One that has ended says why, and the next file has another.
   */
  bigQuery() {
    host ??= startBigQuery([]).then(({ child, host: at, ended }) => {
      child.unref();
      for (const pipe of [child.stdin, child.stdout, child.stderr]) {
        /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (pipe)).unref();
      }
      void ended.then((reason) => {
        host = null;
        process.stderr.write(`The local BigQuery of a worker has ended: ${reason}\n`);
      });
      return at;
    });
    return host;
  },
  /** A `CACHE_DIR` for engines over `test/fixture`, which convert its rows once. */
  cacheDir() {
    if (folder === null) {
      const created = mkdtempSync(join(tmpdir(), 'logquay-fixture-'));
      process.once('exit', () => rmSync(created, { recursive: true, force: true }));
      folder = created;
    }
    return folder;
  },
};

module.exports = class Environment extends TestEnvironment {
  static OF_WORKER = OF_WORKER;

  /** @param {ConstructorParameters<typeof TestEnvironment>} given */
  constructor(...given) {
    super(...given);
    /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (this.global))['ofWorker'] = OF_WORKER;
  }
};
