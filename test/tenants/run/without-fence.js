/**
 * Loaded into a process of the service before its own code (`node --require`): no key needs the fence any more. Shows that
 * the test of non-interference fails where there is none.
 */
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const file = join(__dirname, '../../../dist/run/fence.js');
if (existsSync(file)) {
  const fence = require(file);
  if (typeof fence.needsFence !== 'function') throw new Error(`${file} exports no needsFence.`);
  // What the module exports cannot be assigned: its importers get another object.
  const loaded = require.cache[file];
  if (loaded === undefined) throw new Error(`${file} is not in the cache of modules.`);
  loaded.exports = { ...fence, needsFence: () => false };
}
