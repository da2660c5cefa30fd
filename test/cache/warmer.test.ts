/** Keeping warm what is in use: the real warmer over real books, results and pipeline; only engine, keys and catalogue are doubles. */
import fc from 'fast-check';

import { MemoryStore, MemoryUsageBook } from '../../src/cache/memory';
import type { RedisStore } from '../../src/cache/redis-store';
import { Results } from '../../src/cache/results';
import type { Usage } from '../../src/cache/usage';
import { Warmer, type WarmingOutcome } from '../../src/cache/warmer';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { ServiceError } from '../../src/errors';
import { readDefinition } from '../../src/endpoints/definition';
import { abortError } from '../../packages/duckdb-engine/src/concurrency/deadline';
import { type Clock, SYSTEM_CLOCK } from '../../packages/duckdb-engine/src/concurrency/clock';
import type { RedisConnection } from '../../src/redis/connection';
import type { NamedType } from '../../packages/googlesql/src/types';
import type { Services } from '../../src/run/services';
import { warm } from '../../src/run/warm';
import { ENDPOINTS, ScriptedEngine, serve, type Served } from '../http/served';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { ManualClock } from '../manual-clock';
import { type OpenedRedis, openTestRedis } from './opened';
import { until as anyUntil } from '../until';
import { runs } from '../scale';

/** Looks less often than `until` of all tests: most looks ask a service or Redis. */
const untilReally = (condition: () => boolean | Promise<boolean>): Promise<void> => anyUntil(condition, 25);

/** Long: none is to expire. */
const LEASE = 8000;

/** Milliseconds of what stored queries take for a second, where a test has to wait for the machine's clock. */
const SECOND = 200;

