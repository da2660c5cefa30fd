import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

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

const SCRIPT = path.join(__dirname, '../../scripts/build.js');

/** In a process of its own: Jest has no import() of modules. */
async function build(): Promise<void> {
  const call = `require(${JSON.stringify(SCRIPT)}).build(${JSON.stringify(root)})`;
  await promisify(execFile)(process.execPath, ['-e', call]);
}

const TASK = `
export const task = { file: __filename, name: 'task', run: (n: number): string => [String(n), __dirname].join(' ') };
`;
const COMMAND = `
import { task } from './deep/task';
export const run = async (): Promise<void> => {
  const { later } = await import('./later.js');
  const { createRequire } = await import('node:module');
  const thread = createRequire(__filename)(task.file) as { readonly task: typeof task };
  console.log([task.file, thread.task.run(later), thread.task === task, __filename].join('\\n'));
};
void run();
`;

it('bundles what Node starts by its name, the explorer and the script of a page, and removes what sources that are gone have left', async () => {
  symlinkSync(path.join(__dirname, '../../node_modules'), path.join(root, 'node_modules'));
  for (const folder of ['src/explorer', 'src/http/routes/docs/browser', 'dist/bench', 'dist/old'])
    mkdirSync(path.join(root, folder), { recursive: true });
  writeFileSync(path.join(root, 'package.json'), '{}');
  writeFileSync(path.join(root, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }');
  writeFileSync(path.join(root, 'src/cli.ts'), COMMAND);
  writeFileSync(path.join(root, 'src/later.ts'), 'export const later: number = 7;\n');
  writeFileSync(path.join(root, 'src/deep/task.ts'), TASK);
  writeFileSync(
    path.join(root, 'src/deep/child.ts'),
    "import { later } from '../later';\nconsole.log('child', later);\n",
  );
  writeFileSync(path.join(root, 'src/http/routes/docs/browser/page.js'), 'void document;\n');
  const bundle = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(path.join(root, 'bundled'))}, '');\n`;
  writeFileSync(path.join(root, 'src/explorer/build.mjs'), bundle);
  for (const file of ['dist/old/gone.js', 'dist/old/gone.js.map', 'dist/bench/kept.js'])
    writeFileSync(path.join(root, file), '');

  await build();
  const built = [
    'dist/cli.js',
    'dist/cli.js.map',
    'dist/deep/child.js',
    'dist/deep/task.js',
    'dist/http/routes/docs/browser/page.js',
    'dist/bench/kept.js',
    'bundled',
  ];
  expect(built.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  const gone = ['dist/old/gone.js', 'dist/old/gone.js.map', 'dist/later.js'];
  expect(gone.filter((file) => existsSync(path.join(root, file)))).toEqual([]);
  const dist = path.join(root, 'dist');
  const task = path.join(dist, 'deep/task.js');
  expect(await run('dist/cli.js')).toBe(`${task}\n7 ${path.dirname(task)}\ntrue\n${path.join(dist, 'cli.js')}\n`);
  expect(await run('dist/deep/child.js')).toBe('child 7\n');
  expect(isStale(root)).toBe(false);

  // A service that runs from the last build imports its chunks later, until that is two builds ago.
  const chunks = (): string[] => readdirSync(path.join(dist, 'chunks')).filter((file) => file.endsWith('.js'));
  const first = chunks();
  writeFileSync(path.join(root, 'src/later.ts'), 'export const later: number = 8;\n');
  await build();
  expect(await run('dist/deep/child.js')).toBe('child 8\n');
  expect(chunks()).toEqual(expect.arrayContaining(first));
  const second = chunks().filter((file) => !first.includes(file));
  expect(second).not.toEqual([]);
  writeFileSync(path.join(root, 'src/later.ts'), 'export const later: number = 9;\n');
  await build();
  const third = chunks();
  expect(third).toEqual(expect.arrayContaining(second));
  expect(third.filter((file) => /^later-/.test(file))).toHaveLength(2);

  writeFileSync(path.join(root, 'src/later.ts'), 'export const later = ;\n');
  await expect(build()).rejects.toThrow(/later\.ts:1:21/);
  expect(await run('dist/deep/child.js')).toBe('child 9\n');
});

async function run(file: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, [file], { cwd: root })).stdout;
}
