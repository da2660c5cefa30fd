import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import { buildingPrefix, isBuilding } from './conversion-folders';
import { convertTable, type Resources } from './convert-table';
import { DataFault } from './data-fault';
import { codeOf } from '../engine/native-error';
import type { Source } from './sources';
import type { Watch } from './conversion-progress';

/** Raised when the way rows are stored changes: older files are then converted again. */
const FORMAT = 2;
/** Half-made files this old belong to a process that died. */
const ABANDONED_MS = 24 * 3600_000;
/** A file that is not the one in use, though of the same content: for so long another process may be about to open it. */
const STARTING_MS = 600_000;

/** What tells one content of a table from another: its files (path, size, time of change), schema and format. */
export function fingerprintOf(source: Source | null, fields: readonly RestField[]): string {
  const files = source?.files.map((file) => [file.path, String(file.size), String(file.modified)]) ?? [];
  return digest(JSON.stringify([FORMAT, version(), files, fields]));
}

/**
 * The folder of converted tables. A file is named `<table>.<data folder>.<fingerprint>.<hash of its content>.duckdb`,
 * written in a folder of its own and then renamed, so that a file of that name is whole, current and never written
 * again: processes that start at once at worst convert the same table twice.
 */
export class TableCache {
  readonly #used = new Set<string>();

  private constructor(
    private readonly folder: string,
    private readonly origin: string,
    private readonly resources: Resources,
  ) {}

  static async open(folder: string, dataDir: string, resources: Resources): Promise<TableCache> {
    try {
      await mkdir(folder, { recursive: true });
      await removeAbandoned(folder);
      return new TableCache(folder, digest(await realpath(dataDir)).slice(0, 8), resources);
    } catch (error) {
      throw new DataFault(`CACHE_DIR ${folder} cannot be used (${codeOf(error)})`);
    }
  }

  /** The converted file of a table, converted first if missing. */
  async file(
    source: Source,
    fields: readonly RestField[],
    fingerprint: string,
    watch: Watch,
  ): Promise<{ path: string; converted: boolean }> {
    const prefix = `${source.table}.${this.origin}.${fingerprint.slice(0, 16)}.`;
    for (const name of await readdir(this.folder)) {
      if (!name.startsWith(prefix) || !name.endsWith('.duckdb')) continue;
      const path = join(this.folder, name);
      if (name === `${prefix}${await contentHash(path)}.duckdb`) {
        this.#used.add(name);
        return { path, converted: false };
      }
      await rm(path, { force: true });
    }
    return { path: await this.#make(source, fields, prefix, watch), converted: true };
  }

  /** Removes what this data folder no longer uses: tables that changed or are gone. */
  async sweep(): Promise<void> {
    const current = new Set([...this.#used].map(stemOf));
    for (const name of await readdir(this.folder)) {
      const own = name.endsWith('.duckdb') && name.split('.').at(-4) === this.origin;
      if (!own || this.#used.has(name)) continue;
      const path = join(this.folder, name);
      if (current.has(stemOf(name)) && (await ageOf(path)) < STARTING_MS) continue;
      await rm(path, { force: true });
    }
  }

  async #make(source: Source, fields: readonly RestField[], prefix: string, watch: Watch): Promise<string> {
    const folder = await mkdtemp(join(this.folder, buildingPrefix(process.pid)));
    try {
      const converted = join(folder, 'table.duckdb');
      await convertTable(source, fields, { folder, database: converted, resources: this.resources, watch });
      await synced(converted);
      const name = `${prefix}${await contentHash(converted)}.duckdb`;
      await rename(converted, join(this.folder, name));
      this.#used.add(name);
      return join(this.folder, name);
    } catch (error) {
      if (codeOf(error) === 'ENOSPC') throw new DataFault(`CACHE_DIR ${this.folder} is full`);
      throw error;
    } finally {
      watch.end();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!isBuilding(name)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** What files of the same table with the same content have in common. */
function stemOf(name: string): string {
  return name.split('.').slice(0, -2).join('.');
}

/** Milliseconds since it was written; Infinity where it is gone. */
async function ageOf(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Infinity;
    throw error;
  }
}

async function contentHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(block as Buffer);
  return hash.digest('hex').slice(0, 16);
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
