/** Lines come into a data folder: by files of every format, which grow in pieces, rotate and are compressed. */
import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { CSV_HEADER } from './row-lines';
import type { Random } from '../../../../test/dialect/random';

const compressed: Readonly<Record<string, (content: Buffer) => Buffer>> = {
  '.gz': (content) => gzipSync(content),
  '.zst': (content) => execFileSync('zstd', ['-c'], { input: content, maxBuffer: 2 ** 30 }),
};

/** Files of one name, one after the other: each is rotated away before the next is written. */
interface Family {
  readonly path: string;
  /** What is still to be written, one content for each file. */
  readonly contents: Buffer[];
  /** Bytes of the first that are written. */
  written: number;
  rotations: number;
  /** Rotated files that are not compressed. */
  readonly plain: string[];
}

export class FolderHistory {
  readonly #families: Family[] = [];

  constructor(
    private readonly dataDir: string,
    private readonly random: Random,
  ) {}

  /** Has lines of a table come in with later steps. */
  add(table: string, lines: readonly string[]): void {
    const { random } = this;
    for (let from = 0; from < lines.length;) {
      const start = from;
      const chunks = Array.from({ length: 1 + random.int(4) }, () =>
        lines.slice(from, (from += 1 + random.int(40))),
      ).filter((chunk) => chunk.length > 0);
      const number = this.#families.length;
      const isArray = random.chance(0.2) && chunks.flat().every(isJson);
      const folder = random.pick([`${table}/`, `${table}/date=2026-09-30/`, `${table}.`]);
      const isOne = folder.endsWith('.');
      const stem = isOne ? table : `${folder}f${number}`;
      // Files beside the folder share a family by their ending.
      // The first line of each file of a log says whether it is text.
      const firsts = chunks.map((chunk) => chunk.find((line) => line.trim() !== '') ?? '');
      const endings = firsts.every((line) => line.startsWith('{') && isJson(line))
        ? ['ndjson', 'log', 'jsonl']
        : ['ndjson', 'jsonl'];
      const ending = isArray
        ? 'json'
        : random.pick(table === 'text' ? ['log', 'txt'] : table === 'csv' ? ['csv'] : endings);
      if (isOne && this.#families.some(({ path }) => path === `${stem}.${ending}`)) {
        from = start;
        continue;
      }
      const text = (chunk: readonly string[]): string =>
        isArray ? `[${chunk.join(random.pick([',', ' ,\n ']))}]` : chunk.map((line) => `${line}\n`).join('');
      const header = table === 'csv' ? `${CSV_HEADER}\n` : '';
      const contents = chunks.map((chunk) => Buffer.from(header + text(chunk)));
      this.#families.push({ path: `${stem}.${ending}`, contents, written: 0, rotations: 0, plain: [] });
    }
  }

  /** Whether everything is written. */
  get isOver(): boolean {
    return this.#families.every(({ contents }) => contents.length === 0);
  }

  /** Does one thing, and says what. */
  async step(): Promise<string> {
    const { random } = this;
    const rotated = this.#families.filter(({ plain }) => plain.length > 0);
    if (rotated.length > 0 && random.chance(0.3)) return this.#compress(random.pick(rotated));
    const open = this.#families.filter(({ contents }) => contents.length > 0);
    return open.length === 0 ? 'nothing' : this.#write(random.pick(open));
  }

  async #write(family: Family): Promise<string> {
    const { random } = this;
    const [content] = family.contents;
    if (content === undefined) return 'nothing';
    const path = join(this.dataDir, family.path);
    await mkdir(dirname(path), { recursive: true });
    if (family.written < content.length) {
      let to = random.chance(0.5) ? content.length : family.written + 1 + random.int(content.length - family.written);
      // A line that continues the one before comes with it: what comes late is a row of its own.
      while (/^\n[ \t]/.test(content.toString('latin1', to - 1, to + 1))) to++;
      await appendFile(path, content.subarray(family.written, to));
      family.written = to;
      return `append to ${family.path}`;
    }
    family.contents.shift();
    family.written = 0;
    if (family.contents.length === 0 && random.chance(0.5)) return `leave ${family.path}`;
    const away = `${family.path}.${++family.rotations}`;
    if (random.chance(0.3)) {
      const ending = random.pick(Object.keys(compressed));
      await this.#archive(content, `${away}${ending}`);
      await rm(path);
      return `archive ${family.path}`;
    }
    family.plain.push(away);
    if (random.chance(0.5)) {
      await rename(path, join(this.dataDir, away));
      return `rename ${family.path} to ${away}`;
    }
    await copyFile(path, join(this.dataDir, away));
    await truncate(path);
    return `copy ${family.path} to ${away} and truncate it`;
  }

  async #compress(family: Family): Promise<string> {
    const away = family.plain.shift()!;
    const ending = this.random.pick(Object.keys(compressed));
    const path = join(this.dataDir, away);
    await this.#archive(await readFile(path), `${away}${ending}`);
    await rm(path);
    return `compress ${away} to ${ending}`;
  }

  /** As `gzip` does: the archive grows. */
  async #archive(content: Buffer, name: string): Promise<void> {
    const path = join(this.dataDir, name);
    const archive = compressed[name.slice(name.lastIndexOf('.'))]!(content);
    const half = this.random.int(archive.length);
    await writeFile(path, archive.subarray(0, half));
    if (this.random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, 400));
    await appendFile(path, archive.subarray(half));
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
