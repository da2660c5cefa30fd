/** Live tails of the real process over the local BigQuery, whose tables grow. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hashOf } from '../../src/keys/secret-key';
import { overOwnLocalBigQuery } from '../engines/over-local-bigquery';
import type { LocalBigQuery, SeenRequest } from '../local-bigquery';
import { describeWithRedis, startRedis } from '../redis-server';
import { until } from '../until';
import { EventClient } from './event-client';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const INTERVAL = 1_000;

const WITH = `WITH edge_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.metadata FROM raw_edge_logs AS t
  WHERE t.project = @project OR t.project IS NULL
)`;
const edge = (tail: string): string => `/*
id: 66666666-bbbb-4000-8000-000000000001
name: edge
sandbox: true
${tail}
params:
  project: { type: string, required: true }
*/
${WITH} SELECT id, timestamp, event_message FROM edge_logs ORDER BY timestamp DESC LIMIT 100`;
const QUERIES = {
  edge: edge('tail: 1'),
  silent: edge('').replace('0001', '0002').replace('name: edge', 'name: silent'),
  untimed: `/*
id: 66666666-bbbb-4000-8000-000000000003
name: untimed
tail: 1
*/
SELECT id FROM untimed`,
  rare: edge('tail: 60').replace('0001', '0005').replace('name: edge', 'name: rare'),
  narrow: edge('tail: 1\nmax_bytes_billed: 1').replace('0001', '0004').replace('name: edge', 'name: narrow'),
};

const KEYS: Readonly<Record<string, object>> = {
  reader: {},
  other: {},
  pinned: { pins: { project: 'a' } },
  masked: { redact: true },
  poor: { dailyBytes: String(3 * 10 * 2 ** 20) },
};

const stage = new Stage();
afterAll(() => stage.end());

/** A service over a local BigQuery. */
class Site {
  readonly folder = stage.folder();
  service!: Started;
  port = 0;
  static #written = 0;

  constructor(readonly bigQuery: LocalBigQuery) {
    for (const [name, sql] of Object.entries(QUERIES)) this.writeQuery(name, sql);
    this.writeKeys(KEYS);
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const own = {
      DATA_DIR: '',
      BIGQUERY_EMULATOR_HOST: this.bigQuery.host,
      BIGQUERY_PROJECT_ID: 'test',
      BIGQUERY_DATASET: 'logs',
      KEYS_FILE: path.join(this.folder, 'keys.json'),
    };
    this.service = stage.start({ ...own, ...environment }, this.folder);
    this.port = await this.service.port();
  }

  writeQuery(name: string, sql: string): void {
    writeFileSync(path.join(this.folder, `queries/${name}.sql`), sql);
  }

  writeKeys(keys: Readonly<Record<string, object>>): void {
    const entries = Object.entries(keys).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
    writeFileSync(path.join(this.folder, 'keys.json'), JSON.stringify({ keys: entries }));
  }

  /** Inserts rows of one instant. @returns their ids */
  async insert(
    count: number,
    { project = 'a', message = 'm', at = Date.now(), ids = this.newIds(count) } = {},
  ): Promise<string[]> {
    const timestamp = new Date(at).toISOString();
    const rows = ids.map((id) => ({ json: { id, project, event_message: message, timestamp } }));
    const url = `http://${this.bigQuery.host}/projects/test/datasets/logs/tables/raw_edge_logs/insertAll`;
    expect(await posted(url, { rows })).not.toHaveProperty('insertErrors');
    return ids;
  }

  newIds(count: number): string[] {
    return Array.from({ length: count }, () => `row-${String(Site.#written++).padStart(6, '0')}`);
  }

  /** As clients do, it comes again where BigQuery has not answered in time. */
  async listen(
    query: Readonly<Record<string, string>> = {},
    { key = 'reader', lastId = '', endpoint = 'edge' } = {},
  ): Promise<EventClient> {
    const given = key === 'pinned' ? query : { project: 'a', ...query };
    for (;;) {
      const client = await EventClient.open(this.port, `/api/endpoints/tail/${endpoint}`, given, { key, lastId });
      if (client.status < 502) return client;
      await sleep(INTERVAL);
    }
  }

  /** Queries that looked for rows since `reset`. */
  async looks(): Promise<SeenRequest[]> {
    const { requests } = await this.bigQuery.control();
    return requests.filter(
      ({ operation, body }) =>
        operation === 'query' && (body['labels'] as { kind?: string } | undefined)?.kind === 'tail',
    );
  }
}

