import type { DuckDBConnection } from '@duckdb/node-api';

import { messageOf } from '../engine/native-error';
import { quoteText } from '../sql';
import type { CacheFolder } from './cache-folder';

/** Locked in this process: a lock of the operating system holds off other processes only. */
const locked = new Set<string>();

/**
 * Tries to become the one writer of a folder, for as long as the connection's instance is open: DuckDB locks a database
 * file with `fcntl`, which the operating system undoes however the process ends.
 *
 * @returns whether it is; another process may be
 * @throws what keeps anybody from it
 */
export async function lockFolder(connection: DuckDBConnection, folder: CacheFolder): Promise<boolean> {
  if (locked.has(folder.path)) return false;
  locked.add(folder.path);
  try {
    await connection.run(`ATTACH ${quoteText(folder.lock)} AS "folder lock"`);
    return true;
  } catch (error) {
    locked.delete(folder.path);
    if (/Could not set lock/.test(messageOf(error))) return false;
    throw error;
  }
}

/** Called when the instance that held the lock is closed. */
export function unlockFolder(folder: string): void {
  locked.delete(folder);
}
