/** The collector over real folders: what is stored, what comes again, and what a crash or a full disk leaves. */
import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { Collector, type CollectorOptions } from '../src/collector';
import { type Intent, Journal } from '../src/journal';
import { readSources } from '../src/sources';
import { unlimited } from '../../duckdb-engine/src/concurrency/deadline';
import { Threads } from '../../duckdb-engine/src/concurrency/threads/threads';
import { Metrics } from '../../../src/metrics/metrics';
import { until } from '../../../test/until';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;
const EDGE = 'cloudflare.logs.prod';

const threads = new Threads();
const open: Collector[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const collector of open.splice(0)) await collector.close();
});
afterAll(async () => {
  await threads.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'logquay-collect-'));
  folders.push(folder);
  return folder;
}

interface Stage {
  readonly collector: Collector;
  readonly folder: string;
  readonly metrics: Metrics;
  readonly faults: (string | null)[];
}

async function stage(more: Partial<CollectorOptions> = {}): Promise<Stage> {
  const folder = more.dataDir ?? newFolder();
  const metrics = new Metrics();
  const faults: (string | null)[] = [];
  const collector = await Collector.open({
    declared: LOG_SCHEMA,
    dataDir: folder,
    sources: readSources(null),
    retention: 7,
    minFree: 0,
    maxBody: 5_000_000,
    threads,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    metrics,
    report: (fault) => void faults.push(fault),
    now: () => NOON,
    ...more,
  });
  open.push(collector);
  return { collector, folder, metrics, faults };
}

/** Ends a collector as a test needs it: a file that is open twice would be two collectors. */
async function end(collector: Collector): Promise<void> {
  open.splice(open.indexOf(collector), 1);
  await collector.close();
}

const limits = { ...unlimited(), keyName: 'vector' };

function send(collector: Collector, events: unknown, source = EDGE): ReturnType<Collector['collect']> {
  return collector.collect({ source, body: Buffer.from(JSON.stringify(events)) }, limits);
}

/** Messages of the rows of a table, in the order of its files. */
function messages(folder: string, table = 'raw_edge_logs'): unknown[] {
  const place = path.join(folder, table);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .flatMap((name) => {
      const bytes = readFileSync(path.join(place, name));
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
      expect(text === '' || text.endsWith('\n')).toBe(true);
      return text.split('\n').filter((line) => line !== '');
    })
    .map((line) => (JSON.parse(line) as { event_message: unknown }).event_message);
}

const numbered = (from: number, count: number): { message: string; timestamp: number }[] =>
  Array.from({ length: count }, (_, i) => ({ message: `m${String(from + i)}`, timestamp: NOON * 1000 + from + i }));
const named = (from: number, count: number): string[] => numbered(from, count).map(({ message }) => message);

