/** The collection in docs/, run by newman as Postman would, against a started process. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { Stage } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const COLLECTION = path.join(ROOT, 'docs/logquay.postman_collection.json');

const stage = new Stage();
afterAll(() => stage.end());

/** A live tail has no end. */
const RUN = `
  const newman = require(${JSON.stringify(require.resolve('newman'))});
  const [file, baseUrl, apiKey] = process.argv.slice(1);
  const collection = require(file);
  const ends = (items) => items.filter((one) => !one.request?.url.path.includes('tail')).map((one) => (one.item ? { ...one, item: ends(one.item) } : one));
  const envVar = [{ key: 'baseUrl', value: baseUrl }, { key: 'apiKey', value: apiKey }];
  newman.run({ collection: { ...collection, item: ends(collection.item) }, envVar }, (error, { run }) => {
    if (error) throw error;
    process.stdout.write(JSON.stringify(run.executions.map(({ item, response }) => [item.name, response?.code ?? 0])));
  });`;

it('runs in newman: every request of it succeeds, and with a wrong key those of the endpoints fail', async () => {
  const service = stage.start({ API_KEY: 'a-key-for-newman', CLOCK: '2026-09-30T12:00:00Z' }, stage.folder());
  const base = await service.ready();
  const codes = async (key: string): Promise<[string, number][]> => {
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', RUN, COLLECTION, base, key]);
    return JSON.parse(stdout) as [string, number][];
  };
  const right = await codes('a-key-for-newman');
  expect(right.filter(([, code]) => code !== 200)).toEqual([]);
  const endpoints = readdirSync(path.join(ROOT, 'queries')).flatMap((file) =>
    file.endsWith('.sql') ? [file.replace(/\.sql$/, '')] : [],
  );
  expect(right.map(([name]) => name)).toEqual(expect.arrayContaining(endpoints));
  const wrong = new Map(await codes('wrong'));
  for (const endpoint of endpoints) expect([endpoint, wrong.get(endpoint)]).toEqual([endpoint, 401]);
});

it('holds no SQL of a stored query', () => {
  expect(readFileSync(COLLECTION, 'utf8')).not.toMatch(/raw_|UNNEST|WITH \w+ AS/i);
});
