/** Log queries of all kinds over `test/fixture`, made at random once, answered by both engines alike. */
import { oneOf } from '../scale';
import { jsonLines } from '../case-files';
import { onBothEngines } from './on-both-engines';
import { ask, compared, type Order } from './two-engines';

interface LogQuery {
  readonly sql: string;
  readonly order: Order;
}

/** Queries that fail on both engines say little: so many must be answered. */
const ANSWERED = 0.85;

onBothEngines('log queries', (engines) => {
  const queries = oneOf(4, jsonLines<LogQuery>('dialect/log-queries.jsonl'));
  let answered = 0;
  test.each(queries)('$sql', async ({ sql, order }) => {
    const [ours, theirs] = await Promise.all([ask(engines().embedded, sql), ask(engines().reference, sql)]);
    expect(compared(ours, theirs, order)).toBeNull();
    if (!('error' in theirs)) answered++;
  });

  test('are mostly queries with an answer', () => {
    expect(answered).toBeGreaterThan(ANSWERED * queries.length);
  });
});
