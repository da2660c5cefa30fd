/** The keys file stays readable for the service, whoever edits it. */
import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { logquay } from '../cli/command-line';

const CLI = path.join(__dirname, '../../dist/cli.js');
/** `nobody` and another, who need not have a name. */
const SERVICE = 65_534;
const OTHER = 54_321;

// Only root may give files away, and so try this out.
const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'));
  file = path.join(folder, 'data', 'keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => logquay(['keys', ...args], { KEYS_FILE: file });
/** The command as another user. */
function runAs(uid: number, ...args: string[]): { status: number | null; text: string } {
  const { PATH = '' } = process.env;
  const { status, stderr, stdout } = spawnSync(process.execPath, [CLI, 'keys', ...args], {
    env: { PATH, KEYS_FILE: file },
    cwd: folder,
    uid,
    gid: uid,
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
}
async function access(place = file): Promise<[uid: number, gid: number, mode: string]> {
  const { uid, gid, mode } = await stat(place);
  return [uid, gid, (mode & 0o7777).toString(8)];
}

it.each([0o600, 0o640, 0o644, 0o660])('mode %o is kept', async (mode) => {
  await run('create', '--name', 'a');
  await chmod(file, mode);
  await run('create', '--name', 'b');
  await run('revoke', 'a');
  expect((await access())[2]).toBe(mode.toString(8));
});

asRoot('as root', () => {
  it('owner, group and mode are kept', async () => {
    await run('create', '--name', 'a');
    await chown(file, SERVICE, OTHER);
    await chmod(file, 0o640);
    expect((await run('revoke', 'a')).code).toBe(0);
    expect(await access()).toEqual([SERVICE, OTHER, '640']);
  });

  it('a new file, and its folder, belong to whom the folder around it belongs', async () => {
    await chown(folder, SERVICE, OTHER);
    expect((await run('create', '--name', 'a')).code).toBe(0);
    expect(await access()).toEqual([SERVICE, OTHER, '600']);
    expect((await access(path.dirname(file))).slice(0, 2)).toEqual([SERVICE, OTHER]);
  });
});

asRoot('as a user that is not the owner', () => {
  beforeEach(async () => {
    await run('create', '--name', 'a');
    await chmod(folder, 0o777);
    await chmod(path.dirname(file), 0o777);
    await chown(file, SERVICE, SERVICE);
  });

  it.each(['revoke', 'create'])('%s says that it cannot be effective, and changes nothing', async (command) => {
    // Whoever may read the file by its group may write a new one, which the service could not read.
    await chown(file, SERVICE, OTHER);
    await chmod(file, 0o640);
    const before = await readFile(file, 'utf8');
    const { status, text } = runAs(OTHER, command, ...(command === 'create' ? ['--name', 'b'] : ['a']));
    expect([status, text]).toEqual([1, expect.stringMatching(/belongs to user 65534[^]*Nothing is changed/)]);
    expect(text).not.toMatch(/is revoked|lq_/);
    expect(await readFile(file, 'utf8')).toBe(before);
    expect(await access()).toEqual([SERVICE, OTHER, '640']);
    expect(await readdir(path.dirname(file))).toEqual(['keys.json']);
  });

  it('a file that everybody may read stays one', async () => {
    await chmod(file, 0o644);
    expect(runAs(OTHER, 'revoke', 'a').status).toBe(0);
    expect((await access())[2]).toBe('644');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ keys: [] });
  });

  it('the owner may', async () => {
    await mkdir(path.dirname(file), { recursive: true });
    expect(runAs(SERVICE, 'revoke', 'a').status).toBe(0);
    expect(await access()).toEqual([SERVICE, SERVICE, '600']);
  });
});
