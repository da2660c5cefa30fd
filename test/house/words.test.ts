import { execFileSync } from 'node:child_process';

import { findingsIn } from './words';

const HELD = ['src', 'emulator', 'bench', 'test', 'docs', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const FILES = execFileSync('git', ['ls-files', ...HELD], { encoding: 'utf8' })
  .split('\n')
  // The list of words and its own test apart.
  .filter((file) => /\.(ts|js|mjs|md)$/.test(file) && !file.startsWith('test/house/words'));

test('names, headings, messages and pages use the words of the field', () => {
  expect(FILES.length).toBeGreaterThan(300);
  expect(FILES.flatMap((file) => findingsIn(file)).map((f) => `${f.file}:${String(f.line)} ${f.found}`)).toEqual([]);
});

test.each([
  ['const kept = 1;', 'kept'],
  ['const isKeptAnew = 1;', 'isKeptAnew'],
  ['// The caller is told so.', 'is told'],
  ["throw new Error('It is aloft.');", 'aloft'],
])('finds a word of our own: %s', (text, found) => {
  expect(findingsIn('src/a.ts', text).map((finding) => finding.found)).toContain(found);
});

test.each([
  'class A { constructor() {} }',
  "import { finished } from 'node:stream/promises';",
  '// null: there is none',
])('lets pass what is common: %s', (text) => expect(findingsIn('src/a.ts', text)).toEqual([]));
