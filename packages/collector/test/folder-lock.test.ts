/** The lock of the collector's folder among real processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

jest.setTimeout(60_000);

const root = mkdtempSync(path.join(tmpdir(), 'logquay-lock-'));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.disconnect();
});
afterAll(() => rmSync(root, { recursive: true }));

/** @param under a command that runs the one behind it */
async function process(under: readonly string[] = []): Promise<ChildProcess> {
  const [execPath, ...rest] = [...under, global.process.execPath];
  const child = fork(path.join(__dirname, 'lock-holder.js'), { execPath, execArgv: rest });
  children.push(child);
  await once(child, 'message');
  return child;
}

async function ask(child: ChildProcess, message: { acquire?: string }): Promise<unknown> {
  child.send(message);
  return ((await once(child, 'message')) as unknown[])[0];
}

/** A folder with the lock of a process that has ended without releasing it. */
async function abandoned(): Promise<string> {
  const folder = mkdtempSync(path.join(root, 'abandoned-'));
  const child = await process();
  expect(await ask(child, { acquire: path.join(folder, 'lock') })).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  children.splice(children.indexOf(child), 1);
  return folder;
}

it('a stale lock is taken over by one of three processes, in each of 60 rounds', async () => {
  const stale = await abandoned();
  const [name = ''] = readdirSync(stale);
  const racers = await Promise.all([process(), process(), process()]);
  for (let round = 0; round < 60; round++) {
    const folder = mkdtempSync(path.join(root, 'race-'));
    copyFileSync(path.join(stale, name), path.join(folder, name));
    const held = await Promise.all(racers.map((racer) => ask(racer, { acquire: path.join(folder, 'lock') })));
    expect(held.filter(Boolean)).toHaveLength(1);
    for (const racer of racers) await ask(racer, {});
  }
});

it('a released lock is taken at once, and numbers are given once', async () => {
  const file = path.join(mkdtempSync(path.join(root, 'released-')), 'lock');
  const [first, second] = await Promise.all([process(), process()]);
  for (const child of [first, second, first]) {
    expect(await ask(child, { acquire: file })).toBe(true);
    expect(await ask(child === first ? second : first, { acquire: file })).toBe(false);
    await ask(child, {});
  }
  expect(readdirSync(path.dirname(file))).toEqual(['lock.3']);
});

it('processes that number theirs apart do not take the lock from each other', async () => {
  const alone = [...(global.process.getuid?.() === 0 ? [] : ['--map-root-user']), '--pid', '--fork'];
  const file = path.join(mkdtempSync(path.join(root, 'apart-')), 'lock');
  const [first, second] = await Promise.all([process(['unshare', ...alone]), process(['unshare', ...alone])]);
  expect(await ask(first, { acquire: file })).toBe(true);
  for (let i = 0; i < 10; i++) {
    expect(await ask(second, { acquire: file })).toBe(false);
    await sleep(300);
  }
  // The first one ends, and gives no sign of life.
  children.splice(children.indexOf(first), 1);
  first.disconnect();
  await once(first, 'exit');
  expect(await ask(second, { acquire: file })).toBe(false);
  utimesSync(`${file}.1`, Date.now() / 1000 - 16, Date.now() / 1000 - 16);
  expect(await ask(second, { acquire: file })).toBe(true);
});
