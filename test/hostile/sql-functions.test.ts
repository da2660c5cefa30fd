/**
 * Whatever a call is given, the query ends soon after its interrupt, the process stays within its memory and answers the
 * next query. Measured in CPU time of a process of its own; the bounds are two and a half times those that docs/decisions/bounded-functions.md
 * gives, since a busy machine makes the same work take more of it. `npm run test:long -- functions` runs as many as asked.
 */
import { supportedFunctions } from '../../src/engines/duckdb/translate';
import { Random } from '../dialect/random';
import { runHostile, type MeasuredQuery } from './runner';
import { hostileQueries } from './sql-functions';
import { WORST_CASES } from './worst-cases';

const SEED = 20261122;
const PATIENCE = 2.5;

const described = (all: readonly MeasuredQuery[]): string[] =>
  all.filter(({ faults }) => faults.length > 0).map(({ sql, faults }) => `${faults.join('; ')}: ${sql.slice(0, 500)}`);

test('what is known to be worst ends soon and stays small', async () => {
  expect(described(await runHostile(WORST_CASES, { patience: PATIENCE }))).toEqual([]);
}, 600_000);

test('so does a hostile call of every function', async () => {
  const all = await runHostile(hostileQueries(new Random(SEED), 1), { patience: PATIENCE });
  expect(described(all)).toEqual([]);
  const called = new Set(all.map(({ name }) => name));
  const { scalar, aggregate } = supportedFunctions();
  const named = [...scalar, ...aggregate].filter((name) => !name.startsWith('$'));
  expect(named.filter((name) => !called.has(name))).toEqual(['ERROR', 'COUNT_STAR', 'GROUPING']);
}, 600_000);
