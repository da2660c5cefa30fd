import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { isStale } from '../../scripts/build';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'logquay-build-'));
  for (const folder of ['dist', 'src/deep']) mkdirSync(path.join(root, folder), { recursive: true });
  for (const file of ['package.json', 'src/a.ts', 'src/deep/b.ts', 'dist/.built']) write(file, 0);
  for (const folder of ['src', 'src/deep']) age(folder, 0);
  age('dist/.built', 10);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** Sets a time, in seconds after one that is past. */
function age(place: string, seconds: number): void {
  utimesSync(path.join(root, place), 1_700_000_000 + seconds, 1_700_000_000 + seconds);
}

function write(file: string, seconds: number): void {
  writeFileSync(path.join(root, file), '');
  age(file, seconds);
}

it('builds nothing that is newer than its sources', () => {
  expect(isStale(root)).toBe(false);
});

it.each([
  ['was never built', () => rmSync(path.join(root, 'dist/.built'))],
  ['has a changed source', () => write('src/deep/b.ts', 20)],
  ['has a source that was removed', () => rmSync(path.join(root, 'src/deep/b.ts'))],
  ['has a source that is new, but old', () => write('src/deep/copied.ts', -100)],
  ['has other settings', () => write('tsconfig.json', 20)],
  ['has other dependencies', () => write('package.json', 20)],
])('builds what %s', (_, change) => {
  change();
  expect(isStale(root)).toBe(true);
});
