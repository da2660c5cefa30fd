import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { secretOf } from '../../src/run/sealed-texts';

let folder = '';
beforeEach(async () => (folder = path.join(await mkdtemp(path.join(os.tmpdir(), 'secret-')), 'cache')));
afterEach(() => rm(path.dirname(folder), { recursive: true }));

const revealed = async (): Promise<string | undefined> => (await secretOf(folder))?.reveal();

it('is one for all who begin at once, and for whoever begins later', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, revealed));
  expect(new Set(all).size).toBe(1);
  expect(all[0]).toHaveLength(43);
  expect(await revealed()).toBe(all[0]);
  expect(await readdir(folder)).toEqual(['token-secret']);
  expect((await stat(path.join(folder, 'token-secret'))).mode & 0o777).toBe(0o600);
});

it('replaces what a process that was killed has left of one', async () => {
  await secretOf(folder);
  await writeFile(path.join(folder, 'token-secret'), 'half of it');
  const secret = await revealed();
  expect(secret).toHaveLength(43);
  expect(await revealed()).toBe(secret);
});

it('is null where the folder cannot be used', async () => {
  await writeFile(folder, 'a file');
  expect(await secretOf(folder)).toBeNull();
});
