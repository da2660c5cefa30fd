/** docs/cli.md says how commands end: each of its command lines is carried out. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { logquay } from './command-line';
import { end } from './process';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/cli.md'), 'utf8');
const ENDINGS = Array.from(
  PAGE.matchAll(/^\| `\$ logquay ([^`]+)` +\| (\d+) +\| `([^`]+)` +\|$/gm),
  ([, line = '', code = '', text = '']) => [line, Number(code), text] as const,
);

const before = process.cwd();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-'));
  cpSync(path.join(ROOT, 'queries'), path.join(folder, 'queries'), { recursive: true });
  for (const name of ['faulty', 'empty']) mkdirSync(path.join(folder, name));
  const faulty = '/*\nid: 00000000-0000-4000-8000-000000000001\nname: faulty\n*/\nSELECT pth FROM raw_edge_logs\n';
  writeFileSync(path.join(folder, 'faulty/one.sql'), faulty);
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

it.each(ENDINGS)('logquay %s ends with %i', async (line, code, text) => {
  const ended = await logquay(line.split(' '), { DATA_DIR: path.join(ROOT, 'test/fixture') });
  expect({ line, code: ended.code }).toEqual({ line, code });
  expect([...ended.out, ...ended.notes].join('\n')).toContain(text);
});

it('shows every code but that of Ctrl-C, and a failure of every command that can fail without a service', () => {
  expect(new Set(ENDINGS.map(([, code]) => code))).toEqual(new Set([0, 1, 2]));
  const failing = new Set(ENDINGS.flatMap(([line, code]) => (code === 0 ? [] : line.split(' ')[0])));
  const commands = [...PAGE.matchAll(/^\| `([a-z-]+)(?: [a-z]+)?` +\| [a-z]/gm)].map(([, name]) => name);
  const without = [...new Set(commands)].filter((name) => !failing.has(name));
  // It prints, or hands over to a program of its own.
  expect(without).toEqual(['schema', 'emulator']);
});

it('serve says why it cannot start', async () => {
  const { code, stdout, stderr } = await end(['serve'], { environment: { PORT: 'x' }, cwd: folder });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Logquay cannot start\.\n.*PORT/);
});

it('check names what a new version changes: settings that are gone, and entries of the keys file', async () => {
  const key = { name: 'app', hash: '0'.repeat(64) };
  writeFileSync(
    path.join(folder, 'keys.json'),
    JSON.stringify({ keys: [key, { ...key, name: 'other', arrow: true }] }),
  );
  const environment = { DATA_DIR: path.join(ROOT, 'test/fixture'), KEYS_FILE: 'keys.json', STALE_IF_ERROR: '7200' };
  const { code, out, notes } = await logquay(['check'], environment);
  expect(notes).toEqual([expect.stringMatching(/^warning: STALE_IF_ERROR has no effect: .*3600 seconds/)]);
  expect(out).toContainEqual(expect.stringMatching(/^keys\.json: entry 2 \(other\): .*arrow/));
  expect(code).toBe(1);
  await expect(logquay(['check'], { ...environment, MAX_WARMED: '10' })).resolves.toMatchObject({
    code: 1,
    notes: [expect.stringMatching(/^MAX_WARMED: this setting is gone/)],
  });
});
