/** Live tails of the real process, over a folder that grows. */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hashOf } from '../../src/keys/key';
import { inLong } from '../scale';
import { until } from '../until';
import { EventClient } from './event-client';
import { childrenOf, Stage, type Started } from './started';

jest.setTimeout(180_000);

const QUERIES = {
  edge: `/*
id: 66666666-aaaa-4000-8000-000000000001
name: edge
sandbox: true
params:
  project: { type: string, required: true }
*/
WITH edge_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata FROM raw_edge_logs AS t WHERE t.project = @project
), daily AS (
  SELECT DATE(t.timestamp) AS day, COUNT(*) AS rows_of_day FROM raw_edge_logs AS t WHERE t.project = @project GROUP BY 1
)
SELECT id, event_message FROM edge_logs ORDER BY id LIMIT 10`,
  recent: `/*
id: 66666666-aaaa-4000-8000-000000000003
name: recent
params:
  project: { type: string, required: true }
  since: { type: timestamp, default_lookback: 1h }
*/
SELECT t.id FROM raw_edge_logs AS t
WHERE t.project = @project
  AND t.timestamp > IF(@since = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@since AS TIMESTAMP))`,
  counted: `/*
id: 66666666-aaaa-4000-8000-000000000002
name: counted
*/
SELECT COUNT(*) AS n FROM raw_edge_logs`,
  // It has no end within the patience of a test.
  endless: `/*
id: 66666666-aaaa-4000-8000-000000000004
name: endless
timeout: 120
params:
  n: { type: integer, required: true }
*/
SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 10000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000000)) AS b
WHERE MOD(a * b, 7) = 8 + @n`,
};

const KEYS = { reader: {}, other: {}, pinned: { pins: { project: 'a' } }, masked: { redact: true } };
const PATH = '/api/endpoints/tail/edge';

const stage = new Stage();
afterAll(() => stage.end());

/** A service over a folder of its own. */
class Site {
  readonly folder = stage.folder();
  readonly data = path.join(this.folder, 'data');
  readonly keysFile = path.join(this.folder, 'keys.json');
  service!: Started;
  port = 0;
  #written = 0;

  constructor() {
    mkdirSync(path.join(this.data, 'raw_edge_logs'), { recursive: true });
    for (const [name, sql] of Object.entries(QUERIES)) this.writeQuery(name, sql);
    this.writeKeys(KEYS);
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.service = stage.start({ DATA_DIR: this.data, KEYS_FILE: this.keysFile, ...environment }, this.folder);
    this.port = await this.service.port();
  }

  writeQuery(name: string, sql: string): void {
    writeFileSync(path.join(this.folder, `queries/${name}.sql`), sql);
  }

  writeKeys(keys: Readonly<Record<string, object>>): void {
    const entries = Object.entries(keys).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
    writeFileSync(this.keysFile, JSON.stringify({ keys: entries }));
  }

  /** Appends rows with ids of their own. @returns the ids */
  append(count: number, { project = 'a', file = 'raw_edge_logs.ndjson', message = 'm' } = {}): string[] {
    const ids = Array.from({ length: count }, () => `row-${String(this.#written++).padStart(6, '0')}`);
    const lines = ids.map((id, i) =>
      JSON.stringify({
        id,
        project,
        event_message: message,
        timestamp: `2026-11-22T10:00:00.${String(i).padStart(6, '0')}Z`,
      }),
    );
    appendFileSync(path.join(this.data, file), lines.map((line) => `${line}\n`).join(''));
    return ids;
  }

  listen(
    query: Readonly<Record<string, string>> = {},
    { key = 'reader', lastId = '', endpoint = PATH, accept = 'text/event-stream' } = {},
  ): Promise<EventClient> {
    const given = key === 'pinned' ? query : { project: 'a', ...query };
    return EventClient.open(this.port, endpoint, given, { key, lastId, accept });
  }
}