/** From every second place of a stream, and every second one of those that it goes on with: no row is lost or doubled. */
async function goesOn(site: Site, client: EventClient, all: readonly string[], depth = 2): Promise<void> {
  const given = idsOf(client);
  for (const [i, { id, data }] of client.events.entries()) {
    if (data === '' || i % 2 !== 0 || id === '') continue;
    const before = given.slice(
      0,
      client.events.slice(0, i + 1).filter((event) => event.data.startsWith('{"id')).length,
    );
    const left = all.filter((one) => !before.includes(one));
    const again = await site.listen({}, { lastId: id });
    expect([again.status, again.text]).toEqual([200, '']);
    await came(again, left.length);
    expect(idsOf(again).sort()).toEqual([...left].sort());
    again.leave();
    if (depth > 1 && left.length > 3) await goesOn(site, again, left, depth - 1);
    if (depth < 2) break;
  }
}

async function posted(url: string, body: object): Promise<object> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as object;
}

const idsOf = (client: EventClient): string[] => client.rows.map((row) => (JSON.parse(row) as { id: string }).id);
const came = (client: EventClient, count: number): Promise<void> => until(() => client.rows.length >= count);
const errorOf = ({ text }: EventClient): { reason: string; message: string } =>
  (JSON.parse(text) as { error: { errors: [{ reason: string; message: string }] } }).error.errors[0];

