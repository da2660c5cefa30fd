/** The order in which Jest begins test files: those that take minutes first, so that none of them is left at the end; then by size. */
const { statSync } = require('node:fs');

const LONG = /\.joined\/(?:slow|starting)-/;

module.exports = class {
  /** @param {readonly { path: string }[]} tests */
  sort(tests) {
    const size = (/** @type {{ path: string }} */ { path }) => (LONG.test(path) ? Infinity : statSync(path).size);
    const sized = tests.map((test) => /** @type {const} */ ([size(test), test]));
    return sized.sort(([a], [b]) => (a === b ? 0 : b - a)).map(([, test]) => test);
  }

  /** @param {readonly { path: string }[]} tests */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {
    // Times of earlier runs decide nothing: CI has none.
  }
};
