/** What the routes beside a run say on BigQuery: estimates and budgets, asked of the real process over HTTP. */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { freePort } from '../redis-server';
import { overOwnLocalBigQuery } from '../engines/over-local-bigquery';
import { Stage } from './started';

jest.setTimeout(120_000);

const hash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Bytes that a query of one table has billed at least. */
const LEAST_BILLED = 10 * 2 ** 20;

const KEYS = [
  { name: 'free', hash: hash('free') },
  { name: 'thrifty', hash: hash('thrifty'), dailyBytes: String(2.5 * LEAST_BILLED) },
  { name: 'pinned', hash: hash('pinned'), pins: { project: 'default' }, dailyBytes: String(2.5 * LEAST_BILLED) },
  { name: 'seldom', hash: hash('seldom'), rateLimit: 0.001 },
];

const SETTINGS = {
  ENGINE: 'bigquery',
  BIGQUERY_PROJECT_ID: 'test',
  BIGQUERY_DATASET: 'logs',
  CLOCK: '2026-09-30T12:00:00Z',
  DATA_DIR: '',
};

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReturnType<typeof JSON.parse>;
  readonly text: string;
}

/** The fixture, where the owner of a table says what some of its fields are. */
function describedFixture(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'described-'));
  cpSync(FIXTURE, folder, { recursive: true });
  interface Field {
    readonly name: string;
    readonly fields?: readonly Field[];
    description?: string;
  }
  const schema = JSON.parse(readFileSync(path.join(folder, 'schema.json'), 'utf8')) as Record<string, Field>;
  for (const [names, description] of DESCRIBED) {
    const field = names.reduce<Field | undefined>(
      (outer, name) => outer?.fields?.find((one) => one.name === name),
      schema['raw_edge_logs'],
    );
    if (field !== undefined) field.description = description;
  }
  writeFileSync(path.join(folder, 'schema.json'), JSON.stringify(schema));
  return folder;
}

const FIXTURE = path.join(__dirname, '../fixture');
const DESCRIBED: readonly (readonly [readonly string[], string])[] = [
  [['timestamp'], 'When it came in.'],
  [['project'], 'Which tenant it is of.'],
  [['metadata', 'request', 'path'], 'Without the query.'],
];
const DATA = describedFixture();
afterAll(() => rmSync(DATA, { recursive: true }));

