import {
  chown,
  type FileHandle,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors';

import { KeysFileError, readWrittenEntries } from './keys-file';

/** Milliseconds that another editor is waited for, and after which a lock counts as left behind. */
const PATIENCE = 5_000;
const STALE = 30_000;

/**
 * Changes the keys file: `change` gets the entries as written and returns what is to stand there instead. A file that does
 * not exist counts as empty, one that cannot be read is not touched. One editor at a time, by a lock file beside it; the
 * new text is complete before it takes the place of the old, so that a reader never sees half of it.
 *
 * The file keeps its owner, group and mode: the service may run as another user than whoever edits, and what it cannot read
 * does not count. A new file has mode 0600 and the owner of its folder, where the editor may give it away.
 *
 * @throws Error where they cannot be kept; nothing is changed then
 */
export async function editKeysFile(file: string, change: (entries: unknown[]) => unknown[]): Promise<void> {
  await makeFolder(path.dirname(path.resolve(file)));
  const target = await behindLinks(file);
  const release = await lock(`${target}.lock`);
  try {
    const keys = change(await readOrEmpty(target));
    const draft = `${target}.${String(process.pid)}.draft`;
    const handle = await open(draft, 'w', 0o600);
    try {
      try {
        await keepAccess(handle, target);
        await handle.writeFile(`${JSON.stringify({ keys }, null, 2)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, target);
    } catch (error) {
      await unlink(draft).catch(ignoreMissing);
      throw error;
    }
  } finally {
    await release();
  }
}

const READ_BY_GROUP = 0o040;
const READ_BY_ALL = 0o004;

/** Gives the draft the owner, group and mode of the file that it takes the place of. */
async function keepAccess(draft: FileHandle, target: string): Promise<void> {
  const before = await stat(target).catch(ignoreMissing);
  if (before === undefined) {
    const { uid, gid } = await stat(path.dirname(target));
    if (process.getuid?.() === 0) await draft.chown(uid, gid);
    return;
  }
  const { uid, gid, mode } = before;
  const mine = await draft.stat();
  const [kept, groupKept] = await give(draft, mine, { uid, gid });
  const readable = (mode & READ_BY_ALL) !== 0 || (kept && (groupKept || (mode & READ_BY_GROUP) === 0));
  if (!readable) {
    throw new Error(
      `${target} belongs to user ${String(uid)} and group ${String(gid)}, which this user cannot keep: a running service could ` +
        'not read the file any more, and its keys would stay as they are. Nothing is changed; run the command as that user or as root.',
    );
  }
  await draft.chmod(mode & 0o7777);
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Changes owner and group as far as this user may. @returns whether the owner, and whether the group, are those wanted */
async function give(draft: FileHandle, from: Owner, to: Owner): Promise<readonly [owner: boolean, group: boolean]> {
  // Windows and some file systems know no owners: both are 0 there.
  const owner = from.uid === to.uid || (await mayChown(draft, to.uid, from.gid));
  const group = from.gid === to.gid || (await mayChown(draft, owner ? to.uid : from.uid, to.gid));
  return [owner, group];
}

async function mayChown(draft: FileHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await draft.chown(uid, gid);
    return true;
  } catch (error) {
    if (['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

/** Makes what there is not of a folder; made by root, it belongs to whom the folder around it belongs to. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined || process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(path.dirname(first));
  for (let made = folder; made.length >= first.length; made = path.dirname(made)) await chown(made, uid, gid);
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

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
  return undefined;
}
