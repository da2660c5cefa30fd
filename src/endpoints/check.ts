import path from 'node:path';

import { describeFault } from './fault';
import { readCatalogue } from './read-catalogue';

/**
 * `logquay check`: prints OK or every fault for each file of the catalogue in `directory`. Returns the exit code: 0 without faults, 1 with any, or with no file at all.
 */
export async function check(directory: string, print: (line: string) => void): Promise<number> {
  const { files, faults } = await readCatalogue(directory);
  for (const { name } of files) {
    const file = path.join(directory, name);
    if (!faults.some((fault) => fault.file === file)) print(`${file}: OK`);
  }
  for (const fault of faults) print(describeFault(fault));
  if (files.length === 0 && faults.length === 0) print(`${directory}: no .sql files`);
  return faults.length > 0 || files.length === 0 ? 1 : 0;
}
