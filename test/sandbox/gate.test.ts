import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedQueryOf } from '../../src/analysis/stored-analyses';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { ServiceError } from '../../src/errors';
import { QueryError } from '../../packages/googlesql/src/errors';
import { Gate } from '../../src/sandbox/gate';
import { FairSlots } from '../../packages/duckdb-engine/src/concurrency/fair-slots';
import { ACCEPTED, REJECTED, SANDBOX_CASES } from '../case-files';
import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { schemaOf } from '../../packages/duckdb-engine/test/fields';
import { within } from '../../packages/duckdb-engine/test/queries';
import { Consumer } from './consumer';

let consumer: Consumer;
beforeAll(async () => {
  consumer = await Consumer.over(await openFixture());
}, 60_000);
afterAll(() => consumer.close());

async function refusal(sql: string, name?: string): Promise<ServiceError> {
  const values = { project: 'default', interval: 'hourly' };
  const thrown: unknown = await consumer.sql(sql, values, name).then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown instanceof ServiceError) return thrown;
  throw new Error(`Not refused: ${sql}`, { cause: thrown });
}

describe('the judged examples', () => {
  test.each(ACCEPTED)('%s is answered', async (_id, sql) => {
    const { rows } = await consumer.sql(sql);
    for (const row of rows) expect(() => JSON.parse(row) as unknown).not.toThrow();
  });

  test.each(REJECTED)('%s is refused', async (_id, sql) => {
    const { reason } = await refusal(sql);
    expect(['invalidQuery', 'sandboxViolation']).toContain(reason);
  });

  test.each([
    [
      "select a, b from unnest([1, 2]) a with offset pos join unnest(['x', 'y']) b with offset pos using (pos) order by a",
      ['{"a":1,"b":"x"}', '{"a":2,"b":"y"}'],
    ],
    ['select k, count(*) as n from unnest([1, 2, 2]) as k group by k having count(k) > 1', ['{"k":2,"n":2}']],
  ])('%s is answered', async (sql, rows) => {
    expect((await consumer.sql(sql)).rows).toEqual(rows);
  });

  test('a column that is not there is no violation', async () => {
    expect(await refusal('select p.session_user from postgres_logs as p')).toMatchObject({
      reason: 'unknownField',
      details: { line: 1, column: 10, near: 'session_user' },
    });
    expect(await refusal('select _table_suffix from edge_logs')).toMatchObject({ reason: 'unknownField' });
  });
});

describe('names that a WITH of the query gives', () => {
  test.each([
    'with `a.b` as (select id from edge_logs) select id from `a.b`',
    'with `errors by-hour` as (select id from edge_logs) select id from `errors by-hour` as e',
    'with `A.b` as (select id from edge_logs) from `a.B` |> where true',
  ])('%s is read', async (sql) => {
    expect((await consumer.sql(sql)).rows.length).toBeGreaterThan(0);
  });

  test.each([
    ['in other parts', 'with `a.b` as (select 1 as x) select x from a.b'],
    [
      'in its own body',
      'with `cloudflare.logs.prod` as (select 1 from `cloudflare.logs.prod`) select 1 from `cloudflare.logs.prod`',
    ],
    ['outside of its query', 'select x from (with `a.b` as (select 1 as x) select x from `a.b`) cross join `a.b`'],
    ['with an escape', 'with `a.b` as (select 1 as x) select x from `a\\x2eb`'],
    ['with a star', 'with `raw_*` as (select 1 as x) select x from `raw_*`'],
    ['with a star, outside', 'select 1 from `raw_edge_*`'],
    ['in another alphabet', 'with `\u0435dge` as (select 1 as x) select x from `\u0435dge`'],
  ])('%s: refused', async (_, sql) => {
    expect(await refusal(sql)).toMatchObject({
      reason: 'sandboxViolation',
      message: expect.stringMatching(/^Table /) as string,
    });
  });
});

