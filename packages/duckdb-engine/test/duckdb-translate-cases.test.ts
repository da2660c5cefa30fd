/** Consumer queries over the fixture against the answers of Google's GoogleSQL reference implementation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fence } from '../src/contract/contract';
import { runtimeError } from '../src/translate';
import { SHAPES, type Shape } from './duckdb-shapes';
import { TranslationBench } from './duckdb-translation';
import { jsonLines } from '../../../test/case-files';
import { type Rows, sameRows } from './same-value';
import { opened } from '../../../test/opened';
import { oneOf } from '../../../test/scale';

interface Case {
  readonly id: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
  readonly ordered: boolean;
}
interface Expected {
  readonly id: string;
  readonly columns: readonly (readonly [string, string])[];
  readonly rows: Rows;
  readonly alternatives?: readonly Rows[];
}

/** An absent optional parameter is bound as ''. */
const UNBOUNDED = { iso_timestamp_start: '', iso_timestamp_end: '' };

const ROOT = join(__dirname, '../../../test');

/** Every expression that can fail is guarded, or none. */
const FENCED: Fence = { consumer: null };
const FENCES = [
  ['unfenced', null],
  ['fenced', FENCED],
] as const;

/** The nine tables as a stored query has them, without the file's settings and final statement. */
function composed(consumer: string): string {
  const stored = readFileSync(join(ROOT, '..', 'queries', 'logs.all.sql'), 'utf8');
  const withClause = stored.slice(stored.indexOf('WITH '), stored.lastIndexOf('\nSELECT'));
  return `${withClause}\n(\n${consumer.trim().replace(/;\s*$/, '')}\n)`;
}

const expected = new Map(jsonLines<Expected>('cases/log-queries-expected.jsonl').map((e) => [e.id, e]));

/**
 * A stored table's rows have the same answers whatever shape they are stored in, and whether a query is translated for the
 * values of its parameters or for any.
 */
const RUNS = Object.keys(SHAPES).map((shape) => [shape as Shape, shape !== 'lists'] as const);

describe.each(RUNS)('%s', (shape, known) => {
  const bench = opened(() => TranslationBench.open(shape));

  describe.each(FENCES)('%s', (_name, fence) => {
    test.each(oneOf(4, jsonLines<Case>('cases/log-queries.jsonl')).map((c) => [c.id, c] as const))(
      '%s',
      async (id, { sql, params, ordered }) => {
        const answer = expected.get(id)!;
        const { columns, rows } = await bench().run(composed(sql), { ...UNBOUNDED, ...params }, 1000, fence, known);
        expect(columns.map((c) => [c.name, c.type.kind])).toEqual(
          answer.columns.map(([name, type]) => [name, /^\w+/.exec(type)![0]]),
        );
        const values = rows.map((row) => columns.map((c) => (row as Record<string, unknown>)[c.name]));
        const candidates = [answer.rows, ...(answer.alternatives ?? [])];
        if (!candidates.some((candidate) => sameRows(values, candidate, ordered))) {
          expect(values).toEqual(answer.rows);
        }
      },
    );

    test.each(jsonLines<Case>('cases/log-queries-error.jsonl').map((c) => [c.id, c] as const))(
      '%s',
      async (_id, { sql, params }) => {
        const failure = await bench()
          .run(composed(sql), { ...UNBOUNDED, ...params }, 1000, fence, known)
          .catch((error: unknown) => error);
        const error = runtimeError(failure);
        expect(error?.fault).toBe('invalidQuery');
        expect(error?.message).not.toMatch(/went wrong|on a value/);
      },
    );
  });
});
