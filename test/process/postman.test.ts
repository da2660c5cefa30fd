/** What `logquay postman` writes, run by newman as Postman would, against a started process. */
import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Item, PostmanEnvironment, RequestItem } from '../../src/postman/types';
import { type Ended, logquay } from '../cli/command-line';
import { Stage } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const run = promisify(execFile);

let stage: Stage;
beforeAll(() => {
  stage = new Stage();
});
afterAll(() => stage.end());

interface Summary {
  readonly run: {
    readonly stats: Readonly<Record<'requests' | 'assertions', { total: number; failed: number }>>;
    readonly failures: readonly { source: { name: string }; error: { test: string; message: string } }[];
    readonly executions: readonly { item: { name: string }; response: { code: number } }[];
  };
}

/** What the command has written, in this process. */
function postman(folder: string, ...args: string[]): Promise<Ended> {
  const environment = { QUERIES_DIR: path.join(folder, 'queries') };
  return logquay(['postman', '--out', path.join(folder, 'deep/er'), ...args], environment);
}

async function write(folder: string, ...args: string[]): Promise<readonly string[]> {
  const { code, out, notes } = await postman(folder, ...args);
  expect([code, notes]).toEqual([0, []]);
  return out;
}

/** Runs a collection twice, the second time with another key, and writes newman's reports. */
const RUNS = `
  const newman = require(${JSON.stringify(require.resolve('newman'))});
  const [collection, environment] = process.argv.slice(1);
  const run = (envVar, report, then) =>
    newman.run({ collection, environment, envVar, reporters: 'json', reporter: { json: { export: report } } }, then);
  run([], 'right.json', () => run([{ key: 'key', value: 'wrong' }], 'wrong.json', () => undefined));
`;

const read = <T>(cwd: string, file = ''): T => JSON.parse(readFileSync(path.resolve(cwd, file), 'utf8')) as T;
const requestsOf = (items: readonly Item[]): RequestItem[] =>
  items.flatMap((item) => ('item' in item ? requestsOf(item.item) : [item]));

const ODD = `/*
id: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001
name: odd-one_2
params:
  text: { type: string, required: true }
  sign: { type: enum, required: true, values: ['a&b=c%20+d#{{key}}', x] }
  n: { type: integer, required: true, min: 3 }
  ratio: { type: number, required: true, max: 0.5 }
  deep: { type: boolean, required: true }
  since: { type: timestamp, required: true }
  day: { type: date, required: true }
  pattern: { type: regex, required: true }
*/
WITH \`select\` AS (
  SELECT @text AS text, @sign AS sign, @n AS n, @ratio AS ratio, @deep AS deep, @since AS since, @day AS day, @pattern AS pattern
)
SELECT * FROM \`select\`
`;

it('runs in newman: every request succeeds, and its tests look at status and shape', async () => {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/odd.sql'), ODD);
  writeFileSync(
    path.join(folder, 'queries/odd-sandbox.sql'),
    ODD.replace('0001', '0002').replace('odd-one_2', 'odd.sandbox\nsandbox: true'),
  );
  const service = stage.start({ API_KEY: 'a-key-for-newman', CLOCK: '2026-09-30T12:00:00Z' }, folder);
  const base = await service.ready();
  const command = [path.join(ROOT, 'dist/cli.js'), 'postman', '--url', `${base}/`, '--key', 'a-key-for-newman'];
  const written = await run(process.execPath, command, { cwd: folder });
  const [collection = '', environment = ''] = written.stdout.trim().split('\n');
  const { item } = read<{ item: Item[] }>(folder, collection);
  const requests = requestsOf(item);

  await run(process.execPath, ['-e', RUNS, collection, environment], { cwd: folder });
  const summary = read<Summary>(folder, 'right.json');
  const failures = summary.run.failures.map(({ source, error }) => [source.name, error.test, error.message]);
  expect(failures).toEqual([]);
  expect(summary.run.stats.requests).toMatchObject({ total: requests.length, failed: 0 });
  expect(summary.run.stats.assertions.total).toBeGreaterThan(3 * requests.length - 3);
  expect(summary.run.executions.map((one) => [one.item.name, one.response.code])).toEqual(
    requests.map(({ name }) => [name, 200]),
  );
  expect(requests.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'logs.all: SQL of your own',
      'usage.api-counts: LQL',
      'odd-one_2: rows',
      'odd.sandbox: SQL of your own',
    ]),
  );

  // The tests inside can fail: with another key nothing but the probes succeeds.
  const wrong = read<Summary>(folder, 'wrong.json');
  const failed = new Set(
    wrong.run.executions.filter(({ response }) => [401, 429].includes(response.code)).map((one) => one.item.name),
  );
  expect(failed.size).toBe(requests.length - 2);
  expect(wrong.run.failures.length).toBeGreaterThanOrEqual(failed.size);
});

it('has a place for every parameter, switched off where it is optional', async () => {
  const folder = stage.folder();
  const [collection = ''] = await write(folder);
  const { item } = read<{ item: Item[] }>(folder, collection);
  const rows = requestsOf(item).find(({ name }) => name === 'logs.all: rows');
  expect(rows?.request.url.query?.map(({ key, disabled }) => [key, disabled ?? false])).toEqual([
    ['project', false],
    ['iso_timestamp_start', true],
    ['iso_timestamp_end', true],
    ['sql', true],
    ['lql', true],
    ['dry_run', true],
  ]);
  expect(rows?.request.url.raw).toBe('{{baseUrl}}/api/endpoints/query/logs.all?project=default');
  expect(readFileSync(collection, 'utf8')).not.toMatch(/raw_|UNNEST|WITH /i);
});

it('leaves the key empty unless it is given, and keeps a file with one to its owner', async () => {
  const folder = stage.folder();
  const [, environment = ''] = await write(folder);
  const key = () => read<PostmanEnvironment>(folder, environment).values.find((one) => one.key === 'key');
  expect(key()).toEqual({ key: 'key', value: '', type: 'secret', enabled: true });
  expect(read<PostmanEnvironment>(folder, environment).values[0]?.value).toBe('http://127.0.0.1:4000');
  await write(folder, '--key', 'secret');
  expect(key()?.value).toBe('secret');
  expect(statSync(environment).mode & 0o777).toBe(0o600);
});

it.each([
  [['--url', 'ftp://x'], /--url must be a URL/],
  [['--url', 'nonsense'], /--url must be a URL/],
])('refuses %j', async (args, message) => {
  expect(await postman(stage.folder(), ...args)).toMatchObject({
    code: 1,
    notes: [expect.stringMatching(message)],
  });
});

it('names the fault of a stored query', async () => {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/bad.sql'), '/*\nid: x\n*/\nSELECT 1\n');
  const { code, notes } = await postman(folder);
  expect([code, notes.join('\n')]).toEqual([1, expect.stringMatching(/bad\.sql:\d+/)]);
});