describe('a refusal', () => {
  test.each([
    ['select id\nfrom  raw_edge_logs', 'sandboxViolation 2:7 raw_edge_logs'],
    ['select "ä😀", (select 1 from x)', 'sandboxViolation 1:29 x'],
    ['select\tid,\r\n\tnope(id) from edge_logs', 'sandboxViolation 2:2 nope'],
    ['select id from edge_logs; select 1', 'sandboxViolation 1:27 select 1'],
    ['select id from edge_logs where; select 1', 'invalidQuery 1:31 ;'],
    ['select @nobody from raw; select 1', 'invalidQuery 1:8 @nobody'],
    ['select id from raw; select 1', 'sandboxViolation 1:16 raw'],
    ['from edge_logs |> tablesample system (1 percent)', 'invalidQuery 1:19 tablesample system (1 percent)'],
    ['from edge_logs |> join raw on true', 'sandboxViolation 1:24 raw'],
    ['from edge_logs |> where nope', 'unknownField 1:25 nope'],
    ['select id from edge_logs tablesample system (1 percent); select 1', 'sandboxViolation 1:58 select 1'],
    ['select nope from edge_logs; select 1', 'sandboxViolation 1:29 select 1'],
    ['select nope from edge_logs, secrets', 'sandboxViolation 1:29 secrets'],
    ["select event_message::text, 'it''s',\n secret from edge_logs", 'unknownField 2:2 secret'],
    ['select id from edge_log', 'sandboxViolation 1:16 edge_log', 'Did you mean edge_logs?'],
    ['select uper(id) from edge_logs', 'sandboxViolation 1:8 uper', 'Did you mean UPPER?'],
    ['select session_user() from edge_logs', 'sandboxViolation 1:8 session_user'],
    // A routine outside is called by a name in quotes.
    ['select `upper`(id) from edge_logs', 'sandboxViolation 1:8 `upper`'],
    [
      'from edge_logs |> with recursive a as (select 1) |> select id',
      'sandboxViolation 1:19 with recursive a as (select 1)',
    ],
    [
      "select to_char(timestamp, 'YYYY') from edge_logs",
      'sandboxViolation 1:8 to_char',
      "In GoogleSQL: FORMAT_TIMESTAMP('%Y-%m-%d', x).",
    ],
    [
      'select id from edge_logs where timestamp > now()',
      'sandboxViolation 1:44 now',
      'In GoogleSQL: CURRENT_TIMESTAMP().',
    ],
    [
      "select id from edge_logs where id ilike 'a'",
      'invalidQuery 1:35 ilike',
      "In GoogleSQL: LOWER(x) LIKE 'part%', or REGEXP_CONTAINS(x, r'(?i)part').",
    ],
    [
      "select timestamp_trunc('day', timestamp) from edge_logs",
      'invalidQuery 1:31 timestamp',
      'In GoogleSQL the part comes second, without quotes: TIMESTAMP_TRUNC(x, DAY).',
    ],
    ['select id from "edge_logs"', 'invalidQuery 1:16 "edge_logs"', 'Names are quoted in backticks: `edge_logs`.'],
    ["select timestamp - interval '1 day' from edge_logs", 'invalidQuery 1:37 from', 'In GoogleSQL: INTERVAL 1 DAY.'],
    ['select id from edge_logs where id == id', 'invalidQuery 1:36 =', 'In GoogleSQL equality is one =.'],
    ['select week(monday) from edge_logs', 'sandboxViolation 1:8 week'],
    ["select * from external_query('a', 'b')", "sandboxViolation 1:15 external_query('a', 'b')"],
    ['select safe.error(id), nope from edge_logs', 'sandboxViolation 1:8 safe.error'],
    ['select id from edge_logs for update', 'invalidQuery 1:30 update'],
    ['select id from edge_logs, lateral (select 1)', 'invalidQuery 1:27 lateral'],
    ['explain select id from raw', 'invalidQuery 1:1 explain'],
    ['DROP TABLE (', 'sandboxViolation 1:1 DROP'],
    ['select @@time_zone from edge_logs', 'sandboxViolation 1:8 @@time_zone'],
    ['with recursive a as (select 1) select * from a', 'sandboxViolation 1:1 with recursive a as (select 1)'],
    ['select @nobody from billing', 'invalidQuery 1:8 @nobody'],
    ['select ? from billing', 'invalidQuery 1:8 ?'],
    ['select id fro edge_logs x y', 'invalidQuery 1:15 edge_logs'],
    ['select id from edge_logs where status = 1', 'unknownField 1:32 status'],
    ['select id from edge_logs where id', 'invalidQuery 1:32 id'],
    ['select id from edge_logs tablesample system (1 percent)', 'invalidQuery 1:26 tablesample system (1 percent)'],
    ['select id from edge_logs, raw tablesample system (1 percent)', 'sandboxViolation 1:27 raw'],
    ['select id, ID from edge_logs', 'invalidQuery'],
    ["select 'open", "invalidQuery 1:8 '"],
    ['select id::blob from edge_logs', 'invalidQuery 1:12 blob'],
    ['  -- nothing\n ', 'invalidQuery 2:2'],
    ['select \0', 'invalidQuery 1:8 \0'],
    [`select ${'1,'.repeat(30_000)}1`, 'invalidQuery 1:20007 ,'],
    [`select ${'('.repeat(101)}1${')'.repeat(101)}`, 'invalidQuery 1:108 ('],
  ])('of %j says what, where and what else', async (...[sql, place, hint]: readonly string[]) => {
    const { reason, details } = await refusal(sql ?? '');
    const at = details.line === undefined ? [] : [`${details.line}:${details.column}`, details.near ?? []].flat();
    expect([reason, ...at].join(' ')).toBe(place);
    if (hint !== undefined) expect(details.hint).toBe(hint);
  });

  test.each([
    ['select id from raw_edge_logs', 'edge_logs'],
    ["select * from external_query('a', 'b')", 'pgbouncer_logs'],
    ['select uper(id) from edge_logs', 'LOWER'],
  ])('of %s tells what is allowed', async (sql, allowed) => {
    expect((await refusal(sql)).details.allowed).toContain(allowed);
  });

  test('lists ten functions at the most', async () => {
    expect((await refusal('select session_user()')).details.allowed).toHaveLength(10);
  });

  test('is worded alike whether a forbidden table exists or not', async () => {
    const real = await refusal('select * from raw_edge_logs');
    const none = await refusal('select * from raw_nope_logs');
    expect(real.message.replace('raw_edge_logs', 'T')).toBe(none.message.replace('raw_nope_logs', 'T'));
  });
});