const idsOf = (client: EventClient): string[] => client.rows.map((row) => (JSON.parse(row) as { id: string }).id);
const came = (client: EventClient, count: number): Promise<void> => until(() => client.rows.length >= count);
const reasonOf = ({ text }: EventClient): unknown =>
  (JSON.parse(text) as { error: { errors: { reason: string }[] } }).error.errors[0]?.reason;

describe('a key with many slow queries', () => {
  const site = new Site();
  const flood = new AbortController();
  let ended = 0;
  const ask = (key: string, path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(site.port)}/api/endpoints/query/${path}`, {
      headers: { 'X-API-KEY': key },
      signal: flood.signal,
    });
  /** Queries that wait for a slot. */
  const waiting = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${String(site.port)}/metrics`, {
      headers: { 'X-API-KEY': 'key-of-the-metrics' },
    });
    return Number(/^logquay_admission_waiting (\d+)/m.exec(await response.text())?.[1]);
  };
  beforeAll(async () => {
    site.append(1);
    await site.start({ METRICS_KEY: 'key-of-the-metrics', QUERY_TIMEOUT: '120' });
    await ask('other', 'counted');
    for (let n = 0; n < 8; n++) {
      void ask('reader', `endless?n=${String(n)}`)
        .catch(() => undefined)
        .then(() => ended++);
    }
    // They have the slots of their key: one more of it waits.
    await until(async () => (await waiting()) > 5, 50);
  });
  afterAll(() => flood.abort());

  it('delays no other key that asks the same', async () => {
    const before = await waiting();
    void ask('reader', 'edge?project=a').catch(() => undefined);
    await until(async () => (await waiting()) > before, 50);
    const answer = await ask('other', 'edge?project=a');
    expect([answer.status, ended]).toEqual([200, 0]);
  }, 60_000);

  it('delays no other key that listens to the same', async () => {
    const clients = [await site.listen(), await site.listen({}, { key: 'other' })] as const;
    for (let n = 1; n <= 4; n++) {
      site.append(1);
      await came(clients[1], n);
    }
    expect([clients[1].end, ended]).toEqual([undefined, 0]);
    for (const client of clients) client.leave();
  }, 60_000);
});

