/** The walks of docs/architecture.md, followed in the real process. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { until } from '../until';
import { breakpointsOf } from './call-recorder.js';
import { Stage, type Started } from './started';

const PAGE = readFileSync(path.join(__dirname, '../../docs/architecture.md'), 'utf8');

/** The steps below a heading that begins with these words: `function in file`. */
function stepsOf(heading: string): string[] {
  const section = PAGE.split(/^#+ /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\d+\. `(#?\w+)` in `([\w./-]+)`/gm)].map(([, name, file]) => `${name} in ${file}`);
}

const REQUEST = stepsOf('A request');
const CONSUMER = stepsOf('A consumer query');
const FILE = stepsOf('A stored file');

const stage = new Stage();
let service: Started;
let base: string;
let records: string;

beforeAll(async () => {
  const folder = stage.folder();
  records = path.join(folder, 'calls');
  const functions = [...new Set([...REQUEST, ...CONSUMER, ...FILE])].map(
    (step) => step.split(' in ') as [string, string],
  );
  const recorder = path.join(folder, 'recorder.js');
  const values = [recorder, records, breakpointsOf(functions)].map((value) => JSON.stringify(value)).join(', ');
  writeFileSync(
    recorder,
    `require(${JSON.stringify(path.join(__dirname, 'call-recorder.js'))}).recordCalls(${values});`,
  );
  service = stage.start({ NODE_OPTIONS: `--require ${recorder}` }, folder);
  base = await service.ready();
});
afterAll(() => stage.end());
beforeEach(() => {
  writeFileSync(records, '');
});

const recorded = (): string[] => (existsSync(records) ? readFileSync(records, 'utf8').split('\n') : []);

/** The first step that was not passed after those before it; null: all were passed in this order. */
function missing(steps: readonly string[]): string | null {
  const calls = recorded();
  let from = 0;
  for (const step of steps) {
    from = calls.indexOf(step, from) + 1;
    if (from === 0) return step;
  }
  return null;
}

async function passes(steps: readonly string[]): Promise<void> {
  expect(steps.length).toBeGreaterThan(5);
  // What is recorded of an answer comes after it; the catalogue takes two looks.
  await until(() => missing(steps) === null).catch(() => undefined);
  expect([missing(steps), recorded()]).toEqual([null, expect.anything()]);
}

async function get(query: string): Promise<void> {
  const key = readFileSync(path.join(service.folder, '.data/key'), 'utf8').trim();
  const url = `${base}/api/endpoints/query/logs.all?project=default${query}`;
  const response = await fetch(url, { headers: { 'X-API-KEY': key } });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"result":[')]);
}

it('a request', async () => {
  await get('');
  await passes(REQUEST);
});

it('a consumer query', async () => {
  await get('&sql=SELECT id FROM edge_logs LIMIT 3');
  await passes(CONSUMER);
});

it('a stored file', async () => {
  const [file = ''] = readdirSync(path.join(service.folder, 'queries'));
  appendFileSync(path.join(service.folder, 'queries', file), '\n-- changed\n');
  await passes(FILE);
});
