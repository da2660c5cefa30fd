/** Random log queries, answered by both engines alike. */
import { onBothEngines } from './on-both-engines';
import { randomLogQuery } from './log-queries';
import { Random } from './random';
import { ask, compared } from './two-engines';
import { LONG } from '../scale';

const SEEDS = Array.from({ length: LONG ? 10 : 2 }, (_, i) => 1000 + i);
const EACH = 24;
/** Queries that fail on both engines say little: so many must be answered. */
const ANSWERED = 0.85;

onBothEngines('random log queries', (engines) => {
  let answered = 0;
  test.each(SEEDS)(
    'of seed %i are answered as the reference engine does',
    async (seed) => {
      const random = new Random(seed);
      const differences: string[] = [];
      for (let i = 0; i < EACH; i++) {
        const { sql, order } = randomLogQuery(random);
        const [ours, theirs] = await Promise.all([ask(engines().embedded, sql), ask(engines().reference, sql)]);
        const difference = compared(ours, theirs, order);
        if (difference !== null) differences.push(`${sql}\n=> ${difference}`);
        if (!('error' in theirs)) answered++;
      }
      expect(differences).toEqual([]);
    },
    120_000,
  );

  test('are mostly queries with an answer', () => {
    expect(answered).toBeGreaterThan(ANSWERED * SEEDS.length * EACH);
  });
});
