/** What goes wrong with BigQuery, injected over the local one's control path, and what becomes of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineQuery, EngineResult, RunLimits } from '../../src/engines/contract';
import type { ControlState } from '../local-bigquery';
import { openEngineOn, overLocalBigQuery, recordingLog, type Logged } from './over-local-bigquery';

const ROWS = 'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 5)) AS n ORDER BY n';
const FIVE = ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}', '{"n":5}'];
/** Eleven million bytes in a thousand rows: two pages of BigQuery's. */
const LARGE = `SELECT n, REPEAT('x', 11000) AS s FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n ORDER BY n`;

const query = (sql: string, options: Partial<EngineQuery> = {}): EngineQuery => ({
  sql,
  parameters: [],
  maxRows: 1000,
  hideBytes: false,
  maxBytesBilled: null,
  labels: {},
  ...options,
});
const within = (milliseconds: number, signal: AbortSignal = new AbortController().signal): RunLimits => ({
  deadline: performance.now() + milliseconds,
  signal,
});

overLocalBigQuery('BigQuery that fails', (local) => {
  let engine: Engine;
  const logged: Logged = [];

  beforeAll(async () => {
    engine = await openEngineOn(local().host, {
      log: recordingLog(logged),
      breaker: { failures: 1000, cooldown: 1000 },
    });
  });
  afterAll(() => engine.close());

  const inject = (...faults: object[]): Promise<ControlState> => local().control({ reset: true, faults });
  const run = (sql: string, limits = within(50_000), options: Partial<EngineQuery> = {}): Promise<EngineResult> =>
    engine.run(query(sql, options), limits);
  const failure = async (sql: string, limits?: RunLimits): Promise<unknown> =>
    run(sql, limits).then(
      (result) => ({ rows: result.rows.length }),
      (error: unknown) => error,
    );
  const seen = async (operation: string): Promise<ControlState['requests']> =>
    (await local().control()).requests.filter((request) => request.operation === operation);
  /** A page behind the first: what has no token looks whether a job is done, as on a busy machine it may not be at once. */
  const isPage = ({ operation, query: { pageToken } }: ControlState['requests'][number]): boolean =>
    operation === 'results' && pageToken !== undefined;
  /** A job that nothing but its cancellation ends: its own time limit would come at the instant of the deadline. */
  const ENDLESS = { kind: 'unfinished', polls: -1, untimed: true };
  const isCancelled = ({ jobs }: ControlState): boolean => jobs[0]?.cancelled === true;
  /** Asks until it is so: what happens when nobody waits any more happens behind the answer. */
  const eventually = async (what: (state: ControlState) => boolean): Promise<ControlState> => {
    for (const end = performance.now() + 50_000; ;) {
      await sleep(20);
      const state = await local().control();
      if (what(state) || performance.now() > end) {
        expect(what(state)).toBe(true);
        return state;
      }
    }
  };

  describe('passing failures of the first request are tried again, the same job by its request id', () => {
    test.each<[string, object]>([
      ['429', { kind: 'error', status: 429, reason: 'rateLimitExceeded' }],
      ['503', { kind: 'error', status: 503, reason: 'backendError' }],
      ['500 internalError', { kind: 'error', status: 500, reason: 'internalError' }],
      ['403 rateLimitExceeded', { kind: 'error', status: 403, reason: 'rateLimitExceeded' }],
      ["a proxy's page", { kind: 'html', status: 502 }],
      ['an empty answer', { kind: 'empty', status: 503 }],
      ['a connection reset', { kind: 'reset' }],
      ['an answer that is lost', { kind: 'lost' }],
      ['an answer that breaks off', { kind: 'resetBody' }],
      ['broken JSON', { kind: 'brokenJson' }],
    ])('%s', async (_, fault) => {
      await inject({ ...fault, on: 'query', times: 2 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      const requests = await seen('query');
      expect(requests).toHaveLength(3);
      expect(new Set(requests.map(({ body }) => body['requestId'])).size).toBe(1);
      expect((await local().control()).jobs.filter((job) => job.error !== null)).toEqual([]);
    });

    test('an answer that is lost costs no second job', async () => {
      const before = (await inject({ kind: 'lost', on: 'query' })).jobs.length;
      await run(ROWS);
      expect((await local().control()).jobs).toHaveLength(before + 1);
    });
  });

  describe('a job that has failed in passing is followed by another', () => {
    const ofQueries = async (): Promise<unknown[]> => (await seen('query')).map(({ body }) => body['requestId']);

    test.each<[string, object]>([
      ['400 jobInternalError', { kind: 'error', status: 400, reason: 'jobInternalError' }],
      ['400 jobBackendError', { kind: 'error', status: 400, reason: 'jobBackendError' }],
      ['400 jobRateLimitExceeded', { kind: 'error', status: 400, reason: 'jobRateLimitExceeded' }],
      ['403 jobRateLimitExceeded', { kind: 'error', status: 403, reason: 'jobRateLimitExceeded' }],
      ['400 tableUnavailable', { kind: 'error', status: 400, reason: 'tableUnavailable' }],
      [
        '500 in the words of a failed job',
        { kind: 'error', status: 500, message: 'Error encountered during execution.' },
      ],
      ['backendError of the job', { kind: 'jobError', reason: 'backendError' }],
      ['internalError of the job', { kind: 'jobError', reason: 'internalError' }],
      ['rateLimitExceeded of the job', { kind: 'jobError', reason: 'rateLimitExceeded' }],
    ])('%s', async (_, fault) => {
      await inject({ ...fault, on: 'query', times: 2 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      expect(new Set(await ofQueries()).size).toBe(3);
      await inject({ ...fault, on: 'query', times: 2 });
      const lines: string[] = [];
      const sink = {
        begin: () => undefined,
        take: (bytes: Uint8Array) => void lines.push(Buffer.from(bytes).toString()),
      };
      await engine.stream?.(query(ROWS), within(50_000), sink);
      expect(lines.join('').trim().split('\n')).toEqual(FIVE);
      expect(new Set(await ofQueries()).size).toBe(3);
    });

    test('and by no other while it is not known what became of it', async () => {
      await inject({ kind: 'lost', on: 'query' }, { kind: 'jobError', reason: 'backendError' });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      const [first, second, third] = await ofQueries();
      expect([second === first, third === first]).toEqual([true, false]);
    });

    test('a job that fails while it is polled, and nothing is cancelled', async () => {
      await inject({ kind: 'jobError', reason: 'backendError', polls: 1 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      expect(new Set(await ofQueries()).size).toBe(2);
      expect(await seen('cancel')).toEqual([]);
    });

    test('a job whose state tells what its results do not', async () => {
      await inject({ kind: 'jobError', reason: 'backendError', polls: 1 }, { kind: 'error', on: 'results', times: 3 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      expect(new Set(await ofQueries()).size).toBe(2);
      expect(await seen('getJob')).toHaveLength(1);
      expect(await seen('cancel')).toEqual([]);
    });

    test('three times at most, and BigQuery does not count as down', async () => {
      const own = await openEngineOn(local().host, { breaker: { failures: 2, cooldown: 60_000 } });
      await inject({
        kind: 'error',
        on: 'query',
        status: 400,
        reason: 'jobInternalError',
        message: 'SECRET',
        times: 3,
      });
      const error: unknown = await own.run(query(ROWS), within(50_000)).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'backendUnavailable', details: { retryAfter: 5 } });
      expect(JSON.stringify(error) + String(error)).not.toContain('SECRET');
      expect(await seen('query')).toHaveLength(3);
      expect((await own.run(query(ROWS), within(50_000))).rows).toEqual(FIVE);
      await own.close();
    });

    test('not behind the deadline, nor when the caller has left', async () => {
      const fault = { kind: 'error', on: 'query', status: 400, reason: 'jobRateLimitExceeded', retryAfter: 20 };
      await inject(fault);
      expect(await failure(ROWS, within(10_000))).toMatchObject({ details: { retryAfter: 20 } });
      await inject(fault);
      const gone = new AbortController();
      const running = failure(ROWS, within(50_000, gone.signal));
      await eventually(({ requests }) => requests[0]?.status === 400);
      gone.abort();
      expect(await running).toMatchObject({ name: 'AbortError' });
      expect(await seen('query')).toHaveLength(1);
    });
  });

  describe('failures that stay are answered in the words of the service', () => {
    test.each<[string, object, number, object]>([
      [
        '429',
        { kind: 'error', status: 429, reason: 'rateLimitExceeded' },
        3,
        { reason: 'backendUnavailable', details: { retryAfter: 5 } },
      ],
      ['503', { kind: 'error', status: 503, reason: 'backendError' }, 3, { reason: 'backendUnavailable' }],
      ['502', { kind: 'html', status: 502 }, 3, { reason: 'backendUnavailable' }],
      ['resets', { kind: 'reset' }, 3, { reason: 'backendUnavailable' }],
      ['broken JSON', { kind: 'brokenJson' }, 3, { reason: 'backendError' }],
      [
        'quotaExceeded',
        { kind: 'error', status: 403, reason: 'quotaExceeded' },
        1,
        { reason: 'backendUnavailable', details: { retryAfter: 60 } },
      ],
      [
        'usageQuotaExceeded',
        { kind: 'error', status: 403, reason: 'usageQuotaExceeded' },
        1,
        { reason: 'backendUnavailable' },
      ],
      ['accessDenied', { kind: 'error', status: 403, reason: 'accessDenied' }, 1, { reason: 'backendError' }],
      [
        'responseTooLarge',
        { kind: 'error', status: 403, reason: 'responseTooLarge' },
        1,
        { reason: 'resourcesExceeded' },
      ],
      ['401', { kind: 'error', status: 401, reason: 'authError' }, 1, { reason: 'backendError' }],
      [
        'resourcesExceeded',
        { kind: 'error', status: 400, reason: 'resourcesExceeded' },
        1,
        { reason: 'resourcesExceeded' },
      ],
      [
        'the bytes limit, which comes as 500',
        { kind: 'error', status: 500, reason: 'bytesBilledLimitExceeded' },
        1,
        { reason: 'bytesBilledLimitExceeded' },
      ],
      [
        'a job that fails as it ends',
        { kind: 'jobError', reason: 'invalidQuery', message: 'Bad int64 value: SECRET' },
        1,
        { fault: 'invalidQuery', message: 'A value cannot be cast to the requested type' },
      ],
    ])('%s', async (_, fault, requests, expected) => {
      await inject({ on: 'query', times: 9, message: 'SECRET', ...fault });
      const error = await failure(ROWS);
      expect(error).toMatchObject(expected);
      expect(JSON.stringify(error) + String(error)).not.toContain('SECRET');
      expect(await seen('query')).toHaveLength(requests);
    });

    test('what the operator has to do something about is logged', async () => {
      logged.length = 0;
      await inject({
        kind: 'error',
        on: 'query',
        status: 403,
        reason: 'accessDenied',
        message: 'Access Denied: Project x',
      });
      await failure(ROWS);
      expect(logged).toEqual([
        {
          level: 'error',
          message: 'BigQuery refuses',
          facts: { status: 403, reason: 'accessDenied', detail: 'Access Denied: Project x' },
        },
      ]);
    });

    test('the wait that BigQuery asks for is kept, and passed on where the deadline comes first', async () => {
      await inject({ kind: 'error', on: 'query', status: 429, reason: 'rateLimitExceeded', retryAfter: 1 });
      const start = performance.now();
      await run(ROWS);
      expect(performance.now() - start).toBeGreaterThan(990);
      await inject({ kind: 'error', on: 'query', status: 429, reason: 'rateLimitExceeded', retryAfter: 30 });
      expect(await failure(ROWS, within(29_000))).toMatchObject({
        reason: 'backendUnavailable',
        details: { retryAfter: 30 },
      });
      expect(await seen('query')).toHaveLength(1);
    });
  });

  describe('an unfinished job', () => {
    test('is polled until it is done', async () => {
      await inject({ kind: 'unfinished', polls: 4 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      const polls = await seen('results');
      expect(polls.length).toBeGreaterThanOrEqual(3);
      for (const { query: sent } of polls) {
        expect(sent).toMatchObject({ location: 'US', 'formatOptions.useInt64Timestamp': 'true', maxResults: '1000' });
        expect(Number(sent['timeoutMs'])).toBeLessThanOrEqual(10_000);
      }
      expect(await seen('cancel')).toEqual([]);
    });

    test('is polled on after passing failures', async () => {
      await inject({ kind: 'unfinished', polls: 2 }, { kind: 'error', on: 'results', status: 503, times: 2 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
    });

    test('is cancelled when polling fails for good', async () => {
      await inject(ENDLESS, { kind: 'error', on: 'results', status: 503, times: 3 });
      expect(await failure(ROWS)).toMatchObject({ reason: 'backendUnavailable' });
      await eventually(isCancelled);
    });

    test('that stays so ends at the deadline and cancelled on the server', async () => {
      await inject(ENDLESS);
      expect(await failure(ROWS, within(600))).toMatchObject({ reason: 'deadlineExceeded' });
      const { requests } = await eventually(isCancelled);
      expect(requests.find(({ operation }) => operation === 'cancel')?.query).toMatchObject({ location: 'US' });
    });

    test('that fails is a failure, and nothing is left to cancel', async () => {
      await inject(
        { kind: 'unfinished', polls: 2 },
        { kind: 'error', on: 'results', skip: 1, status: 400, reason: 'invalidQuery', message: 'division by zero' },
      );
      expect(await failure(ROWS)).toMatchObject({ fault: 'invalidQuery', message: 'Division by zero' });
      await sleep(50);
      expect(await seen('cancel')).toEqual([]);
    });

    test('whose own time limit ends it is a passed deadline', async () => {
      await inject({ kind: 'jobError', reason: 'stopped', message: 'Job timed out after 30 sec' });
      expect(await failure(ROWS)).toMatchObject({ reason: 'deadlineExceeded' });
    });
  });

  describe('a service that is silent', () => {
    test('is waited for until the deadline, no longer', async () => {
      await inject({ kind: 'hang', on: 'query' });
      expect(await failure(ROWS, within(300))).toMatchObject({ reason: 'deadlineExceeded' });
      expect((await run(ROWS)).rows).toEqual(FIVE);
    });

    test('while it is polled', async () => {
      await inject(ENDLESS, { kind: 'hang', on: 'results' });
      expect(await failure(ROWS, within(400))).toMatchObject({ reason: 'deadlineExceeded' });
      await eventually(isCancelled);
    });

    test.each(['slow', 'slowBody'])('for a while (%s) is waited for', async (kind) => {
      await inject({ kind, on: 'query', delayMs: 1500 });
      expect((await run(ROWS)).rows).toEqual(FIVE);
      expect(await seen('query')).toHaveLength(1);
    });

    test('with its slow answer behind the deadline', async () => {
      await inject({ kind: 'slowBody', on: 'query', delayMs: 800 });
      expect(await failure(ROWS, within(300))).toMatchObject({ reason: 'deadlineExceeded' });
    });
  });

  describe('pages', () => {
    const expectAll = ({ rows, truncated }: EngineResult): void => {
      expect(rows).toHaveLength(1000);
      expect(rows.map((row) => (JSON.parse(row) as { n: number }).n)).toEqual(
        Array.from({ length: 1000 }, (_, i) => i + 1),
      );
      expect(truncated).toBe(false);
    };

    test('of eleven megabytes are all read', async () => {
      await inject();
      expectAll(await run(LARGE));
      const [page, ...more] = (await seen('results')).filter(isPage);
      expect(more).toEqual([]);
      // No more rows than are missing.
      expect(Number(page?.query['maxResults'])).toBeLessThan(1000);
    });

    test.each<[string, object]>([
      ['503', { kind: 'error', status: 503 }],
      ['429', { kind: 'error', status: 429 }],
      ['reset', { kind: 'reset' }],
      ['broken off', { kind: 'resetBody' }],
      ['broken JSON', { kind: 'brokenJson' }],
      ['slow', { kind: 'slow', delayMs: 500 }],
      ['slow in its midst', { kind: 'slowBody', delayMs: 500 }],
    ])('the second %s: it is asked for again', async (_, fault) => {
      await inject({ ...fault, on: 'page' });
      expectAll(await run(LARGE));
    });

    test.each<[string, object, object]>([
      ['503', { kind: 'error', status: 503 }, { reason: 'backendUnavailable' }],
      [
        '404',
        { kind: 'error', status: 404, reason: 'notFound', message: 'Not found: Job test:US.x' },
        { reason: 'backendError' },
      ],
      ['broken JSON', { kind: 'brokenJson' }, { reason: 'backendError' }],
    ])('the second %s for good: no half result', async (_, fault, expected) => {
      await inject({ ...fault, on: 'page', times: 3 });
      expect(await failure(LARGE)).toMatchObject(expected);
    });

    test('the second slower than the deadline', async () => {
      await inject({ kind: 'hang', on: 'page' });
      expect(await failure(LARGE, within(1500))).toMatchObject({ reason: 'deadlineExceeded' });
    });

    test('beyond the rows asked for are not fetched', async () => {
      await inject();
      const result = await run(LARGE, within(50_000), { maxRows: 10 });
      expect(result.rows).toHaveLength(10);
      expect(result.truncated).toBe(true);
      expect((await seen('results')).filter(isPage)).toEqual([]);
    });

    test('beyond the size that a response may have end the run', async () => {
      await inject();
      const small = await openEngineOn(local().host, { maxResultBytes: 5 * 1024 * 1024 });
      await expect(small.run(query(LARGE), within(50_000))).rejects.toMatchObject({
        reason: 'resourcesExceeded',
        message: 'The response is larger than 5 MiB. Ask for fewer rows or columns.',
      });
      expect((await seen('results')).filter(isPage)).toEqual([]);
      await small.close();
    });
  });

  describe('an answer that does not fit its schema is no result', () => {
    test.each(['missing', 'null fields', 'unknown type', 'too many fields', 'one field less'])(
      '%s',
      async (message) => {
        await inject({ kind: 'malformedSchema', message });
        expect(await failure('SELECT 1 AS a, 2 AS b')).toMatchObject({ reason: 'backendError' });
        // Nor where there are no rows to see it by.
        await inject({ kind: 'malformedSchema', message: 'missing' });
        expect(await failure('SELECT 1 AS a, 2 AS b FROM UNNEST([1]) WHERE false')).toMatchObject({
          reason: 'backendError',
        });
      },
    );
  });

  describe('the caller leaves', () => {
    /** Leaves when so much has been seen; the run ends by that, long before its deadline. */
    async function leaving(
      sql: string,
      moment: (state: ControlState) => boolean,
      from: Engine = engine,
    ): Promise<void> {
      const gone = new AbortController();
      const running = from.run(query(sql), within(50_000, gone.signal)).catch((error: unknown) => error);
      await eventually(moment);
      gone.abort();
      expect(await running).toMatchObject({ name: 'AbortError' });
    }
    const hasSeen =
      (operation: string, status?: number) =>
      ({ requests }: ControlState): boolean =>
        requests.some(
          (request) => request.operation === operation && (status === undefined || request.status === status),
        );

    test('while it waits for a slot: nothing is sent', async () => {
      const narrow = await openEngineOn(local().host, { maxConcurrent: 1 });
      await inject({ kind: 'hang', on: 'query' });
      const gone = new AbortController();
      const first = narrow.run(query(ROWS), within(50_000, gone.signal)).catch((error: unknown) => error);
      await leaving(ROWS, hasSeen('query'), narrow);
      gone.abort();
      await first;
      expect(await seen('query')).toHaveLength(1);
      await narrow.close();
    });

    test('during the first request: it goes on, and the job that it names is cancelled', async () => {
      await inject(ENDLESS, { kind: 'slow', on: 'query', delayMs: 300 });
      await leaving(ROWS, hasSeen('query'));
      const { requests } = await eventually(isCancelled);
      expect(requests.find(({ operation }) => operation === 'query')).toMatchObject({ aborted: false, status: 200 });
    });

    test('during the first request, which then has the whole result: nothing is left to do', async () => {
      await inject({ kind: 'slow', on: 'query', delayMs: 1500 });
      await leaving(ROWS, hasSeen('query'));
      await eventually(({ requests }) => requests[0]?.status === 200);
      await sleep(50);
      expect(await seen('cancel')).toEqual([]);
    });

    test('between two tries: there is no further one', async () => {
      await inject({ kind: 'error', on: 'query', status: 503, retryAfter: 20, times: 3 });
      await leaving(ROWS, hasSeen('query', 503));
      await sleep(50);
      expect(await seen('query')).toHaveLength(1);
    });

    test('while the job is polled: it is cancelled', async () => {
      await inject(ENDLESS);
      await leaving(ROWS, hasSeen('results'));
      await eventually(isCancelled);
    });

    test('during a long poll: the request is ended and the job cancelled', async () => {
      await inject(ENDLESS, { kind: 'hang', on: 'results' });
      await leaving(ROWS, hasSeen('results'));
      await eventually(({ jobs, requests }) => jobs[0]?.cancelled === true && requests.some(({ aborted }) => aborted));
    });

    test('during the second page: its request is ended', async () => {
      await inject({ kind: 'hang', on: 'page' });
      await leaving(LARGE, ({ requests }) => requests.some(isPage));
      await eventually(({ requests }) => requests.some((request) => isPage(request) && request.aborted));
      expect(await seen('cancel')).toEqual([]);
    });

    test('during a dry run: it is ended', async () => {
      await inject({ kind: 'hang', on: 'insertJob' });
      const gone = new AbortController();
      const left = expect(engine.describe(ROWS, [], within(50_000, gone.signal))).rejects.toMatchObject({
        name: 'AbortError',
      });
      await eventually(hasSeen('insertJob'));
      gone.abort();
      await left;
      await eventually(({ requests }) => requests[0]?.aborted === true);
    });

    test('before it began: nothing is sent', async () => {
      await inject();
      await expect(run(ROWS, within(50_000, AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
      expect(await seen('query')).toEqual([]);
    });

    test('and its slot is free at once', async () => {
      const narrow = await openEngineOn(local().host, { maxConcurrent: 1 });
      for (const [operation, fault] of [
        ['query', { kind: 'hang', on: 'query' }],
        ['results', ENDLESS],
      ] as const) {
        await inject(fault);
        await leaving(ROWS, hasSeen(operation), narrow);
        expect((await narrow.run(query(ROWS), within(50_000))).rows).toEqual(FIVE);
      }
      await local().control({ reset: true });
      await narrow.close();
    });
  });

  describe('dry runs', () => {
    test('are tried again, and fail in the same words', async () => {
      for (const fault of [{ status: 503 }, { status: 400, reason: 'jobInternalError' }]) {
        await inject({ kind: 'error', on: 'insertJob', times: 2, ...fault });
        expect(await engine.describe(ROWS, [], within(50_000))).toHaveLength(1);
      }
      await inject({ kind: 'error', on: 'insertJob', status: 503, times: 3 });
      await expect(engine.describe(ROWS, [], within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
      await inject({ kind: 'hang', on: 'insertJob' });
      await expect(engine.dryRun?.(query(ROWS), within(200))).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    });
  });

  describe('a ping', () => {
    test.each<[string, object, object]>([
      ['that fails', { kind: 'error', status: 503 }, { reason: 'backendUnavailable' }],
      ['that is reset', { kind: 'reset' }, { reason: 'backendUnavailable' }],
      ['that hangs', { kind: 'hang' }, { reason: 'deadlineExceeded' }],
      ['that is refused', { kind: 'error', status: 403, reason: 'accessDenied' }, { reason: 'backendError' }],
    ])('%s rejects at once', async (_, fault, expected) => {
      await inject({ ...fault, on: 'query' });
      await expect(engine.ping(within(300))).rejects.toMatchObject(expected);
      await expect(engine.ping(within(50_000))).resolves.toBeUndefined();
    });
  });

  test('a service that is down is left alone until one request finds it up', async () => {
    logged.length = 0;
    const own = await openEngineOn(local().host, {
      log: recordingLog(logged),
      breaker: { failures: 6, cooldown: 60_000 },
    });
    const fails = async (): Promise<unknown> => own.run(query(ROWS), within(50_000)).catch((error: unknown) => error);
    await inject({ kind: 'error', on: 'query', status: 503, times: 7 });
    await fails();
    await fails();
    expect(await seen('query')).toHaveLength(6);
    expect(await fails()).toMatchObject({
      reason: 'backendUnavailable',
      details: { retryAfter: expect.any(Number) as number },
    });
    await expect(own.ping(within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
    expect(await seen('query')).toHaveLength(6);
    const real = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => real() + 60_000);
    // The seventh failure; its retry finds the service up again.
    expect((await own.run(query(ROWS), within(50_000))).rows).toEqual(FIVE);
    expect((await own.run(query(ROWS), within(50_000))).rows).toEqual(FIVE);
    clock.mockRestore();
    expect(logged.map(({ message }) => message)).toEqual([
      'BigQuery does not answer: queries are refused for the moment',
      'BigQuery answers again',
    ]);
    await own.close();
  });

  test('a full house of rate limits does not count as down', async () => {
    const own = await openEngineOn(local().host, { breaker: { failures: 2, cooldown: 60_000 } });
    await inject({ kind: 'error', on: 'query', status: 429, reason: 'rateLimitExceeded', times: 3 });
    await expect(own.run(query(ROWS), within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
    expect((await own.run(query(ROWS), within(50_000))).rows).toEqual(FIVE);
    await own.close();
  });

  test('closing ends what runs, cancels its jobs, and begins nothing more', async () => {
    const own = await openEngineOn(local().host);
    await inject({ ...ENDLESS, times: 2 }, { kind: 'slow', on: 'query', skip: 1, delayMs: 300 });
    const running = [own.run(query(ROWS), within(50_000)), own.run(query(ROWS), within(50_000))];
    const ends = Promise.allSettled(running);
    await eventually(({ requests }) => requests.filter(({ operation }) => operation === 'query').length === 2);
    await own.close();
    for (const end of await ends) expect(end).toMatchObject({ reason: { reason: 'backendUnavailable' } });
    const { jobs } = await local().control();
    expect(jobs.slice(0, 2)).toMatchObject([{ cancelled: true }, { cancelled: true }]);
    await expect(own.run(query(ROWS), within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
  });

  test('where nothing listens, the engine opens all the same and says so', async () => {
    const notes: Logged = [];
    const own = await openEngineOn('127.0.0.1:1', { log: recordingLog(notes) });
    expect(notes).toMatchObject([{ level: 'warn' }]);
    await expect(own.ping(within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
    await expect(own.inspect('SELECT 1', [], [], within(50_000))).rejects.toMatchObject({
      reason: 'backendUnavailable',
    });
    await own.close();
  });
});
