import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { listingModules, packageOf } from '../loaded-modules';
import { end } from './process';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-loads-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a command loads: sources, and packages. */
async function loadedBy(args: readonly string[], input = ''): Promise<readonly string[]> {
  const { options, loaded } = listingModules(folder);
  const environment = { NODE_OPTIONS: options, CACHE_DIR: path.join(folder, 'cache') };
  const { code, stderr } = await end(args, { environment, input });
  expect([code, stderr]).toEqual([0, '']);
  return [...new Set(loaded().map((module) => packageOf(module) ?? module))];
}

const HEAVY = [
  'express',
  'pino',
  'zod',
  'ioredis',
  '@duckdb/node-api',
  '@google-cloud/bigquery',
  'google-auth-library',
];

it.each([
  [['--help'], ''],
  [['lql', 'rules'], '"x"'],
  [['keys', 'create', '--help'], ''],
])('%j loads no engine, no HTTP and no log', async (args, input) => {
  const loaded = await loadedBy(args, input);
  expect(loaded).toContain('src/cli/program.ts');
  expect(loaded.filter((name) => HEAVY.includes(name))).toEqual([]);
});

it('run loads the engine in use and nothing of the other', async () => {
  const loaded = await loadedBy(['run', 'logs.all', '--param', 'project=default']);
  expect(loaded).toContain('@duckdb/node-api');
  const others = ['google-auth-library', '@google-cloud/bigquery', 'ioredis'];
  expect(loaded.filter((name) => others.includes(name))).toEqual([]);
});
