/**
 * Queries in pipe syntax have the rows of their standard forms, on the embedded engine and on the local BigQuery. The standard forms in
 * `pipes.jsonl` are written from BigQuery's reference ("Pipe query syntax"): each operator is one more SELECT around what is before it.
 */
import { jsonLines } from '../case-files';
import { onBothEngines, sampled } from './on-both-engines';
import { ask, compared } from './two-engines';

interface Pair {
  readonly pipes: string;
  readonly standard: string;
  /** Both fix the order of all rows. */
  readonly ordered?: true;
}

/** Rows with NULLs and rows that are the same. */
const TABLES = `WITH t AS (SELECT 1 AS a, 'x' AS b, 10 AS c UNION ALL SELECT 1, 'x', 10 UNION ALL SELECT 2, 'y', NULL UNION ALL
  SELECT 3, NULL, 5 UNION ALL SELECT NULL, 'x', 7 UNION ALL SELECT 2, 'Z', -4 UNION ALL SELECT 5, '', 10),
u AS (SELECT 1 AS a, 'one' AS d UNION ALL SELECT 2, 'two' UNION ALL SELECT 2, 'zwei' UNION ALL SELECT NULL, 'none')`;

onBothEngines('pipe syntax', (engines) => {
  it.each(sampled(jsonLines<Pair>('dialect/pipes.jsonl')))('$pipes', async ({ pipes, standard, ordered }) => {
    const sql = `${TABLES}\n${pipes}`;
    const [want, ...got] = await Promise.all([
      ask(engines().reference, standard.replace('WITH TABLES', TABLES)),
      ask(engines().embedded, sql),
      ask(engines().reference, sql),
    ]);
    expect(want).not.toHaveProperty('error');
    for (const answer of got) expect(compared(answer, want, ordered ? 'ordered' : 'any order')).toBeNull();
  });
});
