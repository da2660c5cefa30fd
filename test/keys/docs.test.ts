import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readKeysFile } from '../../src/keys/keys-file';
import { type Ended, leaveFolder, logquay, ownFolder } from '../cli/command-line';

const PAGE = readFileSync(path.join(__dirname, '../../docs/keys.md'), 'utf8');
const COMMANDS = [...PAGE.replaceAll(/ \\\n +/g, ' ').matchAll(/^npm run keys -- (.*)$/gm)].map(([, words]) =>
  (words ?? '').split(' '),
);

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await ownFolder();
  file = path.join(folder, 'keys.json');
});
afterEach(() => leaveFolder(folder));

function run(args: readonly string[]): Promise<Ended> {
  return logquay(['keys', ...args], { KEYS_FILE: file });
}

describe('docs/keys.md', () => {
  it('has commands that work one after the other', async () => {
    expect(COMMANDS.length).toBeGreaterThan(3);
    await writeFile(path.join(folder, 'app.secret'), 'a secret of at least thirty-two bytes\n');
    for (const words of COMMANDS) expect((await run(words)).code).toBe(0);
    const listed = (await run(['list'])).out.map((line) => line.split(' ')[0]);
    expect(listed).toEqual(['grafana', 'app', 'trial']);
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
