import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { end } from './process';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-loads-'));
  // CommonJS modules are all in the cache; written at the end, whichever way the process ends.
  writeFileSync(
    path.join(folder, 'trace.js'),
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(path.join(folder, 'loaded'))}, Object.keys(require.cache).join('\\n')));`,
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a command loads: files of `dist`, and packages. */
async function loadedBy(args: readonly string[], input = ''): Promise<readonly string[]> {
  const environment = {
    NODE_OPTIONS: `--require ${path.join(folder, 'trace.js')}`,
    CACHE_DIR: path.join(folder, 'cache'),
  };
  const { code, stderr } = await end(args, { environment, input });
  expect([code, stderr]).toEqual([0, '']);
  const files = readFileSync(path.join(folder, 'loaded'), 'utf8').split('\n');
  return [
    ...new Set(
      files.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? /dist\/(.*)/.exec(file)?.[1] ?? file),
    ),
  ];
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
  expect(loaded).toContain('cli/program.js');
  expect(loaded.filter((name) => HEAVY.includes(name))).toEqual([]);
});

it('run loads the engine in use and no HTTP', async () => {
  const loaded = await loadedBy(['run', 'logs.all', '--param', 'project=default']);
  expect(loaded).toContain('@duckdb/node-api');
  expect(loaded.filter((name) => ['google-auth-library', '@google-cloud/bigquery', 'ioredis'].includes(name))).toEqual(
    [],
  );
});