overOwnLocalBigQuery('live tails on BigQuery', (local) => {
  let site!: Site;
  beforeAll(async () => {
    const table = {
      tableReference: { projectId: 'test', datasetId: 'logs', tableId: 'untimed' },
      schema: { fields: [{ name: 'id', type: 'STRING' }] },
    };
    await posted(`http://${local().host}/projects/test/datasets/logs/tables`, table);
    site = new Site(local());
    await site.start({ MAX_TAILS_PER_KEY: '30' });
  });

  it('gives rows as they arrive, late ones and those of one instant among them, each once', async () => {
    const there = await site.insert(2);
    const client = await site.listen();
    expect(client.status).toBe(200);
    const at = Date.now() - 60_000;
    const ids = [...(await site.insert(3)), ...(await site.insert(2, { at }))];
    await site.insert(4, { project: 'b' });
    await came(client, 5);
    ids.push(...(await site.insert(1, { at: Date.now() - 30_000 })));
    // A row that was inserted twice.
    await site.insert(1, { at, ids: ids.slice(3, 4) });
    await came(client, 6);
    await sleep(2.5 * INTERVAL);
    expect(idsOf(client).sort()).toEqual(ids.sort());
    expect(idsOf(client)).not.toContain(there[0]);
    const places = client.events.filter(({ id }) => id !== '').map(({ id }) => id);
    expect(new Set(places).size).toBe(places.length);
    expect(new Set(places.map(({ length }) => length)).size).toBe(1);
    client.leave();
  });

  it('runs one query an interval for all who ask for the same, which bounds the time and the bytes', async () => {
    const clients = await Promise.all([site.listen(), site.listen({}, { key: 'other' }), site.listen()]);
    await local().control({ reset: true });
    const start = performance.now();
    const ids = await site.insert(2);
    await Promise.all(clients.map((client) => came(client, 2)));
    for (const client of clients) expect(idsOf(client)).toEqual(ids);
    for (let round = 3; round < 6; round++) {
      ids.push(...(await site.insert(1)));
      await Promise.all(clients.map((client) => came(client, round)));
    }
    const looks = await site.looks();
    // What is tried again has the same name.
    const queries = new Set(looks.map(({ body }) => body['requestId']));
    expect(queries.size).toBeLessThanOrEqual((performance.now() - start) / INTERVAL + 2);
    const keys = new Set(looks.map(({ body }) => (body['labels'] as { key: string }).key));
    expect(keys.size).toBe(2);
    for (const client of clients) expect(idsOf(client)).toEqual(ids);
    for (const { body } of looks) {
      expect(body['query']).toMatch(
        /WHERE `t`\.timestamp > TIMESTAMP '[^']+' AND `t`\.timestamp <= TIMESTAMP '[^']+' AND \(t\.project = @project OR t\.project IS NULL\)/,
      );
      expect(body['maximumBytesBilled']).toBe(String(10 * 2 ** 30));
    }
    for (const client of clients) client.leave();
    await until(async () => {
      const before = await site.looks();
      await sleep(2.5 * INTERVAL);
      return (await site.looks()).length === before.length;
    });
  });

  it('goes on from every place without a row lost or doubled', async () => {
    const client = await site.listen();
    const ids = await site.insert(20);
    await came(client, 20);
    client.leave();
    const given = idsOf(client);
    const more = [...(await site.insert(3)), ...(await site.insert(2, { at: Date.now() - 45_000 }))];
    for (const [i, { id, data }] of client.events.entries()) {
      if (data === '' || i % 6 !== 0) continue;
      const before = given.slice(0, client.events.slice(0, i + 1).filter((event) => event.data !== '').length);
      const left = [...ids, ...more].filter((one) => !before.includes(one));
      const again = await site.listen({}, { lastId: id });
      await came(again, left.length);
      expect(idsOf(again).sort()).toEqual(left.sort());
      again.leave();
    }
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('goes on in another process after %s, from every place', async (signal) => {
    const client = await site.listen();
    const ids = await site.insert(8);
    await came(client, 8);
    const late = await site.insert(2, { at: Date.now() - 45_000 });
    await came(client, 10);
    site.service.signal(signal);
    await client.closed;
    await site.service.exit;
    const missed = [...(await site.insert(3)), ...(await site.insert(2, { at: Date.now() - 50_000 }))];
    await site.start({ MAX_TAILS_PER_KEY: '30' });
    const all = [...ids, ...late, ...missed];
    await goesOn(site, client, all);
  });

  it('takes a place of the same request and key alone', async () => {
    const client = await site.listen();
    await until(() => client.lastId !== '');
    const { lastId } = client;
    const refused = await Promise.all([
      site.listen({}, { key: 'other', lastId }),
      site.listen({ lql: 's:id f:edge_logs' }, { lastId }),
      site.listen({ project: 'b' }, { lastId }),
    ]);
    for (const one of refused) {
      await one.closed;
      expect([one.status, errorOf(one).reason]).toEqual([400, 'invalidParameter']);
    }
    client.leave();
  });

  it('begins with the rows that there are, where that is asked for', async () => {
    const sql = 'SELECT id FROM edge_logs WHERE event_message = "history" ORDER BY timestamp, id';
    const before = [
      ...(await site.insert(1, { message: 'history', at: Date.now() - 3_600_000 })),
      ...(await site.insert(2, { message: 'history' })),
    ];
    const client = await site.listen({ sql, history: 'true' });
    const lql = await site.listen({ lql: 's:id f:edge_logs event_message:history t:>2026-01-01' });
    const after = await site.insert(2, { message: 'history' });
    for (const one of [client, lql]) {
      await came(one, 5);
      await sleep(1.5 * INTERVAL);
      expect(idsOf(one).sort()).toEqual([...before, ...after].sort());
      one.leave();
    }
    expect(idsOf(client)).toEqual([...before, ...after]);
  });

  it('follows SQL with arrays and casts, and fences that of a pinned key', async () => {
    const sql = `SELECT e.id, CAST(e.event_message AS INT64) AS n, part
      FROM edge_logs AS e CROSS JOIN UNNEST(SPLIT(CONCAT(e.id, '/x'), '/')) AS part WHERE e.event_message LIKE '7%'`;
    const [plain, pinned] = [await site.listen({ sql }), await site.listen({ sql }, { key: 'pinned' })];
    expect([plain.status, pinned.status]).toEqual([200, 200]);
    await site.insert(1, { project: 'b', message: '7 not a number' });
    const ids = await site.insert(2, { message: '77' });
    for (const one of [plain, pinned]) {
      await came(one, 4);
      expect(new Set(idsOf(one))).toEqual(new Set(ids));
      expect(one.end).toBeUndefined();
      one.leave();
    }
    expect((await site.looks()).some(({ body }) => String(body['query']).includes('logquay_guard_1'))).toBe(true);
  });

  it('masks addresses, and tells rows apart as they were before', async () => {
    const client = await site.listen({}, { key: 'masked' });
    const ids = await site.insert(1, { message: 'of 192.0.2.7', ids: ['192.0.2.8', '192.0.2.9'] });
    await came(client, ids.length);
    expect(client.rows.join()).not.toContain('192.0.2.');
    client.leave();
  });

  it.each([
    ['edge', { sql: 'SELECT event_message FROM edge_logs' }, 400, 'invalidQuery', /need the column id/],
    ['edge', { sql: 'SELECT COUNT(*) AS id FROM edge_logs' }, 400, 'invalidQuery', /has no place in a live tail/],
    ['edge', { sql: 'SELECT id, nothing FROM edge_logs' }, 400, 'unknownField', /nothing/],
    ['silent', {}, 403, 'accessDenied', /no live tail/],
    ['untimed', {}, 400, 'invalidParameter', /no column timestamp/],
    ['narrow', {}, 400, 'bytesBilledLimitExceeded', /./],
  ])('refuses what it cannot follow: %s %j', async (endpoint, query, status, reason, message) => {
    const client = await site.listen(query, { endpoint });
    await client.closed;
    expect([client.status, errorOf(client).reason]).toEqual([status, reason]);
    expect(errorOf(client).message).toMatch(message);
  });

  it('says in the catalogue which endpoints have one', async () => {
    const response = await fetch(`http://127.0.0.1:${String(site.port)}/api/endpoints`, {
      headers: { 'X-API-KEY': 'reader' },
    });
    const { result } = (await response.json()) as { result: { name: string; tail: boolean }[] };
    const tails = new Map(result.map(({ name, tail }) => [name, tail]));
    expect([tails.get('edge'), tails.get('silent')]).toEqual([true, false]);
  });

  it('tries again after failures, says so, and gives what came meanwhile', async () => {
    const client = await site.listen();
    let text = '';
    client.response.on('data', (part: string) => (text += part));
    const fault = { on: 'query', kind: 'error', status: 503, reason: 'backendError', message: 'no', times: 9 };
    await local().control({ faults: [fault] });
    const ids = await site.insert(2);
    await until(() => text.includes(': backendUnavailable, tried again in 1 s'));
    await came(client, 2);
    expect(idsOf(client)).toEqual(ids);
    expect(client.end).toBeUndefined();
    client.leave();
  });

  it('ends with a failure that does not pass', async () => {
    const client = await site.listen({ sql: 'SELECT id, DIV(1, LENGTH(event_message) - 3) AS x FROM edge_logs' });
    await site.insert(1, { message: 'abc' });
    await client.closed;
    expect(JSON.parse(client.end?.data ?? '')).toMatchObject({ cause: 'failed', reason: 'invalidQuery' });
  });

  it('ends the streams of a key whose budget is spent, and goes on for others', async () => {
    const poor = await site.listen({}, { key: 'poor' });
    const rich = await site.listen();
    await poor.closed;
    expect(JSON.parse(poor.end?.data ?? '')).toMatchObject({ cause: 'failed', reason: 'budgetExceeded' });
    expect(poor.end?.retry).toBeGreaterThan(1_000);
    const again = await site.listen({}, { key: 'poor' });
    await again.closed;
    expect([again.status, errorOf(again).reason]).toEqual([429, 'budgetExceeded']);
    const ids = await site.insert(1);
    await came(rich, 1);
    expect(idsOf(rich)).toEqual(ids);
    rich.leave();
  });

  it('bounds the queries that a key follows', async () => {
    const clients: EventClient[] = [];
    for (let i = 0; i < 11; i++)
      clients.push(
        await site.listen({ lql: `f:edge_logs s:id s:timestamp event_message:~"${String(i)}"` }, { key: 'other' }),
      );
    expect(clients.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(
      (await site.listen({ lql: 'f:edge_logs s:id s:timestamp event_message:~"3"' }, { key: 'other' })).status,
    ).toBe(200);
    for (const client of clients) client.leave();
  });

  it('bounds the queries that all keys follow, and forgets one without listeners for another', async () => {
    const own = new Site(local());
    const keys = Array.from({ length: 6 }, (_, i) => `reader${String(i)}`);
    own.writeKeys(Object.fromEntries(keys.map((name) => [name, {}])));
    await own.start();
    const of = (i: number): Promise<EventClient> =>
      own.listen(
        { lql: `f:edge_logs s:id s:timestamp event_message:~"bound${String(i)}"` },
        { key: keys[Math.floor(i / 10)]!, endpoint: 'rare' },
      );
    const clients = await Promise.all(Array.from({ length: 50 }, (_, i) => of(i)));
    expect(clients.map(({ status }) => status)).toEqual(clients.map(() => 200));
    const refused = await of(50);
    expect(refused.status).toBe(429);
    await refused.closed;
    expect(errorOf(refused)).toMatchObject({
      reason: 'tooManyConcurrentQueries',
      message: 'There are live tails of 50 queries open already.',
    });
    // Another listener of one that is followed counts for nothing.
    const same = await own.listen(
      { lql: 'f:edge_logs s:id s:timestamp event_message:~"bound7"' },
      { key: keys[5]!, endpoint: 'rare' },
    );
    expect(same.status).toBe(200);
    clients[3]!.leave();
    let another = await of(50);
    while (another.status === 429) another = await of(50);
    expect(another.status).toBe(200);
    for (const client of [...clients, same, another]) client.leave();
  });

  it('ends the streams of a key that is revoked, of an endpoint that changes and of a service that ends', async () => {
    const revoked = await site.listen({}, { key: 'masked' });
    const untouched = await site.listen();
    site.writeKeys(Object.fromEntries(Object.entries(KEYS).filter(([name]) => name !== 'masked')));
    await revoked.closed;
    expect(JSON.parse(revoked.end?.data ?? '')).toMatchObject({ cause: 'key_changed' });
    expect(untouched.end).toBeUndefined();
    site.writeQuery('edge', QUERIES.edge.replace('tail: 1', 'tail: 2'));
    await untouched.closed;
    expect(JSON.parse(untouched.end?.data ?? '')).toMatchObject({ cause: 'endpoint_changed' });
    const last = await site.listen();
    site.service.signal('SIGTERM');
    await last.closed;
    expect(JSON.parse(last.end?.data ?? '')).toMatchObject({ cause: 'shutting_down' });
    expect(await site.service.exit).toBe(0);
  });

  describeWithRedis('of replicas on one Redis', () => {
    it('go on in any of them, and refuse places while Redis does not answer', async () => {
      const redis = await startRedis();
      try {
        const sites = [new Site(local()), new Site(local())] as const;
        const shared = { REDIS_URL: redis.url, TOKEN_SECRET: 'x'.repeat(40), MAX_TAILS_PER_KEY: '30' };
        for (const one of sites) await one.start(shared);
        const [first, second] = sites;
        const [client, other] = [await first.listen(), await second.listen()];
        const ids = await first.insert(6);
        await Promise.all([came(client, 6), came(other, 6)]);
        client.leave();
        const more = await first.insert(2);
        await came(other, 8);
        await goesOn(second, client, [...ids, ...more]);
        redis.freeze();
        const refused = await EventClient.open(
          second.port,
          '/api/endpoints/tail/edge',
          { project: 'a' },
          { key: 'reader', lastId: client.lastId },
        );
        expect(refused.status).toBe(503);
        await refused.closed;
        expect(errorOf(refused).reason).toBe('backendUnavailable');
        redis.thaw();
        other.leave();
      } finally {
        await redis.stop();
      }
    });
  });
});
