/** The service is killed at random instants while its data folder grows, rotates and is compressed: no row is lost or doubled. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, writeFileSync, appendFileSync, rmSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Stage } from './started';
import { LONG } from '../scale';

const API_KEY = 'test-key-of-the-operator';
/** More for a night: `KILLS=50`. The same writer again: `SEED`, which a failure names. */
const KILLS = Number(process.env['KILLS'] ?? (LONG ? 20 : 1));
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const FILES = 3;
/** With so little memory rows are stored every few seconds, otherwise every minute. */
const OFTEN_STORED = { DUCKDB_MEMORY_LIMIT: '112MB' };
/** Milliseconds without another row after which no more come. */
const STALLED = 120_000;

jest.setTimeout(600_000 + KILLS * 60_000);

const stage = new Stage();
afterAll(() => stage.end());

/** Writes rows as a service under load does, of which each is a line with an id of its own. */
class Writer {
  written = 0;
  readonly #numbers = new Array<number>(FILES).fill(0);
  #running = true;
  readonly ended: Promise<void>;

  constructor(
    private readonly folder: string,
    private readonly random: () => number,
  ) {
    this.ended = this.#run();
  }

  stop(): Promise<void> {
    this.#running = false;
    return this.ended;
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const file = Math.floor(this.random() * FILES);
      const live = path.join(this.folder, `app-${'abc'[file]!}.ndjson`);
      const lines = Array.from({ length: 1 + Math.floor(this.random() * 60) }, () => this.#line()).join('');
      // A line is not always written in one go.
      const cut = Math.floor(this.random() * lines.length);
      appendFileSync(live, lines.slice(0, cut));
      await sleep(this.random() * 20);
      appendFileSync(live, lines.slice(cut));
      if (this.random() < 0.05) this.#rotate(live, file);
      if (this.random() < 0.05) await this.#compress();
      await sleep(this.random() * 40);
    }
  }

  #line(): string {
    const id = `row-${String(this.written++)}`;
    const timestamp = new Date(Date.UTC(2026, 8, 30) + this.written * 10).toISOString();
    return `${JSON.stringify({ id, timestamp, project: 'p', event_message: 'x'.repeat(Math.floor(this.random() * 900)) })}\n`;
  }

  #rotate(live: string, file: number): void {
    if (existsSync(live)) renameSync(live, `${live}.${String(++this.#numbers[file]!)}`);
  }

  async #compress(): Promise<void> {
    const name = readdirSync(this.folder).find((one) => /\.ndjson\.\d+$/.test(one));
    if (name === undefined) return;
    const plain = path.join(this.folder, name);
    const archive = execFileSync('gzip', ['-c', plain], { maxBuffer: 2 ** 30 });
    // As gzip does: the archive grows beside the file, which then goes.
    writeFileSync(`${plain}.gz`, archive.subarray(0, archive.length / 2));
    await sleep(this.random() * 300);
    appendFileSync(`${plain}.gz`, archive.subarray(archive.length / 2));
    rmSync(plain);
  }
}

const QUERY = `/*
id: 5b0f6c1e-5a0e-4c57-9a41-2f1d0c7e8a99
name: count
*/
SELECT COUNT(*) AS c, COUNT(DISTINCT id) AS ids FROM raw_postgres_logs
`;

async function count(base: string): Promise<{ c: number; ids: number }> {
  const response = await fetch(`${base}/api/endpoints/query/count`, { headers: { 'X-API-KEY': API_KEY } });
  const text = await response.text();
  const { result } = JSON.parse(text) as { result?: [{ c: number; ids: number }] };
  if (result === undefined) throw new Error(text);
  return result[0];
}

