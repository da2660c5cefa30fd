import { statfs } from 'node:fs/promises';

/** Milliseconds for which a look at the file system counts. */
const FRESH = 1_000;

/** The free space of a file system, looked at once a second at most. */
export class FreeSpace {
  #looked = -Infinity;
  #bytes: Promise<number> = Promise.resolve(Infinity);

  /** @param floor bytes */
  constructor(
    private readonly folder: string,
    private readonly floor: number,
  ) {}

  /** Whether less is free than the floor. */
  async low(): Promise<boolean> {
    if (performance.now() - this.#looked > FRESH) {
      this.#looked = performance.now();
      this.#bytes = freeBytes(this.folder);
    }
    return (await this.#bytes) < this.floor;
  }
}

/** Bytes for users without privileges. A file system that does not say has as many as are needed. */
async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
