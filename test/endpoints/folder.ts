import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** A folder of stored queries that is gone after the test. */
export class QueryFolder {
  private constructor(readonly path: string) {}

  static async create(files: Readonly<Record<string, string | Buffer>> = {}): Promise<QueryFolder> {
    const folder = new QueryFolder(await mkdtemp(path.join(os.tmpdir(), 'queries-')));
    for (const [name, text] of Object.entries(files)) await folder.write(name, text);
    return folder;
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  async write(name: string, text: string | Buffer): Promise<void> {
    await writeFile(this.file(name), text);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** UUIDs that differ in their last digits. */
export function uuid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** A sound stored query; `settings` are more lines of YAML. */
export function storedQuery(n: number, name: string, settings = '', sql = 'SELECT 1 AS one'): string {
  return `/*\nid: ${uuid(n)}\nname: ${name}\n${settings === '' ? '' : `${settings}\n`}*/\n${sql}\n`;
}
