import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ofWorker } from '../of-worker';

const ROOT = path.join(__dirname, '../..');

/** What no build of an image is given (.dockerignore): results of builds, tests, dependencies. */
const IGNORED = /^packages\/[^/]+\/(?:dist|test|node_modules)(?:\/|$)/;

/** Lines that belong together as one, without comments. */
const instructions = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, '')
  .split('\n')
  .filter((line) => line !== '');

/**
 * Lays out the stages of the Dockerfile in empty folders, as a build of the image would: what is copied comes from the repository or from
 * another stage, what is run runs there. Packages come from npm's own cache: nothing is fetched.
 *
 * @param given arguments of the build
 * @returns the folder of the last stage
 */
function layOut(folder: string, given: Readonly<Record<string, string>>): string {
  const stages = new Map<string, string>();
  let stage = '';
  for (const line of instructions) {
    const [word = '', ...rest] = line.trim().split(/\s+/);
    if (word === 'FROM') {
      stage = path.join(folder, rest[2] ?? 'image');
      stages.set(rest[2] ?? 'image', stage);
      mkdirSync(stage, { recursive: true });
    } else if (word === 'COPY') copy(rest, stages, stage);
    else if (word === 'RUN' && !line.includes('chown')) {
      const command = line.replace(/^RUN /, '').replaceAll('npm ci', 'npm ci --offline');
      execFileSync('sh', ['-c', command], { cwd: stage, env: { ...process.env, ...given }, stdio: 'pipe' });
    }
  }
  return stage;
}

function copy(words: readonly string[], stages: ReadonlyMap<string, string>, stage: string): void {
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.at(-1) ?? '';
  for (const source of paths.slice(0, -1)) {
    const base = from === undefined ? ROOT : (stages.get(from) ?? '');
    const file = path.join(base, source.replace(/^\/app\//, ''));
    const into = path.join(stage, target === './' ? path.basename(source) : target);
    const filter = (each: string): boolean => from !== undefined || !IGNORED.test(path.relative(ROOT, each));
    cpSync(file, into, { recursive: true, filter, verbatimSymlinks: true });
  }
}

function linksIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    if (name === '.bin') return [];
    return lstatSync(file).isSymbolicLink() ? [file] : lstatSync(file).isDirectory() ? linksIn(file) : [];
  });
}

/** Starts the service of an image. @returns the status of its `/health` */
async function answers(image: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const env = { PATH: process.env['PATH'], PORT: '0', HOST: '127.0.0.1', ...environment };
  const child = spawn(process.execPath, ['dist/cli.js', 'serve'], { cwd: image, env });
  const ended = once(child, 'exit');
  let log = '';
  try {
    for await (const data of child.stderr) {
      log += String(data);
      const [, port] = /"port":(\d+)/.exec(log) ?? [];
      if (port !== undefined) return (await fetch(`http://127.0.0.1:${port}/health`)).status;
    }
    throw new Error(`The service has ended: ${log}`);
  } finally {
    child.kill();
    await ended;
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-image-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the image starts, and has no links', async () => {
  const image = layOut(folder, {});
  expect(linksIn(path.join(image, 'node_modules'))).toEqual([]);
  expect(await answers(image, { ENGINE: 'duckdb' })).toBe(200);
}, 600_000);

it('an image for BigQuery alone has no DuckDB', async () => {
  const image = layOut(folder, { DUCKDB: '0' });
  expect(existsSync(path.join(image, 'node_modules/@duckdb'))).toBe(false);
  const bigquery = {
    ...{ ENGINE: 'bigquery', BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs' },
    ...{ BIGQUERY_EMULATOR_HOST: await ofWorker.bigQuery(), API_KEY: randomBytes(24).toString('hex') },
  };
  expect(await answers(image, bigquery)).toBe(200);
}, 600_000);
