/** What is sent to BigQuery, and what is made of the habits of services that stand in for it. */
import { createHash } from 'node:crypto';
import type { BoundParameter, EngineQuery, RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import { columnsOf } from '../../packages/googlesql/src/rest-schema';
import type { TableSchema } from '../../packages/googlesql/src/types';
import { fieldsOf } from '../../packages/duckdb-engine/test/fields';
import { openEngineOn, overLocalBigQuery, recordingLog, type Logged } from './over-local-bigquery';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';
import { opened } from '../opened';

const limits = (): RunLimits => within(10_000);
const query = (sql: string, options: Partial<EngineQuery> = {}): EngineQuery =>
  queryOf(sql, { maxRows: 1000, ...options });

overLocalBigQuery('What is sent to BigQuery', (local) => {
  const engine = opened(() => openEngineOn(local().host));
  beforeEach(() => local().control({ reset: true }));

  const rows = async (sql: string, options?: Partial<EngineQuery>): Promise<readonly string[]> =>
    (await engine().run(query(sql, options), limits())).rows;
  const edgeLogs = async (): Promise<TableSchema> => ({
    name: 'edge_logs',
    columns: await engine().describe('SELECT timestamp, id, event_message, metadata FROM raw_edge_logs', [], limits()),
  });

  test('a query: everything that bounds it, and no more', async () => {
    const parameters: BoundParameter[] = [
      { name: 's', type: 'STRING', value: '' },
      { name: 'i', type: 'INT64', value: '9007199254740993' },
      { name: 'f', type: 'FLOAT64', value: '0.1' },
      { name: 'b', type: 'BOOL', value: 'true' },
    ];
    const labels = { endpoint: 'Usage.API-counts', key: 'Anna Schmidt', request: 'R:1', '9kind!': 'x', '9': 'dropped' };
    const sql = 'SELECT @s AS s, @i AS i, @f AS f, @b AS b';
    const started = performance.now();
    expect(await rows(sql, { parameters, labels, maxRows: 7, maxBytesBilled: 12345n })).toEqual([
      '{"s":"","i":9007199254740993,"f":0.1,"b":true}',
    ]);
    const elapsed = performance.now() - started;
    const seen = await local().control();
    // A slow answer is asked for again.
    const requests = seen.requests.filter(({ operation }) => operation === 'query');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/bigquery/v2/projects/test/queries',
      authorized: false,
      query: { prettyPrint: 'false' },
    });
    const { requestId, jobTimeoutMs, ...body } = requests[0]?.body ?? {};
    expect(String(requestId)).toMatch(/^[0-9a-f-]{36}$/);
    // What was left of the deadline when it was sent, which was before the answer.
    expect(Number(jobTimeoutMs)).toBeGreaterThanOrEqual(Math.floor(10_000 - elapsed));
    expect(Number(jobTimeoutMs)).toBeLessThanOrEqual(10_000);
    expect(typeof jobTimeoutMs).toBe('string');
    expect(body).toEqual({
      query: sql,
      useLegacySql: false,
      parameterMode: 'NAMED',
      queryParameters: parameters.map(({ name, type, value }) => ({
        name,
        parameterType: { type },
        parameterValue: { value },
      })),
      defaultDataset: { projectId: 'test', datasetId: 'logs' },
      location: 'US',
      maxResults: 7,
      timeoutMs: 1000,
      maximumBytesBilled: '12345',
      useQueryCache: true,
      jobCreationMode: 'JOB_CREATION_OPTIONAL',
      formatOptions: { useInt64Timestamp: true },
      labels: {
        kind_: 'x',
        kind: 'run',
        endpoint: 'usage_api-counts',
        key: createHash('sha256').update('Anna Schmidt').digest('hex').slice(0, 16),
        request: 'r_1',
      },
    });
  });

  test('long labels are cut, a kind that is given stays', async () => {
    await rows('SELECT 1', { labels: { kind: 'warm', endpoint: 'ü'.repeat(99) } });
    const { requests } = await local().control();
    expect(requests[0]?.body['labels']).toEqual({ kind: 'warm', endpoint: '_'.repeat(63) });
  });

  test('without a location none is sent', async () => {
    const own = await openEngineOn(local().host, { location: null });
    await own.run(query('SELECT 1'), limits());
    await own.describe('SELECT 1 AS one', [], limits());
    const { requests } = await local().control();
    expect(requests.length).toBeGreaterThanOrEqual(3);
    for (const { body } of requests) {
      expect(body['location']).toBeUndefined();
      expect(body['jobReference']).toBeUndefined();
    }
    await own.close();
  });

  test('no query goes without a bound on its bytes, and BigQuery keeps it', async () => {
    await rows('SELECT 1');
    expect((await local().control()).requests[0]?.body['maximumBytesBilled']).toBe('10737418240');
    await expect(rows('SELECT id FROM raw_edge_logs', { maxBytesBilled: 1n })).rejects.toMatchObject({
      reason: 'bytesBilledLimitExceeded',
    });
    const own = await openEngineOn(local().host, { maxBytesBilled: 1n });
    await expect(own.run(query('SELECT id FROM raw_edge_logs'), limits())).rejects.toMatchObject({
      reason: 'bytesBilledLimitExceeded',
    });
    await own.close();
  });

  test('a dry run knows what is billed: 10 MiB of each table at least, and nothing where nothing is read', async () => {
    const both = 'SELECT e.id FROM raw_edge_logs AS e, raw_auth_logs AS a WHERE e.id = a.id';
    for (const [sql, mib] of [
      [both, 20n],
      ['SELECT 1 AS one', 0n],
    ] as const) {
      const { bytesBilled } = await engine().run(query(sql), limits());
      expect([sql, bytesBilled]).toEqual([sql, mib * 1024n * 1024n]);
      expect(await engine().dryRun?.(query(sql), limits())).toMatchObject({ bytesBilled });
    }
  });

  test('a description is one dry run; its faults stand where they are in the text', async () => {
    expect(await engine().describe('SELECT 1 AS a, [STRUCT(NULL AS b)] AS c', [], limits())).toMatchObject([
      { name: 'a', type: { kind: 'INT64' } },
      { name: 'c', type: { kind: 'ARRAY' } },
    ]);
    expect((await local().control()).counters).toEqual({ insertJob: 1 });
    await expect(engine().describe('SELECT\n nope', [], limits())).rejects.toMatchObject({
      fault: 'unknownField',
      span: { start: 8, end: 12 },
    });
  });

  test('the target names project, data set, location, host and clock', async () => {
    const targets = new Set([engine().target]);
    for (const option of [
      { projectId: 'other' },
      { dataset: 'other' },
      { location: 'EU' },
      { clock: null },
      { clock: { text: '2027-01-01T00:00:00.000000Z' } },
    ]) {
      const own = await openEngineOn(local().host, { ...option, inspectConsumerQueries: false });
      targets.add(own.target);
      await own.close();
    }
    expect(targets.size).toBe(6);
  });

  test('a ping is one dry run of nothing', async () => {
    await engine().ping(limits());
    const { requests, jobs } = await local().control();
    expect(requests.map(({ operation, body }) => [operation, body['query'], body['dryRun']])).toEqual([
      ['query', 'SELECT 1', true],
    ]);
    expect(jobs.filter(({ state }) => state === 'RUNNING')).toEqual([]);
  });

  describe('the last wall of the sandbox', () => {
    const PARAMETERS: BoundParameter[] = [{ name: 'project', type: 'STRING', value: '' }];

    test.each([
      'SELECT id FROM edge_logs',
      'SELECT e.id, m.request FROM `Edge_Logs` AS e, e.metadata AS m WHERE @project = id',
      'WITH edge_logs AS (SELECT id FROM edge_logs) SELECT * FROM edge_logs -- done',
      'SELECT 1',
      'SELECT r.cf[SAFE_OFFSET(0)].botManagement FROM edge_logs, UNNEST(metadata) m, UNNEST(m.request) r LIMIT 1',
    ])('lets %s pass', async (sql) => {
      await expect(engine().inspect(sql, [await edgeLogs()], PARAMETERS, limits())).resolves.toBeUndefined();
    });

    test.each([
      ['a table that is there', 'SELECT id FROM raw_edge_logs'],
      ['a table that is not', 'SELECT id FROM no_such_table'],
      ['one with its data set', 'SELECT id FROM logs.raw_auth_logs'],
      ['one with its project', 'SELECT id FROM `test.logs.raw_auth_logs`'],
      ['one in another data set', 'SELECT id FROM elsewhere.raw_auth_logs'],
      ['a CTE table that was not given', 'SELECT id FROM auth_logs'],
      ['one in a subquery', 'SELECT (SELECT COUNT(*) FROM raw_auth_logs) FROM edge_logs'],
      [
        'one behind a CTE of the same name',
        'WITH raw_auth_logs AS (SELECT id FROM raw_auth_logs) SELECT id FROM raw_auth_logs',
      ],
      ['metadata of the data set', 'SELECT table_name FROM logs.INFORMATION_SCHEMA.TABLES'],
      ['the end of the parentheses', 'SELECT 1) UNION ALL (SELECT LENGTH(id) FROM raw_auth_logs'],
    ])('refuses %s, each in the same words', async (_, sql) => {
      await expect(engine().inspect(sql, [await edgeLogs()], PARAMETERS, limits())).rejects.toMatchObject({
        fault: 'sandboxViolation',
        message: 'BigQuery reads the query as using something other than the tables that may be read.',
        span: null,
        details: { allowed: ['edge_logs'] },
      });
    });

    test.each([
      'SELECT 1; SELECT 2',
      'DELETE FROM edge_logs WHERE true',
      'CREATE TABLE x AS SELECT 1 AS y',
      'DECLARE x INT64',
    ])('refuses %s', async (sql) => {
      await expect(engine().inspect(sql, [await edgeLogs()], PARAMETERS, limits())).rejects.toMatchObject({
        fault: expect.stringMatching(/^(sandboxViolation|invalidQuery)$/) as string,
      });
    });

    test('points into the statement', async () => {
      const sql = 'SELECT id,\n\t ünknown FROM edge_logs';
      await expect(engine().inspect(sql, [await edgeLogs()], PARAMETERS, limits())).rejects.toMatchObject({
        fault: 'invalidQuery',
        span: { start: sql.indexOf('ü') },
      });
      const known = 'SELECT id,\n\t unknown FROM edge_logs';
      await expect(engine().inspect(known, [await edgeLogs()], PARAMETERS, limits())).rejects.toMatchObject({
        fault: 'unknownField',
        span: { start: 13, end: 20 },
      });
    });

    test('takes columns of every type and any name', async () => {
      const kinds = 'BOOL FLOAT64 NUMERIC BIGNUMERIC BYTES DATE TIME DATETIME INTERVAL STRING'.split(' ');
      const columns = columnsOf(
        fieldsOf(
          `${kinds.map((kind) => `c_${kind} ${kind}`).join(', ')}, order RECORD(select INT64, l RECORD*(x JSON))`,
        ),
      );
      const sql = 'SELECT `order`.`select`, `order`.l[SAFE_OFFSET(0)].x, c_INTERVAL, c_BYTES FROM `select`';
      await expect(engine().inspect(sql, [{ name: 'select', columns }], [], limits())).resolves.toBeUndefined();
    });
  });

  describe("services in the shape of goccy's emulator", () => {
    beforeEach(() => local().control({ shape: 'goccy' }));

    test('timestamps are microseconds at any depth', async () => {
      const sql = `SELECT t AS a, [STRUCT(t AS c, [STRUCT(t AS d)] AS e)] AS l FROM (SELECT TIMESTAMP '2026-09-30 11:20:00.123456+00' AS t)`;
      expect(await rows(sql)).toEqual([
        '{"a":1790767200123456,"l":[{"c":1790767200123456,"e":[{"d":1790767200123456}]}]}',
      ]);
    });

    test('rows beyond the bound are cut, no bytes are given', async () => {
      const result = await engine().run(query('SELECT n FROM UNNEST([1, 2, 3]) AS n', { maxRows: 2 }), limits());
      expect(result).toMatchObject({ truncated: true, bytesProcessed: null, bytesBilled: null });
      expect(result.rows).toHaveLength(2);
      await expect(engine().dryRun?.(query('SELECT 1'), limits())).rejects.toMatchObject({ reason: 'backendError' });
    });

    test('faults of a query are the caller’s', async () => {
      await expect(rows('SELECT nope')).rejects.toMatchObject({ fault: 'unknownField', span: { start: 7, end: 11 } });
      await expect(rows('SELECT 1 / 0')).rejects.toMatchObject({ fault: 'invalidQuery', message: 'Division by zero' });
      await expect(rows('SELECT 1 FROM nope')).rejects.toMatchObject({
        fault: 'invalidQuery',
        message: 'There is no table of this name.',
      });
      const { requests } = await local().control();
      expect(requests.filter(({ operation }) => operation === 'query')).toHaveLength(3);
    });

    test('columns are described by a query for no rows, its faults where they are in the text', async () => {
      const own = await openEngineOn(local().host, { inspectConsumerQueries: false });
      const sql = 'WITH x AS (SELECT 1 AS a)\n(\nSELECT a, [a] AS b FROM x -- comment\n)';
      for (let i = 0; i < 2; i++) {
        expect(await own.describe(sql, [], limits())).toEqual([
          { name: 'a', type: { kind: 'INT64' } },
          { name: 'b', type: { kind: 'ARRAY', element: { kind: 'INT64' } } },
        ]);
      }
      // What the first dry run has taught is not asked again.
      expect((await local().control()).counters).toEqual({ insertJob: 1, query: 2 });
      await expect(own.describe('SELECT\n nope', [], limits())).rejects.toMatchObject({ span: { start: 8, end: 12 } });
      await own.close();
    });

    test('the last wall is off, with a warning', async () => {
      const logged: Logged = [];
      const own = await openEngineOn(local().host, { log: recordingLog(logged) });
      expect(logged).toEqual([
        {
          level: 'warn',
          message: 'This BigQuery lists no tables in a dry run: it does not check the isolation of consumer queries',
          facts: {},
        },
      ]);
      await expect(own.inspect('SELECT 1', [], [], limits())).resolves.toBeUndefined();
      await own.close();
    });
  });

  describe('services that answer a failed query with 200 and errors', () => {
    beforeEach(() => local().control({ shape: 'ok-errors' }));

    test.each([
      ['SELECT nope', { fault: 'unknownField', span: { start: 7, end: 11 } }],
      ['SELECT 1 / 0', { fault: 'invalidQuery', message: 'Division by zero' }],
      ['SELECT 1 FROM nope', { fault: 'invalidQuery', message: 'There is no table of this name.' }],
      ['SELECT id FROM raw_edge_logs', { reason: 'bytesBilledLimitExceeded' }],
    ])('%s is no empty result', async (sql, expected) => {
      await expect(rows(sql, { maxBytesBilled: 1n })).rejects.toMatchObject(expected);
    });

    test('an empty result is one', async () => {
      expect(await rows('SELECT 1 AS a FROM UNNEST([1]) WHERE false')).toEqual([]);
    });
  });

  test('a service that ignores the default data set gives an error, no empty result', async () => {
    await local().control({ ignoreDefaultDataset: true });
    await expect(rows('SELECT id FROM raw_edge_logs')).rejects.toMatchObject({
      fault: 'invalidQuery',
      message: 'There is no table of this name.',
    });
  });
});