describe('a folder that grows', () => {
  const site = new Site();
  beforeAll(async () => {
    site.append(3);
    // Two hours after the rows.
    await site.start({ CLOCK: '2026-11-22T12:00:00Z' });
  });

  it('bounds by default_lookback runs alone: late rows come as they are written', async () => {
    const endpoint = '/api/endpoints/tail/recent';
    const client = await site.listen({}, { endpoint });
    expect([client.status, client.response.headers['x-default-parameters']]).toEqual([200, undefined]);
    const ids = site.append(3);
    await came(client, 3);
    expect(idsOf(client).sort()).toEqual(ids);
    client.leave();
    const more = site.append(1);
    const again = await site.listen({}, { endpoint, lastId: client.lastId });
    await came(again, 1);
    expect(idsOf(again)).toEqual(more);
    again.leave();
    const run = async (query: string): Promise<[string | null, number]> => {
      const url = `http://127.0.0.1:${String(site.port)}/api/endpoints/query/recent?project=a${query}`;
      const response = await fetch(url, { headers: { 'X-API-KEY': 'reader' } });
      const { result } = (await response.json()) as { result: unknown[] };
      return [response.headers.get('x-default-parameters'), result.length];
    };
    expect(await run('')).toEqual(['since=2026-11-22T11:00:00.000000Z', 0]);
    expect((await run('&since=2026-11-22'))[1]).toBeGreaterThanOrEqual(4);
    const bounded = await site.listen({ since: '2026-11-22T11:00:00Z' }, { endpoint });
    const whole = await site.listen({}, { endpoint });
    site.append(1);
    await came(whole, 1);
    await sleep(200);
    expect(bounded.rows).toEqual([]);
    for (const one of [bounded, whole]) one.leave();
  });

  it('gives rows as they arrive, each with a place of its own', async () => {
    const client = await site.listen();
    expect(client.status).toBe(200);
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-store',
      'x-accel-buffering': 'no',
    });
    const ids = [...site.append(2), ...site.append(3, { file: 'raw_edge_logs/b.ndjson' })];
    site.append(5, { project: 'b' });
    ids.push(...site.append(1));
    await came(client, 6);
    await sleep(500);
    expect(idsOf(client).sort()).toEqual(ids.sort());
    const places = client.events.map(({ id }) => id);
    expect(new Set(places).size).toBe(places.length);
    expect(client.events[0]?.retry).toBeGreaterThan(0);
    client.leave();
  });

  it('goes on from every place without a row lost or doubled', async () => {
    const client = await site.listen();
    const ids = site.append(40);
    await came(client, 40);
    client.leave();
    const more = site.append(5);
    const all = [...ids, ...more];
    for (const [i, { id, data }] of client.events.entries()) {
      if (data === '' || i % 7 !== 0) continue;
      const again = await site.listen({}, { lastId: id });
      const given = idsOf(client).slice(0, client.events.slice(0, i + 1).filter((event) => event.data !== '').length);
      const left = all.filter((one) => !given.includes(one));
      await came(again, left.length);
      await sleep(50);
      expect(idsOf(again).sort()).toEqual(left);
      again.leave();
    }
  });

  it('filters by SQL and LQL, which follow from the same rows', async () => {
    const sql = await site.listen({
      sql: 'SELECT e.id, UPPER(e.event_message) AS text FROM edge_logs e WHERE e.event_message LIKE "%x" ORDER BY e.id DESC LIMIT 1',
    });
    const lql = await site.listen({ lql: 's:id f:edge_logs event_message:~"x$"' });
    expect([sql.status, lql.status]).toEqual([200, 200]);
    site.append(2);
    const ids = site.append(3, { message: 'ax' });
    await came(sql, 3);
    await came(lql, 3);
    expect(sql.rows.map((row) => JSON.parse(row) as unknown)).toEqual(ids.map((id) => ({ id, text: 'AX' })));
    expect(idsOf(lql)).toEqual(ids);
    for (const one of [sql, lql]) one.leave();
  });

  it('begins with the rows that there are, where that is asked for or LQL has a start', async () => {
    const before = site.append(2, { message: 'history' });
    await until(async () => {
      const client = await site.listen({
        sql: 'SELECT id FROM edge_logs WHERE event_message = "history"',
        history: 'true',
      });
      await sleep(50);
      client.leave();
      return client.rows.length === 2;
    });
    const client = await site.listen({
      sql: 'SELECT id FROM edge_logs WHERE event_message = "history"',
      history: 'true',
    });
    const lql = await site.listen({ lql: 's:id f:edge_logs event_message:history t:>2026-01-01' });
    const after = site.append(2, { message: 'history' });
    await came(client, 4);
    await came(lql, 4);
    expect(idsOf(client)).toEqual([...before, ...after]);
    expect(idsOf(lql)).toEqual([...before, ...after]);
    // Its last place is behind them.
    client.leave();
    const more = site.append(1, { message: 'history' });
    const again = await site.listen(
      { sql: 'SELECT id FROM edge_logs WHERE event_message = "history"', history: 'true' },
      { lastId: client.lastId },
    );
    await came(again, 1);
    expect(idsOf(again)).toEqual(more);
    for (const one of [again, lql]) one.leave();
  });

  it('shows a pinned key rows of its project alone, and places that are all of one length', async () => {
    const client = await site.listen({}, { key: 'pinned' });
    site.append(200, { project: 'b' });
    const ids = site.append(4);
    site.append(3000, { project: 'b' });
    ids.push(...site.append(2));
    await came(client, 6);
    expect(idsOf(client)).toEqual(ids);
    expect(new Set(client.events.filter(({ id }) => id !== '').map(({ id }) => id.length)).size).toBe(1);
    const other = await site.listen({ project: 'b' }, { key: 'pinned' });
    await other.closed;
    expect([other.status, reasonOf(other)]).toEqual([403, 'accessDenied']);
    client.leave();
  });

  it('takes a place of the same request and key alone', async () => {
    const client = await site.listen();
    await until(() => client.lastId !== '');
    const { lastId } = client;
    client.leave();
    const refused = await Promise.all([
      site.listen({}, { key: 'other', lastId }),
      site.listen({ sql: 'SELECT id FROM edge_logs' }, { lastId }),
      site.listen({ project: 'b' }, { lastId }),
      site.listen({}, { lastId: 'made-up' }),
    ]);
    for (const one of refused) {
      await one.closed;
      expect([one.status, reasonOf(one)]).toEqual([400, 'invalidParameter']);
    }
  });

  it.each([
    ['SELECT COUNT(*) AS n FROM edge_logs', 400, 'invalidQuery'],
    ['SELECT DISTINCT id FROM edge_logs', 400, 'invalidQuery'],
    ['SELECT id FROM edge_logs GROUP BY id', 400, 'invalidQuery'],
    ['SELECT id, ROW_NUMBER() OVER () AS n FROM edge_logs', 400, 'invalidQuery'],
    ['SELECT a.id FROM edge_logs a JOIN edge_logs b USING (id)', 400, 'invalidQuery'],
    ['SELECT id FROM edge_logs WHERE id IN (SELECT id FROM edge_logs)', 400, 'invalidQuery'],
    ['SELECT id FROM edge_logs UNION ALL SELECT id FROM edge_logs', 400, 'invalidQuery'],
    ['SELECT id FROM (SELECT id FROM edge_logs LIMIT 1)', 400, 'invalidQuery'],
    ['SELECT * FROM daily', 400, 'invalidParameter'],
    ['SELECT id FROM raw_edge_logs', 403, 'sandboxViolation'],
  ])('refuses %s', async (sql, status, reason) => {
    const client = await site.listen({ sql });
    await client.closed;
    expect([client.status, reasonOf(client)]).toEqual([status, reason]);
  });

  it('refuses what is no live tail', async () => {
    const refused = await Promise.all([
      site.listen({ dry_run: 'true' }),
      site.listen({ export: 'true' }),
      site.listen({}, { accept: 'application/json' }),
      site.listen({}, { endpoint: '/api/endpoints/tail/counted' }),
      site.listen({}, { key: 'nobody' }),
    ]);
    await Promise.all(refused.map(({ closed }) => closed));
    expect(refused.map((one) => [one.status, reasonOf(one)])).toEqual([
      [400, 'invalidParameter'],
      [403, 'accessDenied'],
      [406, 'notAcceptable'],
      [400, 'invalidParameter'],
      [401, 'unauthenticated'],
    ]);
  });

  it('says why it ends where a row makes the query fail', async () => {
    const client = await site.listen({ sql: 'SELECT DIV(1, LENGTH(event_message) - 3) AS x FROM edge_logs' });
    site.append(1, { message: 'abc' });
    await client.closed;
    expect(JSON.parse(client.end?.data ?? '')).toMatchObject({ cause: 'failed', reason: 'invalidQuery' });
  });

  it('bounds the listeners of a key', async () => {
    const clients = await Promise.all(Array.from({ length: 101 }, () => site.listen({}, { key: 'other' })));
    const refused = clients.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual([429]);
    clients.find(({ status }) => status === 200)?.leave();
    await until(async () => (await site.listen({}, { key: 'other' })).status === 200);
    for (const one of clients) one.leave();
  });

  it('ends the streams of a key that is revoked and of an endpoint that changes', async () => {
    const revoked = await site.listen({}, { key: 'masked' });
    const untouched = await site.listen();
    site.writeKeys({ reader: {}, other: {}, pinned: KEYS.pinned });
    await revoked.closed;
    expect(JSON.parse(revoked.end?.data ?? '')).toMatchObject({ cause: 'key_changed' });
    expect(revoked.end?.retry).toBeGreaterThan(0);
    const ids = site.append(1);
    await came(untouched, 1);
    expect(idsOf(untouched)).toEqual(ids);
    site.writeQuery('edge', QUERIES.edge.replace('LIMIT 10', 'LIMIT 11'));
    await untouched.closed;
    expect(JSON.parse(untouched.end?.data ?? '')).toMatchObject({ cause: 'endpoint_changed' });
  });

  it('cuts a client off that does not read, and says so last', async () => {
    const slow = await site.listen({ sql: 'SELECT id, event_message FROM edge_logs' });
    // Tells when the rows are there.
    const quick = await site.listen({ sql: 'SELECT id FROM edge_logs' });
    slow.response.pause();
    slow.response.socket.pause();
    const first = quick.rows.length;
    let written = 0;
    // More than sockets take, and some more then.
    for (let i = 0; i < 6; i++) {
      written += site.append(150, { message: 'x'.repeat(20_000) }).length;
      await came(quick, first + written);
    }
    slow.response.socket.resume();
    slow.response.resume();
    await slow.closed;
    expect(slow.rows.length).toBeLessThan(written);
    expect(JSON.parse(slow.end?.data ?? '')).toMatchObject({ cause: 'slow_reader' });
    // What it did not get it gets when it comes again.
    const again = await site.listen({ sql: 'SELECT id, event_message FROM edge_logs' }, { lastId: slow.lastId });
    await came(again, written - slow.rows.length);
    expect(new Set([...idsOf(slow), ...idsOf(again)]).size).toBe(written);
    again.leave();
    quick.leave();
  });

  it('ends all streams when the service does', async () => {
    const client = await site.listen();
    site.service.signal('SIGTERM');
    await client.closed;
    expect(JSON.parse(client.end?.data ?? '')).toMatchObject({ cause: 'shutting_down' });
    expect(client.end?.retry).toBeGreaterThan(0);
    expect(await site.service.exit).toBe(0);
  });
});

