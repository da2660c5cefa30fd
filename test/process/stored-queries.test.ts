import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { elements, type LogRow, micros, PROJECT_OF, writeTables } from './log-rows';
import { Stage, type Started } from './started';

jest.setTimeout(120_000);

const TABLES = Object.keys(PROJECT_OF);
const NOON = '2026-09-30T12:00:00Z';
const LAST_STATEMENT = /FROM edge_logs\nORDER BY timestamp DESC, id\nLIMIT 100\s*$/;

let stage: Stage;
let data: string;
let rows: ReadonlyMap<string, readonly LogRow[]>;
/** Where it is noon. */
let base: string;

beforeAll(async () => {
  stage = new Stage();
  data = path.join(stage.folder(), 'data');
  mkdirSync(data);
  rows = writeTables(data);
  // Each CTE table is shown by a stored query that ends on it: its filter is judged here, without the gate.
  const folder = stage.folder();
  const sql = readFileSync(path.join(folder, 'queries/logs.all.sql'), 'utf8');
  expect(sql).toMatch(LAST_STATEMENT);
  TABLES.forEach((table, i) => {
    const shown = sql
      .replace(/^id: .*$/m, `id: 00000000-0000-4000-8000-00000000000${String(i)}`)
      .replace(/^name: .*$/m, `name: all.${table}`)
      .replace(LAST_STATEMENT, `FROM ${table} ORDER BY timestamp DESC, id`);
    writeFileSync(path.join(folder, `queries/all.${table}.sql`), shown);
  });
  base = await start(NOON, folder).ready();
});
afterAll(() => stage.end());

function start(clock: string, folder = stage.folder()): Started {
  return stage.start({ DATA_DIR: data, CLOCK: clock, API_KEY: 'k', LOG_LEVEL: 'info' }, folder);
}

type ResultRow = Readonly<Record<string, unknown>>;

async function ask(base: string, name: string, parameters: Readonly<Record<string, string>>): Promise<ResultRow[]> {
  const url = `${base}/api/endpoints/query/${name}?${new URLSearchParams(parameters).toString()}`;
  const response = await fetch(url, { headers: { 'X-API-KEY': 'k' } });
  const body = (await response.json()) as { result: ResultRow[] };
  expect({ status: response.status, body: response.ok ? null : body }).toEqual({ status: 200, body: null });
  return body.result;
}

describe('logs.all', () => {
  /** What the endpoint promises, over the rows in memory. */
  function expected(table: string, project: string, start: string, end: string): string[] {
    return (rows.get(table) ?? [])
      .filter((row) => PROJECT_OF[table]?.(row).includes(project))
      .filter(({ timestamp }) => start === '' || micros(timestamp) > micros(start))
      .filter(({ timestamp }) => end === '' || micros(timestamp) <= micros(end))
      .map(({ timestamp, id, event_message }) => JSON.stringify([micros(timestamp), id, event_message]));
  }

  const summaries = (result: readonly ResultRow[]): string[] =>
    result.map(({ timestamp, id, event_message }) => JSON.stringify([timestamp, id, event_message]));

  it.each(TABLES)('%s: each row of the project once, newest first, in its columns', async (table) => {
    for (const project of ['default', 'other', 'DEFAULT', 'nobody', "' OR TRUE --"]) {
      const result = await ask(base, `all.${table}`, { project });
      expect(summaries(result).sort()).toEqual(expected(table, project, '', '').sort());
      const times = result.map(({ timestamp }) => timestamp as number);
      expect(times).toEqual([...times].sort((a, b) => b - a));
      for (const row of result) expect(Object.keys(row)).toEqual(['id', 'timestamp', 'event_message', 'metadata']);
    }
    expect(expected(table, 'default', '', '').length).toBeGreaterThan(5);
  });

  it.each(TABLES)('%s: strictly after the start, at or before the end', async (table) => {
    const times = [...new Set((rows.get(table) ?? []).map(({ timestamp }) => timestamp))].sort();
    const pick = (share: number): string => times[Math.floor(share * (times.length - 1))] ?? '';
    const bounds: [string, string][] = [
      ['', ''],
      [pick(0), pick(1)],
      [pick(0.5), ''],
      ['', pick(0.5)],
      [pick(0.3), pick(0.7)],
      [pick(0.5), pick(0.5)],
      ['2026-09-30T11:30:00.000001Z', '2026-09-30T11:30:00.000006Z'],
    ];
    for (const [from, to] of bounds) {
      const result = await ask(base, `all.${table}`, {
        project: 'default',
        iso_timestamp_start: from,
        iso_timestamp_end: to,
      });
      expect({ from, to, rows: summaries(result).sort() }).toEqual({
        from,
        to,
        rows: expected(table, 'default', from, to).sort(),
      });
    }
  });

  it('answers the newest hundred of edge_logs', async () => {
    const all = (rows.get('edge_logs') ?? []).filter(({ project }) => project === 'default');
    const newest = all
      .map(({ timestamp }) => micros(timestamp))
      .sort((a, b) => b - a)
      .slice(0, 100);
    const result = await ask(base, 'logs.all', { project: 'default' });
    expect(result.map(({ timestamp }) => timestamp)).toEqual(newest);
  });

  it('answers metadata as it was logged, records as lists', async () => {
    const logged = new Map((rows.get('edge_logs') ?? []).map(({ id, metadata }) => [id, metadata]));
    const result = await ask(base, 'logs.all', { project: 'default' });
    let compared = 0;
    for (const { id, metadata } of result) {
      if (!/^[\da-f-]{36}$/.test(String(id))) continue;
      expect(withoutEmpty(metadata)).toEqual(withoutEmpty(logged.get(id as string)));
      compared++;
    }
    expect(compared).toBeGreaterThan(20);
    const odd = new Map(result.map(({ id, metadata }) => [id, metadata]));
    expect(odd.get('odd-3')).toEqual([]);
    expect(odd.get('odd-4')).toEqual([]);
    expect(odd.get('odd-1')).toHaveLength(2);
  });

  it.each([
    ['2026-09-30T13:30:00.000003+02:00', 3],
    ['2026-09-30 11:30:00.000003', 3],
    ['2026-09-30T11:30:00.000003Z', 3],
  ])('reads an end of %s', async (end, last) => {
    const result = await ask(base, 'logs.all', {
      project: 'default',
      iso_timestamp_start: '2026-09-30T11:30:00Z',
      iso_timestamp_end: end,
    });
    expect(result.map(({ id }) => id)).toEqual(Array.from({ length: last }, (_, i) => `odd-${String(last - i)}`));
  });
});

