import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { installPacked, printed, removePacked } from './packed';

let folder: string;
beforeAll(() => {
  folder = installPacked();
});
afterAll(() => removePacked(folder));

test('the example of README.md runs in Node on the packed package, and prints what the page says', () => {
  expect(execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' })).toBe(printed);
});

test('its types are found by the names of its faces', () => {
  const text = `
    import { resolveQuery } from '@logquay/googlesql';
    import { parseQuery, type Query } from '@logquay/googlesql/syntax';
    import type { SqlType } from '@logquay/googlesql/types';
    const query: Query = parseQuery('SELECT 1');
    const type: SqlType | undefined = resolveQuery(query, 'SELECT 1', { findTable: () => undefined, parameters: new Map() }).output[0]?.column.type;
    // @ts-expect-error A type is no text.
    export const text: string | undefined = type;
  `;
  const compiler = path.join(path.dirname(require.resolve('typescript-native/package.json')), 'bin/tsc');
  const file = path.join(folder, 'typed.mts');
  writeFileSync(file, text);
  const options = ['--noEmit', '--strict', '--module', 'node16', '--target', 'es2023', '--types', ''];
  expect(() =>
    execFileSync(process.execPath, [compiler, ...options, file], { cwd: folder, encoding: 'utf8' }),
  ).not.toThrow();
});
