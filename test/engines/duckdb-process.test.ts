/** The embedded engine in its own process, as `npm test` has built it. */
import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { EngineQuery, RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import { openRemoteEngine, type RemoteOptions } from '../../packages/duckdb-engine/src/process/open';
import { bytesOf } from '../../packages/duckdb-engine/src/engine/sizes';
import type { RemoteEngine } from '../../packages/duckdb-engine/src/process/remote-engine';
import { engineContract } from './contract';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';

jest.setTimeout(180_000);

const NOON = BigInt(Date.parse('2026-09-30T12:00:00Z')) * 1000n;
const FIXTURE = join(__dirname, '../fixture');

async function openIn(cacheDir: string, options: Partial<RemoteOptions> = {}): Promise<RemoteEngine> {
  const file = join(__dirname, '../../dist/node_modules/@logquay/duckdb-engine/src/process/child.js');
  return openRemoteEngine({
    declared: LOG_SCHEMA,
    dataDir: FIXTURE,
    cacheDir,
    now: NOON,
    log: silentLog,
    threads: 1,
    file,
    ...options,
  });
}

const limits = (): RunLimits => within(50_000);
const query = (sql: string): EngineQuery => queryOf(sql, { maxRows: 10 });

engineContract(
  'The embedded DuckDB in a process of its own',
  async () => {
    const cacheDir = await mkdtemp(join(tmpdir(), 'logquay-'));
    return { engine: await openIn(cacheDir), dispose: () => rm(cacheDir, { recursive: true }) };
  },
  NOON,
);

describe('an engine in a process of its own', () => {
  let cacheDir: string;
  beforeEach(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'logquay-'));
  });
  afterEach(() => rm(cacheDir, { recursive: true }));

  /** The process that has the data, where it was the last to be started. */
  async function childPid(): Promise<number> {
    const tasks = await readdir('/proc/self/task');
    const lists = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8')));
    return Math.max(...lists.join(' ').split(' ').map(Number));
  }

  it('gives every row of runs at once, of any length, in their places and beside them', async () => {
    const engine = await openIn(cacheDir);
    try {
      // Of 0 to 3.3 MB: none, a part of a place, all of one, more than one; and more runs than there are places.
      const sizes = [0, 1, 9, 700, 2_000, 9_999, 10_000, 400, 5_000, 3, 10_000, 8_000];
      const rowsOf = async (n: number): Promise<void> => {
        const sql = `SELECT i, REPEAT('ä', 150) AS text FROM UNNEST(GENERATE_ARRAY(1, ${n})) AS i ORDER BY i`;
        const { rows, truncated } = await engine.run({ ...query(sql), maxRows: 10_000 }, limits());
        expect(truncated).toBe(false);
        expect(rows).toEqual(Array.from({ length: n }, (_, i) => `{"i":${i + 1},"text":"${'ä'.repeat(150)}"}`));
      };
      for (let round = 0; round < 3; round++) await Promise.all(sizes.map(rowsOf));
    } finally {
      await engine.close();
    }
  });

  it('answers what was running when the process was killed, from the same samples', async () => {
    const causes: string[] = [];
    const engine = await openIn(cacheDir, { dataDir: null, now: null, died: (cause) => causes.push(cause) });
    try {
      const { target } = engine;
      // Rows are added at the end.
      const end = (Date.now() - 3_600_000) * 1000;
      const sql = `SELECT COUNT(*) AS n, MAX(timestamp) AS last FROM raw_edge_logs WHERE timestamp < TIMESTAMP_MICROS(${end})`;
      const { rows } = await engine.run(query(sql), limits());
      const running = [1, 2, 3].map((i) => engine.run(query(`${sql} AND ${String(i)} > 0`), limits()));
      process.kill(await childPid(), 'SIGKILL');
      for (const result of await Promise.all(running)) expect(result.rows).toEqual(rows);
      await engine.ping(limits());
      expect(engine.target).toBe(target);
      expect((await engine.run(query(sql), limits())).rows).toEqual(rows);
      expect(causes.every((cause) => cause === 'crashed')).toBe(true);
    } finally {
      await engine.close();
    }
    // Samples are of no use to anybody else.
    expect(await readdir(cacheDir)).toEqual([]);
  });

  it('keeps samples in memory where nothing can be written', async () => {
    const taken = join(cacheDir, 'a-file');
    await writeFile(taken, '');
    const engine = await openIn(taken, { dataDir: null });
    expect((await engine.run(query('SELECT COUNT(*) > 0 AS found FROM raw_edge_logs'), limits())).rows).toEqual([
      '{"found":true}',
    ]);
    await engine.close();
  });

  it('is ready before a backlog is read, ends at once meanwhile, and leaves nothing half made', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'logquay-'));
    const row = `${JSON.stringify({ timestamp: '2026-01-01', id: 'x'.repeat(200), n: 1 })}\n`;
    await writeFile(join(dataDir, 'things.ndjson'), row.repeat(400_000));
    const engine = await openIn(cacheDir, { dataDir });
    expect(engine.dataStatus()?.tables.find(({ table }) => table === 'things')).toMatchObject({ rows: 0, files: 1 });
    await engine.close();
    const [folder = ''] = await readdir(cacheDir);
    expect((await readdir(join(cacheDir, folder))).sort()).toEqual(['catalogue.json', 'store']);
    expect(await readdir(join(cacheDir, folder, 'store'))).toEqual(['hot.duckdb', 'hot.duckdb.wal']);
    await rm(dataDir, { recursive: true });
  });

  it('cannot start with faulty data, and says what is wrong with it', async () => {
    const dataDir = join(cacheDir, 'nowhere');
    await expect(openIn(cacheDir, { dataDir })).rejects.toMatchObject({ name: 'DataFault' });
  });

  it('gives lines of every length, through its file and without one', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'logquay-data-'));
    const rows = Array.from({ length: 100 }, (_, i) => {
      return JSON.stringify({ n: i, text: 'xyz'[i % 3]!.repeat(i % 40 === 7 ? 900_000 : i * 300) });
    });
    await writeFile(join(dataDir, 'things.ndjson'), `${rows.join('\n')}\n`);
    const engine = await openIn(cacheDir, { dataDir });
    const sql = 'SELECT n, text FROM things ORDER BY n';
    while ((await engine.run(query(`SELECT COUNT(*) AS n FROM things`), limits())).rows[0] !== '{"n":100}')
      await sleep(50);
    const expected = `${rows.join('\n')}\n`;
    const files = async (): Promise<string[]> => {
      const folders = (await readdir(cacheDir)).filter((name) => name.startsWith('streams-'));
      return (await Promise.all(folders.map((name) => readdir(join(cacheDir, name))))).flat();
    };
    const streamed = async (): Promise<{ text: string; during: number }> => {
      const parts: Buffer[] = [];
      let during = 0;
      const take = async (lines: Uint8Array): Promise<void> => {
        parts.push(Buffer.from(lines));
        during = Math.max(during, (await files()).length);
      };
      const more = await engine.stream({ ...query(sql), maxRows: 100 }, limits(), { begin: () => undefined, take });
      expect(more).toBe(false);
      return { text: Buffer.concat(parts).toString(), during };
    };
    try {
      const withFile = await streamed();
      expect(withFile.during).toBe(1);
      expect(withFile.text === expected).toBe(true);
      expect(await files()).toEqual([]);
      for (const name of await readdir(cacheDir))
        if (name.startsWith('streams-')) await rm(join(cacheDir, name), { recursive: true });
      const without = await streamed();
      expect(without.during).toBe(0);
      expect(without.text === expected).toBe(true);
    } finally {
      await engine.close();
    }
    expect((await readdir(cacheDir)).filter((name) => name.startsWith('streams-'))).toEqual([]);
    await rm(dataDir, { recursive: true });
  });

  it('ends a stream at once whose lines cannot be read', async () => {
    const engine = await openIn(cacheDir);
    const sql = `SELECT n, REPEAT('x', 300) AS text FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS n`;
    const take = async (): Promise<void> => {
      for (const name of await readdir(cacheDir)) {
        if (!name.startsWith('streams-')) continue;
        for (const file of await readdir(join(cacheDir, name))) await truncate(join(cacheDir, name, file), 0);
      }
    };
    try {
      const streaming = engine.stream({ ...query(sql), maxRows: 100_000 }, limits(), { begin: () => undefined, take });
      await expect(streaming).rejects.toMatchObject({ reason: 'backendError' });
      expect((await engine.run(query('SELECT 1 AS x'), limits())).rows).toEqual(['{"x":1}']);
    } finally {
      await engine.close();
    }
  });
});

it.each([
  ['1GB', 1e9],
  ['512MB', 512e6],
  ['2GiB', 2 * 1024 ** 3],
  ['64MiB', 64 * 1024 ** 2],
])('%s is %d bytes', (size, bytes) => {
  expect(bytesOf(size)).toBe(bytes);
});

it('tables and columns are known before sample logs have been made; rows wait for them', async () => {
  const cacheDir = await mkdtemp(join(tmpdir(), 'logquay-'));
  const engine = await openIn(cacheDir, { dataDir: null });
  try {
    const events: string[] = [];
    const note = (name: string) => (): void => void events.push(name);
    const count = engine.run(query('SELECT COUNT(*) AS n FROM raw_edge_logs'), limits());
    await Promise.all([
      engine.opened.then(note('opened')),
      count.then(note('rows')),
      engine.describe('SELECT id FROM raw_edge_logs', [], limits()).then(note('columns')),
    ]);
    expect(events[0]).toBe('columns');
    expect((await count).rows).toEqual(['{"n":16000}']);
  } finally {
    await engine.close();
    await rm(cacheDir, { recursive: true, force: true });
  }
});