it(`serves every row once after ${String(KILLS)} kills`, async () => {
  const folder = stage.folder();
  writeFileSync(path.join(folder, 'queries/count.sql'), QUERY);
  const data = path.join(folder, 'data');
  mkdirSync(path.join(data, 'raw_postgres_logs'), { recursive: true });
  let seed = SEED;
  const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const environment = { API_KEY, DATA_DIR: data };
  const writer = new Writer(path.join(data, 'raw_postgres_logs'), random);
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const service = stage.start(kill % 2 === 0 ? environment : { ...environment, ...OFTEN_STORED }, folder);
      await service.logged(/"msg":"ready"/, 300_000);
      const base = await service.base();
      await sleep(random() * 4_000);
      const before = writer.written;
      const { c, ids } = await count(base);
      // Rows are written meanwhile, and none comes twice.
      expect({ seed: SEED, doubled: c - ids }).toEqual({ seed: SEED, doubled: 0 });
      expect(c).toBeLessThanOrEqual(writer.written);
      expect(before).toBeGreaterThan(0);
      service.signal('SIGKILL');
      await service.exit;
    }
  } finally {
    await writer.stop();
  }
  const last = stage.start(environment, folder);
  await last.logged(/"msg":"ready"/, 300_000);
  const base = await last.base();
  // As long as rows come: how long that takes depends on how much no conversion could store between two kills.
  let served = await count(base);
  for (let still = 0; served.c !== writer.written && still < STALLED; still += 100) {
    await sleep(100);
    const now = await count(base);
    if (now.c !== served.c) still = 0;
    served = now;
  }
  expect({ seed: SEED, ...served }).toEqual({ seed: SEED, c: writer.written, ids: writer.written });
});

it('A second service over one CACHE_DIR waits, and takes over when the first has ended, also by a kill', async () => {
  const folder = stage.folder();
  const data = path.join(folder, 'data');
  mkdirSync(data);
  writeFileSync(
    path.join(folder, 'queries/count.sql'),
    '/*\nid: 5b0f6c1e-5a0e-4c57-9a41-2f1d0c7e8a99\nname: count\ncache_ttl: 0\n*/\nSELECT COUNT(*) AS c FROM raw_postgres_logs\n',
  );
  const add = (id: string): void =>
    appendFileSync(
      path.join(data, 'raw_postgres_logs.ndjson'),
      `${JSON.stringify({ id, timestamp: '2026-09-30T11:00:00Z', event_message: id })}\n`,
    );
  const environment = { API_KEY, METRICS_KEY: `${API_KEY}-of-the-metrics`, DATA_DIR: data };
  const get = async (at: string, place: string, key: string): Promise<[number, unknown]> => {
    const response = await fetch(`${at}${place}`, { headers: { 'X-API-KEY': key } });
    return [response.status, await response.json()];
  };
  const counted = (at: string): Promise<[number, unknown]> => get(at, '/api/endpoints/query/count', API_KEY);
  add('a');
  let holder = stage.start(environment, folder);
  await holder.ready();
  for (const [i, signal] of (['SIGKILL', 'SIGTERM'] as const).entries()) {
    const next = stage.start(environment, folder);
    const at = await next.base();
    await next.logged(/Another process has CACHE_DIR: nothing is served until that ends/);
    expect((await get(at, '/health', API_KEY))[0]).toBe(200);
    const [status, ready] = await get(at, '/ready', environment.METRICS_KEY);
    expect([status, ready]).toMatchObject([503, { status: 'starting', detail: [{ component: 'data_folder' }] }]);
    expect((await counted(at))[0]).toBe(503);
    add(signal);
    holder.signal(signal);
    await holder.exit;
    const ended = performance.now();
    await next.ready();
    expect(performance.now() - ended).toBeLessThan(60_000);
    expect(await counted(at)).toMatchObject([200, { result: [{ c: i + 2 }] }]);
    expect((await get(at, '/ready', environment.METRICS_KEY))[1]).toMatchObject({ status: 'ready', detail: [] });
    expect(next.err).not.toMatch(/is damaged|are read again/);
    holder = next;
  }
});
