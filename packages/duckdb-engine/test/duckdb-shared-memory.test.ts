/** DuckDB has one memory for all queries: who finds none of it is not for that reason who took it. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { setTimeout as sleep } from 'node:timers/promises';

import { Connections } from '../src/engine/connections';
import { until } from '../../../test/until';
import { within } from './queries';

jest.setTimeout(120_000);

const LIMIT = 100 * 1024 * 1024;
/** Sorted rows of some 64 MB: all are there when the first comes. */
const HOLDER = `SELECT repeat('x', 600) || range AS b FROM range(100000) ORDER BY md5(range::VARCHAR)`;
/** Some 50 MB. */
const ORDINARY = `SELECT max(b) AS m FROM (SELECT repeat('x', 600) || range AS b FROM range(80000) ORDER BY md5(range::VARCHAR) LIMIT 79999)`;
/** Some 20 MB. */
const SMALL = ORDINARY.replace('range(80000)', 'range(30000)').replace('79999', '29999');
const TOO_LARGE = `SELECT max(b) FROM (SELECT repeat('x', 600) || range AS b FROM range(400000) ORDER BY md5(range::VARCHAR) LIMIT 399999)`;
const SHORTAGE = /^Out of Memory Error/;

let instance: DuckDBInstance;
let connections: Connections;
beforeEach(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1', max_memory: '100MiB', temp_directory: '' });
  connections = new Connections(instance, 4, LIMIT);
});
afterEach(async () => {
  await connections.close();
  instance.closeSync();
});

const limits = (keyName: string) => ({ ...within(), keyName });

/** A query, and how often it has begun. */
class Query {
  runs = 0;
  /** Whether its first rows have come, in the run that goes on. */
  begun = false;

  /** @param isEnough whether it has held its rows for long enough; until then, it does for ten times as long */
  constructor(
    private readonly sql: string,
    private readonly isEnough = (): boolean => true,
  ) {}

  /** Holds its rows for a second and a half. */
  readonly slowly = async (connection: DuckDBConnection): Promise<string> => {
    this.begun = false;
    this.runs++;
    const result = await connection.stream(this.sql);
    let chunk = await result.fetchChunk();
    this.begun = true;
    for (; chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      await sleep(30);
      for (let more = 0; more < 9 && !this.isEnough(); more++) await sleep(30);
    }
    // The binding ends a stream that is interrupted as one that is exhausted.
    if (!result.isStreaming) throw new Error('INTERRUPT Error: Interrupted!');
    return 'all rows';
  };

  readonly atOnce = async (connection: DuckDBConnection): Promise<string> => {
    this.runs++;
    await connection.runAndReadAll(this.sql);
    return 'all rows';
  };
}

it('ends what holds more than half of the memory where another key finds none, and refuses it the next time', async () => {
  const holder = new Query(HOLDER, () => false);
  const held = connections.use(limits('hostile'), holder.slowly).catch((error: unknown) => error);
  for (const run of [1, 2]) {
    await until(() => holder.begun && holder.runs === run);
    const ordinary = new Query(ORDINARY);
    expect(await connections.use(limits('ordinary'), ordinary.atOnce)).toBe('all rows');
    expect(ordinary.runs).toBe(2);
  }
  expect(await held).toMatchObject({ reason: 'resourcesExceeded' });
  expect(holder.runs).toBe(2);
});

it('waits for queries of the same key', async () => {
  const [holder, ordinary] = [new Query(HOLDER), new Query(ORDINARY)];
  const held = connections.use(limits('key'), holder.slowly);
  await until(() => holder.begun);
  expect(await connections.use(limits('key'), ordinary.atOnce)).toBe('all rows');
  expect(await held).toBe('all rows');
  expect([holder.runs, ordinary.runs]).toEqual([1, 2]);
});

it('runs again what it ended by mistake', async () => {
  const ordinary = new Query(ORDINARY);
  const isOver = (): boolean => ordinary.runs > 1;
  const first = new Query(`SELECT range FROM range(100000)`, isOver);
  const holder = new Query(HOLDER, isOver);
  const innocent = connections.use(limits('innocent'), first.slowly);
  await until(() => first.begun);
  const held = connections.use(limits('hostile'), holder.slowly);
  await until(() => holder.begun);
  expect(await connections.use(limits('ordinary'), ordinary.atOnce)).toBe('all rows');
  expect(await Promise.all([held, innocent])).toEqual(['all rows', 'all rows']);
  expect([first.runs, holder.runs, ordinary.runs]).toEqual([2, 2, 2]);
});

it('refuses what needs more than there is, after a second run where another ran beside it', async () => {
  const alone = new Query(TOO_LARGE);
  await expect(connections.use(limits('key'), alone.atOnce)).rejects.toThrow(SHORTAGE);
  const small = new Query(`SELECT range FROM range(100000)`);
  const other = connections.use(limits('other'), small.slowly);
  await until(() => small.begun);
  const beside = new Query(TOO_LARGE);
  await expect(connections.use(limits('key'), beside.atOnce)).rejects.toThrow(SHORTAGE);
  expect(await other).toBe('all rows');
  expect([alone.runs, beside.runs, small.runs]).toEqual([1, 2, 1]);
});

it('answers ordinary queries while another key takes all that there is, again and again', async () => {
  let going = true;
  const attacks = [0, 1].map(async () => {
    while (going) {
      await connections.use(limits('hostile'), new Query(TOO_LARGE).atOnce).catch(() => null);
      await sleep(1);
    }
  });
  try {
    for (let i = 0; i < 30; i++)
      expect(await connections.use(limits('ordinary'), new Query(SMALL).atOnce)).toBe('all rows');
  } finally {
    going = false;
    await Promise.all(attacks);
  }
});

it('hands nothing on twice', async () => {
  const [holder, ordinary] = [new Query(HOLDER), new Query(ORDINARY)];
  const held = connections.use(limits('hostile'), holder.slowly);
  await until(() => holder.begun);
  await expect(connections.use(limits('ordinary'), ordinary.atOnce, () => false)).rejects.toThrow(SHORTAGE);
  expect(await held).toBe('all rows');
  expect(ordinary.runs).toBe(1);
});
