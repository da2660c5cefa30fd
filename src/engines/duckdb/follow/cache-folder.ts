/** What CACHE_DIR holds of one data folder. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const SEGMENTS = 'segments';
const MANIFESTS = 'manifests';
const LOCK = 'lock.duckdb';
const ARRIVALS = 'arrivals.ndjson';

/**
 * Segments are alone in a folder: it is the only one whose files DuckDB may open once it is closed to others
 * (docs/decisions/live.md).
 */
export class CacheFolder {
  /** @param dataDigest names the data folder, and no other of the same path, wherever what is read of it is stored */
  private constructor(
    readonly path: string,
    readonly dataDigest: string,
  ) {}

  static async of(cacheDir: string, dataDir: string): Promise<CacheFolder> {
    const path = await realpath(dataDir);
    const { ino, birthtimeNs } = await stat(path, { bigint: true });
    const cache = join(cacheDir, sha256(path).slice(0, 16));
    // Containers have other data under one path, in volumes whose roots have the same number; a file system may know no times of birth.
    const birth = birthtimeNs > 0n ? birthtimeNs : cache;
    return new CacheFolder(cache, sha256(`${path}\n${ino}\n${birth}`));
  }

  /** A database that its one writer has open. */
  get lock(): string {
    return join(this.path, LOCK);
  }

  /** What has arrived, in which order. */
  get arrivals(): string {
    return join(this.path, ARRIVALS);
  }

  get segments(): string {
    return join(this.path, SEGMENTS);
  }

  segmentsOf(table: string): string {
    return join(this.segments, table);
  }

  manifestOf(table: string): string {
    return join(this.path, MANIFESTS, `${table}.json`);
  }

  async make(): Promise<void> {
    await mkdir(this.segments, { recursive: true });
    await mkdir(join(this.path, MANIFESTS), { recursive: true });
  }

  /** Names of the tables that have a manifest. */
  async tables(): Promise<string[]> {
    const names = await readdir(join(this.path, MANIFESTS));
    return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  }

  /** Tells one manifest of a table from the next; empty: there is none. */
  async manifestIdentity(table: string): Promise<string> {
    const found = await stat(this.manifestOf(table), { bigint: true }).catch(() => null);
    return found === null ? '' : `${found.ino}:${found.mtimeNs}`;
  }

  /**
   * Removes what a writer that was killed has left, or one of another version: for the writer alone.
   *
   * @param used the segments that count, by table
   */
  async removeUnused(used: ReadonlyMap<string, readonly { readonly file: string }[]>): Promise<void> {
    for (const name of await readdir(this.path)) {
      if (![SEGMENTS, MANIFESTS, LOCK, ARRIVALS].includes(name)) await remove(join(this.path, name));
    }
    for (const name of await readdir(join(this.path, MANIFESTS))) {
      if (!name.endsWith('.json')) await remove(join(this.path, MANIFESTS, name));
    }
    for (const table of await readdir(this.segments)) {
      const files = new Set((used.get(table) ?? []).map(({ file }) => file));
      if (files.size === 0) await remove(this.segmentsOf(table));
      else {
        for (const file of await readdir(this.segmentsOf(table))) {
          if (!files.has(file)) await remove(join(this.segmentsOf(table), file));
        }
      }
    }
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