describe('a batch', () => {
  it('is rows of the daily file of its table when it is answered, whatever form it has', async () => {
    const { collector, folder, metrics } = await stage();
    const [first, second, third] = numbered(0, 3);
    expect(await send(collector, [first])).toEqual({ table: 'raw_edge_logs', events: 1, refused: 0 });
    await send(collector, { batch: [second, 'no event'] });
    await send(collector, third);
    expect(await send(collector, [])).toMatchObject({ events: 0 });
    expect(readdirSync(path.join(folder, 'raw_edge_logs'))).toEqual(['2026-11-22.ndjson']);
    expect(messages(folder)).toEqual(named(0, 3));
    await send(collector, numbered(9, 1), 'POSTGREST.logs.prod');
    expect(messages(folder, 'raw_postgrest_logs')).toEqual(named(9, 1));
    const text = await metrics.text();
    expect(text).toContain('logquay_collected_events_total{table="raw_edge_logs"} 3');
    expect(text).toContain('logquay_collect_refused_events_total{table="raw_edge_logs"} 1');
  });

  it('counts an event as refused whose row the reader of the file would leave out as too wide', async () => {
    const { collector, folder, metrics } = await stage();
    const event = (message: string, headers: number): object => ({
      message,
      metadata: { request: { headers: Array.from({ length: headers }, () => ({ x_real_ip: 'a' })) } },
    });
    expect(await send(collector, [event('all', 1), event('wide', 200)])).toMatchObject({ events: 1, refused: 1 });
    await expect(send(collector, [event('wide', 200)])).rejects.toMatchObject({ reason: 'invalidParameter' });
    expect(messages(folder)).toEqual(['all']);
    expect(await metrics.text()).toContain('logquay_collect_refused_events_total{table="raw_edge_logs"} 2');
  });

  it('keeps every digit of a long number', async () => {
    const { collector, folder } = await stage();
    const body = Buffer.from('[{"message":"q","metadata":{"parsed":{"query_id":-1234567890123456789}}}]');
    await collector.collect({ source: 'postgres.logs', body }, limits);
    const text = readFileSync(path.join(folder, 'raw_postgres_logs/2026-11-22.ndjson'), 'utf8');
    expect(text).toContain('"query_id":-1234567890123456789');
  });

  it('that comes again within the window is stored once: at the same time, later, after a restart', async () => {
    let now = NOON;
    const { collector, folder, metrics } = await stage({ now: () => now });
    await Promise.all([send(collector, numbered(0, 5)), send(collector, numbered(0, 5))]);
    await send(collector, numbered(0, 5));
    expect(await metrics.text()).toContain('logquay_collect_repeated_batches_total{table="raw_edge_logs"} 2');
    await send(collector, numbered(0, 5), 'gotrue.logs.prod');
    await end(collector);
    now += 9 * 60_000;
    const again = await stage({ dataDir: folder, now: () => now });
    await send(again.collector, numbered(0, 5));
    expect(messages(folder)).toEqual(named(0, 5));
    expect(messages(folder, 'raw_auth_logs')).toEqual(named(0, 5));
    now += 2 * 60_000;
    await send(again.collector, numbered(0, 5));
    expect(messages(folder)).toHaveLength(10);
  });

  it.each([
    ['[1,', 'invalidParameter'],
    ['"text"', 'invalidParameter'],
    ['[1,2]', 'invalidParameter'],
    [Buffer.from([0x5b, 0xff, 0x5d]), 'invalidParameter'],
    [`[${'{},'.repeat(100_000)}{}]`, 'payloadTooLarge'],
    [`[{"a":[${'0,'.repeat(999_998)}0]}] `, 'payloadTooLarge'],
  ])('that cannot be read is refused: %.10s', async (body, reason) => {
    const { collector, folder } = await stage();
    const refused = collector.collect({ source: EDGE, body: Buffer.from(body) }, limits);
    await expect(refused).rejects.toMatchObject({ reason });
    expect(messages(folder)).toEqual([]);
  });

  it('of a source that feeds no table is refused, and settings name more', async () => {
    const file = path.join(newFolder(), 'sources.json');
    writeFileSync(
      file,
      JSON.stringify({ 'App.Logs': 'app_logs', '0F9D1F0E-8d4e-4a3c-9a52-0c1d2e3f4a5b': 'raw_edge_logs' }),
    );
    const { collector, folder } = await stage({ sources: readSources(file) });
    await expect(send(collector, numbered(0, 1), 'none')).rejects.toMatchObject({ reason: 'notFound' });
    await send(collector, numbered(0, 1), 'app.logs');
    await send(collector, numbered(1, 1), '0f9d1f0e-8d4e-4a3c-9a52-0c1d2e3f4a5b');
    expect([messages(folder, 'app_logs'), messages(folder)]).toEqual([named(0, 1), named(1, 1)]);
    for (const bad of [
      ...['[]', '{', '{"a":"../b"}', '{"a":"_b"}', '{"a":1}', '{"sources":{"a":1}}', '{"sourceHeader":"a b"}'],
      ...['{"sourceMember":[]}', '{"projectAttribute":7}', '{"sources":{},"a":"b"}', '{"sourceHeader":"X","a":"b"}'],
    ]) {
      writeFileSync(file, bad);
      expect(() => readSources(file)).toThrow(/^COLLECT_SOURCES/);
    }
    expect(() => readSources('/nowhere.json')).toThrow('ENOENT');
  });

  it('of events that name their sources goes to their tables, once each, and those of no table are counted', async () => {
    const file = path.join(newFolder(), 'sources.json');
    writeFileSync(file, JSON.stringify({ sources: { 'App.Logs': 'app_logs' }, sourceMember: 'log.source' }));
    const { collector, folder, metrics } = await stage({ sources: readSources(file) });
    const event = (message: string, source: unknown): object => ({ message, log: { source } });
    const events = [
      event('a', 'app.logs'),
      event('b', EDGE.toUpperCase()),
      event('c', 'none'),
      event('d', ['app.logs']),
      {},
      7,
    ];
    const drain = (): ReturnType<Collector['collect']> =>
      collector.collect({ source: null, body: Buffer.from(JSON.stringify(events)) }, limits);
    expect(await drain()).toEqual({ table: 'app_logs,raw_edge_logs', events: 2, refused: 4 });
    await drain();
    expect([messages(folder, 'app_logs'), messages(folder)]).toEqual([['a'], ['b']]);
    expect(await metrics.text()).toContain('logquay_collect_repeated_batches_total{table="app_logs"} 1');
    const stray = collector.collect({ source: null, body: Buffer.from(JSON.stringify([event('c', 'none')])) }, limits);
    await expect(stray).rejects.toMatchObject({ reason: 'notFound' });
  });

  it('of one project is not that of another again', async () => {
    const { collector, folder } = await stage();
    const body = Buffer.from(JSON.stringify([{ message: 'the same', project: 'other' }]));
    for (const project of ['abc', 'def', 'abc', null]) await collector.collect({ source: EDGE, body, project }, limits);
    const lines = readFileSync(path.join(folder, 'raw_edge_logs/2026-11-22.ndjson'), 'utf8').split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as { project: string }).project)).toEqual(['abc', 'def', 'other']);
  });

  it('is refused below the floor of free space', async () => {
    const full = await stage({ minFree: Number.MAX_SAFE_INTEGER });
    await expect(full.collector.admit()).rejects.toMatchObject({ reason: 'insufficientStorage' });
    expect(full.faults).toContainEqual(expect.stringContaining('COLLECT_MIN_FREE'));
    expect(await full.metrics.text()).toContain(
      'logquay_collect_refused_batches_total{reason="insufficientStorage"} 1',
    );
  });
});

