/** The meaning of expressions and queries, against Google's reference implementation (see reference/README.md). */
import { QueryError } from '../../googlesql/src/errors';
import { runtimeError } from '../src/translate';
import { TranslationBench, type Answer } from './duckdb-translation';
import { jsonLines } from '../../../test/case-files';
import { sameValue } from './same-value';
import { opened } from '../../../test/opened';
import { oneOf } from '../../../test/scale';

interface Reference {
  readonly value?: unknown;
  readonly rows?: readonly (readonly unknown[])[];
  readonly error?: string;
}

const bench = opened(() => TranslationBench.open());

/** The answer; null where the query failed with an error that its caller may see. */
async function answered(sql: string): Promise<Answer | null> {
  try {
    return await bench().run(sql);
  } catch (error) {
    const failure = error instanceof QueryError ? error : runtimeError(error);
    if (failure === null) throw error;
    expect(failure.message).not.toMatch(/has no|on a value/);
    return null;
  }
}

test.each(
  oneOf(4, jsonLines<Reference & { expr: string }>('../packages/duckdb-engine/test/reference/expressions.jsonl')).map(
    (j) => [j.expr, j] as const,
  ),
)('%s', async (expr, j) => {
  const answer = await answered(`SELECT ${expr} AS value`);
  if (j.error !== undefined) {
    expect(answer).toBeNull();
    return;
  }
  const { value } = answer!.rows[0] as { value: unknown };
  if (!sameValue(value, j.value)) expect(value).toEqual(j.value);
});

test.each(
  oneOf(2, jsonLines<Reference & { sql: string }>('../packages/duckdb-engine/test/reference/queries.jsonl')).map(
    (j) => [j.sql, j] as const,
  ),
)('%s', async (sql, j) => {
  const answer = await answered(sql);
  if (j.error !== undefined) {
    expect(answer).toBeNull();
    return;
  }
  const rows = answer!.rows.map((row) => answer!.columns.map((c) => (row as Record<string, unknown>)[c.name]));
  if (!sameValue(rows, j.rows)) expect(rows).toEqual(j.rows);
});
