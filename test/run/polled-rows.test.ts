/** What is new in a table that is asked again and again, at times that the test sets. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readDefinition } from '../../src/endpoints/definition';
import type { Engine, RunLimits } from '../../src/engines/contract';
import { Metrics } from '../../src/metrics';
import { planRequest } from '../../src/run/plan';
import type { PlaceRecords } from '../../src/run/tail/places';
import { PlacesInFolder } from '../../src/run/tail/places-in-folder';
import { PolledRows } from '../../src/run/tail/polled-rows';
import { TailQuery } from '../../src/run/tail/tail-query';
import type { TailRows } from '../../src/run/tail/types';
import { openEngineOn, overOwnLocalBigQuery } from '../engines/over-local-bigquery';
import { KEYS, services } from '../http/served';
import { TestRequest } from './request';

jest.setTimeout(60_000);

const BEGIN = Date.UTC(2026, 10, 23, 12);
const INTERVAL = 10_000;
/** Three lists of twenty rows. */
const MOST_RESUMED = 1_800;

overOwnLocalBigQuery('rows that are polled', (local) => {
  let engine: Engine;
  let tables = 0;
  beforeAll(async () => {
    engine = await openEngineOn(local().host, { clock: null });
  });
  afterAll(() => engine.close());

  /** A table of its own, and what is new in it. */
  async function follow(
    rest = '',
    records: PlaceRecords | null = null,
  ): Promise<{
    polled: PolledRows;
    /** The same query in another process. */
    another: () => PolledRows;
    /** Seconds behind the beginning. */
    at: (seconds: number) => void;
    insert: (...rows: readonly (readonly [id: string | null, seconds: number, message?: string])[]) => Promise<void>;
    /** Ids of the rows that the next query finds. */
    next: () => Promise<(string | null)[]>;
    idsFrom: (after: number) => Promise<(string | null)[]>;
  }> {
    const table = `polled_${String(++tables)}`;
    const url = `http://${local().host}/projects/test/datasets/logs/tables`;
    const columns = { timestamp: 'TIMESTAMP', id: 'STRING', message: 'STRING' };
    await posted(url, {
      tableReference: { projectId: 'test', datasetId: 'logs', tableId: table },
      schema: { fields: Object.entries(columns).map(([name, type]) => ({ name, type })) },
    });
    const { endpoint } = readDefinition(
      Buffer.from(
        `/*\nid: 77777777-aaaa-4000-8000-000000000001\nname: polled\ntail: 10\nmax_bytes_billed: 1000000000\n*/
        SELECT id, timestamp, message FROM ${table} ${rest} ORDER BY timestamp`,
      ),
    );
    if (endpoint === null) throw new Error('The endpoint has faults.');
    let now = BEGIN;
    const opened = services({ engine, endpoints: [endpoint] }, new Metrics());
    const plan = await planRequest(new TestRequest('polled'), KEYS['all']!, endpoint, opened);
    const query = await TailQuery.of(plan, opened, limits());
    const another = (): PolledRows => new PolledRows(query, INTERVAL, () => BigInt(now) * 1000n, records, MOST_RESUMED);
    const polled = another();
    const idsFrom = async (after: number): Promise<(string | null)[]> => {
      const { epoch, count } = polled.end;
      const { rows } = await polled.rows({ epoch, after, upTo: count, whole: false });
      return idsOf(rows);
    };
    return {
      polled,
      another,
      at: (seconds) => {
        now = BEGIN + seconds * 1000;
      },
      insert: async (...rows) => {
        const json = rows.map(([id, seconds, message = '']) => ({
          json: { id, message, timestamp: new Date(BEGIN + seconds * 1000).toISOString() },
        }));
        await posted(`${url}/${table}/insertAll`, { rows: json });
      },
      next: async () => {
        const { count } = polled.end;
        await polled.look(limits());
        return idsFrom(count);
      },
      idsFrom,
    };
  }

  it('gives each row once, whenever it comes within two minutes, and no row twice that leaves the window', async () => {
    const { at, insert, next } = await follow();
    await insert(['before', -1]);
    expect(await next()).toEqual([]);
    await insert(['late', -30], ['a', 5], ['b', 5], ['future', 25]);
    at(10);
    expect(await next()).toEqual(['late', 'a', 'b']);
    await insert(['c', 5]);
    at(20);
    expect(await next()).toEqual(['c']);
    at(30);
    expect(await next()).toEqual(['future']);
    await insert(['just in time', -89], ['too late', -91]);
    at(40);
    expect(await next()).toEqual(['just in time']);
    for (let seconds = 50; seconds <= 300; seconds += 10) {
      at(seconds);
      expect(await next()).toEqual([]);
    }
    await insert(['d', 299], ['a', 300]);
    at(310);
    expect(await next()).toEqual(['d', 'a']);
  });

  it('looks back as far as the query before, however long that is ago, and never behind a clock that is set back', async () => {
    const { at, insert, next } = await follow();
    await next();
    await insert(['a', 1], ['b', 1000]);
    at(3600);
    expect(await next()).toEqual(['a', 'b']);
    at(3000);
    await insert(['c', 3590]);
    expect(await next()).toEqual(['c']);
    expect(await next()).toEqual([]);
  });

  it('tells rows without an id apart by all that they have', async () => {
    const { at, insert, next } = await follow();
    await next();
    await insert([null, 1, 'x'], [null, 1, 'y']);
    at(10);
    expect(await next()).toEqual([null, null]);
    await insert([null, 1, 'x'], [null, 1, 'z']);
    at(20);
    expect(await next()).toEqual([null]);
  });

  it('puts its bound next to every condition that there is', async () => {
    const { at, insert, next } = await follow("WHERE message = 'x' OR (message = 'y') -- or both");
    await next();
    await insert(['old', -500, 'x'], ['x', 1, 'x'], ['y', 1, 'y'], ['z', 1, 'z']);
    at(10);
    expect(await next()).toEqual(['x', 'y']);
  });

  it('begins with the rows there are, and leaves out none that come meanwhile', async () => {
    const { polled, at, insert, next, idsFrom } = await follow();
    await insert(['old', -5000], ['now', -1]);
    await next();
    await insert(['first', 1]);
    at(10);
    await next();
    await insert(['second', 2], ['future', 60]);
    at(11);
    const { rows, upTo } = await polled.rowsBefore(limits());
    expect(idsOf(rows)).toEqual(['old', 'now', 'first']);
    expect(await idsFrom(upTo)).toEqual(['second']);
    at(70);
    expect(await next()).toEqual(['future']);
  });

  it('finds again what it could not give', async () => {
    const { polled, at, insert, next } = await follow();
    await next();
    await insert(['a', 1]);
    at(10);
    await local().control({
      faults: [{ on: 'query', kind: 'error', status: 400, reason: 'invalidQuery', message: 'x' }],
    });
    await expect(polled.look(limits())).rejects.toMatchObject({ reason: 'invalidQuery' });
    expect(await next()).toEqual(['a']);
  });

  it('refuses places that it does not know, and more rows than it takes at once', async () => {
    const { polled, at, insert, next } = await follow(', UNNEST(GENERATE_ARRAY(1, 5001))');
    await next();
    const { epoch, count } = polled.end;
    await expect(polled.rows({ epoch: `${epoch}x`, after: count, upTo: count, whole: false })).rejects.toMatchObject({
      reason: 'invalidParameter',
    });
    await insert(['a', 1]);
    at(10);
    expect(await next()).toHaveLength(5001);
    await insert(['b', 2]);
    at(20);
    await expect(polled.look(limits())).rejects.toMatchObject({ reason: 'resourcesExceeded' });
  });

  it('has one list for all that resume at a place, and a bound on those of different places', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'logquay-places-'));
    try {
      const { polled, another, at, insert, next } = await follow('', new PlacesInFolder(folder));
      await next();
      await insert(...Array.from({ length: 20 }, (_, i) => [`row ${String(i)}`, 1] as const));
      at(10);
      expect(await next()).toHaveLength(20);
      const other = another();
      const from = (after: number): Promise<TailRows> =>
        other.goOn({ epoch: polled.end.epoch, after, upTo: 20, given: 0 }, limits());
      const first = await from(0);
      expect(first.rows).toHaveLength(20);
      expect((await from(0)).within).toBe(first.within);
      expect(readdirSync(folder).sort()).toEqual(
        [`${polled.end.epoch}.jsonl`, `${other.end.epoch}.jsonl`, `${String(first.within)}.jsonl`].sort(),
      );
      let recorded = 1;
      await expect(
        (async () => {
          for (let after = 1; after < 19; after++) {
            await from(after);
            recorded++;
          }
        })(),
      ).rejects.toMatchObject({ reason: 'backendUnavailable' });
      expect(recorded).toBe(3);
      expect((await from(0)).within).toBe(first.within);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('lists in a folder go an hour behind their last look', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-places-'));
  let now = Date.now();
  try {
    const records = new PlacesInFolder(folder, () => now);
    const look = { upTo: 1, before: 0, keys: ['a'], there: [] };
    await records.append('first', [look], 10);
    now += 30 * 60_000;
    await records.append('second', [look], 10);
    expect(await records.read('first')).toEqual([look]);
    now += 31 * 60_000;
    await records.append('third', [look], 10);
    expect(await records.read('first')).toEqual([]);
    expect(await records.read('third')).toEqual([look]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

async function posted(url: string, body: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(await answer.text()).not.toContain('rror');
}

function limits(): RunLimits {
  return { deadline: performance.now() + 30_000, signal: new AbortController().signal };
}

function idsOf(rows: readonly string[]): (string | null)[] {
  return rows.map((row) => (JSON.parse(row) as { id: string | null }).id);
}
