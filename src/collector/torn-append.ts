import { type FileHandle, open } from 'node:fs/promises';

import { systemCode } from '../errors';
import type { Intent } from './journal';

const NEWLINE = 10;
const BLOCK = 1024 * 1024;

/**
 * Finds out how much of an append a file holds after a crash or a failed write, and cuts a row off that was not finished.
 *
 * @param file its path
 * @returns the rows of the batch that are stored; null: all of them; `gone`: there is no such file
 */
export async function settleAppend(
  file: string,
  { from, bytes, skip }: Omit<Intent, 'batch' | 'file'>,
): Promise<number | null | 'gone'> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r+');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size >= from + bytes) return null;
    const { rows, end } = await completeRows(handle, from, size);
    if (end < size) {
      await handle.truncate(end);
      await handle.sync();
    }
    return skip + rows;
  } finally {
    await handle.close();
  }
}

/** Rows from an offset on, and where the last of them ends. */
async function completeRows(handle: FileHandle, from: number, size: number): Promise<{ rows: number; end: number }> {
  const buffer = Buffer.alloc(BLOCK);
  let rows = 0;
  let end = from;
  for (let at = from; at < size;) {
    const { bytesRead } = await handle.read(buffer, 0, BLOCK, at);
    if (bytesRead === 0) break;
    const block = buffer.subarray(0, bytesRead);
    for (let found = block.indexOf(NEWLINE); found !== -1; found = block.indexOf(NEWLINE, found + 1)) {
      rows++;
      end = at + found + 1;
    }
    at += bytesRead;
  }
  return { rows, end };
}
