import {
  access,
  chmod,
  mkdir,
  readFile,
  unlink,
  chown,
  type FileHandle,
  realpath,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import {
  systemCode,
  createFile,
  ignoreMissing,
  MOST_OF_LIST,
  readBounded,
  replaceFile,
} from '@logquay/duckdb-engine/files';
import { newSecretKey } from './key';
import { z } from 'zod';
import { type IssuerEntry, type KeyEntry, nameOfEntry, readEntry } from './entry';

/** Where the embedded engine keeps the key that it makes. */
export const START_KEY_FILE = '.data/key';

/** Whether there is a start key. */
export async function hasStartKey(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR',
  );
}

/** Removes the start key: a running service takes that up. @returns false: there is none */
export async function revokeStartKey(file: string): Promise<boolean> {
  if (!(await hasStartKey(file))) return false;
  await unlink(file);
  return true;
}

/**
 * The key that the embedded engine makes at its first start, and finds again at the next ones. Mode 0600.
 *
 * Two processes that start at once get the same key.
 */
export async function ensureStartKey(file: string): Promise<{ secret: string; created: boolean }> {
  const existing = await readStartKey(file);
  if (existing !== null) return { secret: existing, created: false };
  await mkdir(path.dirname(file), { recursive: true });
  const secret = newSecretKey();
  if (await createFile(file, `${secret}\n`)) return { secret, created: true };
  const others = await readStartKey(file);
  if (others === null) throw new Error(`${file} cannot be created`);
  return { secret: others, created: false };
}

/** null: the file does not exist yet. */
export async function readStartKey(file: string): Promise<string | null> {
  let secret: string;
  try {
    secret = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  if (!/^[\x21-\x7e]{16,}$/.test(secret)) throw new Error(`${file} holds no key: remove it, and a new one is created`);
  await chmod(file, 0o600).catch((error: unknown) => {
    // A file of another owner, or a file system without modes: the key serves all the same.
    if (!['EPERM', 'EROFS', 'ENOTSUP'].includes(systemCode(error) ?? '')) throw error;
  });
  return secret;
}

const fileSchema = z.strictObject({ keys: z.array(z.unknown()) });

/** The keys file cannot be read at all. The message names the file and holds nothing of its content. */
export class KeysFileError extends Error {
  override readonly name = 'KeysFileError';

  constructor(
    file: string,
    reason: string,
    /** It does not exist. */
    readonly missing: boolean,
    options?: ErrorOptions,
  ) {
    super(`The keys file ${file} cannot be read: ${reason}`, options);
  }
}

/** The entries as written, faulty ones included. Throws `KeysFileError`. */
export async function readWrittenEntries(file: string): Promise<unknown[]> {
  let text: string;
  try {
    text = (await readBounded(file, MOST_OF_LIST)).toString();
  } catch (cause) {
    const code = systemCode(cause) ?? 'unknown failure';
    throw new KeysFileError(file, code, code === 'ENOENT', { cause });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // V8's message quotes the text at fault; that is kept out.
    throw new KeysFileError(file, 'it is no JSON', false);
  }
  const read = fileSchema.safeParse(json);
  if (!read.success) throw new KeysFileError(file, 'it must be an object with "keys", a list, and nothing else', false);
  return read.data.keys;
}

export interface KeysFile {
  readonly entries: readonly KeyEntry[];
  /** Whose tokens are taken. */
  readonly issuers: readonly IssuerEntry[];
  /** What is wrong with the entries that were left out, each with its place and name. */
  readonly faults: readonly string[];
}

/** The sound entries of the file; a faulty one, or one whose name or key an earlier one has, is left out. */
export async function readKeysFile(file: string): Promise<KeysFile> {
  const entries: KeyEntry[] = [];
  const issuers: IssuerEntry[] = [];
  const faults: string[] = [];
  for (const [index, written] of (await readWrittenEntries(file)).entries()) {
    const result = readEntry(written, path.dirname(path.resolve(file)));
    const fault = 'fault' in result ? result.fault : twinFault({ entries, issuers }, result);
    if (fault !== null)
      faults.push(`entry ${String(index + 1)} (${nameOfEntry(written) ?? 'without a name'}): ${fault}`);
    else if ('entry' in result) entries.push(result.entry);
    else if ('issuer' in result) issuers.push(result.issuer);
  }
  return { entries, issuers, faults };
}

function twinFault(
  { entries, issuers }: Pick<KeysFile, 'entries' | 'issuers'>,
  given: { readonly entry: KeyEntry } | { readonly issuer: IssuerEntry },
): string | null {
  const name = 'entry' in given ? given.entry.key.name : given.issuer.name;
  if ([...entries.map(({ key }) => key), ...issuers].some((earlier) => earlier.name === name))
    return 'an earlier entry has this name';
  if ('entry' in given)
    return entries.some(({ hash }) => hash.equals(given.entry.hash)) ? 'an earlier entry has this key' : null;
  const { issuer, audience } = given.issuer;
  const isTaken = issuers.some((earlier) => earlier.issuer === issuer && earlier.audience === audience);
  return isTaken ? 'an earlier entry has this issuer and audience' : null;
}

/** Milliseconds to wait for another editor, and after which a lock is stale. */
const PATIENCE = 5_000;
const STALE = 30_000;

/**
 * Edits the keys file: `change` gets the entries as written and returns the new ones. A file that does not exist is empty,
 * one that cannot be read is not touched. One editor at a time, by a lock file; the new file replaces the old one
 * atomically.
 *
 * The file keeps its owner, group and mode, as the service may run as another user than the editor. A new file has mode 0600
 * and, if the editor may change it, the owner of its folder.
 *
 * @throws Error if owner and mode cannot be preserved; nothing is changed then
 */
export async function editKeysFile(file: string, change: (entries: unknown[]) => unknown[]): Promise<void> {
  await makeFolder(path.dirname(path.resolve(file)));
  const target = await behindLinks(file);
  const release = await lock(`${target}.lock`);
  try {
    const keys = change(await readOrEmpty(target));
    await replaceFile(target, `${JSON.stringify({ keys }, null, 2)}\n`, (draft) => keepAccess(draft, target));
  } finally {
    await release();
  }
}

const READ_BY_GROUP = 0o040;
const READ_BY_ALL = 0o004;

/** Gives the draft the owner, group and mode of the file that it replaces. */
async function keepAccess(draft: FileHandle, target: string): Promise<void> {
  const before = await stat(target).catch(ignoreMissing);
  if (before === undefined) {
    const { uid, gid } = await stat(path.dirname(target));
    if (process.getuid?.() === 0) await draft.chown(uid, gid);
    return;
  }
  const { uid, gid, mode } = before;
  const mine = await draft.stat();
  const [owner, group] = await give(draft, mine, { uid, gid });
  const readable = (mode & READ_BY_ALL) !== 0 || (owner && (group || (mode & READ_BY_GROUP) === 0));
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

/** Creates a folder and its missing parents; created by root, they get the owner of the folder around them. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined || process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(path.dirname(first));
  for (let created = folder; created.length >= first.length; created = path.dirname(created))
    await chown(created, uid, gid);
}

/** The entries as written; empty if the file does not exist. */
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
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      await writeFile(file, `${String(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
      return () => unlink(file);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    if (await isLeftBehind(file)) await unlink(file).catch(ignoreMissing);
    else if (Date.now() > deadline) throw new Error(`${file} is held by another command: try again, or remove it`);
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
