import type { DuckDBConnection } from '@duckdb/node-api';

import type { RunLimits } from '../src/contract/contract';
import { openDatabase } from '../src/engine/database';
import { LiveDatabase } from '../src/engine/recovering-database';
import { DataFolder } from './data-folder';
import { within } from './queries';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';

/** A bug of DuckDB 1.5 that shows when constants are left to the execution; the PRAGMA is no setting that is locked. */
async function breakDown(connection: DuckDBConnection): Promise<void> {
  await connection.run('PRAGMA disable_optimizer');
  await connection.run('SELECT array_cosine_similarity([1]::FLOAT[1], [NULL]::FLOAT[1]) FROM range(3)');
}

const limits = (ms = 50_000): RunLimits => within(ms);

describe.each([
  ['a data folder', true],
  ['sample logs', false],
])('a database over %s that breaks down', (_, given) => {
  let folder: DataFolder;
  let live: LiveDatabase;
  let count: () => Promise<number>;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    folder = await DataFolder.make({ 'things.ndjson': '{"a":1}\n{"a":2}\n' });
    const { dataDir, cacheDir, log } = folder;
    const database = await openDatabase({
      declared: LOG_SCHEMA,
      dataDir: given ? dataDir : null,
      cacheDir,
      now: null,
      log,
    });
    stop = () => database.close();
    live = new LiveDatabase(database.instance, database.reopen, 4, 1e9, log);
    count = () =>
      live.use(limits(), async (connection) => {
        const reader = await connection.runAndReadAll(
          `SELECT count(*) FROM ${database.data.tables.get(given ? 'things' : 'raw_edge_logs')!.parts[0]!.relation}`,
        );
        return Number(reader.getRows()[0]?.[0]);
      });
  });
  afterEach(async () => {
    await stop();
    await live.close();
    await folder.remove();
  });
  /** What is logged of the database itself: who follows the folder may meet the breakdown too, and says so. */
  const levels = (): string[] =>
    folder.logged.filter(({ message }) => message.startsWith('The embedded database')).map(({ level }) => level);

  it('fails that query, and answers the next from the same rows', async () => {
    const rows = await count();
    expect(rows).toBeGreaterThan(1);
    for (let i = 0; i < 2; i++) {
      await expect(live.use(limits(), breakDown)).rejects.toThrow(/^INTERNAL Error/);
      expect(await Promise.all([count(), count(), count()])).toEqual([rows, rows, rows]);
    }
    expect(levels()).toEqual(['error', 'warn', 'error', 'warn']);
  }, 30_000);

  it('lets nobody wait beyond their deadline', async () => {
    await expect(live.use(limits(), breakDown)).rejects.toThrow(/^INTERNAL Error/);
    const waiting = live.use(limits(0.01), (connection) => connection.run('SELECT 1'));
    await expect(waiting).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    expect(await count()).toBeGreaterThan(1);
  });

  it('can be closed meanwhile', async () => {
    await expect(live.use(limits(), breakDown)).rejects.toThrow(/^INTERNAL Error/);
    await live.close();
    await expect(count()).rejects.toThrow('Nobody waits');
  });
});

it('a query of its own fault is no breakdown', async () => {
  const folder = await DataFolder.make();
  const database = await openDatabase({
    declared: LOG_SCHEMA,
    dataDir: null,
    cacheDir: folder.cacheDir,
    now: null,
    log: folder.log,
  });
  const live = new LiveDatabase(database.instance, database.reopen, 1, 1e9, folder.log);
  await expect(live.use(limits(), (connection) => connection.run('SELECT 1 / nothing'))).rejects.toThrow(/^Binder/);
  await live.use(limits(), (connection) => connection.run('SELECT 1'));
  expect(folder.logged.filter(({ level }) => level !== 'info')).toEqual([]);
  await live.close();
  await folder.remove();
});