/** A stored query whose results are kept that many seconds, and refreshed that often. */
function endpointOf(name: string, ttl: number, warming: number, since = ''): Endpoint {
  const digits = String(ttl * 1000 + warming).padStart(12, '0');
  const text = `/*
id: 22222222-aaaa-4000-8000-${digits}
name: ${name}
sandbox: true
cache_ttl: ${ttl}
cache_warming: ${warming}
params:
  project: { type: string, required: true, description: Whose rows. }
${since}*/
WITH t AS (SELECT @project AS project${since === '' ? '' : ', @since AS since'}) SELECT * FROM t`;
  const { endpoint, faults } = readDefinition(Buffer.from(text));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

const BRIEF = endpointOf('warm.brief', 3, 1);
const LONG = endpointOf('warm.long', 60, 1);
const RECENT = endpointOf('warm.recent', 61, 1, '  since: { type: timestamp, default_lookback: 24h }\n');
const COLD = endpointOf('warm.cold', 60, 0);

class Engine extends ScriptedEngine {
  override describe(): Promise<readonly NamedType[]> {
    return Promise.resolve([{ name: 'project', type: { kind: 'STRING' } }]);
  }

  override inspect(): Promise<void> {
    return Promise.resolve();
  }

  /** Runs of that kind, by the value of their first parameter. */
  of(kind: 'run' | 'warm' | 'sandbox'): (string | readonly string[] | undefined)[] {
    return this.queries.filter(({ labels }) => labels.kind === kind).map(({ parameters }) => parameters[0]?.value);
  }
}

/** A process with a warmer, its own memory, and where there is one, a Redis that it shares. */
interface Gateway {
  readonly services: Services;
  readonly warmer: Warmer;
  /** What came of its refreshes, and why. */
  readonly outcomes: { readonly outcome: WarmingOutcome; readonly error: unknown }[];
  /** What it shares with others. */
  readonly store: RedisStore;
  readonly connection: RedisConnection;
  get(path: string, key?: string): Promise<Response>;
  close(): Promise<void>;
}

let engine: Engine;
const open: Gateway[] = [];
beforeEach(() => {
  engine = new Engine();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

interface GatewayOptions {
  readonly url: string | null;
  readonly endpoints?: readonly Endpoint[];
  readonly most?: number;
  readonly more?: (services: Services) => Partial<Services>;
  readonly clock?: Clock;
  /** Milliseconds that a command may take. */
  readonly timeout?: number;
}

async function gateway({
  url,
  most = 100,
  clock = SYSTEM_CLOCK,
  timeout = 30_000,
  ...options
}: GatewayOptions): Promise<Gateway> {
  const endpoints = options.endpoints ?? [BRIEF, LONG, RECENT, COLD, ...ENDPOINTS];
  const served: Served = await serve({ engine, endpoints });
  const redis =
    url === null ? null : openTestRedis(url, { leaseTime: LEASE, mostInUse: most, prefix: engineOf(), timeout });
  await redis?.connection.tried;
  const memory = new MemoryStore({ bytes: 8_000_000, maxEntry: 1_000_000, clock });
  const results = new Results({ memory, shared: redis?.store ?? null, staleIfError: 60_000, leaseTime: LEASE, clock });
  const usage = redis?.usage ?? new MemoryUsageBook(most, clock);
  const base: Services = { ...served.lifecycle.services(), results, usage };
  const services: Services = { ...base, ...options.more?.(base) };
  served.lifecycle.open(services);
  const outcomes: Gateway['outcomes'] = [];
  const second = clock instanceof ManualClock ? 1000 : SECOND;
  const seconds = ({ cacheTtl, cacheWarming }: Endpoint) => ({
    ttl: cacheTtl * second,
    warming: cacheWarming * second,
  });
  const warmer = new Warmer({
    usage,
    intervals: (id) => {
      const endpoint = services.catalogue.find(id);
      return endpoint === null || endpoint.cacheWarming === 0 ? null : seconds(endpoint);
    },
    bounds: () => {
      const all = services.catalogue.current().filter(({ cacheWarming }) => cacheWarming > 0);
      if (all.length === 0) return null;
      const [warming, ttl] = [all.map(({ cacheWarming }) => cacheWarming), all.map(({ cacheTtl }) => cacheTtl)];
      return { shortest: Math.min(...warming) * second, longestTtl: Math.max(...ttl) * second };
    },
    refresh: (one, age, holdOff, signal) => warm(one, age, services, holdOff, signal),
    most,
    clock,
    onOutcome: (outcome, error) => outcomes.push({ outcome, error }),
  });
  const shared = (): OpenedRedis => {
    if (redis === null) throw new Error('It shares nothing.');
    return redis;
  };
  let closed: Promise<void> | null = null;
  const one: Gateway = {
    services,
    warmer,
    outcomes,
    get store() {
      return shared().store;
    },
    get connection() {
      return shared().connection;
    },
    get: (path, key = 'all') =>
      fetch(`http://127.0.0.1:${served.port}/api/endpoints/query/${path}`, { headers: { 'X-API-KEY': key } }),
    close: () =>
      (closed ??= (async () => {
        await warmer.stop();
        await results.close();
        await (redis?.close() ?? usage.close());
        await served.close();
      })()),
  };
  open.push(one);
  return one;
}

/** What is in use, in this test. */
const inUse = ({ services }: Gateway): Promise<Usage[]> =>
  services.usage.inUse(60_000, 100).then((all) => all.map(({ usage }) => usage));

/** One prefix in Redis for each test. */
function engineOf(): string {
  return `test-${prefix(expect.getState().currentTestName ?? '')}`;
}
function prefix(name: string): string {
  return Buffer.from(name).toString('hex').slice(-60);
}

describe('the warmer of a process that is alone', () => {
  const clock = new ManualClock();
  const openOne = (options: Partial<GatewayOptions> = {}): Promise<Gateway> => {
    const [first] = open;
    // Two that are to share: without Redis that is one process.
    const shared =
      first === undefined ? {} : { more: () => ({ results: first.services.results, usage: first.services.usage }) };
    return gateway({ url: null, clock, ...shared, ...options });
  };

  const pass = (milliseconds: number): Promise<void> => clock.advance(milliseconds);
  const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
    anyUntil(async () => {
      if (await condition()) return true;
      await pass(20);
      return false;
    });

  it('makes anew what is in use before it is stale, and stops when it is in use no more', async () => {
    const one = await openOne();
    expect((await one.get('warm.brief?project=a')).headers.get('cache-status')).toBe('logquay; fwd=miss; stored');
    await until(async () => (await inUse(one)).length === 1);
    engine.rows = ['{"id":9,"message":"newer"}'];
    one.warmer.start();
    await until(() => engine.of('warm').length > 0);
    await until(async () => (await (await one.get('warm.brief?project=a')).text()).includes('newer'));
    expect(engine.of('run')).toEqual(['a']);
    const refresh = engine.queries.find(({ labels }) => labels.kind === 'warm');
    expect(refresh?.labels).toMatchObject({ endpoint: 'warm.brief', key: 'all' });
    await until(async () => {
      await one.get('warm.brief?project=a');
      return engine.of('warm').length >= 2;
    });
    await until(async () => {
      await one.get('warm.brief?project=a');
      return one.warmer.warmed === 1;
    });
    // Three seconds after the last request.
    await until(() => one.warmer.warmed === 0);
    const runs = engine.queries.length;
    await pass(1500);
    expect(engine.queries).toHaveLength(runs);
  });

  it('knows what is in use of stored queries alone, and only where results are to be kept warm', async () => {
    const one = await openOne();
    for (const path of [
      'warm.long?project=a&sql=select%20project%20from%20t',
      'warm.cold?project=a',
      'test.plain?project=a',
    ]) {
      const answer = await one.get(path);
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.anything()]);
    }
    expect((await one.get('warm.long?project=a')).status).toBe(200);
    await until(async () => (await inUse(one)).length > 0);
    expect(await inUse(one)).toMatchObject([{ endpointId: LONG.id, values: { project: 'a' }, keyName: 'all' }]);
    one.warmer.start();
    await until(() => engine.of('warm').length >= 2);
    expect(engine.of('sandbox')).toEqual(['a']);
    expect(new Set(engine.of('warm'))).toEqual(new Set(['a']));
  });

  it('does nothing where nothing is to be kept warm', async () => {
    const idle = [await openOne({ endpoints: [COLD] }), await openOne({ most: 0 })];
    for (const { services, warmer } of idle) {
      const asks = jest.spyOn(services.usage, 'inUse');
      warmer.start();
      await pass(600);
      expect(asks).not.toHaveBeenCalled();
    }
  });

  it('keeps no more warm than it may, those asked for last', async () => {
    const one = await openOne({ most: 2 });
    for (const project of ['a', 'b', 'c', 'd']) {
      await one.get(`warm.long?project=${project}`);
      await pass(30);
    }
    one.warmer.start();
    await until(() => engine.of('warm').length >= 4);
    expect(new Set(engine.of('warm'))).toEqual(new Set(['c', 'd']));
    expect(one.warmer.warmed).toBe(2);
  });

  it('follows a start that moves on with the clock, without anybody asking again', async () => {
    let hour = 10n;
    const one = await openOne({ more: () => ({ now: () => hour * 3_600_000_000n }) });
    const starts = (): unknown[] =>
      engine.queries.filter(({ labels }) => labels.kind === 'warm').map(({ parameters }) => parameters[1]?.value);
    await one.get('warm.recent?project=a');
    await until(async () => (await inUse(one)).length === 1);
    one.warmer.start();
    await until(() => starts().length >= 1);
    expect(new Set(starts())).toEqual(new Set(['1969-12-31T10:00:00.000000Z']));
    hour = 11n;
    await until(() => starts().includes('1969-12-31T11:00:00.000000Z'));
    // The first request of the new hour finds its rows there, and is no other to the warmer.
    await until(
      async () => (await one.get('warm.recent?project=a')).headers.get('cache-status')?.includes('hit') === true,
    );
    expect(engine.of('run')).toEqual(['a']);
    expect(await inUse(one)).toMatchObject([{ endpointId: RECENT.id, values: { project: 'a' } }]);
    expect(one.outcomes.map(({ outcome }) => outcome)).not.toContain('gone');
  });

  it('holds off what fails, longer each time, and goes on when it succeeds', async () => {
    const [one, other] = [await openOne(), await openOne()];
    const times: number[] = [];
    let failing = true;
    engine.onRun = ({ labels }) => {
      if (labels.kind !== 'warm') return Promise.resolve();
      times.push(clock.monotonic());
      return failing ? Promise.reject(new ServiceError('backendError', 'It failed.')) : Promise.resolve();
    };
    await one.get('warm.long?project=a');
    await until(async () => (await inUse(one)).length === 1);
    one.warmer.start();
    await until(() => times.length === 4);
    failing = false;
    // The fourth failure holds it off in all processes.
    other.warmer.start();
    // The cached result is served meanwhile.
    expect((await one.get('warm.long?project=a')).headers.get('cache-status')).toMatch(/^logquay; hit; ttl=\d+$/);
    await until(() => times.length === 5);
    const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0));
    // A quarter of a second, a half, one, two; the shared clock counts whole milliseconds.
    pauses.forEach((pause, i) => expect(pause).toBeGreaterThan(245 * 2 ** i));
    await until(() => [one, other].some(({ outcomes }) => outcomes.some(({ outcome }) => outcome === 'refreshed')));
    await until(async () => (await one.services.usage.inUse(60_000, 10)).some(({ failures }) => failures === 0));
  });

  it('does not spend what the payer has not', async () => {
    const one = await openOne();
    engine.bytes = { processed: 1000n, billed: 1000n };
    expect((await one.get('warm.long?project=a', 'poor')).status).toBe(200);
    await until(async () => (await inUse(one)).length === 1);
    one.warmer.start();
    await until(() => one.outcomes.some(({ outcome }) => outcome === 'failed'));
    expect(one.outcomes.find(({ outcome }) => outcome === 'failed')?.error).toMatchObject({ reason: 'budgetExceeded' });
    expect(engine.of('warm')).toEqual([]);
    expect((await one.get('warm.long?project=a', 'poor')).headers.get('cache-status')).toMatch(/hit/);
    // Somebody else asks, and pays from now on.
    await until(async () => {
      await one.get('warm.long?project=a', 'other');
      return engine.of('warm').length > 0;
    });
    expect(engine.queries.at(-1)?.labels).toMatchObject({ key: 'other', kind: 'warm' });
  });

  it('ends in the middle of a refresh, which it stops', async () => {
    const one = await openOne();
    await one.get('warm.long?project=a');
    await until(async () => (await inUse(one)).length === 1);
    let aborted = false;
    engine.onRun = (_query, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(abortError());
        });
      });
    one.warmer.start();
    await until(() => engine.of('warm').length === 1);
    await one.warmer.stop();
    await one.services.results.close();
    expect([aborted, one.services.results.inFlight]).toEqual([true, 0]);
    expect(one.outcomes.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(await one.services.usage.inUse(60_000, 10)).toMatchObject([{ failures: 0 }]);
    // And never begins again.
    await pass(700);
    expect(engine.of('warm')).toHaveLength(1);
  });

  /** The outcome of a due refresh for a request of `pinned`, after the services have changed. */
  const refreshed = async (change: (services: Services) => Partial<Services>): Promise<unknown> => {
    const one = await openOne();
    await one.get('warm.long', 'pinned');
    await until(async () => (await inUse(one)).length === 1);
    const [usage] = await inUse(one);
    if (usage === undefined) throw new Error('It is in use.');
    expect(usage).toMatchObject({ values: {}, keyName: 'pinned' });
    return warm(usage, 0, { ...one.services, ...change(one.services) }, null, new AbortController().signal);
  };
  const withKey =
    (more: object) =>
    ({ keys }: Services) => ({
      keys: {
        ...keys,
        find: (name: string) => {
          const key = keys.find(name);
          return key === null ? null : { ...key, ...more };
        },
      },
    });
  const withEndpoint =
    (more: Partial<Endpoint> | null) =>
    ({ catalogue }: Services) => ({
      catalogue: {
        ...catalogue,
        find: (idOrName: string) => {
          const endpoint = catalogue.find(idOrName);
          return endpoint === null || more === null ? null : { ...endpoint, ...more };
        },
      },
    });

  it.each([
    ['the key is revoked or has expired', ({ keys }: Services) => ({ keys: { ...keys, find: () => null } })],
    ['the key may not run the endpoint any more', withKey({ endpoints: ['test.plain'] })],
    ['the key pins another value', withKey({ pins: new Map([['project', 'xyz']]) })],
    ['the key pins nothing any more', withKey({ pins: new Map() })],
    ['the key pins what the endpoint does not declare', withKey({ pins: new Map([['tenant', 'abc']]) })],
    ['the key forces redaction', withKey({ redact: true })],
    ['the endpoint is gone', withEndpoint(null)],
    ['the endpoint has changed', withEndpoint({ revision: 'another' })],
    ['the endpoint forces redaction', withEndpoint({ redactPii: true })],
    [
      'the data are others',
      ({ engine }: Services) => ({
        engine: Object.create(engine, { target: { value: 'another' } }) as typeof engine,
      }),
    ],
  ])('lets go when %s', async (_, change) => {
    expect(await refreshed(change)).toEqual({ outcome: 'gone' });
    expect(engine.of('warm')).toEqual([]);
  });

  it('asks the same again when nothing has changed', async () => {
    expect(await refreshed(() => ({}))).toMatchObject({ outcome: 'refreshed' });
    expect(engine.of('warm')).toEqual(['abc']);
  });

  it('forgets what is gone', async () => {
    let revoked = false;
    const one = await openOne({
      more: ({ keys }) => ({
        keys: {
          authenticate: (header) => keys.authenticate(header),
          find: (name) => (revoked ? null : keys.find(name)),
        },
      }),
    });
    await one.get('warm.long?project=a');
    await until(async () => (await inUse(one)).length === 1);
    revoked = true;
    one.warmer.start();
    await until(async () => (await inUse(one)).length === 0);
    expect(one.outcomes.map(({ outcome }) => outcome)).toContain('gone');
    expect(engine.of('warm')).toEqual([]);
  });

  it('asks again for the very same, whatever was asked for', async () => {
    const one = await gateway({ url: null });
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const numbers = fc.double({ noDefaultInfinity: true, noNaN: true }).map(String);
    const instant = fc.constantFrom('', '2026-09-30', '2026-09-30T12:00:00+02:00', '2026-09-30 10:00:00.123456Z');
    const query = fc.record({
      project: value,
      level: fc.constantFrom('', 'error', 'fatal'),
      since: instant,
      count: fc.oneof(fc.constant(''), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)),
      ratio: fc.oneof(fc.constant(''), numbers),
      deep: fc.constantFrom('', 'true', 'false'),
    });
    const header = fc.record({
      'X-API-KEY': fc.constantFrom('all', 'pinned', 'masked', 'other'),
      Accept: fc.constantFrom('application/json', 'text/csv', 'application/x-ndjson'),
      'LF-ENDPOINT-REDACT-PII': fc.constantFrom('true', 'false'),
    });
    const { port } = await listening(one);
    await fc.assert(
      fc.asyncProperty(query, header, async (given, headers) => {
        const project = headers['X-API-KEY'] === 'pinned' ? '' : given.project;
        const url = `http://127.0.0.1:${port}/api/endpoints/query/test.typed?${new URLSearchParams({ ...given, project }).toString()}`;
        const answer = await fetch(url, { headers });
        await answer.arrayBuffer();
        // Some of the strings are no parameters: those are of no interest here.
        fc.pre(answer.status === 200);
        const [usage] = await inUse(one);
        if (usage === undefined) throw new Error('It is in use.');
        const first = engine.queries.at(-1);
        const outcome = await warm(usage, 0, one.services, null, new AbortController().signal);
        expect(outcome).toMatchObject({ outcome: 'refreshed' });
        const again = engine.queries.at(-1);
        expect(again).not.toBe(first);
        expect(again?.labels.kind).toBe('warm');
        if (answer.headers.get('cache-status') === 'logquay; fwd=miss; stored') {
          expect([again?.parameters, again?.hideBytes, again?.sql]).toEqual([
            first?.parameters,
            first?.hideBytes,
            first?.sql,
          ]);
        }
      }),
      { ...runs(150) },
    );
  });
});

