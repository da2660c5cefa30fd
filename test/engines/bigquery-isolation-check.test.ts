/** The proof of the sandbox's last wall, over dry runs of every kind. Real BigQuery's half of it can be had nowhere else. */
import type { RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import { ApiFailure } from '../../src/engines/bigquery/api-failure';
import type { DryRunQuery } from '../../src/engines/bigquery/api';
import { IsolationCheck } from '../../src/engines/bigquery/isolation-check';
import type { ReadingQuery } from '../../src/engines/bigquery/options';
import { recordingLog, type Logged } from './over-local-bigquery';

const limits = (): RunLimits => ({ deadline: performance.now() + 50_000, signal: new AbortController().signal });
const LISTED: DryRunQuery = { statementType: 'SELECT', referencedTables: [{ tableId: 'a' }] };
const NOT_LISTED: DryRunQuery = { statementType: 'SELECT' };
const DOWN = new ApiFailure(503, 'backendError');
const NO_TABLE = new ApiFailure(404, 'notFound');

/** A stored query over a table that takes none without a filter. */
const stored = (table: string): ReadingQuery => ({
  endpoint: table,
  sql: `SELECT id FROM ${table} WHERE timestamp >= CAST(@start AS TIMESTAMP)`,
  parameters: [{ name: 'start', type: 'STRING', value: '2000-01-01' }],
});

function wallOver(
  emulated: boolean,
  answers: readonly (DryRunQuery | Error | undefined)[],
  storedQueries = [stored('a'), stored('b')],
) {
  const queries: string[] = [];
  const logged: Logged = [];
  const dryRun = ({ sql }: ReadingQuery): Promise<DryRunQuery | undefined> => {
    const answer = answers[Math.min(queries.push(sql), answers.length) - 1];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const wall = new IsolationCheck({ storedQueries, emulated, dryRun, log: recordingLog(logged) });
  return { wall, queries, levels: () => logged.map(({ level }) => level) };
}

const UNAVAILABLE = { reason: 'backendUnavailable', details: { retryAfter: 10 } };

test.each([true, false])('stands where a dry run lists what it reads (emulated: %s)', async (emulated) => {
  const { wall, queries, levels } = wallOver(emulated, [LISTED]);
  await wall.verify(limits());
  expect(await wall.isVerified(limits())).toBe(true);
  expect(queries).toEqual([stored('a').sql]);
  expect(levels()).toEqual([]);
});

test.each([[NOT_LISTED], [{ ...LISTED, statementType: 'SCRIPT' }], [{ ...LISTED, referencedTables: [] }], [undefined]])(
  'real BigQuery that lists nothing lets no consumer query pass: %j',
  async (answer) => {
    const { wall, levels } = wallOver(false, [answer]);
    await wall.verify(limits());
    await expect(wall.isVerified(limits())).rejects.toMatchObject(UNAVAILABLE);
    expect(levels()).toEqual(['error']);
  },
);

test('a local service that lists nothing has no such wall', async () => {
  const { wall, levels } = wallOver(true, [NOT_LISTED]);
  expect(await wall.isVerified(limits())).toBe(false);
  expect(levels()).toEqual(['warn']);
});

test('a stored query that is refused proves nothing: the next one is tried', async () => {
  const { wall, queries } = wallOver(false, [NO_TABLE, LISTED]);
  expect(await wall.isVerified(limits())).toBe(true);
  expect(queries).toEqual([stored('a').sql, stored('b').sql]);
});

test('no stored query that reads a table: nothing passes on real BigQuery', async () => {
  for (const storedQueries of [[], [stored('a')]]) {
    const { wall, levels } = wallOver(false, [NO_TABLE], storedQueries);
    await expect(wall.isVerified(limits())).rejects.toMatchObject(UNAVAILABLE);
    expect(levels()).toEqual(['error']);
  }
});

test('a service that does not answer has not settled it: nothing passes until it has', async () => {
  const { wall, queries, levels } = wallOver(true, [DOWN, LISTED]);
  await wall.verify(limits());
  await expect(wall.isVerified(limits())).rejects.toMatchObject(UNAVAILABLE);
  // Not queries again at once.
  await expect(wall.isVerified(limits())).rejects.toMatchObject(UNAVAILABLE);
  expect(queries).toHaveLength(1);
  expect(levels()).toEqual(['warn']);
  const later = performance.now() + 11_000;
  const clock = jest.spyOn(performance, 'now').mockReturnValue(later);
  expect(await wall.isVerified(limits())).toBe(true);
  clock.mockRestore();
});

test('many queries at the start share one proof', async () => {
  const { wall, queries } = wallOver(false, [LISTED]);
  expect(await Promise.all([wall.isVerified(limits()), wall.isVerified(limits()), wall.isVerified(limits())])).toEqual([
    true,
    true,
    true,
  ]);
  expect(queries).toHaveLength(1);
});
