import { type FolderTable } from './warehouse/folder';

/** Sample rows for when no folder is given. */
export function sampleTables(_clock: string | null): FolderTable[] {
  return [];
}
