import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { MOST_OF_LIST, readBounded } from '../../../files';
import { codeOf } from '../engine/native-error';

/** `schema.json` as it was at the start, which is how it counts. */
export class SchemaFile {
  #identity: string | null = null;
  #isChanged = false;

  private constructor(
    private readonly path: string,
    /** Digest of its content; null: there was none. */
    private readonly content: string | null,
  ) {}

  static async of(dataDir: string): Promise<SchemaFile> {
    const path = join(dataDir, 'schema.json');
    return new SchemaFile(path, await digestOf(path));
  }

  /** Whether its content is another one by now. What cannot be read for now is as it was. */
  async isChanged(): Promise<boolean> {
    try {
      const identity = await identityOf(this.path);
      if (identity !== this.#identity) this.#isChanged = (await digestOf(this.path)) !== this.content;
      this.#identity = identity;
    } catch {
      // A later look shows it.
    }
    return this.#isChanged;
  }
}

async function identityOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

async function digestOf(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readBounded(path, MOST_OF_LIST))
      .digest('hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