overOwnLocalBigQuery(
  'analyses over HTTP on BigQuery',
  (local) => {
    const stage = new Stage();
    let base: string;
    beforeAll(async () => {
      const folder = stage.folder();
      writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys: KEYS }));
      const settings = { ...SETTINGS, BIGQUERY_EMULATOR_HOST: local().host, KEYS_FILE: 'keys.json' };
      base = await stage.start(settings, folder).ready();
    });
    afterAll(() => stage.end());

    async function ask(place: string, key: string, parameters: Readonly<Record<string, string>> = {}): Promise<Answer> {
      const url = `${base}${place}?${new URLSearchParams(parameters).toString()}`;
      const response = await fetch(url, { headers: { 'X-API-KEY': key } });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
    }

    const run = (key: string, parameters: Readonly<Record<string, string>>): Promise<Answer> =>
      ask('/api/endpoints/query/logs.all', key, parameters);
    const analyze = (key: string, parameters: Readonly<Record<string, string>>): Promise<Answer> =>
      ask('/api/endpoints/analyze/logs.all', key, { estimate: 'true', ...parameters });
    const budgetLeft = async (key: string): Promise<number | null> =>
      (await ask('/api/key', key)).body.result.budgetLeft;

    it.each([
      ['SQL', { sql: 'select id, event_message from edge_logs' }],
      ['LQL', { lql: 'f:edge_logs m.response.status_code:500' }],
      ['the stored query alone', {}],
    ])('estimates %s as a dry run does: bytes, and their price', async (_what, query) => {
      const { status, body } = await analyze('free', { project: 'default', ...query });
      const { dryRun } = (await run('free', { project: 'default', ...query, dry_run: 'true' })).body;
      expect(Number(dryRun.bytesProcessed)).toBeGreaterThan(0);
      // BigQuery bills 10 MiB of a table at least.
      expect(dryRun.estimatedCost).toBeGreaterThanOrEqual((10 / 2 ** 20) * 6.25);
      expect([status, body.result.errors, body.result.estimate]).toEqual([
        200,
        [],
        {
          bytes: dryRun.bytesProcessed,
          price: dryRun.estimatedCost,
          currency: 'USD',
          budgetLeft: null,
        },
      ]);
    });

    it('estimates only on demand, and only what has no fault', async () => {
      const sound = { project: 'default', sql: 'select id from edge_logs' };
      expect((await analyze('free', { ...sound, estimate: 'false' })).body.result.estimate).toBeNull();
      expect((await analyze('free', { ...sound, sql: 'select idd from edge_logs' })).body.result.estimate).toBeNull();
      expect((await analyze('free', { ...sound, project: '' })).body.result.estimate).toBeNull();
    });

    it('bills nothing and runs nothing', async () => {
      await local().control({ reset: true });
      await analyze('thrifty', { project: 'default', sql: 'select id, timestamp from auth_logs' });
      const { requests } = await local().control();
      const jobs = requests.filter(({ operation }) => ['query', 'insertJob'].includes(operation));
      expect(jobs.length).toBeGreaterThan(0);
      for (const { operation, body } of jobs)
        expect([operation, (body['configuration'] as { dryRun?: boolean }).dryRun]).toEqual(['insertJob', true]);
      expect(await budgetLeft('thrifty')).toBe(1);
    });

    it('tells what is left of a budget in tenths, the same everywhere, until nothing is', async () => {
      const query = (n: number): Record<string, string> => ({
        project: 'default',
        sql: `select id, ${String(n)} as n from edge_logs limit 1`,
      });
      const seen: (number | null)[] = [];
      for (const n of [1, 2, 3, 4]) {
        const { result } = (await analyze('thrifty', query(n))).body;
        expect(result.estimate.budgetLeft).toBe(await budgetLeft('thrifty'));
        seen.push(result.estimate.budgetLeft);
        const { status, body } = await run('thrifty', query(n));
        expect([n, status, body.error?.errors[0].reason]).toEqual([
          n,
          n < 4 ? 200 : 429,
          n < 4 ? undefined : 'budgetExceeded',
        ]);
      }
      // Of two and a half times what each bills: 1.5, 0.5 and nothing are left.
      expect(seen).toEqual([1, 0.6, 0.2, 0]);
    });

    it('tells a key with pins neither bytes nor price, and its budget in tenths', async () => {
      const queries: Record<string, string>[] = [
        { sql: 'select id from edge_logs limit 1' },
        { lql: 'f:edge_logs x' },
        {},
      ];
      for (const query of queries) {
        const { status, body, text } = await analyze('pinned', query);
        expect([status, body.result.errors, body.result.estimate]).toEqual([200, [], null]);
        expect(text).not.toMatch(/"(bytes|price|budgetLeft)"/);
      }
      expect(await budgetLeft('pinned')).toBe(1);
      const ran = await run('pinned', { sql: 'select id from edge_logs limit 1' });
      expect(ran.status).toBe(200);
      expect([...ran.headers.keys()].filter((name) => /bytes|budget|cost/.test(name))).toEqual([]);
      expect(await budgetLeft('pinned')).toBe(0.6);
      expect((await run('pinned', { sql: 'select id from edge_logs', dry_run: 'true' })).status).toBe(403);
    });

    it('answers with what BigQuery alone refuses as a fault of the query, in its place', async () => {
      const query = { project: 'default', sql: "select '🐘',\n timestamp, event_message from edge_logs" };
      expect((await analyze('free', query)).body.result.estimate).not.toBeNull();
      const { requests } = await local().control();
      const last = requests.filter(({ operation }) => operation === 'insertJob').at(-1);
      const { query: sent } = (last?.body['configuration'] as { query: { query: string } }).query;
      const before = sent.slice(0, sent.lastIndexOf('event_message')).split('\n');
      const place = `[${String(before.length)}:${String((before.at(-1) ?? '').length + 1)}]`;
      for (const [message, fault] of [
        [
          `Unrecognized name: event_message at ${place}`,
          {
            reason: 'unknownField',
            near: 'event_message',
            line: 2,
            column: 13,
            start: 24,
            end: 37,
            startUtf16: 25,
            endUtf16: 38,
          },
        ],
        ['Something that nobody else knows', { reason: 'invalidQuery' }],
      ] as const) {
        const refusal = { on: 'insertJob', kind: 'error', status: 400, reason: 'invalidQuery', message };
        await local().control({ reset: true, faults: [refusal] });
        const { status, body, text } = await analyze('free', query);
        expect([status, body.result?.errors, body.result?.estimate]).toEqual([
          200,
          [expect.objectContaining(fault)],
          null,
        ]);
        expect(text).not.toContain('nobody else knows');
      }
    });

    it.each([
      ['neither a parameter nor the text', { sql: 'select id from edge_logs' }, true],
      ['no parameter, and no text is sent', {}, true],
      ['a condition of the text', { sql: "select id from edge_logs where timestamp > '2026-09-30'" }, false],
      ['a filter of the line', { lql: 'f:edge_logs t:today' }, false],
      ['a parameter', { iso_timestamp_start: '2026-09-30T00:00:00Z' }, false],
      [
        'what cannot be read of the text',
        { sql: "select id from edge_logs where timestamp > '2026-09-30' and" },
        false,
      ],
    ])('warns of no bound of time: where %s bounds it', async (_what, query, warned) => {
      const { warnings } = (await analyze('free', { project: 'default', ...query })).body.result;
      expect(warnings.some(({ message }: { message: string }) => message.startsWith('Nothing bounds the time'))).toBe(
        warned,
      );
    });

    it.each(['free', 'pinned'])(
      'says in the schema what the owner of a table says of its columns, to the key %s',
      async (key) => {
        interface Column {
          readonly name: string;
          readonly description?: string;
          readonly fields?: readonly Column[];
        }
        const { result } = (await ask('/api/endpoints/schema/logs.all', key)).body as {
          result: { columns: Column[]; tables: { name: string; columns: Column[] }[] };
        };
        const described = (columns: readonly Column[] = []): (readonly [string, string])[] =>
          columns.flatMap(({ name, description, fields }) => [
            ...(description === undefined ? [] : [[name, description] as const]),
            ...described(fields),
          ]);
        const seen = [
          ['path', 'Without the query.'],
          ['timestamp', 'When it came in.'],
        ];
        expect(described(result.columns).sort()).toEqual(seen);
        for (const { name, columns } of result.tables)
          expect([name, described(columns).sort()]).toEqual([name, name === 'edge_logs' ? seen : []]);
      },
    );

    it('accepts at the start what it cannot resolve yet, and resolves it when BigQuery answers', async () => {
      // Nobody listens there until the local BigQuery is to answer.
      const port = await freePort();
      const folder = stage.folder();
      const wrong = 'id: 00000000-0000-4000-8000-0000000000bb\nname: broken.rows';
      writeFileSync(
        path.join(folder, 'queries/broken.sql'),
        `/*\n${wrong}\n*/\nSELECT event_mesage FROM raw_edge_logs\n`,
      );
      const environment = { ...SETTINGS, BIGQUERY_EMULATOR_HOST: `127.0.0.1:${String(port)}`, API_KEY: 'k' };
      const started = stage.start(environment, folder);
      await started.logged(/"msg":"ready"/);
      await started.logged(/every stored query is resolved/);
      expect(started.err).toMatch(/broken\.sql.*could not be resolved and is accepted as it is/);
      const [host = '', at = ''] = local().host.split(':');
      const later = createServer((client) => {
        const upstream = connect(Number(at), host);
        client.pipe(upstream).pipe(client);
        for (const socket of [client, upstream]) socket.on('error', () => undefined);
      }).listen(port, '127.0.0.1');
      try {
        await started.logged(
          /"faults":\["[^"]*broken\.sql:5:8: Unrecognized name: event_mesage\. Did you mean event_message\?"\]/,
        );
        await started.logged(/logs\.all\.sql.*a stored query resolves now/);
        const origin = await started.base();
        const run = async (name: string): Promise<[number, string | undefined]> => {
          const url = `${origin}/api/endpoints/query/${name}?project=default`;
          const response = await fetch(url, { headers: { 'X-API-KEY': 'k' } });
          const body = (await response.json()) as { error?: { errors: { reason: string }[] } };
          return [response.status, body.error?.errors[0]?.reason];
        };
        expect(await run('broken.rows')).toEqual([503, 'endpointBroken']);
        expect(await run('logs.all')).toEqual([200, undefined]);
      } finally {
        later.close();
      }
    });

    it('fails where BigQuery does not answer to an estimate, and only then', async () => {
      const query = { project: 'default', sql: 'select id from edge_logs where id is not null' };
      expect((await analyze('free', query)).status).toBe(200);
      await local().control({
        reset: true,
        faults: [{ on: 'insertJob', kind: 'error', status: 503, reason: 'backendError', times: 20 }],
      });
      const failed = await analyze('free', query);
      const without = await analyze('free', { ...query, estimate: 'false' });
      await local().control({ reset: true });
      expect([failed.status, failed.body.error.errors[0].reason, without.status]).toEqual([
        503,
        'backendUnavailable',
        200,
      ]);
    });
  },
  ['--data', DATA],
);
