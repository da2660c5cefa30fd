/** The real service where its disk is full: nothing that is written is taken, until there is room again. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '../../packages/duckdb-engine/test/follow/eventually';
import { childrenOf, Stage, type Started } from './started';

const API_KEY = 'test-key-of-the-operator';
const METRICS_KEY = 'test-key-of-the-metrics';
/** More than are left in the hot file for ten minutes. */
const ROWS = 600;

jest.setTimeout(240_000);

const stage = new Stage();
afterAll(() => stage.end());

const QUERY = `/*
id: 5b0f6c1e-5a0e-4c57-9a41-2f1d0c7e8a99
name: count
cache_ttl: 0
*/
SELECT COUNT(*) AS c, COUNT(DISTINCT id) AS ids FROM raw_postgres_logs
`;

let written = 0;
const lines = (count: number): string =>
  Array.from({ length: count }, () => {
    const id = `row-${String(written++)}`;
    return `${JSON.stringify({ id, timestamp: '2026-09-30T11:00:00Z', project: 'p', event_message: 'x'.repeat(900) })}\n`;
  }).join('');

/** A process and all that it has started. */
function tree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(tree)];
}

/** How much any file may hold that the service writes: the kernel refuses more, as it does on a full disk. */
function limitFiles(service: Started, bytes: number | 'unlimited'): void {
  for (const pid of tree(service.child.pid!))
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${String(bytes)}:`]);
}

async function get(base: string, place: string, key: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${base}${place}`, { headers: { 'X-API-KEY': key } });
  return { status: response.status, text: await response.text() };
}

async function count(base: string): Promise<unknown> {
  const { text } = await get(base, '/api/endpoints/query/count', API_KEY);
  return (JSON.parse(text) as { result: unknown[] }).result[0];
}

it('serves on, says that rows are not stored, and stores them when there is room', async () => {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/count.sql'), QUERY);
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const file = path.join(data, 'raw_postgres_logs.ndjson');
  const environment = { API_KEY, METRICS_KEY, DATA_DIR: data };
  const service = stage.start(environment, folder);
  const base = await service.ready();
  const all = (): object => ({ c: written, ids: written });
  const becomesWhole = (at: string): Promise<void> => eventually(async () => expect(await count(at)).toEqual(all()));

  writeFileSync(file, lines(ROWS));
  await becomesWhole(base);
  await service.logged(/"msg":"Rows stored"/, 60_000);
  appendFileSync(file, lines(10));
  await becomesWhole(base);
  const committed = all();
  // Of the log of the hot file, then with a few bytes more than it has.
  for (const room of [0, 64 * 1024]) {
    limitFiles(service, room);
    appendFileSync(file, lines(room === 0 ? 10 : 200));
    await eventually(async () =>
      expect(JSON.parse((await get(base, '/ready', METRICS_KEY)).text)).toMatchObject({
        status: 'ready',
        detail: [{ component: 'data_folder', message: expect.stringMatching(/cannot be stored/) as string }],
      }),
    );
    // The last good state serves on.
    expect(await count(base)).toEqual(committed);
  }
  expect((await get(base, '/metrics', METRICS_KEY)).text).toMatch(/^logquay_degraded\{component="data_folder"\} 1$/m);

  limitFiles(service, 'unlimited');
  await becomesWhole(base);
  await eventually(async () =>
    expect(JSON.parse((await get(base, '/ready', METRICS_KEY)).text)).toMatchObject({ detail: [] }),
  );
  expect(service.err).not.toMatch(/has broken down|has ended/);

  service.signal('SIGKILL');
  await service.exit;
  appendFileSync(file, lines(10));
  const again = stage.start(environment, folder);
  await becomesWhole(await again.ready());
  expect(again.err).not.toContain('Rows stored');
});
