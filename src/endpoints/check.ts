import { existsSync } from 'node:fs';
import path from 'node:path';

import { describeFault } from './fault';
import { readCatalogue } from './read-catalogue';

/**
 * `npm run check [-- DIRECTORY]`: prints OK or every fault for each file of the catalogue (QUERIES_DIR or `queries` where
 * no directory is named). Returns the exit code: 0 without faults, 1 with any, or with no file at all.
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

const USAGE = `Usage: npm run check [-- DIRECTORY]

Reads every stored query of DIRECTORY (default: QUERIES_DIR, else queries) and names each fault with its file and line.
Exit code 0: no faults; 1: faults, or no file at all; 2: not asked so.`;

async function main(args: readonly string[]): Promise<number> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const help = args.includes('--help') || args.includes('-h');
  if (help || args.length > 1 || args.some((word) => word.startsWith('-'))) {
    (help ? process.stdout : process.stderr).write(`${USAGE}\n`);
    return help ? 0 : 2;
  }
  const directory = args[0] ?? (process.env['QUERIES_DIR'] || 'queries');
  return check(directory, (line) => process.stdout.write(`${line}\n`));
}

if (require.main === module) {
  void main(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
}
