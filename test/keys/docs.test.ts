import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { runKeysCommand, USAGE } from '../../src/keys/command';
import { readKeysFile } from '../../src/keys/keys-file';

const PAGE = readFileSync(path.join(__dirname, '../../docs/keys.md'), 'utf8');
const OPTIONS = [...PAGE.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option]) => option ?? '');
const COMMANDS = [...PAGE.matchAll(/^npm run keys -- (.*)$/gm)].map(([, words]) => (words ?? '').split(' '));

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'));
  file = path.join(folder, 'keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

async function run(args: readonly string[]): Promise<string[]> {
  const out: string[] = [];
  await runKeysCommand(file, args, { out: (line) => out.push(line), note: () => undefined });
  return out;
}

describe('docs/keys.md', () => {
  it('lists the options that the command tells of', () => {
    const told = [...USAGE.matchAll(/--[a-z-]{2,}/g)].map(([option]) => option);
    expect(OPTIONS.sort()).toEqual([...new Set(told)].sort());
  });

  it.each(OPTIONS)('lists %s, which the command takes', async (option) => {
    // Whatever else may be wrong with it, it is not unknown.
    const error: unknown = await run(['create', option]).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain('Unknown option');
  });

  it('has commands that work one after the other', async () => {
    expect(COMMANDS.length).toBeGreaterThan(3);
    for (const words of COMMANDS) await run(words);
    expect(await run(['list'])).toEqual([expect.stringMatching(/^grafana /)]);
  });

  it('shows a file that is taken as it stands, with every member that there is', async () => {
    const example = /```json\n([^]*?)```/.exec(PAGE)?.[1] ?? '';
    await writeFile(file, example);
    const { entries, faults } = await readKeysFile(file);
    expect(faults).toEqual([]);
    expect(entries).toHaveLength(1);
    await rm(file);
    await run(['create', '--name', 'all']);
    const written = JSON.parse(readFileSync(file, 'utf8')) as { keys: object[] };
    const shown = JSON.parse(example) as { keys: object[] };
    expect(Object.keys(shown.keys[0] ?? {}).sort()).toEqual(Object.keys(written.keys[0] ?? {}).sort());
  });
});
