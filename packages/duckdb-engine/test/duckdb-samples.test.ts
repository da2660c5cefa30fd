import type { Engine } from '../src/contract/contract';
import { openDuckDbEngine } from '../src/engine/engine';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import { rowsOf } from './data-folder';
import { silentLog } from './silent-log';
import { opened } from '../../../test/opened';
import { until } from '../../../test/until';

const NOON = BigInt(Date.parse('2026-09-30T12:00:00Z')) * 1000n;
const TABLES = [...LOG_SCHEMA.keys()];
const open = (now: bigint | null): Promise<Engine> =>
  openDuckDbEngine({ declared: LOG_SCHEMA, dataDir: null, cacheDir: 'unused', now, log: silentLog, threads: 1 });

describe('Sample logs', () => {
  const engine = opened(() => open(NOON));
  const one = async (sql: string): Promise<Record<string, unknown>> =>
    (await rowsOf(engine(), sql))[0] as Record<string, unknown>;

  it('fill nine tables with at least 50,000 rows of a week up to the clock', async () => {
    expect(TABLES).toHaveLength(9);
    let rows = 0;
    for (const table of TABLES) {
      const { n, ids, first, last, later } = await one(`
        SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids, MIN(timestamp) AS first, MAX(timestamp) AS last,
          COUNTIF(timestamp > CURRENT_TIMESTAMP()) AS later
        FROM ${table}`);
      rows += Number(n);
      expect(ids).toBe(n);
      expect(later).toBe(0);
      expect(Number(NOON) - Number(last)).toBeLessThan(60e6);
      expect(Number(NOON) - Number(first)).toBeGreaterThan(6.9 * 86400e6);
      expect(Number(NOON) - Number(first)).toBeLessThanOrEqual(7 * 86400e6);
    }
    expect(rows).toBeGreaterThanOrEqual(50_000);
  });

  it('hold every record as a list of one, and several projects', async () => {
    const project = (table: string): string =>
      /function/.test(table) ? 'm.project_ref' : /realtime|storage/.test(table) ? 'm.project' : 't.project';
    for (const table of TABLES) {
      const { lists, projects, own } = await one(`
        SELECT COUNTIF(ARRAY_LENGTH(t.metadata) <> 1) AS lists, COUNT(DISTINCT ${project(table)}) AS projects,
          COUNTIF(${project(table)} = 'default') AS own
        FROM ${table} AS t, UNNEST(t.metadata) AS m`);
      expect({ table, lists, projects }).toEqual({ table, lists: 0, projects: 3 });
      expect(Number(own)).toBeGreaterThan(300);
    }
  });

  it('name the project in the URL, so that charts have counts', async () => {
    const { n, minutes } = await one(`
      SELECT COUNT(*) AS n, COUNT(DISTINCT TIMESTAMP_TRUNC(t.timestamp, MINUTE)) AS minutes
      FROM raw_edge_logs AS t, UNNEST(t.metadata) AS m, UNNEST(m.request) AS r
      WHERE REGEXP_CONTAINS(r.url, t.project) AND t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)`);
    expect(Number(n)).toBeGreaterThan(200);
    expect(Number(minutes)).toBeGreaterThan(50);
  });

  it('hold no address or name of anybody', async () => {
    const texts = (
      await Promise.all(
        TABLES.map((table) => rowsOf(engine(), `SELECT TO_JSON_STRING(t) AS x FROM ${table} AS t LIMIT 400`)),
      )
    )
      .flat()
      .map((row) => (row as { x: string }).x)
      .join('\n');
    const addresses = texts.match(/(?<![\d./])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])/g) ?? [];
    const documentation = /^(192\.0\.2|198\.51\.100|203\.0\.113)\.|^1\d\d\.0\.0\.0$/;
    expect(addresses.length).toBeGreaterThan(100);
    expect(addresses.filter((address) => !documentation.test(address))).toEqual([]);
    const hosts = texts.match(/[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev)\b/g) ?? [];
    expect(hosts.filter((host) => !/(^|\.)example\.(com|org|net)$/.test(host))).toEqual([]);
  });

  it('are the same for the same instant, and named by it', async () => {
    const again = await open(NOON);
    const other = await open(NOON + 1_000_000n);
    const sql = 'SELECT id, timestamp, event_message FROM raw_auth_logs ORDER BY timestamp DESC LIMIT 200';
    expect(await rowsOf(again, sql)).toEqual(await rowsOf(engine(), sql));
    expect(again.target).toBe(engine().target);
    expect(other.target).not.toBe(engine().target);
    await again.close();
    await other.close();
  });

  it('without a clock reach up to the real now, and go on', async () => {
    const started = Date.now();
    const live = await open(null);
    const [row] = await rowsOf(live, 'SELECT MAX(timestamp) AS last, CURRENT_TIMESTAMP() AS now FROM raw_edge_logs');
    const { last, now } = row as { last: number; now: number };
    expect(now).toBeGreaterThanOrEqual(started * 1000);
    expect(started * 1000 - last).toBeLessThan(60e6);
    const added = `SELECT COUNT(*) AS n FROM raw_edge_logs AS t WHERE t.timestamp > TIMESTAMP_MICROS(${last}) AND ARRAY_LENGTH(t.metadata) = 1`;
    await until(async () => Number(((await rowsOf(live, added))[0] as { n: unknown }).n) > 0);
    await live.close();
  });
});
