/** Files of the operator's own that are read as a whole, each bounded: one that was put there by mistake must not fill the memory. */
import { type PathLike, readFile, readFileSync, stat, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** Takes half the CPU of the one in `node:fs/promises`: thousands of files may be read. */
const readBytes: (file: PathLike) => Promise<Buffer> = promisify(readFile);
const statOf = promisify(stat);

const MEBIBYTE = 1024 * 1024;

/** Bytes of a stored query, of which 64 KiB may be SQL, and of settings. */
export const MOST_OF_QUERY = MEBIBYTE;
/** Bytes of lists that grow with their use: keys, schemas, tests with their rows. */
export const MOST_OF_LIST = 16 * MEBIBYTE;

/** The bytes of a file. Rejects as the system does, and with EFBIG for one of more than `most` bytes. */
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
