/** Files that are read as a whole, and files that are whole whenever they are read. */
import { randomBytes } from 'node:crypto';
import { type BigIntStats, type PathLike, readFile, readFileSync, stat, statSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Take half the CPU of those in `node:fs/promises`: thousands of files are read, and looked at again and again. */
const readBytes: (file: PathLike) => Promise<Buffer> = promisify(readFile);
const statOf = promisify(stat);
const statExactly: (file: string, options: { bigint: true }) => Promise<BigIntStats> = promisify(stat);

const MEBIBYTE = 1024 * 1024;

/** Bytes of a stored query, of which 64 KiB may be SQL, and of settings. */
export const MOST_OF_QUERY = MEBIBYTE;
/** Bytes of lists that grow with their use: keys, schemas, tests with their rows. */
export const MOST_OF_LIST = 16 * MEBIBYTE;

/**
 * The bytes of a file of the operator's own: one that was put there by mistake must not fill the memory. Rejects as the system does, and
 * with EFBIG for one of more than `most` bytes.
 */
export async function readBounded(file: string, most: number): Promise<Buffer> {
  refuseLarger((await statOf(file)).size, most, file);
  return readBytes(file);
}

/** The same at once. */
export function readBoundedSync(file: string, most: number): Buffer {
  refuseLarger(statSync(file).size, most, file);
  return readFileSync(file);
}

function refuseLarger(size: number, most: number, file: string): void {
  if (size <= most) return;
  const code = `EFBIG, it has more than ${String(most)} bytes`;
  throw Object.assign(new Error(`${file} cannot be read (${code})`), { code, syscall: 'read' });
}

/**
 * Replaces a file by one with this text, durably: whoever reads it, after whatever crash, finds the one or the other. Mode 0600.
 *
 * @param prepare is given the new file before it has its text
 */
export async function replaceFile(
  file: string,
  text: string,
  prepare?: (draft: FileHandle) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${String(process.pid)}.draft`;
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await prepare?.(handle);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/**
 * Creates a file with this text, unless there is one. It is written under another name and then linked into place, which one process
 * alone can do, so that nobody ever reads a part of it. Mode 0600.
 *
 * @returns whether it was created
 */
export async function createFile(file: string, text: string): Promise<boolean> {
  const options = { mode: 0o600, flag: 'wx' };
  const draft = `${file}.${randomBytes(8).toString('hex')}.draft`;
  await writeFile(draft, text, options);
  try {
    await link(draft, file).catch((error: unknown) => {
      // Some file systems have no links: the file is made at once, and a reader may have to try again.
      if (systemCode(error) !== 'EEXIST') return writeFile(file, text, options);
      throw error;
    });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Makes the names in a folder durable, where the file system can. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some file systems do not sync folders; their names are as durable as they get.
  }
}

/** Of a promise that rejects where there is no such file. */
export function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
  return undefined;
}

/** Differs once a file is another or has been written; null: there is none. @param filesOnly a folder is none */
export async function fingerprintOf(file: string, filesOnly: boolean): Promise<string | null> {
  const entry = await statExactly(file, { bigint: true }).catch(ignoreMissing);
  if (entry === undefined || (filesOnly && !entry.isFile())) return null;
  return [entry.ino, entry.size, entry.mtimeNs, entry.ctimeNs].join(':');
}

/**
 * The operating system's code of a failed call (`ENOENT`, `EACCES`, ...); null for any other failure. By shape: such errors
 * come from other realms too, where `instanceof Error` does not know them.
 */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
