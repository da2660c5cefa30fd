/** Takes and releases locks of folders as its parent says. */
require('../../../test/typescript.js');
const { FolderLock } = require('../src/folder-lock');

/** @type {import('../src/folder-lock').FolderLock | null} */
let lock = null;
process.on('message', async ({ acquire }) => {
  if (acquire === undefined) await lock?.release();
  else lock = await FolderLock.acquire(acquire, () => process.send?.('lost'));
  process.send?.(lock !== null);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
