/** Takes and releases locks of folders as its parent says. */
require('../typescript');
const { FolderLock } = require('../../src/collector/folder-lock');

/** @type {import('../../src/collector/folder-lock').FolderLock | null} */
let lock = null;
process.on('message', async ({ acquire }) => {
  if (acquire === undefined) await lock?.release();
  else lock = await FolderLock.acquire(acquire, () => process.send?.('lost'));
  process.send?.(lock !== null);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
