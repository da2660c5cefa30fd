/** Folders in which tables are converted, named for the process that does it. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const BUILDING = 'building-';

/** What the names of the folders of this process begin with. */
export function buildingPrefix(pid: number): string {
  return `${BUILDING}${String(pid)}-`;
}

/** Removes what a process that has ended, or is about to, has left half made in CACHE_DIR. */
export function removeBuilding(cacheDir: string, pid: number): void {
  let names: string[];
  try {
    names = readdirSync(cacheDir);
  } catch {
    return;
  }
  for (const name of names) {
    if (name.startsWith(buildingPrefix(pid))) rmSync(join(cacheDir, name), { recursive: true, force: true });
  }
}
