import { mkdir, open, readFile, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors';

import { KeysFileError, readWrittenEntries } from './keys-file';

/** Milliseconds that another editor is waited for, and after which a lock counts as left behind. */
const PATIENCE = 5_000;
const STALE = 30_000;

/**
 * Changes the keys file: `change` gets the entries as written and returns what is to stand there instead. A file that does
 * not exist counts as empty, one that cannot be read is not touched. One editor at a time, by a lock file beside it; the
 * new text is complete before it takes the place of the old, with mode 0600, so that a reader never sees half of it.
 */
export async function editKeysFile(file: string, change: (entries: unknown[]) => unknown[]): Promise<void> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true });
  const target = await behindLinks(file);
  const release = await lock(`${target}.lock`);
  try {
    const keys = change(await readOrEmpty(target));
    const draft = `${target}.${String(process.pid)}.draft`;
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ keys }, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, target);
  } finally {
    await release();
  }
}

/** The entries as written; none where there is no file. */
export async function readOrEmpty(file: string): Promise<unknown[]> {
  try {
    return await readWrittenEntries(file);
  } catch (error) {
    if (error instanceof KeysFileError && error.missing) return [];
    throw error;
  }
}

/** The file itself where the name is a link: renaming onto the link would leave the file as it was. */
async function behindLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return path.resolve(file);
    throw error;
  }
}

async function lock(file: string): Promise<() => Promise<void>> {
  const giveUp = Date.now() + PATIENCE;
  for (;;) {
    try {
      await writeFile(file, `${String(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
      return () => unlink(file);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    if (await isLeftBehind(file)) await unlink(file).catch(ignoreMissing);
    else if (Date.now() > giveUp) throw new Error(`${file} is held by another command: try again, or remove it`);
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Its holder has ended, or it is older than any command takes. */
async function isLeftBehind(file: string): Promise<boolean> {
  try {
    const holder = Number(await readFile(file, 'utf8'));
    if (Date.now() - (await stat(file)).mtimeMs > STALE) return true;
    if (!Number.isInteger(holder) || holder <= 0) return false;
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return systemCode(error) === 'ESRCH';
  }
}

function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error;
}
