import { stat } from 'node:fs/promises';

import { codeOf } from '../engine/native-error';

const GONE: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Whether another file, or none, is where one was found: it was renamed, replaced or deleted since, and the next look at the
 * folder shows it.
 *
 * @param identity as of `FoundFile`
 */
export async function isMoved(path: string, identity: string): Promise<boolean> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}` !== identity;
  } catch (error) {
    // What cannot be looked at is as it was, as far as is known.
    return GONE.has(codeOf(error));
  }
}
