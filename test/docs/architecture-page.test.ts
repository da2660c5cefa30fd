/** docs/architecture.md, held to the tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
const SOURCES = execFileSync('git', ['ls-files', 'src', 'packages'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('.ts') && existsSync(path.join(ROOT, file)));
const TEXT = SOURCES.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');

const code = [...PAGE.matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);

it('names every folder of src/', () => {
  const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
  expect(folders.filter((folder) => !code.includes(folder))).toEqual([]);
});

it('names every package', () => {
  const names = readdirSync(path.join(ROOT, 'packages'));
  expect(names.filter((name) => !PAGE.includes(`](../packages/${name}/README.md)`))).toEqual([]);
});

it('names no folder or file that does not exist', () => {
  const places = code.filter((inner) => /^[\w./-]+(?:\/|\.(?:ts|cjs|md))$/.test(inner));
  expect(places.length).toBeGreaterThan(30);
  const exists = (place: string): boolean =>
    existsSync(path.join(ROOT, place)) ||
    existsSync(path.join(ROOT, 'src', place)) ||
    SOURCES.some((file) => file.endsWith(`/${place}`));
  expect(places.filter((place) => !exists(place))).toEqual([]);
});

it('names no function or class that does not exist', () => {
  const names = code.filter((inner) => /^[A-Za-z]\w*$/.test(inner) && /[a-z][A-Z]|^[A-Z][a-z]/.test(inner));
  expect(names.length).toBeGreaterThan(25);
  const declared = (name: string): boolean =>
    new RegExp(`\\b(?:function|class|const|interface|type) ${name}\\b`).test(TEXT);
  // What others made, and headers.
  const foreign = ['Accept'];
  expect(names.filter((name) => !declared(name) && !foreign.includes(name))).toEqual([]);
});
