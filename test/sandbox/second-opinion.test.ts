import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { OpinionTimeout, SecondOpinion } from '../../src/sandbox/second-opinion';
import { until } from '../until';

describe('what the second opinion reads', () => {
  const opinion = new SecondOpinion();
  afterAll(() => opinion.close());

  test('names tables, array paths and functions in lower case', async () => {
    const sql =
      'with a as (select * from Edge_Logs) select count(*), safe.substr(id, 1), net.host(id), upper(id) from a, a.metadata as m, unnest(m.request) r where exists(select 1 from `x.y`)';
    const { tables, functions } = (await opinion.ask(sql)) ?? { tables: [], functions: [] };
    expect([...tables].sort()).toEqual(['a', 'a.metadata', 'edge_logs', 'x.y']);
    expect([...functions].sort()).toEqual(['count', 'exists', 'net.host', 'safe.substr', 'upper']);
  });

  test('has no vote on what it cannot read', async () => {
    expect(await opinion.ask('select extract(hour from timestamp at time zone "UTC") from edge_logs')).toBeNull();
  });

  // The gate does not ask about these: it would only take up the parser's time.
  test.each([
    'select 1 from (a cross join b)',
    'select 1 from (a)',
    'select 1 from (a as x join b using (id)), c',
    'select 1 from ((a join b on true) join c on true)',
    'select 1 from a left join (b as x cross join unnest(x.m) as y) on true',
    'select 1 from a where id in (select id from (select 2) join (b join c on true) on true)',
  ])('has no vote on a join in parentheses: %s', async (sql) => {
    expect(await opinion.ask(sql)).toBeNull();
  });
});

describe('the second opinion', () => {
  let opinion: SecondOpinion;

  beforeEach(() => {
    opinion = new SecondOpinion();
  });

  afterEach(() => opinion.close());

  test('is heard although the thread that asked was busy past the deadline', async () => {
    await opinion.ask('select 1');
    const long = Array.from({ length: 200 }, () => "case when id = 'x' then upper(id) else 'y' end").join(', ');
    const answer = opinion.ask(`select ${long} from edge_logs`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const end = performance.now() + 2_000;
    while (performance.now() < end);
    expect(await answer).toEqual({ tables: ['edge_logs'], functions: ['upper'] });
  });

  // Only Linux tells how long a thread has run.
  (existsSync('/proc/thread-self') ? test : test.skip)('gets its time although others keep it waiting', async () => {
    const many = Array.from({ length: 120 }, () => "case when id = 'x' then upper(id) else 'y' end").join(', ');
    const long = `select ${many} from edge_logs`;
    await opinion.ask(long);
    const begun = performance.now();
    await opinion.ask(long);
    // So many others on each processor that on the clock it takes longer than this.
    const unlimited = new SecondOpinion({ deadline: 3 * (performance.now() - begun) + 100 });
    const over = new Int32Array(new SharedArrayBuffer(4));
    const spin = 'while (Atomics.load(require("node:worker_threads").workerData, 0) === 0);';
    const others = Array.from(
      { length: 6 * availableParallelism() },
      () => new Worker(spin, { eval: true, workerData: over }),
    );
    try {
      await Promise.all([unlimited.ask('select 1'), ...others.map((other) => once(other, 'online'))]);
      expect(await unlimited.ask(long)).toEqual({ tables: ['edge_logs'], functions: ['upper'] });
    } finally {
      Atomics.store(over, 0, 1);
      await Promise.all([unlimited.close(), ...others.map((other) => other.terminate())]);
    }
  });

  test('ends past its deadline, and the next text is read by a new worker', async () => {
    const hurried = new SecondOpinion({ deadline: 50 });
    try {
      const nested = `select ${'cast('.repeat(24)}1${' as string)'.repeat(24)} as x from edge_logs`;
      await expect(hurried.ask(nested)).rejects.toThrow(OpinionTimeout);
      expect(await hurried.ask('select id from edge_logs')).toEqual({ tables: ['edge_logs'], functions: [] });
    } finally {
      await hurried.close();
    }
  });

  test('reads others while one text keeps a worker busy', async () => {
    const nested = `select ${'cast('.repeat(24)}1${' as string)'.repeat(24)} as x from edge_logs`;
    const slow = opinion.ask(nested).catch((error: unknown) => error);
    const quick = await Promise.all(Array.from({ length: 20 }, (_, i) => opinion.ask(`select ${i} from edge_logs`)));
    expect(quick.every((one) => one?.tables[0] === 'edge_logs')).toBe(true);
    expect(await slow).toBeInstanceOf(OpinionTimeout);
  });

  (existsSync('/proc/self/task') ? test : test.skip)('keeps no worker that has nothing to read', async () => {
    const threads = (): number => readdirSync('/proc/self/task').length;
    const before = threads();
    const resting = new SecondOpinion({ idle: 100 });
    try {
      await resting.ask('select 1');
      await until(() => threads() <= before);
      expect(await resting.ask('select id from edge_logs')).toEqual({ tables: ['edge_logs'], functions: [] });
    } finally {
      await resting.close();
    }
  });

  test('refuses once it is closed', async () => {
    await opinion.close();
    await expect(opinion.ask('select 1')).rejects.toThrow('closed');
  });
});
