/** Who used how much: counted, written down by several processes, bounded, and answered as rows. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { RedisUsage, UsageCounts, UsageFolder, type UsageStore } from '../../src/limits/usage-counts';
import type { CompletedRequest } from '../../src/telemetry';
import { describeWithRedis, startRedis } from '../redis-server';
import { connectTo } from './redis';

const NOW = Date.parse('2026-11-29T12:30:00Z');

const request = (account: string, more: Partial<CompletedRequest> = {}): CompletedRequest => ({
  ...{ account, key: account.split('/')[0], method: 'GET', status: 200, arrived: 0, milliseconds: 1, phases: [] },
  ...{ bytes: 10, rows: 2, ...more },
});

/** What several processes share. */
class Shared implements UsageStore {
  readonly texts = new Map<string, string>();
  away = false;

  async read(names: readonly string[]): Promise<readonly (string | null)[]> {
    if (this.away) throw new Error('away');
    return names.map((name) => this.texts.get(name) ?? null);
  }

  async replace(name: string, before: string | null, after: string): Promise<boolean> {
    if (this.away) throw new Error('away');
    if ((this.texts.get(name) ?? null) !== before) return false;
    this.texts.set(name, after);
    return true;
  }
}

const opened = (store: UsageStore, now = NOW): UsageCounts => {
  const counts = new UsageCounts(() => now);
  counts.open(store);
  return counts;
};

it('has keys and issuers by hour and day, and subjects by day', async () => {
  const counts = opened(new Shared());
  counts.count(request('app/aa', { cache: 'hit', billed: 5n }));
  counts.count(request('app/aa', { status: 429, rows: undefined }));
  counts.count(request('script', { cache: 'miss', billed: 7n }));
  counts.count({ ...request('script'), account: undefined, key: undefined });
  const rows = await counts.rows();
  const none = { hits: 0, errors: 0, statuses: '' };
  const app = { requests: 2, hits: 1, rows: 2, bytes_billed: 5, errors: 1, statuses: '429: 1' };
  const script = { ...none, requests: 1, rows: 2, bytes_billed: 7 };
  const hour = { period: 'hour', from: '2026-11-29T12:00:00Z', subject: null };
  const day = { period: 'day', from: '2026-11-29T00:00:00Z', subject: null };
  expect(rows).toEqual([
    { ...hour, key: 'script', ...script },
    { ...hour, key: 'app', ...app },
    { ...day, key: 'script', ...script },
    { ...day, key: 'app', ...app },
    { ...day, key: 'app', ...app, subject: 'aa' },
  ]);
  await counts.close();
});

it('adds up what several processes count at a time, and what could not be written once', async () => {
  const store = new Shared();
  const [a, b] = [opened(store), opened(store)];
  store.away = true;
  a.count(request('k'));
  await a.write();
  store.away = false;
  a.count(request('k'));
  b.count(request('k'));
  await Promise.all([a.write(), b.write()]);
  expect((await b.rows())[0]).toMatchObject({ key: 'k', requests: 3 });
  await Promise.all([a.close(), b.close()]);
});

it('keeps the subjects with most bytes of each day, and the others as one, within 16 MiB', async () => {
  const store = new Shared();
  for (let day = 0; day < 3; day++) {
    const counts = opened(store, NOW - day * 86_400_000);
    for (let i = 0; i < 3_000; i++) {
      counts.count(request(`app/${String(i).padStart(64, '0')}`, { billed: BigInt(i) * 1_000_000_000n, status: 429 }));
      if (i < 500) counts.count(request(`key-of-quite-some-length-${String(i)}`));
    }
    await counts.close();
  }
  const rows = await opened(store).rows();
  const subjects = rows.filter(({ subject, from }) => subject !== null && from.startsWith('2026-11-29'));
  expect(subjects).toHaveLength(1_001);
  expect(subjects.find(({ subject }) => subject === 'others')?.requests).toBe(2_000);
  const bytesOf = (unit: string): number =>
    Math.max(...[...store.texts].flatMap(([name, text]) => (name.startsWith(unit) ? text.length : [])));
  expect(31 * bytesOf('day') + 168 * bytesOf('hour')).toBeLessThan(16 * 1024 ** 2);
});

it('is kept in a folder where there is no Redis, and goes with its time', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'logquay-usage-'));
  const old = opened(new UsageFolder(folder), Date.now() - 40 * 86_400_000);
  old.count(request('k'));
  await old.close();
  expect(await readdir(folder)).toHaveLength(0);
  const counts = opened(new UsageFolder(folder), Date.now());
  counts.count(request('k'));
  await counts.close();
  expect(await readdir(folder)).toHaveLength(2);
  expect(await opened(new UsageFolder(folder), Date.now()).rows()).toHaveLength(2);
  await rm(folder, { recursive: true });
});

describeWithRedis('with Redis', () => {
  it('is one for all processes, and is told again when Redis is back', async () => {
    const redis = await startRedis();
    const connections = [connectTo(redis.url, 1000), connectTo(redis.url, 1000)];
    await Promise.all(connections.map(({ tried }) => tried));
    const [a, b] = connections.map((connection) => opened(new RedisUsage(connection)));
    for (let i = 0; i < 5; i++) {
      a!.count(request('app/aa'));
      b!.count(request('app/aa'));
      await Promise.all([a!.write(), b!.write()]);
    }
    const rows = await a!.rows();
    expect(rows.map(({ requests }) => requests)).toEqual([10, 10, 10]);
    expect(await b!.rows()).toEqual(rows);
    await Promise.all([a!.close(), b!.close()]);
    await redis.stop();
    await expect(a!.rows()).rejects.toMatchObject({ reason: 'backendUnavailable' });
    for (const connection of connections) connection.close();
  });
});