describe('after a crash', () => {
  /** A folder in which a batch was being appended behind another when the process ended, cut at a byte of its rows. */
  async function torn(cut: (bytes: number) => number): Promise<{ folder: string; file: string }> {
    const { collector, folder } = await stage();
    await send(collector, numbered(0, 3));
    const file = path.join(folder, 'raw_edge_logs/2026-11-22.ndjson');
    const before = statSync(file).size;
    await send(collector, numbered(10, 4));
    const journal = path.join(folder, '.collector/journal.ndjson');
    const begun = readFileSync(journal);
    await end(collector);
    truncateSync(file, before + cut(statSync(file).size - before));
    writeFileSync(journal, begun);
    return { folder, file };
  }

  it.each([
    ['nothing', () => 0],
    ['half a row', () => 50],
    ['most of it', (bytes: number) => bytes - 1],
    ['one and a half rows', (bytes: number) => Math.round((bytes / 4) * 1.5)],
    ['two rows', (bytes: number) => bytes / 2],
    ['all of it', (bytes: number) => bytes],
  ])('with %s written, the batch that comes again is there once', async (_what, cut) => {
    const { folder } = await torn(cut);
    const { collector } = await stage({ dataDir: folder });
    expect(new Set(messages(folder)).size).toBe(messages(folder).length);
    await send(collector, numbered(20, 1));
    await send(collector, numbered(10, 4));
    await send(collector, numbered(0, 3));
    expect(messages(folder).sort()).toEqual([...named(0, 3), ...named(10, 4), ...named(20, 1)].sort());
  });

  it('settles what was being written last alone, however long the journal is', async () => {
    const file = path.join(newFolder(), 'journal.ndjson');
    const intent = (group: number, batch: string): string =>
      JSON.stringify({ at: NOON + group, batch: `${batch}${String(group)}`, file: 'x', from: 0, bytes: 1, skip: 0 });
    const lines = Array.from({ length: 5_000 }, (_, group) => [intent(group, 'a'), intent(group, 'b')]).flat();
    writeFileSync(file, `${lines.join('\n')}\n`);
    const settled: string[] = [];
    const settle = ({ batch }: Intent): Promise<number> => Promise.resolve(settled.push(batch));
    const journal = await Journal.open(file, settle, () => NOON + 10_000);
    expect(settled).toEqual(['a4999', 'b4999']);
    expect(['a0', 'b4998', 'a4999', 'b4999', 'c'].map((batch) => journal.stored(batch))).toEqual([null, null, 1, 2, 0]);
    await journal.close();
  });

  it('lets no second collector into a folder, and the next one when the first has ended', async () => {
    const { collector, folder } = await stage();
    const second = await stage({ dataDir: folder });
    await expect(second.collector.admit()).rejects.toMatchObject({ reason: 'backendUnavailable' });
    expect(second.faults).toContainEqual(expect.stringContaining('Another process'));
    await end(collector);
    await until(() => second.faults.at(-1) === null);
    await send(second.collector, numbered(0, 1));
    expect(messages(folder)).toEqual(named(0, 1));
  });
});

