import { execFileSync } from 'node:child_process';

const NOBODY = 65_534;

/** Does work without the rights of root, to whom every file is readable; @param folder that the user is to own */
export async function asOrdinaryUser<T>(folder: string, work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  execFileSync('chown', ['-R', String(NOBODY), folder]);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
