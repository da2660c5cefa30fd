/** `logs.all` with a `default_lookback` over `test/fixture`, alike on every engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Endpoint } from '../../src/endpoints/endpoint';
import type { Key } from '../../src/keys/key';
import { Metrics } from '../../src/metrics/metrics';
import { readDefinition } from '../../src/endpoints/definition';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { analyse, schemaOf } from '../../src/run/analyse';
import { run } from '../../src/run/run';
import type { Services } from '../../src/run/services';
import { KEYS, services } from '../http/served';
import { TestRequest } from './request';

function recentLogs(): Endpoint {
  const stored = readFileSync(join(__dirname, '../../queries/logs.all.sql'), 'utf8');
  const text = stored.replace(/(iso_timestamp_start:\n)/, '$1    default_lookback: 24h\n');
  const { endpoint, faults } = readDefinition(Buffer.from(text));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

const at = (instant: string): bigint => BigInt(Date.parse(instant)) * 1000n;
const seconds = (instant: string): number => Date.parse(instant) * 1000;

interface Answer {
  readonly result: { readonly id: string; readonly timestamp: number }[];
  readonly next_page_token?: string;
}

export function defaultLookbackSuite(
  name: string,
  open: () => Promise<{ engine: Engine; dispose?: () => Promise<void> }>,
): void {
  describe(`default_lookback on ${name}`, () => {
    let engine: Engine;
    let dispose: (() => Promise<void>) | undefined;
    let shared: Services;
    let now: bigint;
    beforeAll(async () => {
      ({ engine, dispose } = await open());
      const own = services({ engine, endpoints: [recentLogs()], timeout: 30_000 }, new Metrics());
      const pinned: Key = { ...KEYS['all']!, name: 'old', pins: new Map([['iso_timestamp_start', '2026-09-28']]) };
      const keys: Services['keys'] = {
        authenticate: (header) => (header('x-api-key')[0] === 'old' ? pinned : own.keys.authenticate(header)),
        find: (key) => own.keys.find(key),
      };
      const defaults = { ...own.defaults, maxBytesBilled: 10n * 1024n ** 3n };
      shared = { ...own, keys, defaults, now: () => now };
    }, 60_000);
    beforeEach(() => {
      now = at('2026-09-30T11:59:59Z');
    });
    afterAll(async () => {
      await shared.gate.close();
      await engine.close();
      await dispose?.();
    });

    const request = (values: Readonly<Record<string, string>>, key = 'all'): TestRequest =>
      new TestRequest('logs.all', { key, values: { project: 'default', ...values } });
    async function answer(values: Readonly<Record<string, string>>, key = 'all'): Promise<Answer> {
      const answered = await run(request(values, key), shared);
      if (answered === null) throw new Error('No export was asked for.');
      return JSON.parse(String(answered.response.bytes)) as Answer;
    }
    const rowsOf = async (values: Readonly<Record<string, string>>, key = 'all'): Promise<Answer['result']> =>
      (await answer(values, key)).result;

    it('gives the rows since then, and others where a start is sent or pinned', async () => {
      const all = await rowsOf({ iso_timestamp_start: '2026-09-01' });
      const start = seconds('2026-09-29T11:00:00Z');
      const recent = all.filter(({ timestamp }) => timestamp > start);
      expect(recent.length).toBeGreaterThan(5);
      expect(all.length).toBeGreaterThan(recent.length);
      expect(await rowsOf({})).toEqual(recent);
      expect(await rowsOf({ iso_timestamp_start: '' })).toEqual(recent);
      const old = all.filter(({ timestamp }) => timestamp > seconds('2026-09-28T00:00:00Z'));
      expect(await rowsOf({}, 'old')).toEqual(old);
      now = at('2026-09-30T12:00:00Z');
      expect(await rowsOf({})).toEqual(all.filter(({ timestamp }) => timestamp > seconds('2026-09-29T12:00:00Z')));
    });

    it('bounds queries of callers too', async () => {
      const sql = 'select min(timestamp) as first, count(*) as n from edge_logs';
      const [own] = (await rowsOf({ sql })) as unknown as { first: number; n: number }[];
      const rows = await rowsOf({});
      expect(own).toEqual({ first: rows.at(-1)?.timestamp, n: rows.length });
    });

    it('keeps its start from page to page, while the clock goes on', async () => {
      const rows = await rowsOf({});
      const pages: Answer['result'][] = [];
      let token: string | undefined;
      do {
        const page = await answer({ page_size: '7', ...(token === undefined ? {} : { page_token: token }) });
        pages.push(page.result);
        token = page.next_page_token;
        now += 3_600_000_000n;
      } while (token !== undefined);
      expect(pages.length).toBeGreaterThan(2);
      expect(pages.flat()).toEqual(rows);
    });

    it('takes a page token with no other start', async () => {
      const { next_page_token: token = '' } = await answer({ page_size: '7' });
      const start = { iso_timestamp_start: '2026-09-29T11:00:00Z' };
      await expect(answer({ page_size: '7', page_token: token, ...start })).rejects.toMatchObject({
        reason: 'invalidParameter',
      });
    });

    it('is seen in the analysis and the schema, which have no warning of an unbounded time', async () => {
      const analysis = (await analyse(request({}), shared)) as { parameters: object[]; warnings: object[] };
      const schema = (await schemaOf(request({}), shared)) as { parameters: object[] };
      for (const { parameters } of [analysis, schema])
        expect(parameters[1]).toMatchObject({ name: 'iso_timestamp_start', defaultLookback: '24h' });
      expect(analysis.warnings).toEqual([]);
    });
  });
}
