import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import { quoteText } from '../sql';

/** Locked in this process: a lock of the operating system holds off other processes only. */
const locked = new Set<string>();

/**
 * Tries to become the one writer of a folder, for as long as the connection's instance is open: DuckDB locks a database
 * file with `fcntl`, which the operating system undoes however the process ends.
 */
export async function lockFolder(connection: DuckDBConnection, folder: string): Promise<boolean> {
  if (locked.has(folder)) return false;
  locked.add(folder);
  try {
    await connection.run(`ATTACH ${quoteText(join(folder, 'lock.duckdb'))} AS "folder lock"`);
    return true;
  } catch {
    locked.delete(folder);
    return false;
  }
}

/** Called when the instance that held the lock is closed. */
export function unlockFolder(folder: string): void {
  locked.delete(folder);
}
