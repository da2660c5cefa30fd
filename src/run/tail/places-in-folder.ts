import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type PlaceRecords, type RecordedLook, RECORDED } from './places';

/** Milliseconds. */
const BETWEEN_SWEEPS = 10 * 60_000;

/** Lists of looks as files of a folder, a line each: good after a restart of the process. */
export class PlacesInFolder implements PlaceRecords {
  readonly #lines = new Map<string, number>();
  #swept: { readonly at: number; readonly done: Promise<void> } | null = null;

  /** @param now milliseconds since the epoch, as the system dates files */
  constructor(
    private readonly folder: string,
    private readonly now: () => number = Date.now,
  ) {}

  async append(name: string, looks: readonly RecordedLook[], most: number): Promise<void> {
    if (this.#swept === null || this.now() - this.#swept.at > BETWEEN_SWEEPS)
      this.#swept = { at: this.now(), done: this.#sweep() };
    await this.#swept.done;
    const path = this.#path(name);
    await appendFile(path, looks.map(lineOf).join(''), { mode: 0o600 });
    const lines = (this.#lines.get(name) ?? 0) + looks.length;
    this.#lines.set(name, lines);
    if (lines < 2 * most) return;
    const last = (await this.read(name)).slice(-most);
    await writeFile(`${path}.new`, last.map(lineOf).join(''), { mode: 0o600 });
    await rename(`${path}.new`, path);
    this.#lines.set(name, last.length);
  }

  async read(name: string): Promise<readonly RecordedLook[]> {
    const text = await readFile(this.#path(name), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    });
    // What is behind the last line break was broken off.
    const lines = text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as RecordedLook);
  }

  #path(name: string): string {
    return join(this.folder, `${name}.jsonl`);
  }

  /** Files whose places are not good any more go: each query that is followed has one of its own. */
  async #sweep(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const file of await readdir(this.folder)) {
      const path = join(this.folder, file);
      const found = await stat(path).catch(() => null);
      if (found === null || this.now() - found.mtimeMs <= RECORDED) continue;
      await rm(path, { force: true });
      this.#lines.delete(file.replace(/\.jsonl$/, ''));
    }
  }
}

function lineOf(look: RecordedLook): string {
  return `${JSON.stringify(look)}\n`;
}