/** As long as a consumer text may be: conditions, then blanks. */
function longest(head: string, unit: string, tail: string): string {
  const bytes = 64 * 1024;
  const text = head + unit.repeat(Math.floor((bytes - head.length - tail.length) / unit.length)) + tail;
  return text.padEnd(bytes, ' ');
}

describe('the longest texts', () => {
  test.each([
    [
      'a filter',
      longest('select id from edge_logs where ', "not regexp_contains(event_message, '^a*b') and ", 'true limit 3'),
    ],
    ['a list', longest('select count(*) as n from edge_logs where id in (', "'abcdef',", "'x')")],
    ['a literal', longest("select '", 'x', "' as x")],
  ])('are answered within the bounds: %s of 64 KiB behind the nine tables', async (_what, sql) => {
    expect(Buffer.byteLength(sql)).toBe(64 * 1024);
    expect((await consumer.sql(sql)).rows.length).toBeGreaterThan(0);
  });

  test('one byte more is refused', async () => {
    expect(await refusal(`${longest("select '", 'x', "' as x")} `)).toMatchObject({ reason: 'invalidQuery' });
  });

  test.each(['\\\\', "'", '\u0001', 'ä'])('of LQL are answered, although %j takes more room in SQL', async (char) => {
    const room = 64 * 1024 - 'f:edge_logs id:""'.length;
    const text = `f:edge_logs id:"${char.repeat(Math.floor(room / Buffer.byteLength(char)))}"`;
    expect((await consumer.ask({ language: 'lql', text })).rows).toEqual([]);
  });
});

/** Each CTE has twice the columns of the one before. */
const DOUBLING = Array.from({ length: 20 }, (_, i) => `c${i + 1} as (select a.*, b.* from c${i} a, c${i} b)`).join(
  ', ',
);

describe('what runs', () => {
  const admit = async (sql: string, name = 'logs.all') => {
    const { id, revision, sql: stored, query, cteTables } = consumer.endpoint(name);
    const parameters = consumer.endpoint(name).parameters.map((one) => ({ name: one.name, type: 'STRING' as const }));
    return consumer.gate.admit({ id, revision, sql: stored, query, cteTables, parameters }, sql);
  };

  test('is the original text behind the CTEs that it reaches', async () => {
    const sql = "select r'\\d' as a, /* kept */ id from Postgres_Logs order by 1 -- end";
    const { sql: composed, tables } = await admit(`${sql};`);
    expect(composed.endsWith(`(\n${sql.slice(0, sql.indexOf(' -- end'))}\n)`)).toBe(true);
    expect(composed).toMatch(/^WITH postgres_logs AS/);
    expect(composed).not.toContain('raw_edge_logs');
    expect(tables).toEqual(['postgres_logs']);
  });

  test('leaves out the CTEs that it does not reach', async () => {
    const { tables, parameters } = await admit('select start from dates', 'usage.api-counts');
    expect([tables, [...parameters]]).toEqual([['dates'], ['interval']]);
  });

  test('binds no parameter that the text does not name', async () => {
    const { parameters } = await admit('select 1 as one');
    expect([...parameters]).toEqual([]);
  });

  test('is judged once for each endpoint and text', async () => {
    const sql = 'select count(*) as n from auth_logs';
    expect(await admit(sql)).toBe(await admit(sql));
  });

  test.each([
    'select id from nowhere_logs',
    'select id from edge_logs where',
    `with c0 as (select 1 as x), ${DOUBLING} select 1 as n from c20`,
  ])('is refused once for each endpoint and text: %s', async (sql) => {
    const refused = (): Promise<unknown> => admit(sql).catch((error: unknown) => error);
    const first = await refused();
    expect(first).toBeInstanceOf(QueryError);
    expect(await refused()).toBe(first);
  });

  test('keeps ORDER BY and LIMIT of the consumer, and the row limit of the endpoint', async () => {
    const { rows } = await consumer.sql('select id from edge_logs order by timestamp desc, id limit 3');
    expect(rows).toHaveLength(3);
    const { rows: many, truncated } = await consumer.sql('select a.id, b.id as other from edge_logs a, edge_logs b');
    expect([many.length, truncated]).toEqual([1000, true]);
  });
});