async function listening(one: Gateway): Promise<{ port: number }> {
  const { url } = await one.get('nothing');
  return { port: Number(new URL(url).port) };
}

describeWithRedis('the warmers of processes on one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it('make anew each result once in an interval, however many they are', async () => {
    const all = await Promise.all([1, 2, 3].map(() => gateway({ url: server.url })));
    const [one] = all as [Gateway];
    const projects = ['a', 'b', 'c'];
    for (const project of projects) await one.get(`warm.long?project=${project}`);
    await untilReally(async () => (await inUse(one)).length === 3);
    const began = performance.now();
    for (const { warmer } of all) warmer.start();
    await untilReally(() => engine.of('warm').length >= 12);
    const elapsed = performance.now() - began;
    for (const project of projects) {
      const runs = engine.of('warm').filter((value) => value === project).length;
      expect(runs).toBeGreaterThan(0);
      expect(runs).toBeLessThanOrEqual(elapsed / (0.9 * SECOND) + 1);
    }
    // All of them serve what one has made.
    engine.rows = ['{"id":9,"message":"newest"}'];
    const runs = engine.of('run').length;
    await untilReally(async () => {
      const texts = await Promise.all(all.map(async (each) => (await each.get('warm.long?project=a')).text()));
      return texts.every((text) => text.includes('newest'));
    });
    expect(engine.of('run')).toHaveLength(runs);
  });

  describe('after a failed refresh', () => {
    /** Two processes, one cached result in use, and an engine that fails from now on. */
    async function pair() {
      const [one, other] = [await gateway({ url: server.url }), await gateway({ url: server.url })];
      const acquire = jest.spyOn(one.store, 'acquire');
      await one.get('warm.long?project=a');
      await untilReally(async () => (await inUse(one)).length === 1);
      const [identity] = acquire.mock.calls[0] ?? [];
      if (identity === undefined) throw new Error('The first request acquires a lease.');
      await untilReally(async () => {
        const lease = await other.store.acquire(identity);
        await lease?.release();
        return lease !== null;
      });
      engine.onRun = () => Promise.reject(new ServiceError('backendError', 'It failed.'));
      return { one, other, identity };
    }

    it('leave alone what another has failed at since they looked', async () => {
      const { one, other } = await pair();
      const acquire = other.store.acquire.bind(other.store);
      const failed = new Promise<void>((resolve) => {
        const record = one.services.usage.failed.bind(one.services.usage);
        jest.spyOn(one.services.usage, 'failed').mockImplementation((hash) => record(hash, 60_000).then(resolve));
      });
      const late = jest.spyOn(other.store, 'acquire').mockImplementation((same) => failed.then(() => acquire(same)));
      other.warmer.start();
      await untilReally(() => late.mock.calls.length === 1);
      one.warmer.start();
      const due = (): string[] =>
        other.outcomes.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'not due');
      await untilReally(() => due().length > 0);
      expect(due()).toEqual(['busy']);
      expect(one.outcomes.some(({ outcome }) => outcome === 'failed')).toBe(true);
      expect(engine.of('warm')).toEqual(['a']);
    });

    it('release the lease when the failure is recorded, not before', async () => {
      const { one, other, identity } = await pair();
      const record = one.services.usage.failed.bind(one.services.usage);
      let goOn!: () => void;
      const released = new Promise<void>((resolve) => (goOn = resolve));
      const recording = jest
        .spyOn(one.services.usage, 'failed')
        .mockImplementation((hash) => released.then(() => record(hash, 60_000)));
      one.warmer.start();
      await untilReally(() => recording.mock.calls.length === 1);
      expect(await other.store.acquire(identity)).toBeNull();
      goOn();
      await untilReally(async () => (await other.store.acquire(identity)) !== null);
      expect(await other.services.usage.isHeldOff(identity.hash)).toBe(true);
      expect(recording).toHaveBeenCalledTimes(1);
    });
  });

  it('go on after a restart with what was in use before', async () => {
    const before = await gateway({ url: server.url });
    for (const project of ['a', 'b']) await before.get(`warm.long?project=${project}`);
    await before.close();
    const runs = engine.queries.length;
    const after = await gateway({ url: server.url });
    after.warmer.start();
    await untilReally(() => new Set(engine.of('warm')).size === 2);
    expect(engine.queries.slice(runs).every(({ labels }) => labels.kind === 'warm')).toBe(true);
    // What has been made is a hit for the first the caller this process.
    expect((await after.get('warm.long?project=b')).headers.get('cache-status')).toMatch(/^logquay; hit; ttl=\d+$/);
  });

  it('wait for a Redis that is gone, and go on when it is back', async () => {
    const own = await startRedis();
    try {
      const one = await gateway({ url: own.url, timeout: 250 });
      await one.get('warm.long?project=a');
      await untilReally(async () => (await inUse(one)).length === 1);
      one.warmer.start();
      await untilReally(() => engine.of('warm').length > 0);
      own.freeze();
      await untilReally(() => one.connection.state !== 'closed');
      own.thaw();
      const runs = engine.of('warm').length;
      await untilReally(() => engine.of('warm').length > runs);
      await one.close();
    } finally {
      own.thaw();
      await own.stop();
    }
  });
});
