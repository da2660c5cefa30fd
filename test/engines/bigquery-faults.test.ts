/** What goes wrong with BigQuery, injected over the local one's control path, and what becomes of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineQuery, EngineResult, RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import type { ControlState } from '../local-bigquery';
import { openEngineOn, overLocalBigQuery, recordingLog, type Logged } from './over-local-bigquery';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';

const ROWS = 'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 5)) AS n ORDER BY n';
const FIVE = ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}', '{"n":5}'];
/** Eleven million bytes in a thousand rows: two pages of BigQuery's. */
const LARGE = `SELECT n, REPEAT('x', 11000) AS s FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n ORDER BY n`;

const query = (sql: string, options: Partial<EngineQuery> = {}): EngineQuery =>
  queryOf(sql, { maxRows: 1000, ...options });

/** A fault in short: `error 429 rateLimitExceeded`, `html 502`, `jobError backendError`, `slow 500`, `unfinished 4`, `hang`. */
function faultOf(text: string, more: object = {}): object {
  const [kind = '', first, reason] = text.split(' ');
  const number = Number(first);
  const given = {
    error: { status: number, reason },
    html: { status: number },
    empty: { status: number },
    jobError: { reason: first },
    slow: { delayMs: number },
    slowBody: { delayMs: number },
    unfinished: { polls: number },
  }[kind];
  return { kind, ...given, ...more };
}
const onQuery = (text: string, more: object = {}): object => faultOf(text, { on: 'query', ...more });
/** A job that nothing but its cancellation ends: its own time limit would come at the instant of the deadline. */
const ENDLESS = faultOf('unfinished -1', { untimed: true });

type Requests = ControlState['requests'];
/** A page behind the first: what has no token looks whether a job is done, as on a busy machine it may not be at once. */
const isPage = ({ operation, query: { pageToken } }: Requests[number]): boolean =>
  operation === 'results' && pageToken !== undefined;
const isCancelled = ({ jobs }: ControlState): boolean => jobs[0]?.cancelled === true;
const hasSeen =
  (operation: string, status?: number) =>
  ({ requests }: ControlState): boolean =>
    requests.some((one) => one.operation === operation && (status === undefined || one.status === status));
const isAborted = ({ requests }: ControlState): boolean => requests.some(({ aborted }) => aborted);