test.each([['with CACHE_DIR', true] as const, ...inLong([['without CACHE_DIR', false] as const])])(
  '%s, rows go on when the engine is started again',
  async (_name, cached) => {
    const site = new Site();
    const ids = site.append(50);
    await site.start(cached ? { CACHE_DIR: path.join(site.folder, 'cache') } : {});
    await site.service.logged(/"msg":"ready"/);
    const client = await site.listen({ sql: 'SELECT id FROM edge_logs', history: 'true' });
    await came(client, 50);
    for (let round = 0; round < 3; round++) {
      ids.push(...site.append(20));
      const [engine] = childrenOf(site.service.child.pid);
      if (engine === undefined) throw new Error('There is no engine.');
      process.kill(engine, 'SIGKILL');
      ids.push(...site.append(20));
      await came(client, ids.length);
    }
    await sleep(300);
    expect(idsOf(client).sort()).toEqual(ids.sort());
    expect(client.end).toBeUndefined();
    client.leave();
  },
);

describe('a service that is started again', () => {
  it.each(['SIGKILL' as const, ...inLong(['SIGTERM'] as const)])(
    'goes on after %s, whatever has become of the files',
    async (signal) => {
      const site = new Site();
      const wanted = site.append(20);
      await site.start();
      const first = await site.listen({ history: 'true', sql: 'SELECT id FROM edge_logs' });
      await came(first, 20);
      wanted.push(...site.append(30));
      await came(first, 50);
      const got = idsOf(first);
      // A client that has lost the stream in the middle of a batch.
      const at = first.events.filter(({ data }) => data !== '')[41]!;
      const given = got.slice(0, 42);
      site.service.signal(signal);
      await site.service.exit;
      wanted.push(...site.append(10));
      const live = path.join(site.data, 'raw_edge_logs.ndjson');
      renameSync(live, `${live}.1`);
      wanted.push(...site.append(10));
      await site.start();
      const again = await site.listen({ history: 'true', sql: 'SELECT id FROM edge_logs' }, { lastId: at.id });
      expect(again.status).toBe(200);
      wanted.push(...site.append(5));
      await came(again, wanted.length - given.length);
      await sleep(500);
      expect([...given, ...idsOf(again)].sort()).toEqual([...wanted].sort());
      again.leave();
      rmSync(`${live}.1`);
    },
  );
});
