import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Engine } from '../src/contract/contract';
import { openDuckDbEngine } from '../src/engine/engine';
import type { Log } from '../src/engine/log';
import type { DuckDbOptions } from '../src/engine/options';
import { textsOf } from './queries';

/** How rows lie in the engine: those of small files in the hot file, until they are sealed. */
export const FORMS = [
  ['hot rows', {}],
  ['sealed rows', { smallFile: 0 }],
] as const satisfies readonly (readonly [string, Partial<DuckDbOptions>])[];

/** A DATA_DIR and a CACHE_DIR of a test's own, and engines over them. */
export class DataFolder {
  readonly logged: { readonly level: string; readonly facts: Record<string, unknown>; readonly message: string }[] = [];
  readonly #engines: Engine[] = [];

  private constructor(private readonly root: string) {}

  static async make(files: Readonly<Record<string, string | Buffer>> = {}): Promise<DataFolder> {
    const folder = new DataFolder(await mkdtemp(join(tmpdir(), 'logquay-data-')));
    await mkdir(folder.dataDir);
    await folder.write(files);
    return folder;
  }

  get dataDir(): string {
    return join(this.root, 'data');
  }

  get cacheDir(): string {
    return join(this.root, 'cache');
  }

  get log(): Log {
    const at = (level: string) => (facts: object, message: string) => {
      this.logged.push({ level, facts: { ...facts }, message });
    };
    return { info: at('info'), warn: at('warn'), error: at('error') };
  }

  async write(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.dataDir, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
  }

  async append(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) await appendFile(join(this.dataDir, name), content);
  }

  async open(options: Partial<DuckDbOptions> = {}): Promise<Engine> {
    const { dataDir, cacheDir, log } = this;
    const engine = await openDuckDbEngine({
      declared: LOG_SCHEMA,
      dataDir,
      cacheDir,
      now: null,
      log,
      threads: 1,
      ...options,
    });
    this.#engines.push(engine);
    return engine;
  }

  /** The rows of a query over the folder as it is now, by an engine that is closed again. */
  async rows(sql: string): Promise<unknown[]> {
    const engine = await this.open();
    try {
      return await rowsOf(engine, sql);
    } finally {
      await engine.close();
    }
  }

  /** Rows that were named in the log as skipped. */
  get skipped(): Record<string, unknown>[] {
    return this.logged.filter(({ message }) => message.startsWith('Row skipped')).map(({ facts }) => facts);
  }

  async remove(): Promise<void> {
    for (const engine of this.#engines) await engine.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

export async function rowsOf(engine: Engine, sql: string, maxRows = 10_000): Promise<unknown[]> {
  return (await textsOf(engine, sql, { maxRows })).map((row): unknown => JSON.parse(row));
}

export const ndjson = (...rows: readonly unknown[]): string =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