overLocalBigQuery('BigQuery that fails', (local) => {
  let engine: Engine;
  const logged: Logged = [];
  const opened: Engine[] = [];
  const open = async (options: Parameters<typeof openEngineOn>[1]): Promise<Engine> => {
    const own = await openEngineOn(local().host, options);
    opened.push(own);
    return own;
  };

  beforeAll(async () => {
    engine = await openEngineOn(local().host, {
      log: recordingLog(logged),
      breaker: { failures: 1000, cooldown: 1000 },
    });
  });
  afterEach(() => Promise.all(opened.splice(0).map((own) => own.close())));
  afterAll(() => engine.close());

  const inject = (...faults: object[]): Promise<ControlState> => local().control({ reset: true, faults });
  const run = (sql: string, limits = within(50_000), from: Engine = engine): Promise<EngineResult> =>
    from.run(query(sql), limits);
  const failure = async (sql: string, limits?: RunLimits, from?: Engine): Promise<unknown> =>
    run(sql, limits, from).then(
      (result) => ({ rows: result.rows.length }),
      (error: unknown) => error,
    );
  const seen = async (operation: string): Promise<Requests> =>
    (await local().control()).requests.filter((request) => request.operation === operation);
  /** Different jobs that were asked for. */
  const jobsAskedFor = async (): Promise<number> =>
    new Set((await seen('query')).map(({ body }) => body['requestId'])).size;
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
  const answers = async (from?: Engine): Promise<void> => {
    expect((await run(ROWS, undefined, from)).rows).toEqual(FIVE);
  };

  test.each([
    'error 429 rateLimitExceeded',
    'error 503 backendError',
    'error 500 internalError',
    'error 403 rateLimitExceeded',
    'html 502',
    'empty 503',
    'reset',
    'lost',
    'resetBody',
    'brokenJson',
  ])('the first request is sent again, for the same job, after: %s', async (fault) => {
    const before = (await inject(onQuery(fault, { times: 2 }))).jobs.length;
    await answers();
    expect([(await seen('query')).length, await jobsAskedFor()]).toEqual([3, 1]);
    const { jobs } = await local().control();
    // An answer that is lost costs no second job.
    expect(jobs).toHaveLength(before + 1);
    expect(jobs.filter((job) => job.error !== null)).toEqual([]);
  });

  describe('a job that has failed in passing is followed by another', () => {
    test.each([
      'error 400 jobInternalError',
      'error 400 jobBackendError',
      'error 400 jobRateLimitExceeded',
      'error 403 jobRateLimitExceeded',
      'error 400 tableUnavailable',
      'jobError backendError',
      'jobError internalError',
      'jobError rateLimitExceeded',
    ])('%s', async (fault) => {
      await inject(onQuery(fault, { times: 2 }));
      await answers();
      expect(await jobsAskedFor()).toBe(3);
    });

    test('in the words of a failed job, and where it is streamed', async () => {
      await inject(onQuery('error 500', { message: 'Error encountered during execution.', times: 2 }));
      const lines: string[] = [];
      const take = (bytes: Uint8Array): void => void lines.push(Buffer.from(bytes).toString());
      await engine.stream?.(query(ROWS), within(50_000), { begin: () => undefined, take });
      expect(lines.join('').trim().split('\n')).toEqual(FIVE);
      expect(await jobsAskedFor()).toBe(3);
    });

    test('and by no other while it is not known what became of it', async () => {
      await inject(onQuery('lost'), faultOf('jobError backendError'));
      await answers();
      const [first, second, third] = (await seen('query')).map(({ body }) => body['requestId']);
      expect([second === first, third === first]).toEqual([true, false]);
    });

    test.each([
      ['fails while it is polled', [], 0],
      ['has a state that tells what its results do not', [faultOf('error', { on: 'results', times: 3 })], 1],
    ])('that %s, and nothing is cancelled', async (_, more, looks) => {
      await inject(faultOf('jobError backendError', { polls: 1 }), ...more);
      await answers();
      expect([await jobsAskedFor(), (await seen('getJob')).length, await seen('cancel')]).toEqual([2, looks, []]);
    });

    test('three times at most, and BigQuery does not count as down', async () => {
      const own = await open({ breaker: { failures: 2, cooldown: 60_000 } });
      await inject(onQuery('error 400 jobInternalError', { message: 'SECRET', times: 3 }));
      const error = await failure(ROWS, undefined, own);
      expect(error).toMatchObject({ reason: 'backendUnavailable', details: { retryAfter: 5 } });
      expect(JSON.stringify(error) + String(error)).not.toContain('SECRET');
      expect(await seen('query')).toHaveLength(3);
      await answers(own);
    });

    test('not behind the deadline, nor when the caller has left', async () => {
      const fault = onQuery('error 400 jobRateLimitExceeded', { retryAfter: 20 });
      await inject(fault);
      expect(await failure(ROWS, within(10_000))).toMatchObject({ details: { retryAfter: 20 } });
      await inject(fault);
      await leaving(ROWS, hasSeen('query', 400));
      expect(await seen('query')).toHaveLength(1);
    });
  });

  describe('failures that stay are answered in the words of the service', () => {
    // Which failure is told as what, bigquery-failures.test.ts says.
    test.each<[fault: string, requests: number, reason: string]>([
      ['error 429 rateLimitExceeded', 3, 'backendUnavailable'],
      ['html 502', 3, 'backendUnavailable'],
      ['reset', 3, 'backendUnavailable'],
      ['brokenJson', 3, 'backendError'],
      ['error 403 quotaExceeded', 1, 'backendUnavailable'],
      ['error 401 authError', 1, 'backendError'],
      ['error 400 resourcesExceeded', 1, 'resourcesExceeded'],
      ['error 500 bytesBilledLimitExceeded', 1, 'bytesBilledLimitExceeded'],
      ['jobError stopped', 1, 'backendError'],
    ])('%s, after %d requests', async (fault, requests, reason) => {
      await inject(onQuery(fault, { times: 9, message: 'SECRET' }));
      const error = await failure(ROWS);
      expect(error).toMatchObject({ reason });
      expect(JSON.stringify(error) + String(error)).not.toContain('SECRET');
      expect(await seen('query')).toHaveLength(requests);
    });

    test('a job that fails as it ends, on a value or at its own time limit', async () => {
      await inject(onQuery('jobError invalidQuery', { message: 'Bad int64 value: SECRET' }));
      const message = 'A value cannot be cast to the requested type';
      expect(await failure(ROWS)).toMatchObject({ fault: 'invalidQuery', message });
      await inject(faultOf('jobError stopped', { message: 'Job timed out after 30 sec' }));
      expect(await failure(ROWS)).toMatchObject({ reason: 'deadlineExceeded' });
    });

    test('what the operator has to do something about is logged', async () => {
      logged.length = 0;
      await inject(onQuery('error 403 accessDenied', { message: 'Access Denied: Project x' }));
      expect(await failure(ROWS)).toMatchObject({ reason: 'backendError' });
      const facts = { status: 403, reason: 'accessDenied', detail: 'Access Denied: Project x' };
      expect(logged).toEqual([{ level: 'error', message: 'BigQuery refuses', facts }]);
    });

    test('the wait that BigQuery asks for is kept, and passed on where the deadline comes first', async () => {
      await inject(onQuery('error 429 rateLimitExceeded', { retryAfter: 1 }));
      const start = performance.now();
      await run(ROWS);
      expect(performance.now() - start).toBeGreaterThan(990);
      await inject(onQuery('error 429 rateLimitExceeded', { retryAfter: 30 }));
      const told = { reason: 'backendUnavailable', details: { retryAfter: 30 } };
      expect(await failure(ROWS, within(29_000))).toMatchObject(told);
      expect(await seen('query')).toHaveLength(1);
    });
  });

  describe('an unfinished job', () => {
    test('is polled until it is done, also after passing failures', async () => {
      await inject(faultOf('unfinished 4'), faultOf('error 503', { on: 'results', times: 2 }));
      await answers();
      const polls = await seen('results');
      expect(polls.length).toBeGreaterThanOrEqual(3);
      for (const { query: sent } of polls) {
        expect(sent).toMatchObject({ location: 'US', 'formatOptions.useInt64Timestamp': 'true', maxResults: '1000' });
        expect(Number(sent['timeoutMs'])).toBeLessThanOrEqual(10_000);
      }
      expect(await seen('cancel')).toEqual([]);
    });

    test.each<[string, object[], number, string]>([
      [
        'when polling fails for good',
        [faultOf('error 503', { on: 'results', times: 3 })],
        50_000,
        'backendUnavailable',
      ],
      ['at the deadline', [], 600, 'deadlineExceeded'],
      ['at the deadline of a poll without an answer', [faultOf('hang', { on: 'results' })], 400, 'deadlineExceeded'],
    ])('is cancelled %s', async (_, faults, milliseconds, reason) => {
      await inject(ENDLESS, ...faults);
      expect(await failure(ROWS, within(milliseconds))).toMatchObject({ reason });
      const { requests } = await eventually(isCancelled);
      expect(requests.find(({ operation }) => operation === 'cancel')?.query).toMatchObject({ location: 'US' });
    });

    test('that fails is a failure, and nothing is left to cancel', async () => {
      const fails = { on: 'results', skip: 1, message: 'division by zero' };
      await inject(faultOf('unfinished 2'), faultOf('error 400 invalidQuery', fails));
      expect(await failure(ROWS)).toMatchObject({ fault: 'invalidQuery', message: 'Division by zero' });
      await sleep(50);
      expect(await seen('cancel')).toEqual([]);
    });
  });

  test.each(['hang', 'slowBody 800'])(
    'a service that is silent is waited for until the deadline: %s',
    async (fault) => {
      await inject(onQuery(fault));
      expect(await failure(ROWS, within(300))).toMatchObject({ reason: 'deadlineExceeded' });
      await answers();
    },
  );

  test.each(['slow 1500', 'slowBody 1500'])('a slow answer is waited for: %s', async (fault) => {
    await inject(onQuery(fault));
    await answers();
    expect(await seen('query')).toHaveLength(1);
  });

  describe('pages', () => {
    const expectAll = ({ rows, truncated }: EngineResult): void => {
      expect([rows.length, truncated]).toEqual([1000, false]);
      for (const [i, row] of rows.entries()) expect(row.startsWith(`{"n":${i + 1},`)).toBe(true);
    };

    test('of eleven megabytes are all read', async () => {
      await inject();
      expectAll(await run(LARGE));
      const [page, ...more] = (await seen('results')).filter(isPage);
      expect(more).toEqual([]);
      // No more rows than are missing.
      expect(Number(page?.query['maxResults'])).toBeLessThan(1000);
    });

    test.each(['error 503', 'error 429', 'reset', 'resetBody', 'brokenJson', 'slow 500', 'slowBody 500'])(
      'the second is asked for again after: %s',
      async (fault) => {
        await inject(faultOf(fault, { on: 'page' }));
        expectAll(await run(LARGE));
      },
    );

    test.each<[string, number, string]>([
      ['error 503', 50_000, 'backendUnavailable'],
      ['error 404 notFound', 50_000, 'backendError'],
      ['brokenJson', 50_000, 'backendError'],
      ['hang', 1500, 'deadlineExceeded'],
    ])('the second with %s for good: no half result', async (fault, milliseconds, reason) => {
      await inject(faultOf(fault, { on: 'page', times: 3, message: 'Not found: Job test:US.x' }));
      expect(await failure(LARGE, within(milliseconds))).toMatchObject({ reason });
    });

    test('beyond the rows asked for, or the size that a response may have, are not fetched', async () => {
      await inject();
      const result = await engine.run(query(LARGE, { maxRows: 10 }), within(50_000));
      expect([result.rows.length, result.truncated]).toEqual([10, true]);
      const small = await open({ maxResultBytes: 5 * 1024 * 1024 });
      const message = 'The response is larger than 5 MiB. Ask for fewer rows or columns.';
      expect(await failure(LARGE, undefined, small)).toMatchObject({ reason: 'resourcesExceeded', message });
      expect((await seen('results')).filter(isPage)).toEqual([]);
    });
  });

  test.each(['missing', 'null fields', 'unknown type', 'too many fields', 'one field less'])(
    'an answer that does not fit its schema is no result: %s',
    async (message) => {
      await inject(faultOf('malformedSchema', { message }));
      expect(await failure('SELECT 1 AS a, 2 AS b')).toMatchObject({ reason: 'backendError' });
    },
  );

  test('nor is one without a schema where there are no rows to see it by', async () => {
    await inject(faultOf('malformedSchema', { message: 'missing' }));
    expect(await failure('SELECT 1 AS a FROM UNNEST([1]) WHERE false')).toMatchObject({ reason: 'backendError' });
  });

  /** Leaves when so much has been seen; the run ends by that, long before its deadline. */
  async function leaving(sql: string, moment: (state: ControlState) => boolean, from?: Engine): Promise<void> {
    const gone = new AbortController();
    const running = failure(sql, within(50_000, gone.signal), from);
    await eventually(moment);
    gone.abort();
    expect(await running).toMatchObject({ name: 'AbortError' });
  }

  describe('the caller leaves', () => {
    /** When, and what comes of it. */
    test.each<[string, object[], string, (state: ControlState) => boolean, (state: ControlState) => boolean]>([
      [
        'during the first request: it goes on, and the job that it names is cancelled',
        [ENDLESS, onQuery('slow 300')],
        ROWS,
        hasSeen('query'),
        (state) => isCancelled(state) && hasSeen('query', 200)(state) && !isAborted(state),
      ],
      ['while the job is polled: it is cancelled', [ENDLESS], ROWS, hasSeen('results'), isCancelled],
      [
        'during a long poll: the request is ended and the job cancelled',
        [ENDLESS, faultOf('hang', { on: 'results' })],
        ROWS,
        hasSeen('results'),
        (state) => isCancelled(state) && isAborted(state),
      ],
      [
        'during the second page: its request is ended, and nothing is cancelled',
        [faultOf('hang', { on: 'page' })],
        LARGE,
        ({ requests }) => requests.some(isPage),
        (state) => state.requests.some((one) => isPage(one) && one.aborted) && !hasSeen('cancel')(state),
      ],
      [
        'during the first request, which then has the whole result: nothing is left to do',
        [onQuery('slow 1500')],
        ROWS,
        hasSeen('query'),
        (state) => hasSeen('query', 200)(state) && !hasSeen('cancel')(state),
      ],
      [
        'between two tries: there is no further one',
        [onQuery('error 503', { retryAfter: 20, times: 3 })],
        ROWS,
        hasSeen('query', 503),
        ({ requests }) => requests.length === 1,
      ],
    ])('%s', async (_, faults, sql, moment, then) => {
      await inject(...faults);
      await leaving(sql, moment);
      await eventually(then);
      await sleep(50);
      expect(then(await local().control())).toBe(true);
    });

    test('while it waits for a slot, or before it began: nothing is sent', async () => {
      const narrow = await open({ maxConcurrent: 1 });
      await inject(onQuery('hang'));
      const gone = new AbortController();
      const first = failure(ROWS, within(50_000, gone.signal), narrow);
      await leaving(ROWS, hasSeen('query'), narrow);
      gone.abort();
      await first;
      expect(await failure(ROWS, within(50_000, AbortSignal.abort()))).toMatchObject({ name: 'AbortError' });
      expect(await seen('query')).toHaveLength(1);
    });

    test('during a dry run: it is ended', async () => {
      await inject(faultOf('hang', { on: 'insertJob' }));
      const gone = new AbortController();
      const left = engine.describe(ROWS, [], within(50_000, gone.signal)).catch((error: unknown) => error);
      await eventually(hasSeen('insertJob'));
      gone.abort();
      expect(await left).toMatchObject({ name: 'AbortError' });
      await eventually(isAborted);
    });

    test('and its slot is free at once', async () => {
      const narrow = await open({ maxConcurrent: 1 });
      for (const [operation, fault] of [
        ['query', onQuery('hang')],
        ['results', ENDLESS],
      ] as const) {
        await inject(fault);
        await leaving(ROWS, hasSeen(operation), narrow);
        await answers(narrow);
      }
      await local().control({ reset: true });
    });
  });

  test('dry runs are tried again, and fail in the same words', async () => {
    const describe = (): Promise<unknown> => engine.describe(ROWS, [], within(50_000));
    for (const fault of ['error 503', 'error 400 jobInternalError']) {
      await inject(faultOf(fault, { on: 'insertJob', times: 2 }));
      expect(await describe()).toHaveLength(1);
    }
    await inject(faultOf('error 503', { on: 'insertJob', times: 3 }));
    await expect(describe()).rejects.toMatchObject({ reason: 'backendUnavailable' });
    await inject(faultOf('hang', { on: 'insertJob' }));
    await expect(engine.dryRun?.(query(ROWS), within(200))).rejects.toMatchObject({ reason: 'deadlineExceeded' });
  });

  test.each([
    ['error 503', 'backendUnavailable'],
    ['reset', 'backendUnavailable'],
    ['hang', 'deadlineExceeded'],
    ['error 403 accessDenied', 'backendError'],
  ])('a ping with %s rejects at once', async (fault, reason) => {
    await inject(onQuery(fault));
    await expect(engine.ping(within(300))).rejects.toMatchObject({ reason });
    await expect(engine.ping(within(50_000))).resolves.toBeUndefined();
  });

  test('a service that is down is left alone until one request finds it up', async () => {
    logged.length = 0;
    const own = await open({ log: recordingLog(logged), breaker: { failures: 6, cooldown: 60_000 } });
    await inject(onQuery('error 503', { times: 7 }));
    const fails = (): Promise<unknown> => failure(ROWS, undefined, own);
    await fails();
    await fails();
    expect(await seen('query')).toHaveLength(6);
    const details = { retryAfter: expect.any(Number) as number };
    expect(await fails()).toMatchObject({ reason: 'backendUnavailable', details });
    await expect(own.ping(within(50_000))).rejects.toMatchObject({ reason: 'backendUnavailable' });
    expect(await seen('query')).toHaveLength(6);
    const real = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => real() + 60_000);
    // The seventh failure; its retry finds the service up again.
    await answers(own);
    await answers(own);
    clock.mockRestore();
    expect(logged.map(({ message }) => message)).toEqual([
      'BigQuery does not answer: queries are refused for the moment',
      'BigQuery answers again',
    ]);
  });

  test('a full house of rate limits does not count as down', async () => {
    const own = await open({ breaker: { failures: 2, cooldown: 60_000 } });
    await inject(onQuery('error 429 rateLimitExceeded', { times: 3 }));
    expect(await failure(ROWS, undefined, own)).toMatchObject({ reason: 'backendUnavailable' });
    await answers(own);
  });

  test('closing ends what runs, cancels its jobs, and begins nothing more', async () => {
    const own = await open({});
    await inject({ ...ENDLESS, times: 2 }, onQuery('slow 300', { skip: 1 }));
    const ends = Promise.all([failure(ROWS, undefined, own), failure(ROWS, undefined, own)]);
    await eventually(({ requests }) => requests.filter(({ operation }) => operation === 'query').length === 2);
    await own.close();
    const refused = { reason: 'backendUnavailable' };
    expect(await ends).toMatchObject([refused, refused]);
    expect((await local().control()).jobs.slice(0, 2)).toMatchObject([{ cancelled: true }, { cancelled: true }]);
    expect(await failure(ROWS, undefined, own)).toMatchObject(refused);
  });

  test('where nothing listens, the engine opens all the same and says so', async () => {
    const notes: Logged = [];
    const own = await openEngineOn('127.0.0.1:1', { log: recordingLog(notes) });
    expect(notes).toMatchObject([{ level: 'warn' }]);
    const refused = { reason: 'backendUnavailable' };
    await expect(own.ping(within(50_000))).rejects.toMatchObject(refused);
    await expect(own.inspect('SELECT 1', [], [], within(50_000))).rejects.toMatchObject(refused);
    await own.close();
  });
});