describe('usage.api-counts', () => {
  const WINDOWS = {
    minutely: [1, 'minute'],
    '1hr': [1, 'minute'],
    hourly: [1, 'hour'],
    '1day': [24, 'hour'],
    daily: [168, 'day'],
    '7day': [168, 'day'],
  } as const;
  const LENGTHS = { minute: 16, hour: 13, day: 10 };

  /** What the endpoint promises, over the rows in memory. */
  function expected(clock: string, interval: keyof typeof WINDOWS, project: RegExp): ResultRow[] {
    const [hours, unit] = WINDOWS[interval];
    const from = micros(clock) - hours * 3_600_000_000;
    const buckets = new Map<string, Record<string, number>>();
    for (const row of rows.get('edge_logs') ?? []) {
      if (micros(row.timestamp) < from) continue;
      const bucket = `${row.timestamp.slice(0, LENGTHS[unit])}${'0000-00-00T00:00:00'.slice(LENGTHS[unit])}`;
      for (const { path, url } of elements(row).flatMap(({ request }) => request ?? [])) {
        if (typeof url !== 'string' || !project.test(url)) continue;
        const counts = buckets.get(bucket) ?? { rest: 0, storage: 0, auth: 0, realtime: 0 };
        for (const service of Object.keys(counts)) {
          if (path?.includes(`/${service}`)) counts[service] = (counts[service] ?? 0) + 1;
        }
        buckets.set(bucket, counts);
      }
    }
    return [...buckets].sort().map(([timestamp, { rest, storage, auth, realtime }]) => ({
      timestamp,
      total_rest_requests: rest,
      total_storage_requests: storage,
      total_auth_requests: auth,
      total_realtime_requests: realtime,
    }));
  }

  it.each([NOON, '2026-09-30T12:00:00.000001Z'])('at %s', async (clock) => {
    const at = clock === NOON ? base : await start(clock).ready();
    for (const interval of Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]) {
      for (const project of ['default', 'charts', '^https://(charts|other)\\.', 'nobody']) {
        const result = await ask(at, 'usage.api-counts', { interval, project });
        expect({ interval, project, result }).toEqual({
          interval,
          project,
          result: expected(clock, interval, new RegExp(project)),
        });
      }
    }
    expect(expected(clock, '7day', /default/).length).toBeGreaterThan(1);
  });
});

/** JSON without nulls, empty lists and the records that they leave empty: what a row leaves out the result names. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpty(inner)] as const)
    .filter(([, inner]) => inner !== null && !(Array.isArray(inner) && inner.length === 0));
  return Object.fromEntries(present);
}