it('writes on to a new file when somebody has deleted the one of today', async () => {
  const { collector, folder } = await stage();
  await send(collector, numbered(0, 1));
  rmSync(path.join(folder, 'raw_edge_logs/2026-11-22.ndjson'));
  await send(collector, numbered(1, 1));
  expect(messages(folder)).toEqual(named(1, 1));
});

describe('daily files', () => {
  it('never are those of others', async () => {
    const { folder, collector } = await stage();
    mkdirSync(path.join(folder, 'raw_edge_logs'));
    writeFileSync(path.join(folder, 'raw_edge_logs/2026-11-22.ndjson'), '{"event_message":"theirs"}\n');
    await send(collector, numbered(0, 1));
    expect(readdirSync(path.join(folder, 'raw_edge_logs'))).toEqual([
      '2026-11-22-collected.ndjson',
      '2026-11-22.ndjson',
    ]);
    expect(messages(folder)).toEqual([...named(0, 1), 'theirs']);
  });

  it('are compressed when their day is over and deleted after the retention, the own ones alone', async () => {
    let now = NOON;
    const folder = newFolder();
    const theirs = path.join(folder, 'raw_edge_logs/2026-11-01.ndjson');
    mkdirSync(path.dirname(theirs));
    writeFileSync(theirs, '{"event_message":"theirs"}\n');
    /** Restarts it on a later day, and waits for the files that there shall be. */
    const restarted = async (days: number, files: readonly string[]): Promise<void> => {
      now += days * DAY;
      const { collector } = await stage({ dataDir: folder, now: () => now });
      await send(collector, numbered((now - NOON) / DAY, 1));
      const found = (): string => readdirSync(path.dirname(theirs)).join();
      await until(() => found() === files.join()).catch(() => expect(found()).toBe(files.join()));
      await end(collector);
    };
    await restarted(0, ['2026-11-01.ndjson', '2026-11-22.ndjson']);
    await restarted(1, ['2026-11-01.ndjson', '2026-11-22.ndjson.gz', '2026-11-23.ndjson']);
    expect(messages(folder)).toEqual(['theirs', 'm0', 'm1']);
    // The process ended before the file went that the archive holds.
    writeFileSync(
      path.join(folder, 'raw_edge_logs/2026-11-22.ndjson'),
      gunzipSync(readFileSync(path.join(folder, 'raw_edge_logs/2026-11-22.ndjson.gz'))),
    );
    await restarted(6, ['2026-11-01.ndjson', '2026-11-22.ndjson.gz', '2026-11-23.ndjson.gz', '2026-11-29.ndjson']);
    await restarted(1, ['2026-11-01.ndjson', '2026-11-23.ndjson.gz', '2026-11-29.ndjson.gz', '2026-11-30.ndjson']);
  });

  it('are let alone when the manifest is damaged or names others', async () => {
    const folder = newFolder();
    mkdirSync(path.join(folder, '.collector'));
    writeFileSync(path.join(folder, 'schema.json'), '{}');
    const manifest = { files: [{ path: '../x/2026-01-01.ndjson', table: '..', day: '2026-01-01', compressed: false }] };
    writeFileSync(path.join(folder, '.collector/files.json'), JSON.stringify(manifest));
    const { collector, faults } = await stage({ dataDir: folder });
    await expect(collector.admit()).rejects.toMatchObject({ reason: 'backendUnavailable' });
    expect(faults).toContainEqual(expect.stringContaining('damaged'));
  });
});