test('no work is spent on texts of a key that have cost the engine too much', async () => {
  const refusal = new ServiceError('tooManyConcurrentQueries', 'Later.');
  const admits = (keyName: string): void => {
    if (keyName === 'costly') throw refusal;
  };
  const { kind, target } = consumer.engine;
  const gate = new Gate({ kind, target, admits } as Engine);
  const stored = storedQueryOf(consumer.endpoint('logs.all'));
  const admit = (keyName: string): Promise<unknown> =>
    gate.admit(stored, 'no query', {
      limits: { ...within(30_000), keyName },
    });
  try {
    await expect(admit('costly')).rejects.toBe(refusal);
    await expect(admit('another')).rejects.toBeInstanceOf(QueryError);
  } finally {
    await gate.close();
  }
});

test('a long text is checked in a slot of its key, a short one at once', async () => {
  const admission = new FairSlots({ perName: 1, total: 2, waiting: 1 });
  const gate = new Gate(consumer.engine, undefined, admission);
  const stored = storedQueryOf(consumer.endpoint('logs.all'));
  const admit = (text: string, keyName = 'a'): Promise<unknown> =>
    gate.admit(stored, text, {
      limits: { ...within(30_000), keyName },
    });
  const long = (n: number): string => `select id, '${String(n).repeat(1_024)}' as n from edge_logs`;
  let end = (): void => undefined;
  const running = admission.use('a', within(30_000), () => new Promise<void>((resolve) => (end = resolve)));
  try {
    const waiting = admit(long(1));
    expect(admission.waiting).toBe(1);
    await admit('select id from edge_logs');
    await admit(long(2), 'b');
    await expect(admit(long(3))).rejects.toMatchObject({ reason: 'tooManyConcurrentQueries' });
    end();
    await Promise.all([running, waiting]);
    expect([admission.held, admission.waiting]).toEqual([0, 0]);
  } finally {
    end();
    await gate.close();
  }
});

test('what is admitted runs before more long texts of its key are checked', async () => {
  const admission = new FairSlots({ perName: 1, total: 1, waiting: 10 });
  const gate = new Gate(consumer.engine, undefined, admission);
  const stored = storedQueryOf(consumer.endpoint('logs.all'));
  const limits = { ...within(30_000), keyName: 'a' };
  const order: string[] = [];
  const request = async (n: number): Promise<void> => {
    await gate.admit(stored, `select id, '${String(n).repeat(1_024)}' as n from edge_logs`, { limits });
    order.push(`admitted ${String(n)}`);
    await admission.use('a', limits, () => Promise.resolve(order.push(`ran ${String(n)}`)));
  };
  try {
    await Promise.all([1, 2, 3, 4].map(request));
    expect(order.indexOf('ran 1')).toBeLessThan(order.indexOf('admitted 3'));
    expect(order.indexOf('ran 2')).toBeLessThan(order.indexOf('admitted 4'));
  } finally {
    await gate.close();
  }
});

test('a forbidden table beside the CTE tables is never read', async () => {
  const canary = 'canary-4f1d';
  const data = mkdtempSync(join(tmpdir(), 'logquay-canary-'));
  writeFileSync(join(data, 'schema.json'), schemaOf({ billing_events: 'id STRING, event_message STRING' }));
  writeFileSync(join(data, 'billing_events.ndjson'), JSON.stringify({ id: canary, event_message: canary }));
  const engine = await openFixture({ dataDir: data, cacheDir: join(data, 'cache') });
  const guarded = await Consumer.over(engine);
  try {
    for (const { consumer: sql } of SANDBOX_CASES) {
      const rows = await guarded.sql(sql).then(
        (result) => result.rows,
        () => [],
      );
      expect(rows.join('\n')).not.toContain(canary);
    }
  } finally {
    await guarded.close();
    rmSync(data, { recursive: true });
  }
}, 60_000);
